//! Which fault meets a request.

use crate::{
    script::model::{Attempts, Behaviour, ConnectionUse, Content, CutPoint, Effect, Fault, Plan},
    wire::{Call, Op, limits},
};
use serde_json::Value;
use std::collections::BTreeMap;

/// What is known of a request when its fault is chosen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meeting {
    /// Which call.
    pub(super) call: Option<Call>,
    /// The nth such call.
    pub(super) attempt: u32,
    /// The nth request of all.
    pub(super) total: u32,
    /// Its cursor.
    pub(super) after: Option<u64>,
    /// Its connection.
    pub(super) connection: ConnectionUse,
}

/// Whether a fault is about a connection before any request is read. Attempts inside are not counted.
pub(super) fn is_before_requests(fault: &Fault) -> bool {
    fault.behaviour.refuse
        || fault
            .behaviour
            .cut
            .is_some_and(|cut| cut.at == CutPoint::Accept)
}

/// The fault that meets a request. Explicit attempts stand above ranges, ranges above open ones and
/// `every`; then the one with a guard, then the one for this call above `any`, then the first of the file.
pub(super) fn choose(faults: &[Fault], meeting: Meeting) -> Option<&Fault> {
    faults
        .iter()
        .filter(|fault| !is_before_requests(fault) && meets(fault, meeting))
        .min_by_key(|fault| {
            let width = match fault.attempts {
                Attempts::Nth(_) => 0,
                Attempts::Range(..) => 1,
                Attempts::From(_) => 2,
                Attempts::Every => 3,
            };
            let guarded = fault.when_after.is_some() || fault.on_connection.is_some();
            (width, !guarded, fault.on.is_none(), fault.number)
        })
}

fn meets(fault: &Fault, meeting: Meeting) -> bool {
    let count = match fault.on {
        None => meeting.total,
        call if call == meeting.call => meeting.attempt,
        Some(_) => return false,
    };
    fault.attempts.covers(count)
        && fault
            .when_after
            .is_none_or(|after| meeting.after.unwrap_or(0) == after)
        && fault
            .on_connection
            .is_none_or(|connection| meeting.connection == connection)
}

/// Whether nothing is answered at all.
pub(super) fn is_mute(behaviour: &Behaviour) -> bool {
    let says_something = behaviour.status.is_some() || behaviour.content != Content::Faithful;
    behaviour.cut.is_some() || (behaviour.hold_ms.is_some() && !says_something)
}

/// Whether a call that meets this takes effect: as the file says, else as the answer says.
pub(super) fn takes_effect(behaviour: &Behaviour) -> bool {
    match (behaviour.effect, behaviour.status) {
        (Some(effect), _) => effect == Effect::Done,
        (None, _) if is_mute(behaviour) => false,
        (None, Some(status)) => (200..300).contains(&status),
        (None, None) => !matches!(behaviour.content, Content::Redirect(_)),
    }
}

/// How many requests of each kind arrived and were over; what faults before requests depend on.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    arrived: BTreeMap<Call, u32>,
    ended: BTreeMap<Call, u32>,
    pub(super) arrived_total: u32,
    pub(super) ended_total: u32,
    /// How often each fault before requests has happened, by number.
    pub(super) happened: BTreeMap<usize, u32>,
}

impl Counts {
    /// Counts an arrival; the nth such call, 0 for no call.
    pub(super) fn arrive(&mut self, call: Option<Call>) -> u32 {
        self.arrived_total += 1;
        call.map_or(0, |call| {
            let count = self.arrived.entry(call).or_default();
            *count += 1;
            *count
        })
    }

    /// Counts an end.
    pub(super) fn end(&mut self, call: Option<Call>) {
        self.ended_total += 1;
        if let Some(call) = call {
            *self.ended.entry(call).or_default() += 1;
        }
    }

    fn has_ended(&self, call: Call, times: u32) -> bool {
        self.ended.get(&call).copied().unwrap_or(0) >= times
    }

