//! HTTP for one job: one connection at a time, kept for the next request after a fully read answer.
//! Nothing is repeated here, no redirect is followed, and no body is read that nobody asked for.

mod dial;
mod link;

pub(super) use dial::{Dial, Wire};
pub(super) use link::Body;

use super::{
    bug::{Bug, Quirk},
    failure::{Broken, Failure, Kind, Phase},
};

use http_body_util::Full;
use hyper::{
    HeaderMap, Method, Request,
    body::Bytes,
    header::{ACCEPT, CONTENT_TYPE, HOST, HeaderName, HeaderValue, USER_AGENT},
};
use link::Link;

/// Bytes of a JSON answer that are read at the most; the protocol's own are a few hundred.
const ANSWER_BYTES: usize = 1 << 20;

/// A request, before the headers that all have.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    pub(super) method: Method,
    /// Path and query.
    pub(super) target: String,
    /// A body.
    pub(super) body: Option<Bytes>,
    /// What it is; JSON unless said.
    pub(super) media: &'static str,
    /// Send no key ([`Bug::ReconnectWithoutKey`]).
    pub(super) keyless: bool,
}

impl Ask {
    pub(super) fn new(method: Method, target: String) -> Self {
        Self {
            method,
            target,
            body: None,
            media: "application/json",
            keyless: false,
        }
    }
}

/// An answer's head, its body still to come.
pub(super) struct Answer<S: Wire> {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Body<S>,
}

impl<S: Wire> Answer<S> {
    pub(super) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// A header that is text.
    pub(super) fn header(&self, name: HeaderName) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Whether the body is coded although no coding was asked for. It is refused then, whatever it holds.
    pub(super) fn is_coded(&self) -> bool {
        self.headers
            .get_all(hyper::header::CONTENT_ENCODING)
            .iter()
            .any(|value| !value.as_bytes().eq_ignore_ascii_case(b"identity"))
    }
}

/// The HTTP side of one job.
pub(super) struct Http<'a, D: Dial> {
    dial: &'a D,
    authority: String,
    key: HeaderValue,
    idle: Option<Link<D::Socket>>,
    quirk: Quirk,
}

impl<'a, D: Dial> Http<'a, D> {
    /// For `base_url` (`http://HOST:PORT`) and a key.
    ///
    /// # Errors
    /// Another scheme, or a key that no header can carry.
    pub(super) fn new(
        dial: &'a D,
        base_url: &str,
        key: &str,
        quirk: Quirk,
    ) -> Result<Self, Failure> {
        let authority = base_url
            .strip_prefix("http://")
            .map(|rest| rest.trim_end_matches('/'))
            .filter(|rest| !rest.is_empty() && !rest.contains('/'))
            .ok_or_else(|| {
                Failure::new(Kind::Unsupported, "the base URL is not http://HOST:PORT")
            })?;
        let mut key = HeaderValue::from_str(key).map_err(|_| {
            Failure::new(
                Kind::Other,
                "the API key has characters that no header can carry",
            )
        })?;
        key.set_sensitive(true);
        Ok(Self {
            dial,
            authority: authority.to_owned(),
            key,
            idle: None,
            quirk,
        })
    }

    /// Sends a request and waits for the answer's head. If the idle connection is known to be gone, a new
    /// one is made; if it breaks under the request, that is a failure like any other.
    ///
    /// # Errors
    /// No connection, or no answer on it.
    pub(super) async fn send(&mut self, ask: &Ask) -> Result<Answer<D::Socket>, Broken> {
        let answer = match self.send_once(ask).await {
            Err(_) if self.quirk.is(Bug::RequestResent) => self.send_once(ask).await?,
            answer => answer?,
        };
        if self.quirk.is(Bug::RedirectsFollowed) {
            return self.follow_redirects(ask, answer).await;
        }
        Ok(answer)
    }

    /// Reads a JSON answer's body to its end and keeps the connection.
    ///
    /// # Errors
    /// A body that is coded, too long or broken.
    pub(super) async fn text(&mut self, mut answer: Answer<D::Socket>) -> Result<Bytes, Broken> {
        if answer.is_coded() {
            return Err(Broken::new(Phase::Coded));
        }
        let mut text = Vec::new();
        while let Some(chunk) = answer.body.chunk().await? {
            if text.len() + chunk.len() > ANSWER_BYTES {
                return Err(Broken::new(Phase::TooLong));
            }
            text.extend_from_slice(&chunk);
        }
        self.keep(answer.body);
        Ok(text.into())
    }

    /// Keeps the connection of a body that was read to its end.
    pub(super) fn keep(&mut self, body: Body<D::Socket>) {
        self.idle = Some(body.into_link());
    }

    async fn send_once(&mut self, ask: &Ask) -> Result<Answer<D::Socket>, Broken> {
        let mut link = match self.reusable().await {
            Some(idle) => idle,
            None => Link::open(self.dial, &self.authority).await?,
        };
        let response = link.send(self.request(ask)?).await?;
        let (head, incoming) = response.into_parts();
        Ok(Answer {
            status: head.status.as_u16(),
            headers: head.headers,
            body: Body::new(link, incoming),
        })
    }

    /// The idle connection, if it still stands.
    async fn reusable(&mut self) -> Option<Link<D::Socket>> {
        let mut idle = self.idle.take()?;
        idle.is_ready().await.then_some(idle)
    }

    fn request(&self, ask: &Ask) -> Result<Request<Full<Bytes>>, Broken> {
        let mut request = Request::builder()
            .method(ask.method.clone())
            .uri(&ask.target)
            .header(HOST, &self.authority)
            .header(USER_AGENT, AGENT)
            .header(ACCEPT, "application/x-ndjson, application/json");
        if !ask.keyless {
            request = request.header("x-api-key", self.key.clone());
        }
        if ask.body.is_some() {
            request = request.header(CONTENT_TYPE, ask.media);
        }
        let body = ask.body.clone().unwrap_or_default();
        // Ids are checked before they enter a target, so only a wrong client gets an error here.
        request
            .body(Full::new(body))
            .map_err(|_| Broken::new(Phase::Asking))
    }

    /// [`Bug::RedirectsFollowed`].
    async fn follow_redirects(
        &mut self,
        ask: &Ask,
        mut answer: Answer<D::Socket>,
    ) -> Result<Answer<D::Socket>, Broken> {
        let mut ask = ask.clone();
        for _ in 0..5 {
            let location = answer.header(hyper::header::LOCATION).map(str::to_owned);
            let Some(location) = location.filter(|_| (300..400).contains(&answer.status)) else {
                break;
            };
            match location.split_once("://") {
                Some((_, rest)) => {
                    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
                    authority.clone_into(&mut self.authority);
                    ask.target = format!("/{path}");
                }
                None => ask.target = location,
            }
            drop(answer);
            answer = self.send_once(&ask).await?;
        }
        Ok(answer)
    }
}

/// Who asks.
const AGENT: &str = concat!("createos-conformance-reference/", env!("CARGO_PKG_VERSION"));
