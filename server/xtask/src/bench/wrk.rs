//! One load run with `wrk`, and its figures.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};

use crate::sh::Sh;

/// A request that is repeated.
#[derive(Clone)]
pub(super) struct Target {
    /// Where to.
    pub(super) url: String,
    /// `Authorization: Bearer ...`, if any.
    pub(super) token: Option<String>,
    /// A JSON body to POST; GET without one.
    pub(super) body: Option<String>,
    /// What the client takes, where that is asked for.
    pub(super) accept: Option<&'static str>,
    /// The process that answers, when its processor time is of interest.
    pub(super) process: Option<u32>,
}

/// What one run measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Figures {
    /// Answers per second.
    pub(super) per_second: f64,
    /// Median latency in milliseconds.
    pub(super) p50_ms: f64,
    /// 99th percentile of the latency in milliseconds.
    pub(super) p99_ms: f64,
    /// Processor time of the answering process per answer in microseconds; NaN when it is not asked for. Other load on the
    /// machine moves it far less than it moves the answers per second.
    pub(super) cpu_us: f64,
}

impl Target {
    /// Writes the script that makes wrk send this request.
    pub(super) fn script(&self, folder: &Path, name: &str) -> Result<PathBuf> {
        let mut script = String::new();
        if let Some(token) = &self.token {
            writeln!(script, "wrk.headers[\"Authorization\"] = \"Bearer {token}\"")?;
        }
        if let Some(accept) = self.accept {
            writeln!(script, "wrk.headers[\"Accept\"] = \"{accept}\"")?;
        }
        if let Some(body) = &self.body {
            writeln!(script, "wrk.method = \"POST\"")?;
            writeln!(script, "wrk.headers[\"Content-Type\"] = \"application/json\"")?;
            writeln!(script, "wrk.body = [[{body}]]")?;
        }
        let path = folder.join(format!("{name}.lua"));
        fs::write(&path, script).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }
}

/// A load that goes on while something else is measured. It is ended when this is dropped.
pub(super) struct Beside(Child);

impl Beside {
    /// Begins it.
    pub(super) fn start(target: &Target, script: &Path, connections: u32) -> Result<Self> {
        let command = command(target, script, connections, 3600);
        Ok(Self(command.spawn()?))
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        let _gone = kill_process(Pid::from_child(&self.0), Signal::KILL);
        let _ended = self.0.wait();
    }
}

fn command(target: &Target, script: &Path, connections: u32, seconds: u32) -> Sh {
    Sh::words(&format!(
        "taskset -c 0 wrk --threads 1 --connections {connections} --duration {seconds}s --latency --timeout 60s"
    ))
    .arg("--script")
    .arg(script)
    .arg(&target.url)
}

/// Loads a target with one thread on CPU 0. An answer other than 2xx or a socket error makes the run invalid.
pub(super) fn load(target: &Target, script: &Path, connections: u32, seconds: u32) -> Result<Figures> {
    let used = || {
        target
            .process
            .map_or(Ok(f64::NAN), super::systems::processor_seconds)
    };
    let before = used()?;
    let text = command(target, script, connections, seconds).read()?;
    let spent = used()? - before;
    figures(&text, spent)
        .with_context(|| format!("the load on {} gave no valid figures:\n{text}", target.url))
}

fn figures(text: &str, spent_seconds: f64) -> Result<Figures> {
    for bad in ["Non-2xx", "Socket errors"] {
        if let Some(line) = text.lines().find(|line| line.contains(bad)) {
            bail!("not every request was answered well: {}", line.trim());
        }
    }
    let after = |label: &str| {
        text.lines()
            .find_map(|line| line.trim().strip_prefix(label))
            .map(str::trim)
            .with_context(|| format!("there is no {label:?}"))
    };
    let per_second: f64 = after("Requests/sec:")?
        .parse()
        .context("Requests/sec is not a number")?;
    ensure!(per_second > 0.0, "nothing was answered");
    let answers: f64 = text
        .lines()
        .find_map(|line| line.split_once(" requests in "))
        .context("there is no number of requests")?
        .0
        .trim()
        .parse()
        .context("the number of requests is not a number")?;
    Ok(Figures {
        per_second,
        p50_ms: milliseconds(after("50%")?)?,
        p99_ms: milliseconds(after("99%")?)?,
        cpu_us: spent_seconds * 1e6 / answers,
    })
}

/// `870.00us`, `1.25ms`, `2.01s`, `1.50m`.
fn milliseconds(text: &str) -> Result<f64> {
    let split = text
        .find(|c: char| c.is_ascii_alphabetic())
        .with_context(|| format!("{text:?} has no unit"))?;
    let (number, unit) = text.split_at(split);
    let factor = match unit {
        "us" => 0.001,
        "ms" => 1.0,
        "s" => 1000.0,
        "m" => 60_000.0,
        _ => bail!("{text:?} has an unknown unit"),
    };
    Ok(number
        .parse::<f64>()
        .with_context(|| format!("{text:?} is not a time"))?
        * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "Running 10s test @ http://127.0.0.1:1/\n  1 threads and 32 connections\n  Latency Distribution\n     \
        50%  870.00us\n     75%    1.00ms\n     90%    1.20ms\n     99%    1.82ms\n  350480 requests in 10.00s\n\
        Requests/sec:  35048.00\nTransfer/sec:     42.00MB\n";

    #[test]
    fn figures_are_read() {
        let figures = figures(OUTPUT, 7.0096).unwrap();
        assert!((figures.per_second - 35048.0).abs() < 1e-9);
        assert!((figures.cpu_us - 20.0).abs() < 1e-9);
        assert!((figures.p50_ms - 0.87).abs() < 1e-9);
        assert!((figures.p99_ms - 1.82).abs() < 1e-9);
    }

    #[test]
    fn a_run_with_errors_does_not_count() {
        for line in [
            "  Non-2xx or 3xx responses: 5\n",
            "  Socket errors: connect 0, read 3, write 0, timeout 0\n",
        ] {
            assert!(figures(&format!("{OUTPUT}{line}"), 1.0).is_err());
        }
        assert!(figures("", 1.0).is_err());
    }

    #[test]
    fn times_have_units() {
        for (text, expected) in [
            ("870.00us", 0.87),
            ("1.25ms", 1.25),
            ("2.01s", 2010.0),
            ("1.50m", 90_000.0),
        ] {
            assert!((milliseconds(text).unwrap() - expected).abs() < 1e-9, "{text}");
        }
        assert!(milliseconds("5").is_err());
        assert!(milliseconds("5h").is_err());
    }
}
