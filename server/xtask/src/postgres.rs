//! A PostgreSQL server of our own for tests: new every time, on a free port, gone afterwards.

use std::fs;
use std::path::PathBuf;
use std::process::Child;

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::install;
use crate::server::free_port;
use crate::sh::{self, Sh};

/// A running server. Dropping it stops it and removes its files.
pub(crate) struct Postgres {
    child: Child,
    port: u16,
    _folder: TempDir,
}

impl Postgres {
    /// Creates and starts one; durability is switched off, because nothing outlives the tests.
    pub(crate) fn start() -> Result<Self> {
        let bin = programs()?;
        let folder = tempfile::Builder::new().prefix("toolgate-postgres-").tempdir()?;
        let data = folder.path().join("data");
        if is_root() {
            Sh::words("chown postgres").arg(folder.path()).read()?;
        }
        unprivileged(bin.join("initdb"))
            .args([
                "--username=postgres",
                "--auth=trust",
                "--encoding=UTF8",
                "--locale=C",
                "--no-sync",
                "--pgdata",
            ])
            .arg(&data)
            .folder(folder.path())
            .read()
            .context("cannot create a PostgreSQL database")?;
        let port = free_port()?;
        let mut command = unprivileged(bin.join("postgres"))
            .arg("-D")
            .arg(&data)
            .folder(folder.path());
        for setting in [
            format!("port={port}"),
            "listen_addresses=127.0.0.1".to_owned(),
            format!("unix_socket_directories={}", folder.path().display()),
            "max_connections=300".to_owned(),
            "fsync=off".to_owned(),
            "synchronous_commit=off".to_owned(),
            "full_page_writes=off".to_owned(),
        ] {
            command = command.arg("-c").arg(setting);
        }
        let mut child = command.env("LC_ALL", "C").spawn()?;
        let mut lines = sh::lines_of(&mut child);
        let mut said = String::new();
        for line in lines.by_ref() {
            said.push_str(&line);
            said.push('\n');
            if line.contains("ready to accept connections") {
                // Somebody must go on reading, or the server would block on a full pipe.
                std::thread::spawn(move || lines.for_each(drop));
                return Ok(Self {
                    child,
                    port,
                    _folder: folder,
                });
            }
        }
        let status = child.wait()?;
        bail!("PostgreSQL ended with {status}; it said:\n{said}")
    }

    /// The address of a database in which the tests may create others.
    pub(crate) fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // SIGINT asks for a fast stop: clients are disconnected.
        let _ = kill_process(Pid::from_child(&self.child), Signal::INT);
        let _ = self.child.wait();
    }
}

/// The folder with `initdb` and `postgres`, which distributions keep off `PATH`.
fn programs() -> Result<PathBuf> {
    if let Some(folder) = installed() {
        return Ok(folder);
    }
    install::packages(&["postgresql"], "testing on PostgreSQL")?;
    installed().context("there is still no PostgreSQL after installing it")
}

fn installed() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten();
    let mut folders: Vec<_> = versions
        .filter_map(|entry| {
            Some((
                entry.file_name().to_str()?.parse::<u32>().ok()?,
                entry.path().join("bin"),
            ))
        })
        .collect();
    folders.sort();
    let newest = folders.into_iter().rev().map(|(_, folder)| folder);
    let on_path = install::find("postgres").and_then(|path| Some(path.parent()?.to_owned()));
    newest
        .chain(on_path)
        .find(|folder| folder.join("initdb").is_file() && folder.join("postgres").is_file())
}

fn is_root() -> bool {
    rustix::process::getuid().is_root()
}

/// PostgreSQL refuses to run as root; the packages bring a user for it.
fn unprivileged(program: PathBuf) -> Sh {
    if is_root() {
        Sh::words("setpriv --reuid=postgres --regid=postgres --clear-groups --").arg(program)
    } else {
        Sh::new(program)
    }
}
