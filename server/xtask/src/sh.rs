//! Running other programs: every one is announced, and a failure says which one and how it ended.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread;

use anyhow::{Context, Result, bail};

use crate::paths;

/// A program with its arguments, run in the workspace's root unless set otherwise.
pub(crate) struct Sh {
    program: OsString,
    args: Vec<OsString>,
    envs: Vec<(OsString, OsString)>,
    hidden: Option<&'static str>,
    folder: PathBuf,
    own_group: bool,
}

/// What a program printed (both streams, in order of arrival) and how it ended.
pub(crate) struct Outcome {
    /// Everything it printed.
    pub(crate) text: String,
    /// How it ended.
    pub(crate) status: ExitStatus,
}

impl Sh {
    /// A program found on `PATH`, or by its path.
    pub(crate) fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            envs: Vec::new(),
            hidden: None,
            folder: paths::root(),
            own_group: false,
        }
    }

    /// A program and its arguments, from one text split at spaces.
    pub(crate) fn words(line: &str) -> Self {
        let mut words = line.split_whitespace();
        Self::new(words.next().unwrap_or_default()).args(words)
    }

    /// Cargo, as it was started for this task.
    pub(crate) fn cargo(line: &str) -> Self {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        Self::new(cargo).args(line.split_whitespace())
    }

    /// One more argument.
    pub(crate) fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// More arguments.
    pub(crate) fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// An environment variable.
    pub(crate) fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.envs.push((name.into(), value.into()));
        self
    }

    /// Keeps our own variables with this prefix from it: a developer's settings must not change what happens here.
    pub(crate) fn without(mut self, prefix: &'static str) -> Self {
        self.hidden = Some(prefix);
        self
    }

    /// The folder it runs in.
    pub(crate) fn folder(mut self, folder: impl AsRef<Path>) -> Self {
        self.folder = folder.as_ref().to_owned();
        self
    }

    /// Makes it the first of a process group, so that a terminal's Ctrl-C is not for it.
    pub(crate) fn in_own_group(mut self) -> Self {
        self.own_group = true;
        self
    }

    /// Lets it have only the processor time that nothing else wants.
    pub(crate) fn in_background(mut self) -> Self {
        let program = std::mem::replace(&mut self.program, "nice".into());
        self.args.splice(0..0, ["-n".into(), "19".into(), program]);
        self
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        if let Some(prefix) = self.hidden {
            for (name, _) in
                std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with(prefix))
            {
                command.env_remove(name);
            }
        }
        command
            .args(&self.args)
            .envs(self.envs.iter().cloned())
            .current_dir(&self.folder)
            .stdin(Stdio::null());
        if self.own_group {
            command.process_group(0);
        }
        command
    }

    fn announce(&self) {
        println!("  $ {self}");
    }

    /// Runs it with its output going where ours goes.
    pub(crate) fn run(&self) -> Result<()> {
        self.announce();
        let status = self
            .command()
            .status()
            .with_context(|| format!("cannot start `{self}`"))?;
        self.check(status)
    }

    /// Runs it silently and returns what it printed on standard output.
    pub(crate) fn read(&self) -> Result<String> {
        let output = self
            .command()
            .output()
            .with_context(|| format!("cannot start `{self}`"))?;
        if !output.status.success() {
            bail!(
                "`{self}` ended with {}: {}",
                output.status,
                String::from_utf8_lossy(&output.stderr).trim()
            );
        }
        String::from_utf8(output.stdout)
            .with_context(|| format!("`{self}` printed something that is not text"))
    }

    /// Runs it silently and returns everything it printed and how it ended.
    pub(crate) fn read_all(&self) -> Result<Outcome> {
        let output = self
            .command()
            .output()
            .with_context(|| format!("cannot start `{self}`"))?;
        let text = [output.stdout, output.stderr].concat();
        Ok(Outcome {
            text: String::from_utf8_lossy(&text).into_owned(),
            status: output.status,
        })
    }

    /// Whether it can be started and succeeds, without showing anything.
    pub(crate) fn succeeds(&self) -> bool {
        self.command()
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    }

    /// Runs it, shows what it prints as it comes, and keeps it.
    pub(crate) fn tee(&self) -> Result<Outcome> {
        self.tee_as(&self.to_string())
    }

    /// The same, announced by a text of one's own: for commands with a secret in them.
    pub(crate) fn tee_as(&self, announced: &str) -> Result<Outcome> {
        println!("  $ {announced}");
        let mut child = self
            .command()
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start `{self}`"))?;
        let mut text = String::new();
        for line in lines_of(&mut child) {
            println!("{line}");
            text.push_str(&line);
            text.push('\n');
        }
        let status = child
            .wait()
            .with_context(|| format!("cannot wait for `{self}`"))?;
        Ok(Outcome { text, status })
    }

    /// Starts it with both streams piped and leaves it running.
    pub(crate) fn spawn(&self) -> Result<Child> {
        self.command()
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start `{self}`"))
    }

    fn check(&self, status: ExitStatus) -> Result<()> {
        if !status.success() {
            bail!("`{self}` ended with {status}");
        }
        Ok(())
    }
}

