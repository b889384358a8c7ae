//! A message bus of our own, and a tool service and a worker on it: for `cargo xtask up --bus` and for the tests.

use std::path::Path;
use std::process::Child;
use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::client::{Body, Client, text};
use crate::sh::{self, Sh};
use crate::{install, paths, server};

/// How long a program may take until it says that it is ready.
const START: Duration = Duration::from_secs(60);
/// What the descriptors of the tool services specification need, beside a project's own subjects.
pub(crate) const SUBJECTS: &str = "tg.request.*,tg.response.*,tg.{project_id}.>";
/// The groups of the example's tools.
const GROUP: &str = "fun";

/// The example that announces itself.
const ANNOUNCED: &str = "dice";

/// What is added to the names of the examples in Rust, beside those in Python.
const IN_RUST: &str = "-rust";

/// A NATS server, and tool services and workers in Python and Rust. Dropping it stops all of them.
pub(crate) struct Bus {
    url: String,
    // They are dropped first, because they need the server.
    examples: Vec<Running>,
    _server: Running,
}

/// A program that is asked to stop when this is dropped.
pub(crate) struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _gone = kill_process(Pid::from_child(&self.0), Signal::TERM);
        let _ended = self.0.wait();
    }
}

/// Compiles the examples in Rust, once in a run.
pub(crate) fn build_examples() -> Result<()> {
    static BUILT: Mutex<bool> = Mutex::new(false);
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    if !*built {
        Sh::cargo("build --quiet --package toolgate-worker --examples").run()?;
        *built = true;
    }
    Ok(())
}

impl Bus {
    /// Starts a server that keeps its streams in a folder.
    pub(crate) fn start(folder: &Path) -> Result<Self> {
        let bin = install::nats()?;
        let port = server::free_port()?;
        let program = Sh::new(bin.join("nats-server"))
            .args([
                "--addr",
                "127.0.0.1",
                "--port",
                &port.to_string(),
                "--jetstream",
                "--store_dir",
            ])
            .arg(folder.join("nats"))
            .in_own_group();
        Ok(Self {
            url: format!("nats://127.0.0.1:{port}"),
            examples: Vec::new(),
            _server: ready(&program, "Server is ready")?,
        })
    }

    /// Its address.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Starts the joke service of the tool services specification and a worker that searches, in Python and in Rust.
    pub(crate) fn start_examples(&mut self) -> Result<()> {
        build_examples()?;
        let kit = paths::root().join("openapi/clients/python");
        for example in ["joke", "search", ANNOUNCED] {
            let python = Sh::new(install::nats()?.join("python"))
                .arg(kit.join(format!("examples/{example}.py")))
                .env("PYTHONPATH", kit.join("src"))
                .env("PYTHONDONTWRITEBYTECODE", "1");
            self.start_example(python)?;
            let program = paths::target().join("debug/examples").join(example);
            self.start_example(Sh::new(program).arg(format!("{example}{IN_RUST}")))?;
        }
        Ok(())
    }

    fn start_example(&mut self, program: Sh) -> Result<()> {
        let program = program.env("NATS_URL", &self.url).in_own_group();
        self.examples.push(ready(&program, "serving ")?);
        Ok(())
    }

    /// Uploads the examples' tools and lets an agent call them.
    pub(crate) fn first_call(&self, anyone: &Client, admin: &Client, project: &str) -> Result<()> {
        println!("\n8. The administrator uploads the tools of a tool service and of a worker");
        for file in [
            "examples/joke-service.yaml",
            "clients/python/examples/search.yaml",
        ] {
            println!("   openapi/{file}");
            let path = paths::root().join("openapi").join(file);
            let tools =
                std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            for tools in [renamed(&tools), tools] {
                admin.send("POST", &format!("/projects/{project}/tools"), &Body::Yaml(&tools))?;
            }
        }
        let body = json!({"name": "jester", "role": "agent", "groups": [GROUP]});
        let answer = admin.post(&format!("/projects/{project}/keys"), &body)?;
        let agent = anyone.with_token(text(&answer, "secret")?);
        let call = |tool: String, arguments: Value| {
            let body = json!({"tool": tool, "arguments": arguments, "group": [GROUP]});
            agent.post(&format!("/projects/{project}/calls"), &body)
        };
        println!(
            "9. The agent calls tell-joke and search-library; programs in Python and Rust answer over the message bus"
        );
        for suffix in ["", IN_RUST] {
            let answer = call(format!("tell-joke{suffix}"), json!({"topic": "programming"}))?;
            let joke = answer["result"].as_str().unwrap_or_default();
            println!("   tell-joke{suffix} -> {joke:?}");
            ensure!(
                joke.starts_with("Hey jester! Here's a pun for you:") && joke.contains("programmers"),
                "the joke service did not answer as it should: {answer}"
            );
            let search = format!("search-library{suffix}");
            let answer = call(search.clone(), json!({"q": "cats"}))?;
            println!("   {search} -> {}", answer["result"]);
            ensure!(
                answer["result"] == json!({"found": ["Cats and cafés"]})
                    && answer["notes"]["after_execution"] == "suspend",
                "the worker did not report as it should: {answer}"
            );
            let answer = call(search, json!({"q": "zebra"}))?;
            ensure!(
                answer["error"]["code"] == "upstream_rejected",
                "the worker did not fail as it should: {answer}"
            );
        }
        println!(
            "10. Programs in Python and Rust have announced themselves; the administrator enables their tools"
        );
        for suffix in ["", IN_RUST] {
            let (service, tool) = (
                format!("{ANNOUNCED}{suffix}"),
                format!("roll-{ANNOUNCED}{suffix}"),
            );
            announced(admin, project, &service)?;
            let enable = json!({"select": {"names": [tool]}, "change": {"enabled": true}});
            admin.post(&format!("/projects/{project}/tool-changes"), &enable)?;
            let answer = call(tool.clone(), json!({"dice": 2}))?;
            println!("   {tool} -> {}", answer["result"]);
            ensure!(
                answer["result"].as_array().map(Vec::len) == Some(2),
                "the announced service did not answer as it should: {answer}"
            );
        }
        self.call_over_the_bus(anyone.address(), text(&answer, "secret")?, admin, project)
    }

