//! The wire as it happens, a line each.

use anstyle::{AnsiColor, Style};
use fake_server::{
    net::WireEvent,
    script::{
        describe::{self, ordinal, short},
        model::{Cut, CutPoint, Plan},
    },
    wirelog::{AnswerEnd, Payload, Request, Sent},
};
use std::collections::BTreeMap;

pub(super) const BOLD: Style = Style::new().bold();
pub(super) const DIM: Style = Style::new().dimmed();
pub(super) const BAD: Style = AnsiColor::Red.on_default().bold();
const FAULT: Style = AnsiColor::Yellow.on_default();
const ASKED: Style = AnsiColor::Cyan.on_default();

/// Turns events into lines. Remembers which exchange was on which connection.
pub(super) struct Live {
    faults: BTreeMap<usize, String>,
    exchanges: BTreeMap<usize, (u32, Option<usize>)>,
}

impl Live {
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            faults: plan
                .faults
                .iter()
                .map(|fault| (fault.number, describe::behaviour(&fault.behaviour)))
                .collect(),
            exchanges: BTreeMap::new(),
        }
    }

    /// The lines of an event, each with its end; empty where there is nothing to tell.
    pub(super) fn lines(&mut self, event: &WireEvent) -> String {
        match event {
            WireEvent::Opened { at_us, connection } => {
                line(*at_us, *connection, "+", DIM, "connected")
            }
            WireEvent::CutAtAccept {
                at_us,
                connection,
                fault,
                cut,
            } => {
                self.fired(*at_us, *connection, *fault)
                    + &line(*at_us, *connection, "<", FAULT, &cut_words(*cut))
            }
            WireEvent::Closed { at_us, connection } => {
                line(*at_us, *connection, "-", DIM, "closed")
            }
            WireEvent::Request {
                at_us,
                connection,
                exchange,
                call,
                attempt,
                request,
                fault,
            } => {
                self.exchanges.insert(*exchange, (*connection, *fault));
                let what = call.map_or_else(
                    || "no call of the protocol".to_owned(),
                    |call| format!("{call}, {}", ordinal(*attempt)),
                );
                let text = format!(
                    "{}{}{}  {what}{}",
                    BOLD.render(),
                    asked(request),
                    BOLD.render_reset(),
                    key_note(request)
                );
                let mut lines = line(*at_us, *connection, ">", ASKED, &text);
                if let Some(fault) = fault {
                    lines += &self.fired(*at_us, *connection, *fault);
                }
                lines
            }
            WireEvent::Sent {
                at_us,
                exchange,
                what,
            } => {
                let (connection, fault) = self.exchanges.get(exchange).copied().unwrap_or_default();
                let style = if fault.is_some() { FAULT } else { Style::new() };
                sent(what).map_or_else(String::new, |text| {
                    line(*at_us, connection, "<", style, &text)
                })
            }
            WireEvent::Abandoned { at_us, exchange } => {
                let (connection, _) = self.exchanges.get(exchange).copied().unwrap_or_default();
                line(
                    *at_us,
                    connection,
                    ">",
                    ASKED,
                    "the client left in the middle of the answer",
                )
            }
            WireEvent::Unreadable {
                at_us,
                connection,
                error,
            } => line(
                *at_us,
                *connection,
                ">",
                BAD,
                &format!("no HTTP request: {error}"),
            ),
            WireEvent::Refusing { at_us, fault } => {
                self.fired(*at_us, 0, *fault)
                    + &line(*at_us, 0, "<", FAULT, "the port refuses connections")
            }
            WireEvent::Listening { at_us, .. } => {
                line(*at_us, 0, "<", FAULT, "the port listens again")
            }
            WireEvent::Trapped(trapped) => {
                let key = if trapped.key { ", WITH THE KEY" } else { "" };
                line(
                    trapped.at_us,
                    0,
                    ">",
                    BAD,
                    &format!("at the other origin: {}{key}", asked(&trapped.request)),
                )
            }
        }
    }

    fn fired(&self, at_us: u64, connection: u32, fault: usize) -> String {
        let says = self.faults.get(&fault).map_or("", String::as_str);
        line(
            at_us,
            connection,
            "!",
            FAULT,
            &format!("fault {fault}: {says}"),
        )
    }
}

