//! A program's last words, and whether they tell a secret.

use super::job::Secret;
use regex::bytes::Regex;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Bytes of stderr that are kept (`adapter-protocol`).
pub(super) const TAIL_BYTES: usize = 64 << 10;

/// Jobs whose secrets are remembered for redaction after they ended: a program may be late to log.
const REMEMBERED_JOBS: usize = 64;

/// What a program printed beside its answers. Several jobs may share it: each sees what was printed
/// since it began, with every known secret replaced by its name.
#[derive(Debug, Default)]
pub(super) struct Tail {
    /// The last [`TAIL_BYTES`] bytes.
    bytes: VecDeque<u8>,
    /// Bytes ever printed.
    printed: u64,
    /// Jobs that run.
    watches: BTreeMap<String, Watch>,
    /// Secrets of jobs that ended.
    past: VecDeque<Vec<Needle>>,
}

/// What one job wants to know.
#[derive(Debug)]
struct Watch {
    /// How much had been printed when it began.
    from: u64,
    needles: Vec<Needle>,
    found: BTreeSet<String>,
}

/// A secret and how to find it. The expression is made when something is printed, which is seldom.
#[derive(Debug)]
struct Needle {
    secret: Secret,
    finder: Option<Regex>,
}

impl Needle {
    /// `None` if the expression is too large to be made (a standard input of many megabytes).
    fn finder(&mut self) -> Option<&Regex> {
        if self.finder.is_none() {
            self.finder = literal(&self.secret.value);
        }
        self.finder.as_ref()
    }
}

/// An expression that matches exactly these bytes.
fn literal(bytes: &[u8]) -> Option<Regex> {
    use std::fmt::Write as _;
    let mut pattern = String::from("(?s-u)");
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(pattern, "\\x{byte:02x}");
    }
    Regex::new(&pattern).ok()
}

impl Tail {
    /// Watches for a job's secrets from now on.
    pub(super) fn watch(&mut self, job: &str, secrets: &[Secret]) {
        let needles = secrets
            .iter()
            .map(|secret| Needle {
                secret: secret.clone(),
                finder: None,
            })
            .collect();
        self.watches.insert(
            job.to_owned(),
            Watch {
                from: self.printed,
                needles,
                found: BTreeSet::new(),
            },
        );
    }

    /// Something was printed.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.printed += bytes.len() as u64;
        self.bytes.extend(bytes);
        let surplus = self.bytes.len().saturating_sub(TAIL_BYTES + bytes.len());
        self.bytes.drain(..surplus);
        self.search(bytes.len());
        let surplus = self.bytes.len().saturating_sub(TAIL_BYTES);
        self.bytes.drain(..surplus);
    }

    /// Looks for the secrets of running jobs in the last `new` bytes, also where one began before them.
    fn search(&mut self, new: usize) {
        let kept = self.bytes.make_contiguous();
        for watch in self.watches.values_mut() {
            for needle in &mut watch.needles {
                if watch.found.contains(&needle.secret.name) {
                    continue;
                }
                let reach = new + needle.secret.value.len().saturating_sub(1);
                let haystack = &kept[kept.len().saturating_sub(reach)..];
                if needle
                    .finder()
                    .is_some_and(|finder| finder.is_match(haystack))
                {
                    watch.found.insert(needle.secret.name.clone());
                }
            }
        }
    }

    /// The job ended: what was printed since it began, redacted, and which of its secrets that told.
    pub(super) fn finish(&mut self, job: &str) -> (String, Vec<String>) {
        let Some(watch) = self.watches.remove(job) else {
            return (String::new(), Vec::new());
        };
        let since = usize::try_from(self.printed - watch.from).unwrap_or(usize::MAX);
        let start = self.bytes.len().saturating_sub(since);
        let words = self.bytes.make_contiguous()[start..].to_vec();
        self.past.push_back(watch.needles);
        if self.past.len() > REMEMBERED_JOBS {
            self.past.pop_front();
        }
        let leaks = watch
            .found
            .into_iter()
            .map(|name| format!("stderr: {name}"))
            .collect();
        (self.redact(words), leaks)
    }

    /// Everything that is kept, redacted.
    pub(super) fn words(&mut self) -> String {
        let words = self.bytes.make_contiguous().to_vec();
        self.redact(words)
    }

    /// Puts its name in place of every secret that is known.
    fn redact(&mut self, mut words: Vec<u8>) -> String {
        if !words.is_empty() {
            let running = self
                .watches
                .values_mut()
                .flat_map(|watch| &mut watch.needles);
            for needle in self.past.iter_mut().flatten().chain(running) {
                let name = needle.secret.name.clone();
                if let Some(finder) = needle.finder() {
                    let clean = finder.replace_all(&words, regex::bytes::NoExpand(name.as_bytes()));
                    if let std::borrow::Cow::Owned(clean) = clean {
                        words = clean;
                    }
                }
            }
        }
        String::from_utf8_lossy(&words).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(value: &str) -> Vec<Secret> {
        vec![Secret {
            name: "{api-key}".to_owned(),
            value: value.as_bytes().to_vec(),
        }]
    }

    #[test]
    fn a_secret_cut_in_two_writes_is_found_and_redacted() {
        let mut tail = Tail::default();
        tail.watch("a", &key("skp_secret"));
        tail.push(b"using skp_s");
        tail.push(b"ecret now");
        let (words, leaks) = tail.finish("a");
        assert_eq!(words, "using {api-key} now");
        assert_eq!(leaks, ["stderr: {api-key}"]);
    }

    #[test]
    fn a_leak_is_the_leak_of_the_job_whose_secret_it_is() {
        let mut tail = Tail::default();
        tail.push(b"early\n");
        tail.watch("a", &key("skp_aaaaaa"));
        tail.watch("b", &key("skp_bbbbbb"));
        tail.push(b"skp_bbbbbb\n");
        assert_eq!(tail.finish("a"), ("{api-key}\n".to_owned(), vec![]));
        assert_eq!(tail.finish("b").1, ["stderr: {api-key}"]);
        tail.watch("c", &key("skp_cccccc"));
        tail.push(b"late skp_aaaaaa");
        assert_eq!(tail.finish("c"), ("late {api-key}".to_owned(), vec![]));
    }

    #[test]
    fn only_the_tail_is_kept_but_all_of_it_was_searched() {
        let mut tail = Tail::default();
        tail.watch("a", &key("skp_secret"));
        tail.push(b"skp_secret");
        tail.push(&vec![b'x'; 3 * TAIL_BYTES]);
        let (words, leaks) = tail.finish("a");
        assert_eq!(words.len(), TAIL_BYTES);
        assert_eq!(leaks.len(), 1);
    }

    #[test]
    fn a_secret_of_any_bytes_is_taken_literally() {
        let mut tail = Tail::default();
        tail.watch(
            "a",
            &[Secret {
                name: "{stdin}".to_owned(),
                value: b".*\xff\x00[\n".to_vec(),
            }],
        );
        tail.push(b"harmless text\n");
        tail.push(b"<.*\xff\x00[\n>");
        let (words, leaks) = tail.finish("a");
        assert_eq!(words, "harmless text\n<{stdin}>");
        assert_eq!(leaks.len(), 1);
    }
}
