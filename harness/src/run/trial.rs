//! One trial: a server that plays the plan, the client asked its job, everything that was seen and said collected
//! and judged.

use super::{
    delivery::{Delivery, delivered_by},
    late::Lateness,
};
use crate::{
    case::{Case, Trial},
    client::{
        Answer, Client,
        job::{JobRequest, Live},
    },
    contract::{self, oracle::Expected},
    judge::{CheckStatus, judge},
    observed::{Observed, Reply},
};
use fake_server::{
    net::{Connector, Options, Server, Transport},
    script::model::Plan,
    wirelog::WireLog,
};
use std::{
    future::{Future, poll_fn},
    io,
    pin::pin,
    sync::Arc,
    task::Poll,
    time::Duration,
};
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, sleep},
};

/// What a trial is left at the least to close its connections once the client has answered, at the end of its time.
const LAST_GRACE: Duration = Duration::from_millis(200);
/// Requests after which a client is out of hand, and is not listened to any longer. A right one makes a few dozen.
const MOST_REQUESTS: usize = 2_000;
/// How often a client in memory may be woken. Its clock stands still while it is busy, so that one which never
/// waits would never come to its deadline.
const MOST_TURNS: u64 = 2_000_000;

/// A trial that is judged, and what is kept of it until the run ends.
pub(super) struct Ran {
    /// The result.
    pub(super) case: Case,
    /// How long it took, on the clock of its transport.
    pub(super) took: Duration,
    /// Its server, which still notes later calls.
    pub(super) kept: Option<Kept>,
}

/// A server whose trial was judged. It lives until the run ends, so that later calls with its key are seen.
pub(super) struct Kept {
    server: Server,
    plan: Arc<Plan>,
    expected: Expected,
    observed: Observed,
    job: String,
    calls: usize,
}

/// A hundred years: a client may promise any time for its clean-up, and no clock goes further than some.
const LONGEST_MS: u64 = 100 * 365 * 24 * 60 * 60 * 1000;

/// Plays one plan.
pub(super) async fn trial(
    number: usize,
    plan: Arc<Plan>,
    client: &Client,
    transport: Transport,
    multiplier: f64,
) -> Ran {
    let began = Instant::now();
    let promises = client.promises();
    let expected = contract::claimed(&plan, promises)
        .map(|()| contract::oracle::expected(&plan, promises))
        .and_then(|expected| expected.applicable.clone().map(|()| expected));
    let expected = match expected {
        Ok(expected) => expected,
        Err(reason) => {
            let case = Case::unplayed(plan, CheckStatus::NotApplicable, &reason);
            return Ran {
                case,
                took: Duration::ZERO,
                kept: None,
            };
        }
    };
    let within = Duration::from_millis(expected.deadline_ms.min(LONGEST_MS));
    let deadline = began + within.mul_f64(multiplier);
    let server = match start(number, &plan, transport) {
        Ok(server) => server,
        Err(error) => {
            let reason = format!("the fake server could not start: {error}");
            let case = Case::unplayed(plan, CheckStatus::HarnessError, &reason);
            return Ran {
                case,
                took: began.elapsed(),
                kept: None,
            };
        }
    };
    let job = JobRequest::new(format!("{}#{number}", plan.id), &plan, server.names());
    let job_id = job.id.clone();
    let mut observed = ask(&server, &plan, client, job, deadline).await;
    let grace = deadline
        .saturating_duration_since(Instant::now())
        .max(LAST_GRACE);
    server.settled(grace).await;
    blame_late(client, &job_id, &mut observed).await;
    let mut log = server.log();
    let calls = calls(&log);
    client.secrets().leave_out(&plan, &mut log, &mut observed);
    let verdict = judge(&plan, promises, &expected, &log, &observed);
    let case = Case {
        plan: Arc::clone(&plan),
        trial: Some(Trial {
            log,
            observed: observed.clone(),
        }),
        verdict,
    };
    let kept = Kept {
        server,
        plan,
        expected,
        observed,
        job: job_id,
        calls,
    };
    Ran {
        case,
        took: began.elapsed(),
        kept: Some(kept),
    }
}

fn start(number: usize, plan: &Arc<Plan>, transport: Transport) -> io::Result<Server> {
    let options = Options {
        transport,
        trial: number as u64,
        ..Options::default()
    };
    Server::start(Arc::clone(plan), options)
}

impl Kept {
    /// Ends the server. If calls came after the trial was judged, it is judged again.
    pub(super) async fn end(mut self, client: &Client) -> Option<Case> {
        let late_fault = blame_late(client, &self.job, &mut self.observed).await;
        let mut log = self.server.stop().await;
        if calls(&log) == self.calls && !late_fault {
            return None;
        }
        let secrets = client.secrets();
        secrets.leave_out(&self.plan, &mut log, &mut self.observed);
        let verdict = judge(
            &self.plan,
            client.promises(),
            &self.expected,
            &log,
            &self.observed,
        );
        Some(Case {
            plan: self.plan,
            trial: Some(Trial {
                log,
                observed: self.observed,
            }),
            verdict,
        })
    }
}

/// Requests that arrived, trap included.
fn calls(log: &WireLog) -> usize {
    log.exchanges.len() + log.trap.len()
}

/// An adapter that says more about a job after its result has broken its protocol. Tells whether it has.
async fn blame_late(client: &Client, job: &str, observed: &mut Observed) -> bool {
    let late = client.take_late(job).await;
    let Some(first) = late.first() else {
        return false;
    };
    if matches!(observed.reply, Reply::Result(_)) {
        observed.reply = Reply::AdapterFault(first.clone());
        return true;
    }
    false
}