    /// Calls a tool as an agent system does that has a connection to the bus, in both languages.
    fn call_over_the_bus(&self, url: &str, key: &str, admin: &Client, project: &str) -> Result<()> {
        println!("11. The project is opened on the message bus, and programs call tell-joke there");
        let settings = format!("/projects/{project}/settings");
        let mut stored = admin.get(&settings)?;
        stored["bus_entrance"] = json!({});
        admin.send("PUT", &settings, &Body::Json(&stored))?;
        let kit = paths::root().join("openapi/clients/python");
        let python = Sh::new(install::nats()?.join("python"))
            .arg(kit.join("examples/invoke.py"))
            .env("PYTHONPATH", kit.join("src"))
            .env("PYTHONDONTWRITEBYTECODE", "1");
        let rust = Sh::new(paths::target().join("debug/examples/invoke"));
        for (language, program) in [("Python", python), ("Rust", rust)] {
            let said = program
                .args(["tell-joke", r#"{"topic": "programming"}"#, GROUP])
                .env("NATS_URL", &self.url)
                .env("TOOLGATE_URL", url)
                .env("TOOLGATE_KEY", key)
                .env("TOOLGATE_PROJECT", project)
                .read()?;
            println!("   {language} -> {:?}", said.trim());
            ensure!(
                said.starts_with("Hey jester!"),
                "the call over the bus was not answered as it should: {said}"
            );
        }
        Ok(())
    }

    /// The tests of the Python kit.
    pub(crate) fn test_kit(&self) -> Result<()> {
        let kit = paths::root().join("openapi/clients/python");
        Sh::new(install::nats()?.join("python"))
            .args(["-m", "unittest", "discover", "--start-directory"])
            .arg(kit.join("tests"))
            .env("PYTHONPATH", kit.join("src"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("NATS_URL", &self.url)
            .run()
    }
}

/// Waits until a service has announced itself and its process is heard.
fn announced(admin: &Client, project: &str, service: &str) -> Result<()> {
    let path = format!("/projects/{project}/bus-programs");
    let until = Instant::now() + START;
    loop {
        let programs = admin.get(&path)?;
        let mut items = programs["items"].as_array().into_iter().flatten();
        let found = items.find(|program| program["name"] == service);
        if let Some(program) = found
            && program["tools"][0].is_string()
            && let Some(version) = program["instances"][0]["version"].as_str()
        {
            println!(
                "   {service} {version} runs; its tool {} waits",
                program["tools"][0]
            );
            return Ok(());
        }
        ensure!(
            Instant::now() < until,
            "{service} did not announce itself: {programs}"
        );
        thread::sleep(Duration::from_millis(100));
    }
}

/// The tools of an example as those of its program in Rust.
fn renamed(tools: &str) -> String {
    let names = [
        "joke-service",
        "tell-joke",
        "search-library",
        "/joke",
        "cmd.tool.search",
    ];
    names.iter().fold(tools.to_owned(), |tools, name| {
        tools.replace(name, &format!("{name}{IN_RUST}"))
    })
}

/// Starts a program and returns when it has printed a line with this in it.
pub(crate) fn ready(program: &Sh, line: &'static str) -> Result<Running> {
    let mut child = program.spawn()?;
    let lines = sh::lines_of(&mut child);
    let running = Running(child);
    let (sender, receiver) = channel();
    // Reads on when the program is ready, so that it can print.
    thread::spawn(move || {
        let mut printed = Vec::new();
        let mut sender = Some(sender);
        for text in lines {
            let is_ready = text.contains(line);
            if sender.is_some() {
                printed.push(text);
            }
            if is_ready && let Some(sender) = sender.take() {
                let _gone = sender.send(Ok(()));
            }
        }
        if let Some(sender) = sender {
            let _gone = sender.send(Err(printed.join("\n")));
        }
    });
    match receiver.recv_timeout(START) {
        Ok(Ok(())) => Ok(running),
        Ok(Err(printed)) => anyhow::bail!("a program ended instead of getting ready; it said:\n{printed}"),
        Err(_) => anyhow::bail!("a program was not ready after {} s", START.as_secs()),
    }
}
