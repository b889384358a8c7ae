//! A bridge for clients that only start processes: what comes by standard input goes to a server by HTTP, and back.

use std::io::{BufRead, Write};

use anyhow::{Context, bail};
use clap::Args;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap};
use reqwest::{Client, Response, StatusCode};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use url::Url;

const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
/// Bytes of one line or event.
const LONGEST: usize = 64 << 20;

/// Where the bridge leads.
#[derive(Debug, Args)]
pub struct StdioArgs {
    /// The address of the endpoint, for example `https://tools.example.com/projects/demo/mcp?group=search`.
    #[arg(long)]
    url: Url,
    /// The environment variable that holds the key or token.
    #[arg(long, default_value = "TOOLGATE_KEY")]
    key_env: String,
}

/// Copies messages until standard input ends.
///
/// # Errors
/// When the key is not set, or standard input cannot be read.
pub async fn run(args: StdioArgs) -> anyhow::Result<()> {
    let key = std::env::var(&args.key_env)
        .ok()
        .filter(|key| !key.is_empty())
        .with_context(|| format!("the environment variable {} holds no key", args.key_env))?;
    let (lines, input) = mpsc::channel(16);
    // A thread of its own: nothing interrupts a read of standard input.
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            if lines.blocking_send(line).is_err() {
                return;
            }
        }
    });
    let (output, mut messages) = mpsc::channel::<String>(16);
    let writer = tokio::task::spawn_blocking(move || {
        let mut out = std::io::stdout().lock();
        while let Some(message) = messages.blocking_recv() {
            writeln!(out, "{message}")?;
            out.flush()?;
        }
        std::io::Result::Ok(())
    });
    let bridge = Bridge {
        client: Client::builder().build().context("the HTTP client")?,
        url: args.url,
        key,
        output,
    };
    bridge.copy(input).await?;
    drop(bridge);
    writer
        .await
        .context("writing")?
        .context("writing to standard output")
}

#[derive(Clone)]
struct Bridge {
    client: Client,
    url: Url,
    key: String,
    output: mpsc::Sender<String>,
}

/// What the server said about the session.
#[derive(Debug, Clone, Default)]
struct Session {
    id: Option<String>,
    version: Option<String>,
}

impl Bridge {
    async fn copy(&self, mut input: mpsc::Receiver<std::io::Result<String>>) -> anyhow::Result<()> {
        let mut session = Session::default();
        let mut tasks = tokio::task::JoinSet::new();
        let mut listening: Option<tokio::task::AbortHandle> = None;
        while let Some(line) = input.recv().await {
            let line = line.context("reading standard input")?;
            while tasks.try_join_next().is_some() {}
            if line.trim().is_empty() {
                continue;
            }
            if line.len() > LONGEST {
                bail!("a message is longer than {LONGEST} bytes");
            }
            let message: Value = match serde_json::from_str(&line) {
                Ok(message) => message,
                Err(error) => {
                    self.say(&failed(&Value::Null, -32700, &format!("not JSON: {error}")))
                        .await;
                    continue;
                }
            };
            if message["method"] == "initialize" {
                // The messages after it need what its answer says.
                session = self.send(&message, line, Session::default()).await;
                if let Some(earlier) = listening.take() {
                    earlier.abort();
                }
                if session.id.is_some() {
                    let (bridge, session) = (self.clone(), session.clone());
                    listening = Some(tasks.spawn(async move { bridge.listen(session).await }));
                }
                continue;
            }
            let (bridge, session) = (self.clone(), session.clone());
            tasks.spawn(async move {
                bridge.send(&message, line, session).await;
            });
        }
        if let Some(listening) = listening {
            listening.abort();
        }
        while tasks.join_next().await.is_some() {}
        if session.id.is_some() {
            let _gone = self.request(reqwest::Method::DELETE, &session).send().await;
        }
        Ok(())
    }

    fn request(&self, method: reqwest::Method, session: &Session) -> reqwest::RequestBuilder {
        let mut request = self
            .client
            .request(method, self.url.clone())
            .bearer_auth(&self.key);
        if let Some(id) = &session.id {
            request = request.header(SESSION, id);
        }
        if let Some(version) = &session.version {
            request = request.header(VERSION, version);
        }
        request
    }

