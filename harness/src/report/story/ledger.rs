//! What is left over at the end, and what made it.

use super::Writer;
use crate::{
    case::Case,
    judge::Admission,
    report::text::{count, harmless},
};
use anstyle::Style;
use fake_server::wire::Op;

/// Things that are told one by one.
const TOLD: usize = 4;

impl Writer<'_> {
    /// A line for each thing that a request made and that is left, and for each that was there before and was ended.
    pub(super) fn ledger(&mut self, case: &Case) {
        let account = case.account();
        let palette = self.page.palette;
        let left: Vec<(String, Style)> = account
            .left()
            .map(|(thing, admitted)| {
                let style = match admitted {
                    Admission::No => palette.bad,
                    _ => Style::new(),
                };
                (format!("{thing}; {}", admitted.words()), style)
            })
            .collect();
        self.things("left over", &left);
        // A release is asked to end what was there.
        if case.plan.op != Op::Release {
            let taken: Vec<(String, Style)> = account
                .taken()
                .map(|thing| (thing.to_string(), Style::new()))
                .collect();
            self.things("ended", &taken);
        }
    }

    fn things(&mut self, label: &str, things: &[(String, Style)]) {
        for (at, (words, style)) in things.iter().take(TOLD).enumerate() {
            let label = if at == 0 { label } else { "" };
            self.labelled(label, &harmless(words), *style);
        }
        if things.len() > TOLD {
            let more = count(things.len() - TOLD, "more thing", "more things");
            self.labelled(
                "",
                &format!("... and {more} (--json)"),
                self.page.palette.dim,
            );
        }
    }
}