impl fmt::Display for Sh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&short(&self.program))?;
        self.args.iter().try_for_each(|arg| write!(f, " {}", short(arg)))
    }
}

/// Paths inside the workspace read better without its root.
fn short(text: &OsStr) -> String {
    text.to_string_lossy()
        .replace(&format!("{}/", paths::root().display()), "")
}

/// The lines of both streams as they come; ends when the program has closed both.
pub(crate) fn lines_of(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    let (sender, receiver) = channel();
    if let Some(stdout) = child.stdout.take() {
        forward(stdout, sender.clone());
    }
    if let Some(stderr) = child.stderr.take() {
        forward(stderr, sender);
    }
    receiver.into_iter()
}

fn forward(stream: impl Read + Send + 'static, sender: Sender<String>) {
    thread::spawn(move || {
        let mut reader = BufReader::new(stream);
        let mut line = Vec::new();
        while let Ok(1..) = reader.read_until(b'\n', &mut line) {
            let text = String::from_utf8_lossy(&line)
                .trim_end_matches(['\n', '\r'])
                .to_owned();
            line.clear();
            if sender.send(text).is_err() {
                break;
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tee_keeps_both_streams_and_the_status() {
        let outcome = Sh::new("sh")
            .args(["-c", "echo one; echo two >&2; exit 3"])
            .tee()
            .unwrap();
        assert_eq!(outcome.status.code(), Some(3));
        let mut lines: Vec<_> = outcome.text.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, ["one", "two"]);
    }

    #[test]
    fn a_failure_names_the_command() {
        let error = Sh::words("sh -c false").run().unwrap_err().to_string();
        assert!(error.contains("sh -c false"), "{error}");
        assert!(Sh::new("there-is-no-such-program").read().is_err());
    }

    #[test]
    fn environment_and_folder_reach_the_program() {
        let folder = std::env::temp_dir().canonicalize().unwrap();
        let text = Sh::new("sh")
            .args(["-c", "echo $COLOUR; pwd"])
            .env("COLOUR", "green")
            .folder(&folder)
            .read()
            .unwrap();
        assert_eq!(text, format!("green\n{}\n", folder.display()));
    }

    #[test]
    fn a_program_can_be_put_beyond_ctrl_c() {
        // Its id and that of its group (proc_pid_stat(5)).
        let shell = || Sh::new("sh").args(["-c", "cut -d ' ' -f 1,5 /proc/$$/stat"]);
        let leads = |text: String| {
            let (process, group) = text.trim().split_once(' ').unwrap();
            process == group
        };
        assert!(!leads(shell().read().unwrap()));
        assert!(leads(shell().in_own_group().read().unwrap()));
    }

    #[test]
    fn variables_can_be_kept_from_a_program() {
        // Cargo sets these for every program it runs.
        let script = ["-c", "echo ${CARGO_MANIFEST_DIR:-none} $CARGO_NEW"];
        let text = Sh::new("sh")
            .args(script)
            .without("CARGO_")
            .env("CARGO_NEW", "set")
            .read()
            .unwrap();
        assert_eq!(text, "none set\n");
        assert_ne!(Sh::new("sh").args(script).read().unwrap(), "none \n");
    }
}
