//! Files: what the sandbox holds, and what is uploaded.

use super::base64;
use crate::{
    script::{
        mistakes::Gather,
        model::TruthFile,
        raw::{RawContents, RawFile},
        read::{At, Table as _},
        suggest::short,
        units::Size,
    },
    wire::Blob,
};

/// Bytes of a file, and of all of them together, at the most: a trial holds them more than once.
const MAX_BYTES: u64 = 64 << 20;

/// How long a filling goes on before it begins again: prime, so that no cut at a round number of bytes looks whole.
const PERIOD: usize = 251;

/// So many bytes that show where they were cut: 0 to 250, again and again.
#[must_use]
pub fn filling(bytes: usize) -> Vec<u8> {
    (0..bytes)
        .map(|at| u8::try_from(at % PERIOD).unwrap_or_default())
        .collect()
}

pub(super) fn build(raw: &RawFile, gather: &mut Gather) -> Vec<TruthFile> {
    let mut files: Vec<TruthFile> = Vec::new();
    let mut total = 0_u64;
    for at in raw.file.iter().flat_map(|files| &files.value) {
        let Some(path) = &at.value.path else { continue };
        check_path(path, gather);
        if files.iter().any(|file| file.path == path.value) {
            gather
                .at(
                    &path.span,
                    format!("`{}` is here twice", short(&path.value)),
                )
                .help("a path holds one file");
        }
        let data = contents(at, gather).unwrap_or_default();
        // usize is at most 64 bits wide.
        total = total.saturating_add(data.len() as u64);
        if total > MAX_BYTES {
            gather
                .at(&at.span, "these are more bytes than a trial can hold")
                .help("at most 64 MiB in all files together");
            break;
        }
        files.push(TruthFile {
            path: path.value.clone(),
            data,
        });
    }
    files
}

/// Notes a path that no file can have.
pub(super) fn check_path(path: &At<String>, gather: &mut Gather) {
    let text = &path.value;
    if !text.starts_with('/') || text.ends_with('/') || text.contains('\0') {
        gather
            .at(&path.span, "this is no absolute path of a file")
            .help("as in \"/data/file.bin\"");
    }
}

fn contents(at: &At<RawContents>, gather: &mut Gather) -> Option<Blob> {
    let raw = &at.value;
    let mut present = raw.present();
    present.retain(|(key, _)| *key != "path");
    if let [(first, first_place), (second, place), ..] = present.as_slice() {
        gather
            .at(
                place,
                format!("`{first}` and `{second}`: a file has its contents once"),
            )
            .context(first_place, "the first one")
            .help("one of them");
        return None;
    }
    if let Some(text) = &raw.text {
        return Some(Blob::from(text.value.as_str()));
    }
    if let Some(coded) = &raw.base64 {
        return base64(coded, gather).map(Blob);
    }
    raw.fill.as_ref().and_then(|size| filled(size, gather))
}

/// The filling of a size, if a trial can hold it.
pub(super) fn filled(size: &At<Size>, gather: &mut Gather) -> Option<Blob> {
    match usize::try_from(size.value.0) {
        Ok(bytes) if size.value.0 <= MAX_BYTES => Some(Blob(filling(bytes))),
        _ => {
            gather
                .at(&size.span, "this is more than a trial can hold")
                .help("at most 64 MiB");
            None
        }
    }
}