fn line(at_us: u64, connection: u32, mark: &str, style: Style, text: &str) -> String {
    let seconds = format!("{}.{:03}", at_us / 1_000_000, at_us / 1_000 % 1_000);
    let number = if connection == 0 {
        String::new()
    } else {
        format!("#{connection}")
    };
    format!(
        "{}{seconds:>8} {number:>4}{} {}{mark} {text}{}\n",
        DIM.render(),
        DIM.render_reset(),
        style.render(),
        style.render_reset()
    )
}

fn asked(request: &Request) -> String {
    format!("{} {}", request.method, shortened(&request.target))
}

/// A target with its long ids cut short, so that a line fits a terminal.
fn shortened(target: &str) -> String {
    const KEPT: usize = 9;
    let (path, query) = target
        .split_once('?')
        .map_or((target, None), |(path, query)| (path, Some(query)));
    let segments: Vec<String> = path
        .split('/')
        .map(|segment| {
            if segment.chars().count() > KEPT + 8 {
                segment.chars().take(KEPT).chain("..".chars()).collect()
            } else {
                segment.to_owned()
            }
        })
        .collect();
    let path = segments.join("/");
    query.map_or_else(|| path.clone(), |query| format!("{path}?{query}"))
}

fn key_note(request: &Request) -> &'static str {
    if request.header_values("x-api-key").next().is_none() {
        "  (no key)"
    } else {
        ""
    }
}

fn cut_words(cut: Cut) -> String {
    let how = if cut.reset { "RST" } else { "FIN" };
    let when = match cut.at {
        CutPoint::Accept => "right after accepting",
        CutPoint::HeadRead => "after the request's head",
        CutPoint::BodyRead => "after the whole request",
    };
    format!("{how} {when}")
}

fn sent(what: &Sent) -> Option<String> {
    Some(match what {
        Sent::Head {
            http10,
            status,
            reason,
            headers,
        } => {
            let version = if *http10 { "HTTP/1.0 " } else { "" };
            let kind = headers
                .iter()
                .find(|(name, _)| name == "content-type")
                .map_or("", |(_, value)| value.as_str());
            format!("{version}{status} {reason}  {kind}")
                .trim_end()
                .to_owned()
        }
        Sent::Frames { from, to, .. } if from == to => format!("frame {from}"),
        Sent::Frames { from, to, .. } => format!("frames {from} to {to}"),
        Sent::Body { what, bytes, .. } => match what {
            Payload::True(of) => describe::frame(*of),
            Payload::Part(of) => format!("{} bytes of {}", bytes.len(), describe::frame(*of)),
            Payload::Edited(of) => format!(
                "{}, changed: {}",
                describe::frame(*of),
                short(bytes.trim_ascii_end())
            ),
            Payload::Forged(_) => format!("forged: {}", short(bytes.trim_ascii_end())),
            Payload::Raw(_) => format!("raw: {}", short(bytes)),
            Payload::Heartbeat => "heartbeat".to_owned(),
            Payload::Exit => format!("exit: {}", short(bytes.trim_ascii_end())),
            Payload::Error => format!("error: {}", short(bytes.trim_ascii_end())),
            Payload::Plain => short(bytes.trim_ascii_end()),
        },
        Sent::End { how, .. } => match how {
            AnswerEnd::Complete => return None,
            AnswerEnd::CloseDelimited => "FIN, the end of a body without length".to_owned(),
            AnswerEnd::Scripted(end) => describe::end(*end).to_owned(),
            AnswerEnd::Cut(cut) => cut_words(*cut),
            AnswerEnd::Held => "held without an answer, FIN".to_owned(),
            AnswerEnd::Short => "FIN before the announced length".to_owned(),
            AnswerEnd::TrialOver => "the server stops".to_owned(),
        },
        _ => return None,
    })
}
