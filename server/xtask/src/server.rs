//! A Toolgate process of our own: started, waited for, and stopped by its id.

use std::ffi::OsString;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::sh::{self, Sh};

const START: Duration = Duration::from_secs(60);
/// Longer than the server's own limit for finishing what runs.
const STOP: Duration = Duration::from_secs(40);

/// A running server. Dropping it stops it.
pub(crate) struct Server {
    child: Child,
    address: String,
    log: Arc<Mutex<Vec<String>>>,
    ended: Receiver<()>,
}

/// How to start one.
pub(crate) struct Start<'a> {
    /// The binary.
    pub(crate) binary: &'a Path,
    /// `TOOLGATE_LISTEN`; port 0 takes a free one.
    pub(crate) listen: &'a str,
    /// `TOOLGATE_DATABASE_URL`.
    pub(crate) database_url: &'a str,
    /// Further settings.
    pub(crate) envs: &'a [(&'a str, &'a str)],
    /// Whether a person watches: its log is shown as it comes, and Ctrl-C is for us alone. A server that gets
    /// it too and is then asked by us to stop takes that for a second signal, and leaves its calls unfinished.
    pub(crate) watched: bool,
}

impl Server {
    /// Starts a server and returns when it listens.
    pub(crate) fn start(start: &Start<'_>) -> Result<Self> {
        let mut command = Sh::new(start.binary)
            .arg("serve")
            .without("TOOLGATE_")
            .env("TOOLGATE_LISTEN", start.listen)
            .env("TOOLGATE_DATABASE_URL", start.database_url);
        for (name, value) in start.envs {
            command = command.env(OsString::from(name), OsString::from(value));
        }
        if start.watched {
            command = command.in_own_group();
        }
        let mut child = command.spawn()?;
        let log = Arc::new(Mutex::new(Vec::new()));
        let (ready_sender, ready) = channel();
        let (end_sender, ended) = channel();
        let lines = sh::lines_of(&mut child);
        let kept = Arc::clone(&log);
        let show = start.watched;
        thread::spawn(move || {
            for line in lines {
                if show {
                    println!("{line}");
                }
                if let Some(address) = listening_address(&line) {
                    let _ = ready_sender.send(address);
                }
                kept.lock().unwrap_or_else(PoisonError::into_inner).push(line);
            }
            let _ = end_sender.send(());
        });
        let mut server = Self {
            child,
            address: String::new(),
            log,
            ended,
        };
        match ready.recv_timeout(START) {
            Ok(address) => server.address = address,
            Err(RecvTimeoutError::Timeout) => {
                bail!(
                    "the server does not listen after {} s; it said:\n{}",
                    START.as_secs(),
                    server.log()
                )
            }
            Err(RecvTimeoutError::Disconnected) => {
                let status = server.child.wait()?;
                bail!(
                    "the server ended with {status} instead of listening; it said:\n{}",
                    server.log()
                )
            }
        }
        Ok(server)
    }

    /// `http://host:port`, without a slash at the end.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// `host:port`.
    pub(crate) fn authority(&self) -> &str {
        self.address.trim_start_matches("http://")
    }

    /// The process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Everything it has printed so far.
    pub(crate) fn log(&self) -> String {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).join("\n")
    }

    /// The administrator's password, if this start made one up and printed it.
    pub(crate) fn printed_password(&self) -> Option<String> {
        self.log().lines().find_map(password_in)
    }

    /// Asks it to stop and waits until it has; an unclean end is an error.
    pub(crate) fn stop(mut self) -> Result<()> {
        let status = self.terminate()?;
        if !status.success() {
            bail!("the server ended with {status}; it said:\n{}", self.log());
        }
        Ok(())
    }

    /// Waits until it ends by itself, or until `interrupted` says so and then stops it.
    pub(crate) fn wait(mut self, interrupted: impl Fn() -> bool) -> Result<()> {
        loop {
            match self.ended.recv_timeout(Duration::from_millis(200)) {
                Err(RecvTimeoutError::Timeout) if !interrupted() => {}
                Err(RecvTimeoutError::Timeout) => return self.stop(),
                _ => {
                    let status = self.child.wait()?;
                    if interrupted() && status.success() {
                        return Ok(());
                    }
                    bail!("the server ended by itself with {status}");
                }
            }
        }
    }

    fn terminate(&mut self) -> Result<ExitStatus> {
        if let Some(status) = self.child.try_wait()? {
            return Ok(status);
        }
        kill_process(Pid::from_child(&self.child), Signal::TERM).context("cannot signal the server")?;
        let asked = Instant::now();
        while asked.elapsed() < STOP {
            // The log thread reports the end; the time-out only bounds one round.
            let _ = self.ended.recv_timeout(Duration::from_millis(50));
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
        }
        self.child.kill()?;
        self.child.wait()?;
        bail!(
            "the server had not stopped {} s after it was asked to",
            STOP.as_secs()
        )
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.terminate();
    }
}

/// A port of 127.0.0.1 without a listener at the moment.
pub(crate) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")
        .context("there is no free port")?
        .local_addr()?
        .port())
}

fn listening_address(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("listening on ")?;
    let address = rest.split_whitespace().next()?.trim_end_matches('/');
    address.starts_with("http://").then(|| address.to_owned())
}

fn password_in(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("password:")?;
    rest.split_whitespace().next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_read_from_the_ready_line() {
        for (line, address) in [
            (
                "listening on http://127.0.0.1:8080",
                Some("http://127.0.0.1:8080"),
            ),
            (
                "INFO toolgate listening on http://[::1]:9/ version=1",
                Some("http://[::1]:9"),
            ),
            ("listening on tcp 1", None),
            ("starting", None),
        ] {
            assert_eq!(listening_address(line).as_deref(), address, "{line}");
        }
    }

    #[test]
    fn the_password_is_read_from_its_line() {
        assert_eq!(
            password_in("  password: abc-def  (shown once)").as_deref(),
            Some("abc-def")
        );
        assert_eq!(password_in("no secret here"), None);
    }

    #[test]
    fn a_server_that_does_not_start_says_why() {
        let start = Start {
            binary: Path::new("/bin/sh"),
            listen: "127.0.0.1:0",
            database_url: "sqlite::memory:",
            envs: &[],
            watched: false,
        };
        // A shell looks for a script named `serve`, complains and ends.
        let error = Server::start(&start).err().unwrap().to_string();
        assert!(error.contains("serve"), "{error}");
    }
}