    /// The first fault before requests that is due now: the call it stands before comes next.
    pub(super) fn due<'a>(
        &self,
        plan: &'a Plan,
        kind: impl Fn(&Fault) -> bool,
    ) -> Option<&'a Fault> {
        plan.faults
            .iter()
            .find(|fault| is_before_requests(fault) && kind(fault) && self.is_due(plan, fault))
    }

    fn is_due(&self, plan: &Plan, fault: &Fault) -> bool {
        let times = match fault.attempts {
            Attempts::Nth(_) => 1,
            Attempts::Range(from, to) => to.saturating_sub(from) + 1,
            Attempts::From(_) | Attempts::Every => u32::MAX,
        };
        if self.happened.get(&fault.number).copied().unwrap_or(0) >= times {
            return false;
        }
        let before = fault.attempts.first().saturating_sub(1);
        match fault.on {
            None => self.arrived_total == before && self.ended_total == before,
            Some(call) if self.arrived.get(&call).copied().unwrap_or(0) > before => false,
            Some(call) if before > 0 => self.has_ended(call, before),
            Some(call) => self.first_comes_next(plan, call),
        }
    }

    /// Whether the first call of this kind is what a client does next, as far as the op tells.
    fn first_comes_next(&self, plan: &Plan, call: Call) -> bool {
        let created = self.has_ended(Call::CreateProcess, 1);
        let starts = matches!(plan.op, Op::Execute | Op::Terminal);
        let stdin = plan.job.stdin.as_ref().is_some_and(|data| !data.is_empty());
        match call {
            Call::Input | Call::ResizeProcess if starts => created,
            Call::StdinClose if starts && stdin => self.has_ended(Call::Input, 1),
            Call::StdinClose if starts => created,
            Call::Connect if plan.op == Op::Execute => self.has_ended(Call::StdinClose, 1),
            Call::Connect if plan.op == Op::Terminal => created && self.is_typed(plan),
            Call::GetSandbox if plan.op == Op::Acquire => self.has_ended(Call::CreateSandbox, 1),
            Call::DeleteProcess | Call::Signal | Call::Wait | Call::GetProcess => {
                self.is_deviated(plan, call)
            }
            Call::DeleteSandbox if plan.op == Op::Acquire => self.is_deviated(plan, call),
            _ => true,
        }
    }

    /// Whether everything that is to be typed was sent, each piece and each size for itself. A client that joins pieces
    /// meets no fault before its first connect: better none than one that hits a request of another kind.
    fn is_typed(&self, plan: &Plan) -> bool {
        let items = plan.job.extra.get("input").and_then(Value::as_array);
        let items = || items.into_iter().flatten();
        let pieces = |item: &Value| {
            let data = item.get("data_base64").and_then(Value::as_str);
            // Four characters of base64 are three bytes, fewer fewer.
            let bytes = data.map_or(0, |data| data.trim_end_matches('=').len() * 3 / 4);
            bytes.div_ceil(limits::INPUT_BYTES)
        };
        let inputs: usize = items().map(pieces).sum();
        let sizes = items().filter(|item| item.get("cols").is_some()).count();
        let all =
            |call, count: usize| self.has_ended(call, u32::try_from(count).unwrap_or(u32::MAX));
        all(Call::Input, inputs) && all(Call::ResizeProcess, sizes)
    }

    /// Calls that only a failure brings about come after everything else that goes wrong.
    fn is_deviated(&self, plan: &Plan, but: Call) -> bool {
        /// Connects of the default profile: one and three more.
        const BUDGET: u32 = 4;
        self.ended_total > 0
            && plan
                .faults
                .iter()
                .filter(|fault| !fault.bait && !is_before_requests(fault))
                .filter_map(|fault| Some((fault.on?, fault.attempts)))
                .filter(|(call, _)| *call != but)
                .all(|(call, attempts)| match attempts {
                    Attempts::Nth(n) | Attempts::Range(_, n) => self.has_ended(call, n),
                    Attempts::From(n) => self.has_ended(call, n.max(BUDGET)),
                    Attempts::Every => self.has_ended(call, BUDGET),
                })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::model::Cut;

    fn fault(number: usize, on: Option<Call>, attempts: Attempts) -> Fault {
        Fault {
            number,
            on,
            attempts,
            when_after: None,
            on_connection: None,
            bait: false,
            behaviour: Behaviour::default(),
        }
    }

    fn meeting(attempt: u32) -> Meeting {
        Meeting {
            call: Some(Call::Connect),
            attempt,
            total: attempt + 1,
            after: Some(2),
            connection: ConnectionUse::Fresh,
        }
    }

    fn chosen(faults: &[Fault], meeting: Meeting) -> Option<usize> {
        choose(faults, meeting).map(|fault| fault.number)
    }

    #[test]
    fn explicit_numbers_stand_above_ranges_and_ranges_above_every() {
        let on = Some(Call::Connect);
        let faults = [
            fault(1, on, Attempts::Every),
            fault(2, on, Attempts::From(2)),
            fault(3, on, Attempts::Range(2, 3)),
            fault(4, on, Attempts::Nth(3)),
        ];
        let picks: Vec<_> = (1..=4)
            .map(|attempt| chosen(&faults, meeting(attempt)).unwrap())
            .collect();
        assert_eq!(picks, [1, 3, 4, 2]);
    }

    #[test]
    fn any_counts_all_requests_and_gives_way_to_the_call_itself() {
        let any = fault(1, None, Attempts::Nth(3));
        let every = fault(2, Some(Call::Connect), Attempts::Every);
        assert_eq!(chosen(&[any.clone(), every.clone()], meeting(2)), Some(1));
        assert_eq!(chosen(&[any, every], meeting(1)), Some(2));
        let both = [
            fault(1, None, Attempts::Nth(2)),
            fault(2, Some(Call::Connect), Attempts::Nth(1)),
        ];
        assert_eq!(chosen(&both, meeting(1)), Some(2));
    }

    #[test]
    fn guards_are_kept() {
        let mut guarded = fault(1, Some(Call::Connect), Attempts::Nth(1));
        guarded.when_after = Some(3);
        assert_eq!(chosen(std::slice::from_ref(&guarded), meeting(1)), None);
        guarded.when_after = Some(2);
        let plain = fault(2, Some(Call::Connect), Attempts::Nth(1));
        assert_eq!(chosen(&[plain, guarded.clone()], meeting(1)), Some(1));
        guarded.on_connection = Some(ConnectionUse::Reused);
        assert_eq!(chosen(&[guarded], meeting(1)), None);
    }

    #[test]
    fn what_is_before_requests_never_meets_one() {
        let mut refuse = fault(1, Some(Call::Connect), Attempts::Nth(1));
        refuse.behaviour.refuse = true;
        let mut accept = fault(2, Some(Call::Connect), Attempts::Nth(1));
        accept.behaviour.cut = Some(Cut {
            at: CutPoint::Accept,
            reset: true,
        });
        assert_eq!(chosen(&[refuse, accept], meeting(1)), None);
    }

    #[test]
    fn an_effect_follows_the_answer_unless_it_is_said() {
        let mut behaviour = Behaviour::default();
        assert!(takes_effect(&behaviour));
        behaviour.status = Some(502);
        assert!(!takes_effect(&behaviour));
        behaviour.effect = Some(Effect::Done);
        assert!(takes_effect(&behaviour));
        let cut = Behaviour {
            cut: Some(Cut {
                at: CutPoint::BodyRead,
                reset: false,
            }),
            ..Behaviour::default()
        };
        assert!(!takes_effect(&cut));
    }
}
