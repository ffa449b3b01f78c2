//! A content coding that nobody asked for, with its slips.

use crate::script::model::{Coding, Encoding};
use flate2::{Compression, write::GzEncoder};
use std::{collections::VecDeque, io::Write as _};

/// What follows a coded body where the scenario wants foreign bytes.
const FOREIGN: u8 = b'?';

/// Codes a body piece by piece.
#[derive(Debug)]
pub(super) struct Coder {
    gzip: Option<GzEncoder<Vec<u8>>>,
    encoding: Encoding,
    /// The last coded bytes, kept back as long as they may be those to leave out.
    back: VecDeque<u8>,
}

impl Coder {
    pub(super) fn new(encoding: Encoding) -> Self {
        let gzip = match encoding.coding {
            Coding::Gzip => GzEncoder::new(Vec::new(), Compression::fast()),
        };
        Self {
            gzip: (!encoding.lie).then_some(gzip),
            encoding,
            back: VecDeque::new(),
        }
    }

    /// The name of the coding, for `Content-Encoding`.
    pub(super) const fn name(encoding: Encoding) -> &'static str {
        match encoding.coding {
            Coding::Gzip => "gzip",
        }
    }

    /// Takes a piece of the body; gives what can leave now.
    pub(super) fn push(&mut self, payload: &[u8]) -> Vec<u8> {
        let Some(gzip) = &mut self.gzip else {
            return self.hold_back(payload.to_vec());
        };
        // Coding into a Vec cannot fail.
        let _ = gzip.write_all(payload);
        if self.encoding.flush_frames {
            let _ = gzip.flush();
        } else {
            // What the coder gave so far stays inside until the end.
            return Vec::new();
        }
        let coded = std::mem::take(gzip.get_mut());
        self.hold_back(coded)
    }

    /// The rest: with the trailer if the body is complete, else only what is needed to read what was pushed.
    pub(super) fn finish(&mut self, complete: bool) -> Vec<u8> {
        let coded = match self.gzip.take() {
            None => Vec::new(),
            Some(gzip) if complete => gzip.finish().unwrap_or_default(),
            Some(mut gzip) => {
                let _ = gzip.flush();
                std::mem::take(gzip.get_mut())
            }
        };
        let mut coded = self.hold_back(coded);
        if complete {
            let extra = usize::try_from(self.encoding.extra).unwrap_or(usize::MAX);
            coded.resize(coded.len().saturating_add(extra), FOREIGN);
        }
        coded
    }

    /// Lets pass what is certainly not among the bytes to leave out at the end.
    fn hold_back(&mut self, coded: Vec<u8>) -> Vec<u8> {
        let Some(cut) = self.encoding.cut else {
            return coded;
        };
        self.back.extend(coded);
        let passing = self
            .back
            .len()
            .saturating_sub(usize::try_from(cut).unwrap_or(usize::MAX));
        self.back.drain(..passing).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::GzDecoder;
    use std::io::Read as _;

    const PLAIN: Encoding = Encoding {
        coding: Coding::Gzip,
        flush_frames: true,
        cut: None,
        lie: false,
        extra: 0,
    };

    fn decoded(bytes: &[u8]) -> (Vec<u8>, bool) {
        let mut out = Vec::new();
        let whole = GzDecoder::new(bytes).read_to_end(&mut out).is_ok();
        (out, whole)
    }

    #[test]
    fn each_flushed_piece_can_be_read_when_it_arrives() {
        let mut coder = Coder::new(PLAIN);
        let mut coded = coder.push(b"one\n");
        assert_eq!(decoded(&coded), (b"one\n".to_vec(), false));
        coded.extend(coder.push(b"two\n"));
        coded.extend(coder.finish(true));
        assert_eq!(decoded(&coded), (b"one\ntwo\n".to_vec(), true));
    }

    #[test]
    fn without_flushes_nothing_leaves_before_the_end() {
        let mut coder = Coder::new(Encoding {
            flush_frames: false,
            ..PLAIN
        });
        assert_eq!(coder.push(&[b'x'; 100_000]), b"");
        let (out, whole) = decoded(&coder.finish(true));
        assert_eq!((out.len(), whole), (100_000, true));
    }

    #[test]
    fn a_cut_body_misses_exactly_its_last_bytes() {
        let whole = Coder::new(Encoding {
            flush_frames: false,
            ..PLAIN
        });
        let cut = Coder::new(Encoding {
            flush_frames: false,
            cut: Some(8),
            ..PLAIN
        });
        let [whole, cut] = [whole, cut].map(|mut coder| {
            let mut bytes = coder.push(b"payload");
            bytes.extend(coder.finish(true));
            bytes
        });
        assert_eq!(cut, whole[..whole.len() - 8]);
        assert!(!decoded(&cut).1);
    }

    #[test]
    fn a_lie_is_plain_and_foreign_bytes_follow_the_trailer() {
        let mut lie = Coder::new(Encoding { lie: true, ..PLAIN });
        assert_eq!(lie.push(b"plain"), b"plain");
        let mut coder = Coder::new(Encoding { extra: 3, ..PLAIN });
        coder.push(b"x");
        assert!(coder.finish(true).ends_with(b"???"));
    }
}
