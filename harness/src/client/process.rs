//! Programs under test as processes: each in a group of its own, so that nothing it started outlives it.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
};
use tokio::process::Command;

/// A process group. Dropping it kills every process that is still in it.
#[derive(Debug)]
pub(super) struct Group(libc::pid_t);

impl Group {
    /// The group that a child leads which was started with [`program`].
    ///
    /// `None` for a child that has been waited for already.
    pub(super) fn led_by(child: &tokio::process::Child) -> Option<Self> {
        let pid = libc::pid_t::try_from(child.id()?).ok()?;
        Some(Self(pid))
    }

    /// Asks all of them to end (SIGTERM).
    pub(super) fn terminate(&self) {
        self.signal(libc::SIGTERM);
    }

    /// Ends all of them (SIGKILL).
    pub(super) fn kill(&self) {
        self.signal(libc::SIGKILL);
    }

    /// A group that is empty by now is no error. Its number is not given to another one as long as a
    /// process is in it; that an empty group's number comes back while we still hold it would need
    /// the kernel to go round all process ids within one trial.
    fn signal(&self, signal: libc::c_int) {
        // SAFETY: kill takes two integers and touches no memory of ours. The number is that of a
        // child we started, so it is above 1 and the group is not our own.
        unsafe {
            libc::kill(-self.0, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A command that runs in `folder`, leads its own process group and has no standard input, output or
/// error yet. `line` is the program and its arguments; a program with a `/` is found from the folder.
pub(super) fn program(line: &[String], folder: &Path) -> Command {
    let (name, arguments) = line
        .split_first()
        .map_or(("", &[][..]), |(name, rest)| (name.as_str(), rest));
    let path = if name.contains('/') {
        folder.join(name)
    } else {
        PathBuf::from(name)
    };
    let mut command = Command::new(OsString::from(path));
    command
        .args(arguments)
        .current_dir(folder)
        .process_group(0)
        .kill_on_drop(true)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// What may help when a program was not started; nothing where the system's own words are enough.
pub(super) fn start_hint(program: &str, folder: &Path, error: &io::Error) -> Option<String> {
    let path = folder.join(program);
    if error.kind() == io::ErrorKind::PermissionDenied {
        return Some(if path.is_dir() {
            "it is a folder".to_owned()
        } else {
            format!(
                "make it executable, `chmod +x {program}`, or name what runs it: command = [\"{}\", \"{program}\"]",
                interpreter(program)
            )
        });
    }
    (error.raw_os_error() == Some(libc::ENOEXEC)).then(|| {
        format!(
            "a script says in its first line what runs it, `#!/usr/bin/env {}`, or `command` does",
            interpreter(program)
        )
    })
}

/// What usually runs a file of this name.
fn interpreter(program: &str) -> &'static str {
    match Path::new(program).extension().and_then(|end| end.to_str()) {
        Some("py") => "python3",
        Some("js" | "mjs" | "cjs") => "node",
        Some("ts") => "deno",
        Some("rb") => "ruby",
        Some("pl") => "perl",
        _ => "sh",
    }
}

/// How a program ended, in words.
pub(super) fn words(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => format!("killed by {}", signal_name(signal)),
        (None, None) => status.to_string(),
    }
}

/// `SIGSEGV`, or `signal 63` for one without a name of its own.
pub(super) fn signal_name(signal: i32) -> String {
    let name = match signal {
        libc::SIGHUP => "SIGHUP",
        libc::SIGINT => "SIGINT",
        libc::SIGQUIT => "SIGQUIT",
        libc::SIGILL => "SIGILL",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGKILL => "SIGKILL",
        libc::SIGUSR1 => "SIGUSR1",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGUSR2 => "SIGUSR2",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGALRM => "SIGALRM",
        libc::SIGTERM => "SIGTERM",
        libc::SIGXCPU => "SIGXCPU",
        libc::SIGXFSZ => "SIGXFSZ",
        libc::SIGSYS => "SIGSYS",
        other => return format!("signal {other}"),
    };
    name.to_owned()
}