    /// Sends a message and passes on what comes back; what is known of the session then.
    async fn send(&self, message: &Value, line: String, session: Session) -> Session {
        let mut request = self
            .request(reqwest::Method::POST, &session)
            .header(ACCEPT, "application/json, text/event-stream")
            .header(CONTENT_TYPE, "application/json");
        // Revisions without sessions say in each message what the header repeats.
        let params = &message["params"];
        if let Some(version) = params["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str() {
            request = request.header(VERSION, version);
            if let Some(method) = message["method"].as_str() {
                request = request.header("mcp-method", method);
            }
            if let Some(name) = params["name"].as_str().or_else(|| params["uri"].as_str()) {
                request = request.header("mcp-name", name);
            }
        }
        match request.body(line).send().await {
            Ok(response) => self.pass_on(message, response).await,
            Err(error) => {
                self.refuse(
                    message,
                    &format!("the server does not answer: {}", error.without_url()),
                )
                .await;
                session
            }
        }
    }

    async fn pass_on(&self, message: &Value, response: Response) -> Session {
        let header = |headers: &HeaderMap, name: &str| {
            let value = headers.get(name)?.to_str().ok()?;
            Some(value.to_owned())
        };
        let mut session = Session {
            id: header(response.headers(), SESSION),
            version: None,
        };
        let kind = header(response.headers(), CONTENT_TYPE.as_str()).unwrap_or_default();
        let status = response.status();
        if kind.starts_with("text/event-stream") {
            if let Err(error) = self.events(response).await {
                self.refuse(message, &format!("the answer broke off: {error:#}"))
                    .await;
            }
            return session;
        }
        let Ok(text) = response.text().await else {
            self.refuse(message, "the answer broke off").await;
            return session;
        };
        if status == StatusCode::ACCEPTED {
            return session;
        }
        match serde_json::from_str::<Value>(&text) {
            Ok(answer) if answer["jsonrpc"] == "2.0" => {
                session.version = answer["result"]["protocolVersion"].as_str().map(str::to_owned);
                self.say(&answer).await;
            }
            Ok(problem) => {
                let detail = problem["detail"].as_str().unwrap_or_default();
                let code = problem["code"].as_str().unwrap_or_default();
                self.refuse(message, &format!("HTTP {status}: {code}: {detail}"))
                    .await;
            }
            Err(_) => self.refuse(message, &format!("HTTP {status}")).await,
        }
        session
    }

    /// Passes on the notifications of a session while they come.
    async fn listen(&self, session: Session) {
        let request = self.request(reqwest::Method::GET, &session);
        let answer = request.header(ACCEPT, "text/event-stream").send().await;
        if let Ok(response) = answer
            && response.status().is_success()
        {
            let _ended = self.events(response).await;
        }
    }

    async fn events(&self, mut response: Response) -> anyhow::Result<()> {
        let mut waiting = Vec::new();
        while let Some(bytes) = response.chunk().await.context("reading")? {
            waiting.extend_from_slice(&bytes);
            if waiting.len() > LONGEST {
                bail!("an event is longer than {LONGEST} bytes");
            }
            while let Some(end) = waiting.windows(2).position(|bytes| bytes == b"\n\n") {
                let event: Vec<u8> = waiting.drain(..end + 2).collect();
                if let Some(data) = data(&String::from_utf8_lossy(&event)) {
                    let _closed = self.output.send(data).await;
                }
            }
        }
        Ok(())
    }

    async fn say(&self, message: &Value) {
        let _closed = self.output.send(message.to_string()).await;
    }

    /// Answers a request by an error; a notification has no answer.
    async fn refuse(&self, message: &Value, why: &str) {
        if let Some(id) = message.get("id") {
            self.say(&failed(id, -32000, why)).await;
        }
    }
}

fn failed(id: &Value, code: i32, why: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": why}})
}

/// The data of an event, if it is a message.
fn data(event: &str) -> Option<String> {
    let lines = event.lines().filter_map(|line| line.strip_prefix("data:"));
    let data: Vec<&str> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    let data = data.join("\n");
    (!data.trim().is_empty()).then_some(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_of_events_are_messages() {
        assert_eq!(
            data("event: message\ndata: {\"a\":1}\n\n").as_deref(),
            Some("{\"a\":1}")
        );
        assert_eq!(data("data:{}\n\n").as_deref(), Some("{}"));
        assert_eq!(data(": alive\n\n"), None);
        assert_eq!(data("retry: 3000\ndata: \n\n"), None);
    }
}
