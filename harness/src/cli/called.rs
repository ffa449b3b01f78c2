//! How this program was called, so that the commands it prints can be copied.

use std::path::{Path, PathBuf};

/// The name it is installed under.
const NAME: &str = "createos-conformance";

/// What is known of the call.
#[derive(Debug, Default)]
struct Call {
    /// The word it was called by.
    word: Option<String>,
    /// The package that cargo runs, if cargo runs one.
    package: Option<PathBuf>,
    /// The package that this program was built from.
    built_from: PathBuf,
    /// Where the call was made.
    folder: Option<PathBuf>,
    /// Whether it is a release build.
    release: bool,
}

/// The words that call this program again, from the same folder.
#[expect(
    clippy::disallowed_methods,
    reason = "the edge: what the environment says of the call is read here"
)]
pub(super) fn program() -> Vec<String> {
    let release = std::env::current_exe()
        .ok()
        .and_then(|path| path.parent().map(|folder| folder.ends_with("release")));
    words(&Call {
        word: std::env::args().next(),
        // Cargo sets both for what it runs, and nobody else sets the first.
        package: std::env::var_os("CARGO")
            .and_then(|_| std::env::var_os("CARGO_MANIFEST_DIR"))
            .map(PathBuf::from),
        built_from: PathBuf::from(env!("CARGO_MANIFEST_DIR")),
        folder: std::env::current_dir().ok(),
        release: release.unwrap_or(false),
    })
}

fn words(call: &Call) -> Vec<String> {
    let is_cargo = call.package.as_ref() == Some(&call.built_from);
    if !is_cargo {
        let word = call.word.as_deref().filter(|word| !word.is_empty());
        return vec![word.unwrap_or(NAME).to_owned()];
    }
    let mut words = vec!["cargo".to_owned(), "run".to_owned()];
    if call.release {
        words.push("--release".to_owned());
    }
    if let Some(manifest) = manifest(call) {
        words.push(format!("--manifest-path {manifest}"));
    }
    words.push("--".to_owned());
    words
}

/// The workspace's manifest, where cargo would not find it by itself, or not run this program by default.
fn manifest(call: &Call) -> Option<String> {
    let root = call.built_from.parent().unwrap_or(&call.built_from);
    let folder = call.folder.as_deref()?;
    if folder == root || folder.starts_with(&call.built_from) {
        return None;
    }
    let path = root.join("Cargo.toml");
    let path = path.strip_prefix(folder).unwrap_or(&path);
    Some(shown(path))
}

fn shown(path: &Path) -> String {
    crate::report::story::shell_word(&path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(word: &str, package: Option<&str>, folder: &str, release: bool) -> String {
        words(&Call {
            word: Some(word.to_owned()),
            package: package.map(PathBuf::from),
            built_from: PathBuf::from("/src/conformance/harness"),
            folder: Some(PathBuf::from(folder)),
            release,
        })
        .join(" ")
    }

    #[test]
    fn installed_it_is_called_as_it_was() {
        assert_eq!(said(NAME, None, "/home", false), NAME);
        assert_eq!(said("./bin/cc", None, "/home", false), "./bin/cc");
        assert_eq!(words(&Call::default()), [NAME]);
    }

    #[test]
    fn by_cargo_it_is_called_by_cargo() {
        let package = Some("/src/conformance/harness");
        let built = "target/debug/createos-conformance";
        assert_eq!(
            said(built, package, "/src/conformance", false),
            "cargo run --"
        );
        assert_eq!(
            said(built, package, "/src/conformance/harness/src", true),
            "cargo run --release --"
        );
    }

    #[test]
    fn from_elsewhere_cargo_is_told_where() {
        let package = Some("/src/conformance/harness");
        assert_eq!(
            said("x", package, "/src", false),
            "cargo run --manifest-path conformance/Cargo.toml --"
        );
        assert_eq!(
            said("x", package, "/my client", false),
            "cargo run --manifest-path /src/conformance/Cargo.toml --"
        );
        assert_eq!(
            said("x", package, "/src/conformance/fake-server", false),
            "cargo run --manifest-path /src/conformance/Cargo.toml --",
            "there the default is another program"
        );
    }

    #[test]
    fn run_by_the_cargo_of_another_package_it_is_called_as_it_was() {
        assert_eq!(said("/opt/cc", Some("/other"), "/other", false), "/opt/cc");
    }
}
