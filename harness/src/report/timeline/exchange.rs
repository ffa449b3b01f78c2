//! A request and its answer, in their order.

use super::{
    Act, Told, What,
    asked::{name_of, request_words},
    order::Order,
    sent::{clean_end, ordinary_words, sent_words},
};
use crate::{judge::Place, report::text::count};
use fake_server::{
    script::describe,
    wire::Blob,
    wirelog::{Exchange, Micros, Payload, Sent},
};

/// Requirements about what becomes of an answer: broken behind it, not by the request.
const BEHIND_THE_ANSWER: &[&str] = &[
    "frames/long-line",
    "stream/closed-after",
    "raw/closed-on-drop",
    "secrets/responses-unread",
];

impl Told<'_> {
    pub(super) fn exchange(&mut self, index: usize, exchange: &Exchange) {
        let asked = Some(exchange.head_us);
        let behind = |requirement: &str| BEHIND_THE_ANSWER.contains(&requirement);
        self.push(asked, Act::Client(request_words(exchange)));
        self.wrong_where(asked, |wrong| {
            wrong.place == Place::Exchange(index) && !behind(&wrong.requirement)
        });
        if let Some(words) = ordinary_words(exchange) {
            self.push(asked, Act::Faithful(words));
        } else {
            self.answer(exchange);
        }
        self.left(exchange);
        let at_us = if exchange.open {
            None
        } else {
            exchange
                .client_closed_us
                .or(exchange.last_sent_us)
                .or(asked)
        };
        self.wrong_where(at_us, |wrong| {
            wrong.place == Place::Exchange(index) && behind(&wrong.requirement)
        });
    }

    /// Everything that was sent, heartbeats counted.
    fn answer(&mut self, exchange: &Exchange) {
        let asked = Some(exchange.head_us);
        let mut heartbeats = 0;
        let mut order = Order::of(exchange);
        for sent in &joined(&exchange.answer) {
            if let Sent::Body {
                what: Payload::Heartbeat,
                ..
            } = sent
            {
                heartbeats += 1;
                continue;
            }
            self.heartbeats(asked, &mut heartbeats);
            let at_us = match sent {
                Sent::End { .. } => exchange.last_sent_us.or(asked),
                _ => asked,
            };
            let jump = order.as_mut().and_then(|order| order.jump(sent));
            let mut acts = sent_words(sent, exchange, &self.plan.truth);
            if let (Sent::End { .. }, Some(broken)) = (sent, exchange.broke_off) {
                let words = describe::break_off(broken);
                acts = vec![Act::Deviates(format!("the body {words}"))];
            }
            if let Some(jump) = jump {
                let frames = usize::try_from(jump.frames).unwrap_or(usize::MAX);
                for act in acts.iter_mut().take(frames) {
                    if let Act::Faithful(words) = act {
                        *act = Act::Deviates(format!("{words} {}", jump.words));
                    }
                }
            }
            for act in acts {
                self.push(at_us, act);
            }
            if let (Sent::Head { .. }, Some(cuts)) = (sent, self.cuts(exchange)) {
                self.push(asked, Act::Deviates(cuts));
            }
        }
        self.heartbeats(asked, &mut heartbeats);
        if let Some(act) = clean_end(exchange) {
            self.push(exchange.last_sent_us.or(asked), act);
        }
    }

    fn heartbeats(&mut self, at_us: Option<Micros>, number: &mut usize) {
        if *number > 0 {
            let words = count(std::mem::take(number), "heartbeat", "heartbeats");
            self.push(at_us, Act::Faithful(words));
        }
    }

    /// How the bytes of the answer were cut, where the scenario chose it.
    fn cuts(&self, exchange: &Exchange) -> Option<String> {
        let number = exchange.fault?;
        let fault = self
            .plan
            .faults
            .iter()
            .find(|fault| fault.number == number)?;
        let cuts = describe::cuts(&fault.behaviour);
        (!cuts.is_empty()).then(|| format!("(sent {})", cuts.join(", ")))
    }

    /// That the client closed an answer before its end, or never did.
    fn left(&mut self, exchange: &Exchange) {
        let ended = exchange
            .answer
            .iter()
            .any(|sent| matches!(sent, Sent::End { .. }));
        if let Some(closed_us) = exchange.client_closed_us
            && !ended
        {
            self.push_as(
                What::Close,
                Some(closed_us),
                Act::Client(format!("closes the {}", name_of(exchange))),
            );
        }
        if exchange.open {
            self.push_as(
                What::Close,
                None,
                Act::Client(format!("still holds the {} open", name_of(exchange))),
            );
        }
    }
}

/// What was sent, raw bytes that follow each other joined: a scenario may write a line in parts.
fn joined(answer: &[Sent]) -> Vec<Sent> {
    let mut joined: Vec<Sent> = Vec::new();
    for sent in answer {
        if let (
            Some(Sent::Body {
                what: Payload::Raw(None),
                bytes,
                framed,
                acked,
            }),
            Sent::Body {
                what: Payload::Raw(None),
                bytes: more,
                framed: more_framed,
                acked: more_acked,
            },
        ) = (joined.last_mut(), sent)
            && framed == more_framed
            && acked == more_acked
        {
            let mut all = std::mem::take(&mut bytes.0);
            all.extend_from_slice(&more.0);
            *bytes = Blob(all);
            continue;
        }
        joined.push(sent.clone());
    }
    joined
}
