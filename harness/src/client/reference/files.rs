//! Ops `upload` and `download`: a file, byte for byte, or a failure that leaves nothing behind.

use super::{
    bug::{Bug, Quirk},
    envelope::Success,
    failure::{Broken, Failure, Kind, Phase},
    fields::File,
    follow::quote,
    http::{Answer, Ask, Dial, Http, Wire},
};
use crate::profile::Profile;
use hyper::{
    Method,
    body::Bytes,
    header::{CONTENT_LENGTH, CONTENT_TYPE},
};
use std::time::Duration;
use tokio::time::sleep;

/// How often an upload is repeated after a failure that may pass. The bytes are the same, so it does no harm.
const REPEATS: u32 = 1;

/// Bytes of a file that are read at the most: what the vendor's own tools transfer.
const FILE_BYTES: usize = 500 << 20;

/// Bytes of the paths' own alphabet that need no escape in a query.
const PLAIN: &[u8] = b"/-_.~";

const UPLOADING: &str = "uploading the file";
const DOWNLOADING: &str = "downloading the file";

/// Stores a file. Only a success envelope that tells of as many bytes as were sent proves it.
///
/// # Errors
/// A refusal, a broken connection, or an answer that does not prove it.
pub(super) async fn upload<D: Dial>(
    http: &mut Http<'_, D>,
    file: &File,
    profile: &Profile,
    quirk: Quirk,
) -> Result<(), Failure> {
    let mut data = Bytes::from(file.data.clone());
    if quirk.is(Bug::UploadAsText) {
        data = String::from_utf8_lossy(&data).into_owned().into();
    }
    let mut repeats = REPEATS;
    loop {
        let ask = Ask {
            body: Some(data.clone()),
            media: "application/octet-stream",
            ..Ask::new(Method::PUT, target(file, quirk))
        };
        match upload_once(http, &ask, quirk).await {
            Err(failure) if repeats > 0 && may_pass(&failure) => {
                repeats -= 1;
                sleep(Duration::from_millis(profile.reconnect_delay_ms)).await;
                if quirk.is(Bug::UploadRepeatedEmpty) {
                    data = Bytes::new();
                }
            }
            done => return done,
        }
    }
}

/// Whether another try may find another answer.
fn may_pass(failure: &Failure) -> bool {
    match failure.http_status {
        Some(status) => matches!(status, 429 | 500 | 502 | 503 | 504),
        None => failure.kind == Kind::Transport,
    }
}

async fn upload_once<D: Dial>(
    http: &mut Http<'_, D>,
    ask: &Ask,
    quirk: Quirk,
) -> Result<(), Failure> {
    let broken = |broken| Failure::broken(Kind::Transport, UPLOADING, &broken);
    let sent = ask.body.as_ref().map_or(0, Bytes::len);
    let mut answer = http.send(ask).await.map_err(broken)?;
    if !answer.is_success() {
        let refused = Failure::status(Kind::HttpError, UPLOADING, answer.status);
        return Err(quote(refused, &mut answer, quirk).await);
    }
    if quirk.is(Bug::UploadUnread) {
        return Ok(());
    }
    let text = http.text(answer).await.map_err(broken)?;
    let Some(success) = Success::read(&text, quirk) else {
        return Err(Failure::new(
            Kind::InvalidResponse,
            format!("{UPLOADING} was answered without a success envelope"),
        ));
    };
    let data = success.object();
    let stored = data.as_ref().and_then(|data| data.raw("bytes"));
    let differs = stored.is_some_and(|bytes| bytes != sent.to_string());
    if differs && !quirk.any(&[Bug::UploadSizeUnchecked, Bug::UploadRepeatedEmpty]) {
        return Err(Failure::new(
            Kind::InvalidResponse,
            format!("{UPLOADING} stored another number of bytes than the {sent} that were sent"),
        ));
    }
    Ok(())
}

/// Fetches a file into `file`. After a failure what stands there is of no use.
///
/// # Errors
/// A refusal, an answer that is not the file, or a body that broke off.
pub(super) async fn download<D: Dial>(
    http: &mut Http<'_, D>,
    asked: &File,
    file: &mut Vec<u8>,
    quirk: Quirk,
) -> Result<(), Failure> {
    let broken = |broken: &Broken| Failure::broken(Kind::Transport, DOWNLOADING, broken);
    let ask = Ask::new(Method::GET, target(asked, quirk));
    let mut answer = http.send(&ask).await.map_err(|error| broken(&error))?;
    let status = answer.status;
    let is_file = status == 200
        || quirk.is(Bug::FileStatusUnchecked)
        || (quirk.is(Bug::PartIsTheFile) && answer.is_success());
    if !is_file {
        let refused = Failure::status(Kind::HttpError, DOWNLOADING, status);
        return Err(quote(refused, &mut answer, quirk).await);
    }
    if answer.is_coded() && !quirk.is(Bug::CodedFileTaken) {
        return Err(broken(&Broken::new(Phase::Coded)));
    }
    if is_of_another_kind(&answer) && !quirk.any(&[Bug::PageIsTheFile, Bug::FileStatusUnchecked]) {
        return Err(Failure::new(
            Kind::InvalidResponse,
            format!("{DOWNLOADING} was answered with a page or JSON instead of the file"),
        ));
    }
    let announced = answer.headers.contains_key(CONTENT_LENGTH);
    loop {
        match answer.body.chunk().await {
            Ok(Some(bytes)) if file.len() + bytes.len() > FILE_BYTES => {
                return Err(broken(&Broken::new(Phase::TooLong)));
            }
            Ok(Some(bytes)) => file.extend_from_slice(&bytes),
            Ok(None) => break,
            Err(_) if announced && quirk.is(Bug::ShortFileAccepted) => return Ok(()),
            Err(_) if !announced && quirk.is(Bug::CutFileAccepted) => return Ok(()),
            Err(error) => return Err(broken(&error)),
        }
    }
    http.keep(answer.body);
    if file.is_empty() && quirk.is(Bug::EmptyFileRefused) {
        return Err(Failure::new(Kind::InvalidResponse, "the file is empty"));
    }
    if quirk.is(Bug::DownloadAsText) {
        *file = String::from_utf8_lossy(file).into_owned().into_bytes();
    }
    Ok(())
}

/// Whether the media type says that this is no file: files are plain bytes, pages and JSON are what proxies and
/// errors are made of.
fn is_of_another_kind<S: Wire>(answer: &Answer<S>) -> bool {
    let media = answer.header(CONTENT_TYPE).unwrap_or_default();
    let media = media.split(';').next().unwrap_or_default().trim();
    ["text/html", "application/xhtml+xml", "application/json"]
        .iter()
        .any(|foreign| media.eq_ignore_ascii_case(foreign))
}

/// The file's URL, its path escaped but for what every server reads alike.
fn target(file: &File, quirk: Quirk) -> String {
    let mut target = format!("{}?path=", file.files);
    for byte in file.path.bytes() {
        let plain = byte.is_ascii_alphanumeric() || PLAIN.contains(&byte);
        // What no request line can hold is escaped even by the wrong client.
        if plain || (quirk.is(Bug::PathUnescaped) && byte.is_ascii_graphic()) {
            target.push(char::from(byte));
        } else {
            target.push_str(&format!("%{byte:02X}"));
        }
    }
    target
}
