//! Whether true frames come in their order.

use fake_server::{
    script::model::FrameRef,
    wire::Call,
    wirelog::{Exchange, Payload, Sent},
};

/// The frames of one answer, as they are due.
pub(super) struct Order {
    /// The frame that is due.
    next: u64,
    /// Those that were passed over and may still come, both ends included.
    missing: Vec<(u64, u64)>,
}

/// A break in the order, to be told with the first frames of a run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Jump {
    /// In words.
    pub(super) words: String,
    /// So many of the run's frames are concerned.
    pub(super) frames: u64,
}

impl Order {
    /// A stream that keeps to its cursor begins behind it; none where the cursor cannot be read.
    pub(super) fn of(exchange: &Exchange) -> Option<Self> {
        if exchange.call != Some(Call::Connect) {
            return None;
        }
        let after: u64 = exchange
            .request
            .query_values("after")
            .next()?
            .parse()
            .ok()?;
        Some(Self {
            next: after.checked_add(1)?,
            missing: Vec::new(),
        })
    }

    /// How true frames leave the order, if they do. What stands for a frame counts as that frame.
    pub(super) fn jump(&mut self, sent: &Sent) -> Option<Jump> {
        let (from, to) = match sent {
            Sent::Frames { from, to, .. } => (*from, *to),
            Sent::Body {
                what:
                    Payload::True(FrameRef::Seq(seq))
                    | Payload::Edited(FrameRef::Seq(seq))
                    | Payload::Forged(Some(FrameRef::Seq(seq)))
                    | Payload::Raw(Some(FrameRef::Seq(seq))),
                ..
            } => (*seq, *seq),
            _ => return None,
        };
        self.run(from, to)
    }

    fn run(&mut self, from: u64, to: u64) -> Option<Jump> {
        let due = self.next;
        self.next = due.max(to.saturating_add(1));
        if from < due {
            let is_late = self
                .missing
                .iter()
                .any(|(first, last)| (*first..=*last).contains(&from));
            return Some(Jump {
                words: if is_late { "(late)" } else { "(again)" }.to_owned(),
                frames: due - from,
            });
        }
        let words = match from - due {
            0 => return None,
            1 => format!("({due} missing)"),
            _ => format!("({due} to {} missing)", from - 1),
        };
        self.missing.push((due, from - 1));
        Some(Jump { words, frames: 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(runs: &[(u64, u64)]) -> Vec<String> {
        let mut order = Order {
            next: 1,
            missing: Vec::new(),
        };
        runs.iter()
            .map(|(from, to)| {
                order
                    .run(*from, *to)
                    .map_or_else(String::new, |jump| jump.words)
            })
            .collect()
    }

    #[test]
    fn what_was_there_comes_again_and_what_was_not_comes_late() {
        assert_eq!(told(&[(1, 2), (3, 3)]), ["", ""]);
        assert_eq!(told(&[(1, 2), (1, 3), (4, 4)]), ["", "(again)", ""]);
        assert_eq!(
            told(&[(1, 1), (3, 3), (2, 2), (4, 4)]),
            ["", "(2 missing)", "(late)", ""]
        );
        assert_eq!(
            told(&[(5, 5), (1, 1), (5, 5)]),
            ["(1 to 4 missing)", "(late)", "(again)"]
        );
    }
}
