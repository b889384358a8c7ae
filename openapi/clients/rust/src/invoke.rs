//! Calls tools over the bus: `tool.invoke` of the tools subsystem, with a token for every message.

use std::time::Duration;

use async_nats::{Client, HeaderMap, Message, RequestErrorKind};
use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use bytes::Bytes;
use tokio::time::{Instant, sleep};

use crate::error::{Error, Failure};

/// In which time a server may begin to listen.
const LISTENING: Duration = Duration::from_secs(5);
/// Between two questions whether one does.
const PAUSE: Duration = Duration::from_millis(100);

/// Gets a token for a message.
///
/// `POST /projects/{project_id}/bus-tokens` of the REST API makes one, for a caller with a service key. The key never travels over
/// the bus: streams keep the headers of messages.
pub trait Tokens: Send + Sync {
    /// A token for one message; `payload_sha256` is in hexadecimal digits.
    fn token<'a>(&'a self, subject: &'a str, payload_sha256: &'a str)
    -> BoxFuture<'a, Result<String, Error>>;
}

/// Tokens of the REST API.
pub struct RestTokens {
    http: reqwest::Client,
    url: String,
    key: String,
}

impl RestTokens {
    /// For a project, with a service key of it. `url` is Toolgate's address, such as `http://127.0.0.1:8080`.
    #[must_use]
    pub fn new(url: &str, project: &str, key: impl Into<String>) -> Self {
        Self {
            http: reqwest::Client::new(),
            url: format!("{}/projects/{project}/bus-tokens", url.trim_end_matches('/')),
            key: key.into(),
        }
    }

    /// With `TOOLGATE_URL` and `TOOLGATE_KEY`.
    ///
    /// # Errors
    /// One of them is not set.
    pub fn from_env(project: &str) -> Result<Self, Error> {
        let read = |name: &str| std::env::var(name);
        let url = read("TOOLGATE_URL").map_err(Error::while_doing("TOOLGATE_URL"))?;
        let key = read("TOOLGATE_KEY").map_err(Error::while_doing("TOOLGATE_KEY"))?;
        Ok(Self::new(&url, project, key))
    }
}

impl Tokens for RestTokens {
    fn token<'a>(
        &'a self,
        subject: &'a str,
        payload_sha256: &'a str,
    ) -> BoxFuture<'a, Result<String, Error>> {
        const DOING: &str = "cannot get a token for a message";
        Box::pin(async move {
            let body = json!({"subject": subject, "payload_sha256": payload_sha256});
            let sent = self
                .http
                .post(&self.url)
                .bearer_auth(&self.key)
                .json(&body)
                .send();
            let answer = sent.await.map_err(Error::while_doing(DOING))?;
            let answer = answer.error_for_status().map_err(Error::while_doing(DOING))?;
            let body: Value = answer.json().await.map_err(Error::while_doing(DOING))?;
            let token = body["token"].as_str().ok_or("the answer has no token");
            token.map(str::to_owned).map_err(Error::while_doing(DOING))
        })
    }
}

/// A call. Everything but the tool may be left out.
#[derive(Debug, Clone, Default)]
pub struct Invocation {
    /// The name of the tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: Map<String, Value>,
    /// The groups to ask for; `None` asks for `default`, an empty list for none.
    pub groups: Option<Vec<String>>,
    /// The caller's name for a session: the calls under it move one workflow state.
    pub session: Option<String>,
    /// The agent that calls.
    pub agent: Option<String>,
    /// A call that is repeated under the same id is answered again and not run again. Made when left out.
    pub tool_call_id: Option<String>,
    /// Calls the tool of this MCP server.
    pub mcp_server: Option<String>,
    /// `CG-Recursion-Depth` of the command that is executed meanwhile.
    pub depth: Option<u32>,
}

impl Invocation {
    /// Of a tool, with arguments.
    #[must_use]
    pub fn new(tool: impl Into<String>, arguments: Map<String, Value>) -> Self {
        Self {
            tool: tool.into(),
            arguments,
            ..Self::default()
        }
    }
}

/// Calls the tools of a project over a connection to the bus.
pub struct Invoker<T> {
    client: Client,
    project: String,
    tokens: T,
}

impl<T: Tokens> Invoker<T> {
    /// For a project.
    pub fn new(client: Client, project: impl Into<String>, tokens: T) -> Self {
        Self {
            client,
            project: project.into(),
            tokens,
        }
    }

    /// Calls a tool; its content: a text, or JSON as text. The inner error is why the call was refused or failed: its code is
    /// `tool_not_found`, `execution_failed`, `timeout` or `invalid_arguments`.
    ///
    /// # Errors
    /// There is no token, or no answer.
    pub async fn invoke(&self, call: Invocation) -> Result<Result<String, Failure>, Error> {
        let id = match call.tool_call_id {
            Some(id) => id,
            None => random_id()?,
        };
        let payload = json!({
            "tool_call_id": id,
            "tool_name": call.tool,
            "arguments": Value::Object(call.arguments).to_string(),
            "session_id": call.session,
        })
        .to_string();
        let mcp = if call.mcp_server.is_some() { ".mcp" } else { "" };
        let subject = format!("tg.{}.tool.invoke{mcp}", self.project);
        let token = self
            .tokens
            .token(&subject, &hex(&Sha256::digest(&payload)))
            .await?;
        let mut headers = HeaderMap::new();
        headers.insert("Toolgate-Token", token);
        for (name, value) in [
            ("Toolgate-Group", call.groups.map(|groups| groups.join(","))),
            ("CG-Agent-Id", call.agent),
            ("CG-Recursion-Depth", call.depth.map(|depth| depth.to_string())),
            ("rb-mcp-server", call.mcp_server),
        ] {
            if let Some(value) = value {
                headers.insert(name, value);
            }
        }
        let answer = self.ask(subject, headers, payload.into()).await?;
        let body: Value = serde_json::from_slice(&answer.payload)
            .map_err(Error::while_doing("the answer cannot be read"))?;
        let text = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
        Ok(match body.get("code") {
            None => Ok(text("content")),
            Some(_) => Err(Failure {
                retryable: body["is_retryable"].as_bool(),
                ..Failure::new(text("code"), text("message"))
            }),
        })
    }

    /// While no server listens, as when one starts, nothing has run: the message is sent again.
    async fn ask(&self, subject: String, headers: HeaderMap, payload: Bytes) -> Result<Message, Error> {
        let until = Instant::now() + LISTENING;
        loop {
            let sent = self
                .client
                .request_with_headers(subject.clone(), headers.clone(), payload.clone());
            match sent.await {
                Err(error) if error.kind() == RequestErrorKind::NoResponders && Instant::now() < until => {
                    sleep(PAUSE).await;
                }
                answer => return answer.map_err(Error::while_doing("the call was not answered")),
            }
        }
    }
}

fn random_id() -> Result<String, Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| error.to_string())
        .map_err(Error::while_doing("there is no randomness"))?;
    Ok(hex(&bytes))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