/// Asks the client and listens until it has answered, or its time is over.
async fn ask(
    server: &Server,
    plan: &Plan,
    client: &Client,
    job: JobRequest,
    deadline: Instant,
) -> Observed {
    let (live_tx, mut live) = mpsc::unbounded_channel();
    let (cancel_tx, cancel) = watch::channel(false);
    let mut heard = Heard {
        server,
        delivery: Delivery::new(plan, client.promises().profile.output),
        outputs: Vec::new(),
        events: Vec::new(),
    };
    let mut cancelled_us = None;
    let connector = server.connector();
    let job_id = job.id.clone();
    let mut running = pin!(client.run(job, &connector, live_tx, cancel, deadline));
    let mut moment = pin!(cancel_moment(server, plan));
    let mut flooded = pin!(server.flooded(MOST_REQUESTS));
    let mut turns = 0;
    let mut busy = pin!(poll_fn(|_| {
        // Asked each time that anything else here is.
        turns += 1;
        if turns > MOST_TURNS && matches!(connector, Connector::Memory(_)) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }));
    let mut late = Lateness::default();
    let mut stopped = None;
    let answer = loop {
        tokio::select! {
            answer = &mut running => break answer,
            () = &mut flooded => {
                stopped = Some(format!("it had made more than {MOST_REQUESTS} requests"));
                break client.abandon(&job_id);
            }
            () = &mut busy => {
                stopped = Some(format!("it had been busy {MOST_TURNS} times without an end"));
                break client.abandon(&job_id);
            }
            Some(said) = live.recv() => heard.take(said),
            () = late.tick(), if cancelled_us.is_some() => {}
            () = &mut moment, if cancelled_us.is_none() => {
                cancelled_us = Some(server.now_us());
                late.begin();
                // A client that has answered in the meantime needs no cancel.
                let _ = cancel_tx.send(true);
            }
        }
    };
    // What was handed over before the result may still lie in the channel.
    while let Ok(said) = live.try_recv() {
        heard.take(said);
    }
    let ended_us = server.now_us();
    let Answer {
        reply,
        stderr,
        leaks,
    } = answer;
    Observed {
        reply,
        outputs: heard.outputs,
        events: heard.events,
        ended_us,
        cancelled_us,
        late_us: late.worst(),
        stderr,
        leaks,
        stopped,
    }
}

/// Resolves when the client is to be asked to cancel; never if it is not.
fn cancel_moment(server: &Server, plan: &Plan) -> impl Future<Output = ()> {
    let wanted = plan
        .job
        .cancel
        .as_ref()
        .map(|cancel| (server.moment(cancel), Duration::from_millis(cancel.plus_ms)));
    async move {
        match wanted {
            Some((moment, plus)) => {
                moment.await;
                sleep(plus).await;
            }
            None => std::future::pending().await,
        }
    }
}

struct Heard<'a> {
    server: &'a Server,
    delivery: Delivery,
    outputs: Vec<crate::observed::LiveOutput>,
    events: Vec<crate::observed::ClientEvent>,
}

impl Heard<'_> {
    fn take(&mut self, said: Live) {
        let at_us = self.server.now_us();
        match said {
            Live::Output(mut output) => {
                output.at_us = at_us;
                for seq in self.delivery.output(&output) {
                    self.server.delivered(seq);
                }
                self.outputs.push(output);
            }
            Live::Event(mut event) => {
                event.at_us = at_us;
                if let Some(seq) = delivered_by(&event) {
                    self.server.delivered(seq);
                }
                self.events.push(event);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{client::reference::Reference, suite};
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpStream,
    };

    fn plan(id: &str) -> Arc<Plan> {
        let suite = suite::Suite::load(&[suite::embedded()]).unwrap();
        Arc::new(suite.get(id).unwrap().scenario.plan(0, 1))
    }

    fn passes(case: &Case) -> bool {
        case.status(false) == CheckStatus::Pass
    }

    #[tokio::test]
    async fn a_call_after_the_trial_is_added_to_its_verdict() {
        let client = Client::Reference(Reference::conformant());
        let plan = plan("stream/healthy-follow");
        let ran = trial(0, plan, &client, Transport::Tcp, 1.0).await;
        assert!(passes(&ran.case), "{:?}", ran.case.verdict);
        let names = ran.case.trial.unwrap().log.names;
        let authority = names.base_url.strip_prefix("http://").unwrap();
        let mut late = TcpStream::connect(authority).await.unwrap();
        let request = format!(
            "GET /v1/sandboxes/{}/processes/{}/connect?after=0 HTTP/1.1\r\nhost: x\r\nx-api-key: {}\r\nconnection: close\r\n\r\n",
            names.sandbox_id, names.process_id, names.api_key
        );
        late.write_all(request.as_bytes()).await.unwrap();
        late.read_to_end(&mut Vec::new()).await.unwrap();
        let revised = ran.kept.unwrap().end(&client).await;
        assert!(!passes(&revised.expect("judged again")));
    }

    #[tokio::test]
    async fn a_quiet_end_changes_no_verdict() {
        let client = Client::Reference(Reference::conformant());
        let plan = plan("stream/healthy-follow");
        let ran = trial(0, plan, &client, Transport::Tcp, 1.0).await;
        assert!(ran.kept.unwrap().end(&client).await.is_none());
    }

    #[tokio::test]
    async fn what_a_client_does_not_claim_is_not_asked() {
        let mut reference = Reference::conformant();
        reference.promises.ops.clear();
        let client = Client::Reference(reference);
        let plan = plan("stream/healthy-follow");
        let ran = trial(0, plan, &client, Transport::Tcp, 1.0).await;
        assert_eq!(ran.case.status(false), CheckStatus::NotApplicable);
        assert!(ran.case.trial.is_none() && ran.kept.is_none());
    }
}
