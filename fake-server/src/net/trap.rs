//! The trap: another origin that records what is sent there. A client that follows a redirect to it,
//! or sends its key there, gets a tempting answer, so that nothing but the client's own rule stops it.

use super::{heard::Heard, request, socket::Socket, trial::Trial};
use crate::{
    script::model::{Content, Plan, Redirect, Step},
    wirelog::{Names, Request},
};
use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    Response, body::Incoming, header::HeaderValue, server::conn::http1, service::service_fn,
};
use hyper_util::rt::TokioIo;
use std::{convert::Infallible, sync::Arc};

/// Whether the plan can lead anybody to the trap.
pub(super) fn is_wanted(plan: &Plan) -> bool {
    const PLACEHOLDER: &str = "{trap-url}";
    plan.faults.iter().any(|fault| {
        let behaviour = &fault.behaviour;
        let in_headers = behaviour
            .headers
            .iter()
            .any(|(_, values)| values.iter().any(|value| value.contains(PLACEHOLDER)));
        let in_content = match &behaviour.content {
            Content::Redirect(Redirect::OtherOrigin | Redirect::Downgrade) => true,
            Content::Redirect(Redirect::SameOrigin | Redirect::Loop)
            | Content::Faithful
            | Content::Endless(_) => false,
            Content::Text(text) => text.contains(PLACEHOLDER),
            Content::Json(json) => json.to_string().contains(PLACEHOLDER),
            Content::Bytes(bytes) => contains(bytes, PLACEHOLDER),
            Content::Data { with, .. } => with
                .values()
                .any(|value| value.to_string().contains(PLACEHOLDER)),
            Content::Stream(steps) => steps.iter().any(|step| names_it(step, PLACEHOLDER)),
        };
        in_headers || in_content
    })
}

fn names_it(step: &Step, placeholder: &str) -> bool {
    match step {
        Step::Frame { fields, .. } | Step::Edited { with: fields, .. } => fields
            .values()
            .any(|value| value.to_string().contains(placeholder)),
        Step::Raw { bytes, .. } => contains(bytes, placeholder),
        Step::Error { code, .. } => code.contains(placeholder),
        Step::Trickle { step, .. } | Step::Every { step, .. } => names_it(step, placeholder),
        Step::Loop { steps, .. } => steps.iter().any(|step| names_it(step, placeholder)),
        _ => false,
    }
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes
        .windows(text.len())
        .any(|window| window == text.as_bytes())
}

/// Serves a connection that came to the trap.
pub(super) async fn serve(trial: Arc<Trial>, socket: Socket) {
    let service = service_fn(|request: hyper::Request<Incoming>| {
        let trial = Arc::clone(&trial);
        async move { Ok::<_, Infallible>(answer(&trial, request).await) }
    });
    // What a client does with a trap beyond its requests is of no interest.
    let _ = http1::Builder::new()
        .header_read_timeout(None)
        .auto_date_header(false)
        .serve_connection(TokioIo::new(socket), service)
        .await;
}

async fn answer(trial: &Trial, request: hyper::Request<Incoming>) -> Response<Full<Bytes>> {
    let (parts, incoming) = request.into_parts();
    let mut told = Heard::of(&parts, trial.names(), None).shown();
    let (body, complete) = match request::body(incoming).await {
        request::Body::Whole(body) => (body.to_vec(), true),
        request::Body::TooLong(body) | request::Body::Broken(body) => (body, false),
    };
    told.body = body.into();
    told.body_complete = complete;
    let (content_type, body) = bait(&told, trial.names());
    trial.trapped(told);
    let mut response = Response::new(Full::new(Bytes::from(body)));
    response
        .headers_mut()
        .insert("content-type", HeaderValue::from_static(content_type));
    response
}

/// What looks like the answer the client wants.
fn bait(request: &Request, names: &Names) -> (&'static str, String) {
    if request.path.last().is_some_and(|last| last == "connect") {
        let exit = crate::wire::frame::exit_line(Some(0), None);
        return (
            "application/x-ndjson",
            String::from_utf8_lossy(&exit).into_owned(),
        );
    }
    let body = serde_json::json!({
        "status": "success",
        "data": {
            "id": names.sandbox_id,
            "process_id": names.process_id,
            "status": "running",
            "tree_exited": true,
            "ok": true,
        },
    });
    ("application/json", body.to_string())
}
