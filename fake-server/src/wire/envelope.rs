//! JSend envelopes and status lines.

use bytes::Bytes;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// `{"status":"success","data":..}`: a 2xx.
#[must_use]
pub fn success(data: Value) -> Value {
    json!({ "status": "success", "data": data })
}

/// [`success`] as text: what nearly every answer is, so it is not built as a tree first. Clones share
/// the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Success(Bytes);

impl Success {
    const BEGIN: &str = "{\"status\":\"success\",\"data\":";

    /// Around this data.
    #[must_use]
    pub fn of(data: &impl Serialize) -> Self {
        // Most answers fit in this, and then the text is written without moving.
        let mut text = Vec::with_capacity(1024);
        text.extend_from_slice(Self::BEGIN.as_bytes());
        // Data holds strings, numbers and lists only: nothing in it can fail to serialise.
        let _ = serde_json::to_writer(&mut text, data);
        text.push(b'}');
        // Without the room that is left: the wire log keeps it.
        Self(text.into_boxed_slice().into())
    }

    /// The whole envelope.
    #[must_use]
    pub fn into_text(self) -> Bytes {
        self.0
    }

    /// The data alone, as JSON text.
    #[must_use]
    pub fn data(&self) -> &str {
        let data = &self.0[Self::BEGIN.len()..self.0.len() - 1];
        std::str::from_utf8(data).unwrap_or_default()
    }
}

/// `{"status":"fail","data":{"code":..,"message":..,field:message..}}`: the client's fault, a 4xx.
#[must_use]
pub fn fail(code: &str, message: &str, fields: &[(String, String)]) -> Value {
    let mut data = Map::new();
    data.insert("code".to_owned(), code.into());
    data.insert("message".to_owned(), message.into());
    for (field, text) in fields {
        data.entry(field.clone())
            .or_insert_with(|| text.as_str().into());
    }
    json!({ "status": "fail", "data": data })
}

/// `{"status":"error","message":..,"code":status}`: the server's fault, a 5xx.
#[must_use]
pub fn error(status: u16, message: &str) -> Value {
    json!({ "status": "error", "message": message, "code": status })
}

/// What a server says with this status when nothing more is known: an error for 5xx, a fail for 4xx.
#[must_use]
pub fn of_status(status: u16) -> Value {
    let words = reason(status).to_ascii_lowercase();
    if status >= 500 {
        error(status, &words)
    } else {
        fail(&words.replace([' ', '-'], "_"), &words, &[])
    }
}

/// The usual reason phrase; for an unassigned status a word for its class.
#[must_use]
pub const fn reason(status: u16) -> &'static str {
    match status {
        100 => "Continue",
        101 => "Switching Protocols",
        102 => "Processing",
        103 => "Early Hints",
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        203 => "Non-Authoritative Information",
        204 => "No Content",
        205 => "Reset Content",
        206 => "Partial Content",
        300 => "Multiple Choices",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        402 => "Payment Required",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        407 => "Proxy Authentication Required",
        408 => "Request Timeout",
        409 => "Conflict",
        410 => "Gone",
        411 => "Length Required",
        412 => "Precondition Failed",
        413 => "Content Too Large",
        414 => "URI Too Long",
        415 => "Unsupported Media Type",
        416 => "Range Not Satisfiable",
        417 => "Expectation Failed",
        418 => "I'm a teapot",
        421 => "Misdirected Request",
        422 => "Unprocessable Content",
        423 => "Locked",
        424 => "Failed Dependency",
        425 => "Too Early",
        426 => "Upgrade Required",
        428 => "Precondition Required",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        451 => "Unavailable For Legal Reasons",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        507 => "Insufficient Storage",
        511 => "Network Authentication Required",
        _ => class(status),
    }
}

const fn class(status: u16) -> &'static str {
    match status / 100 {
        1 => "Informational",
        2 => "Success",
        3 => "Redirection",
        4 => "Client Error",
        5 => "Server Error",
        _ => "Unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fail_names_code_message_and_fields() {
        let body = fail(
            "validation",
            "bad body",
            &[("shape".to_owned(), "is missing".to_owned())],
        );
        assert_eq!(
            body.to_string(),
            r#"{"status":"fail","data":{"code":"validation","message":"bad body","shape":"is missing"}}"#
        );
    }

    #[test]
    fn a_success_is_the_same_as_text_and_as_a_tree() {
        let data = json!({ "id": "a\"b", "list": [1, null] });
        let told = Success::of(&data);
        assert_eq!(told.data(), data.to_string());
        assert_eq!(told.into_text(), success(data).to_string());
    }

    #[test]
    fn a_bare_status_gets_the_envelope_of_its_class() {
        assert_eq!(
            of_status(503).to_string(),
            r#"{"status":"error","message":"service unavailable","code":503}"#
        );
        assert_eq!(of_status(429)["data"]["code"], "too_many_requests");
    }
}
