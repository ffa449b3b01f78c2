//! What is kept of bodies and headers: all of them, while there is room.

use super::Recorder;
use std::sync::Arc;

impl Recorder {
    /// The beginning of a request's body that did not come whole.
    pub(in super::super) fn broken_body(&mut self, exchange: usize, body: &[u8]) {
        self.body(exchange, body);
    }

    /// The request is whole, with this body, of which is kept what there is room for.
    pub(in super::super) fn whole(&mut self, exchange: usize, body: &[u8]) {
        self.body(exchange, body);
        self.exchanges[exchange].request.is_whole = true;
    }

    fn body(&mut self, exchange: usize, body: &[u8]) {
        let kept = self.keep(body.len());
        let bytes = self.exchanges[exchange].request.lines.bytes();
        let has_room = self.keep_headers(bytes);
        let request = &mut self.exchanges[exchange].request;
        request.body = body[..kept].into();
        if !has_room {
            request.lines = Arc::default();
        }
    }

    /// Whether there is room for so many bytes of headers: it is taken for all of them, or for none.
    pub(super) const fn keep_headers(&mut self, bytes: u64) -> bool {
        if let Some(left) = self.head_room.checked_sub(bytes) {
            self.head_room = left;
            true
        } else {
            self.dropped += bytes;
            false
        }
    }

    /// How many of so many bytes there is room for.
    pub(super) fn keep(&mut self, wanted: usize) -> usize {
        let kept = wanted.min(usize::try_from(self.room).unwrap_or(usize::MAX));
        // usize is at most 64 bits wide.
        self.room -= kept as u64;
        self.dropped += (wanted - kept) as u64;
        kept
    }
}
