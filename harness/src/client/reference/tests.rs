//! Whole jobs against servers of a few bytes, in memory, on a paused clock.
