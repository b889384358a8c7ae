//! Executors with a test's environment, and a server that misbehaves on purpose.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use secrecy::SecretString;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use toolgate_core::arguments::TemplateContext;
use toolgate_core::definition::model::ToolDefinition;
use toolgate_core::ids::{CallId, ProjectId};
use toolgate_executors::{
    EgressPolicy, EnvSource, Execution, ExecutorConfig, Executors, Failure, Invocation,
};

/// The environment of a test.
#[derive(Default)]
pub(crate) struct Env(BTreeMap<String, String>);

impl EnvSource for Env {
    fn get(&self, name: &str) -> Option<SecretString> {
        self.0.get(name).map(|value| SecretString::from(value.as_str()))
    }
}

/// A configuration with these egress entries and variables.
pub(crate) fn config(egress: &[&str], envs: &[(&str, &str)]) -> ExecutorConfig {
    let entries: Vec<String> = egress.iter().map(ToString::to_string).collect();
    let envs = envs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    ExecutorConfig::new(
        EgressPolicy::parse(&entries).expect("valid entries"),
        Arc::new(Env(envs)),
    )
}

/// Executors with these egress entries and variables.
pub(crate) fn executors(egress: &[&str], envs: &[(&str, &str)]) -> Executors {
    Executors::new(config(egress, envs))
}

/// A tool with these options.
pub(crate) fn tool(options: Value) -> Arc<ToolDefinition> {
    named_tool("demo", options)
}

/// A tool with a name and these options.
pub(crate) fn named_tool(name: &str, options: Value) -> Arc<ToolDefinition> {
    let mut definition = json!({"name": name, "type": "openapi", "parameters": {"type": "object"}});
    definition["options"] = options;
    Arc::new(serde_json::from_value(definition).expect("a valid definition"))
}

/// A call of a tool.
pub(crate) fn call(definition: &Arc<ToolDefinition>, arguments: Value) -> Invocation {
    let Value::Object(arguments) = arguments else {
        panic!("arguments are an object")
    };
    let project = ProjectId::parse("demo").expect("a slug");
    Invocation {
        parts: None,
        exchange: None,
        asker: None,
        log: None,
        ledger: None,
        trace: http::HeaderMap::new(),
        call_id: CallId(uuid::Uuid::nil()),
        caller: None,
        user: "alice".to_owned(),
        session: None,
        context: TemplateContext::new(&project, None),
        project,
        service: None,
        envs: Arc::new(definition.options.envs.clone()),
        definition: definition.clone(),
        secrets: None,
        account: None,
        egress: None,
        servers: None,
        manager: None,
        provenance: Default::default(),
        arguments,
    }
}

/// Runs a tool that is `GET base_url` with a short time limit and no arguments.
pub(crate) async fn get(executors: &Executors, base_url: &str) -> Result<Execution, Failure> {
    let tool = tool(json!({"timeout_ms": 20_000, "http": {"base_url": base_url}}));
    executors
        .execute(&mut call(&tool, Value::Object(Map::new())))
        .await
}

/// What the server does with a request.
#[derive(Clone)]
pub(crate) enum Step {
    /// Sends these bytes and keeps the connection open for the next request.
    Send(Vec<u8>),
    /// Sends these bytes and closes.
    SendAndClose(Vec<u8>),
    /// Sends these bytes and resets the connection.
    SendAndReset(Vec<u8>),
    /// Sends the bytes over and over until the client disconnects.
    SendForever(Vec<u8>, Vec<u8>),
    /// Sends nothing and keeps the connection open.
    Nothing,
}

/// A server that follows a script: one step per request, the last one for all that follow.
pub(crate) struct Server {
    /// `http://127.0.0.1:PORT`
    pub(crate) url: String,
    seen: Arc<Seen>,
}

#[derive(Default)]
struct Seen {
    connections: Mutex<usize>,
    requests: Mutex<Vec<String>>,
}

impl Server {
    /// Starts it.
    pub(crate) async fn start(script: impl Into<Vec<Step>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let seen = Arc::new(Seen::default());
        let script = Arc::new(script.into());
        let shared = seen.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                *shared.connections.lock().expect("no panic") += 1;
                tokio::spawn(serve(stream, script.clone(), shared.clone()));
            }
        });
        Self { url, seen }
    }

    /// Connections that were opened so far.
    pub(crate) fn connections(&self) -> usize {
        *self.seen.connections.lock().expect("no panic")
    }

    /// Requests that were read so far, head and body.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.seen.requests.lock().expect("no panic").clone()
    }
}

async fn serve(mut stream: TcpStream, script: Arc<Vec<Step>>, seen: Arc<Seen>) {
    while let Some(request) = read_request(&mut stream).await {
        let step = {
            let mut requests = seen.requests.lock().expect("no panic");
            requests.push(request);
            script[(requests.len() - 1).min(script.len() - 1)].clone()
        };
        match step {
            Step::Send(bytes) => {
                if stream.write_all(&bytes).await.is_err() {
                    return;
                }
            }
            Step::SendAndClose(bytes) => {
                let _ = stream.write_all(&bytes).await;
                return;
            }
            Step::SendAndReset(bytes) => {
                let _ = stream.write_all(&bytes).await;
                let _ = stream.set_zero_linger();
                return;
            }
            Step::SendForever(head, bytes) => {
                let mut sent = stream.write_all(&head).await;
                while sent.is_ok() {
                    sent = stream.write_all(&bytes).await;
                    tokio::task::yield_now().await;
                }
                return;
            }
            Step::Nothing => {
                // Reads until the client closes, so that nothing but the client's clock ends this.
                let mut rest = [0; 64];
                while matches!(stream.read(&mut rest).await, Ok(n) if n > 0) {}
                return;
            }
        }
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        if let Some(head_end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..head_end]).to_ascii_lowercase();
            let length = head
                .lines()
                .find_map(|line| {
                    line.strip_prefix("content-length: ")?
                        .trim()
                        .parse::<usize>()
                        .ok()
                })
                .unwrap_or(0);
            if bytes.len() >= head_end + 4 + length {
                return Some(String::from_utf8_lossy(&bytes).into_owned());
            }
        }
        match stream.read(&mut chunk).await {
            Ok(n) if n > 0 => bytes.extend_from_slice(&chunk[..n]),
            _ => return None,
        }
    }
}

/// A complete answer.
pub(crate) fn answer(status: u16, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let mut bytes = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n", body.len()).into_bytes();
    for (name, value) in headers {
        bytes.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(body);
    bytes
}

/// A complete JSON answer with status 200.
pub(crate) fn ok(body: &str) -> Vec<u8> {
    answer(200, &[("content-type", "application/json")], body)
}
