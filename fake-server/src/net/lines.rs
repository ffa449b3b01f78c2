//! Header lines packed into one piece of memory: the log keeps millions of them, and a string for each
//! name and value costs more than what is in it.

/// Header lines in order, names in lower case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lines(Box<[u8]>);

/// Bytes of a length.
const LENGTH: usize = size_of::<u32>();

impl Lines {
    /// Packs these lines.
    pub(super) fn of<'a>(lines: impl Iterator<Item = (&'a str, &'a str)> + Clone) -> Self {
        let room = lines
            .clone()
            .map(|(name, value)| 2 * LENGTH + name.len() + value.len())
            .sum();
        let mut packed = Vec::with_capacity(room);
        for (name, value) in lines {
            for text in [name, value] {
                // hyper's heads are a few hundred KiB at the most, and ours are smaller.
                let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
                packed.extend_from_slice(&length.to_ne_bytes());
                packed.extend_from_slice(text.as_bytes());
            }
        }
        Self(packed.into_boxed_slice())
    }

    /// The lines, as bytes of UTF-8.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let mut rest = &*self.0;
        std::iter::from_fn(move || Some((next(&mut rest)?, next(&mut rest)?)))
    }

    /// As the log shows them.
    pub(super) fn shown(&self) -> Vec<(String, String)> {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        self.iter()
            .map(|(name, value)| (text(name), text(value)))
            .collect()
    }

    /// Bytes of names and values.
    pub(super) fn bytes(&self) -> u64 {
        self.iter()
            // usize is at most 64 bits wide.
            .map(|(name, value)| (name.len() + value.len()) as u64)
            .sum()
    }
}

fn next<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, after) = rest.split_first_chunk::<LENGTH>()?;
    let length = usize::try_from(u32::from_ne_bytes(*length)).ok()?;
    let (text, after) = after.split_at_checked(length)?;
    *rest = after;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_out_in_order() {
        let lines = [("a", ""), ("host", "here"), ("a", "ä\n\0")];
        let packed = Lines::of(lines.iter().copied());
        let shown = packed.shown();
        let shown: Vec<_> = shown
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        assert_eq!(shown, lines);
        assert_eq!(packed.bytes(), 1 + 8 + 1 + 4);
        assert_eq!(Lines::default().iter().count(), 0);
    }
}
