//! Programs of the Python kit, as their authors run them.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

/// How long a program may take to start.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running program; it is killed when this is dropped.
pub(crate) struct Program(Child);

impl Program {
    /// Starts a script with the kit, and returns when it serves.
    pub(crate) fn python(script: &Path, settings: &[(&str, &str)]) -> Self {
        let mut child = Command::new(tools().join("python"))
            .arg(script)
            .env("PYTHONPATH", kit().join("src"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .envs(settings.iter().copied())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("python starts");
        let log = BufReader::new(child.stderr.take().expect("its log"));
        let program = Self(child);
        let (said, heard) = channel();
        // Reads on when the program serves, so that it can write.
        std::thread::spawn(move || {
            for line in log.lines().map_while(Result::ok) {
                let _gone = said.send(line);
            }
        });
        let mut lines = Vec::new();
        while !lines
            .last()
            .is_some_and(|line: &String| line.contains("serving "))
        {
            match heard.recv_timeout(PATIENCE) {
                Ok(line) => lines.push(line),
                Err(error) => panic!("the program does not serve ({error}):\n{}", lines.join("\n")),
            }
        }
        program
    }

    /// Ends it at once: it gets no chance to finish what runs.
    pub(crate) fn kill(mut self) {
        self.end();
    }

    fn end(&mut self) {
        let _gone = self.0.kill();
        let _ended = self.0.wait();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.end();
    }
}

/// An example of the kit.
pub(crate) fn example(name: &str) -> PathBuf {
    kit().join("examples").join(name)
}

fn kit() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../openapi/clients/python")
}

/// The Python environment that `cargo xtask test` installs with the server of the bus.
fn tools() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("../tools/nats/bin")
}
