//! What goes to the server, and what comes back.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, bail};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap};
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use url::Url;

use super::LONGEST;
use super::events::Events;
use super::headers::{self, Mirrored, VERSION};

const SESSION: &str = "mcp-session-id";
/// The shortest pause before a stream is opened again; each further one is twice as long.
const PAUSE: Duration = Duration::from_secs(1);
/// The longest.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// What may have changed while there was no stream.
const LISTS: [&str; 3] = ["tools", "prompts", "resources"];

#[derive(Clone)]
pub(super) struct Bridge(Arc<Inner>);

struct Inner {
    client: Client,
    url: Url,
    key: String,
    output: mpsc::Sender<String>,
    /// The session that messages are sent in.
    session: watch::Sender<Session>,
    /// The client's `initialize`, to begin another session by; held while one is begun.
    beginning: tokio::sync::Mutex<Option<Message>>,
    mirrored: Mutex<Mirrored>,
}

/// What the server said about the session.
#[derive(Debug, Clone, Default)]
struct Session {
    id: Option<String>,
    version: Option<String>,
}

/// A message of the client, read, and as it came: numbers are not written again.
struct Message {
    value: Value,
    text: String,
}

/// What became of a message.
enum Sent {
    /// It was answered, by the server or by the bridge.
    Answered,
    /// The server no longer knows its session, for this reason. It did nothing.
    Gone(String),
}

impl Bridge {
    pub(super) fn new(client: Client, url: Url, key: String, output: mpsc::Sender<String>) -> Self {
        Self(Arc::new(Inner {
            client,
            url,
            key,
            output,
            session: watch::Sender::new(Session::default()),
            beginning: tokio::sync::Mutex::default(),
            mirrored: Mutex::default(),
        }))
    }

    /// Copies messages until there are no more.
    pub(super) async fn copy(self, mut input: mpsc::Receiver<std::io::Result<String>>) -> anyhow::Result<()> {
        let listening = tokio::spawn(self.clone().listen());
        let mut tasks = JoinSet::new();
        while let Some(line) = input.recv().await {
            let line = line.context("reading standard input")?;
            while tasks.try_join_next().is_some() {}
            if line.trim().is_empty() {
                continue;
            }
            if line.len() > LONGEST {
                bail!("a message is longer than {LONGEST} bytes");
            }
            let message = match serde_json::from_str(&line) {
                Ok(value) => Message { value, text: line },
                Err(error) => {
                    self.say(&failed(&Value::Null, -32700, &format!("not JSON: {error}")))
                        .await;
                    continue;
                }
            };
            if message.value["method"] == "initialize" {
                // The messages after it need what its answer says.
                self.begin(message).await;
                continue;
            }
            let bridge = self.clone();
            tasks.spawn(async move { bridge.take(&message).await });
        }
        while tasks.join_next().await.is_some() {}
        listening.abort();
        let session = self.session();
        if session.id.is_some() {
            let _gone = self.request(Method::DELETE, &session).send().await;
        }
        Ok(())
    }

    fn session(&self) -> Session {
        self.0.session.borrow().clone()
    }

    /// Begins the client's session.
    async fn begin(&self, message: Message) {
        self.0.session.send_replace(Session::default());
        let mut beginning = self.0.beginning.lock().await;
        let sent = self.send(&message, &Session::default()).await;
        if let Sent::Gone(why) = sent {
            self.refuse(&message.value, &why).await;
        }
        *beginning = Some(message);
    }

    /// Sends a message of the client in its session; one that the server no longer knows is begun again first.
    async fn take(&self, message: &Message) {
        let session = self.session();
        let Sent::Gone(why) = self.send(message, &session).await else {
            return;
        };
        let again = match self.renew(&session).await {
            true => self.send(message, &self.session()).await,
            false => Sent::Gone(why),
        };
        if let Sent::Gone(why) = again {
            self.refuse(&message.value, &why).await;
        }
    }

    /// Begins another session in place of one that is gone, as the client began it. Whether there is one.
    async fn renew(&self, gone: &Session) -> bool {
        let beginning = self.0.beginning.lock().await;
        if self.session().id != gone.id {
            // Another message has done it meanwhile.
            return true;
        }
        let Some(message) = &*beginning else {
            return false;
        };
        let request = self.post(message, &Session::default());
        let Ok(response) = request.send().await else {
            return false;
        };
        let id = header(response.headers(), SESSION);
        let answer = match is_events(&response) {
            true => Events::of(response).next().await.ok().flatten(),
            false => response.text().await.ok(),
        };
        let answer: Option<Value> = answer.and_then(|text| serde_json::from_str(&text).ok());
        let version = answer.as_ref().and_then(version);
        if id.is_none() || version.is_none() {
            return false;
        }
        let session = Session { id, version };
        let value = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let text = value.to_string();
        let initialized = Message { value, text };
        if self.post(&initialized, &session).send().await.is_err() {
            return false;
        }
        self.0.session.send_replace(session);
        self.changed().await;
        true
    }

    fn request(&self, method: Method, session: &Session) -> RequestBuilder {
        let mut request = self
            .0
            .client
            .request(method, self.0.url.clone())
            .bearer_auth(&self.0.key);
        if let Some(id) = &session.id {
            request = request.header(SESSION, id);
        }
        if let Some(version) = &session.version {
            request = request.header(VERSION, version);
        }
        request
    }

    fn post(&self, message: &Message, session: &Session) -> RequestBuilder {
        let mirrored = self.0.mirrored.lock().unwrap_or_else(PoisonError::into_inner);
        self.request(Method::POST, session)
            .header(ACCEPT, "application/json, text/event-stream")
            .header(CONTENT_TYPE, "application/json")
            .headers(headers::of(&message.value, &mirrored))
            .body(message.text.clone())
    }

    /// Sends a message and passes on what comes back.
    async fn send(&self, message: &Message, session: &Session) -> Sent {
        match self.post(message, session).send().await {
            Ok(response) => self.pass_on(&message.value, session, response).await,
            Err(error) => {
                let why = format!("the server does not answer: {}", error.without_url());
                self.refuse(&message.value, &why).await;
                Sent::Answered
            }
        }
    }

    async fn pass_on(&self, message: &Value, session: &Session, response: Response) -> Sent {
        let begun = header(response.headers(), SESSION);
        let status = response.status();
        if is_events(&response) {
            let mut events = Events::of(response);
            loop {
                match events.next().await {
                    Ok(Some(text)) => {
                        self.learn(message, begun.as_ref(), &text);
                        let _closed = self.0.output.send(text).await;
                    }
                    Ok(None) => return Sent::Answered,
                    Err(error) => {
                        self.refuse(message, &format!("the answer broke off: {error:#}"))
                            .await;
                        return Sent::Answered;
                    }
                }
            }
        }
        let Ok(text) = response.text().await else {
            self.refuse(message, "the answer broke off").await;
            return Sent::Answered;
        };
        if status == StatusCode::ACCEPTED {
            return Sent::Answered;
        }
        match serde_json::from_str::<Value>(&text) {
            Ok(answer) if answer["jsonrpc"] == "2.0" => {
                self.learn(message, begun.as_ref(), &text);
                self.say(&answer).await;
            }
            Ok(problem) => {
                let detail = problem["detail"].as_str().unwrap_or_default();
                let code = problem["code"].as_str().unwrap_or_default();
                let why = format!("HTTP {status}: {code}: {detail}");
                if status == StatusCode::NOT_FOUND && session.id.is_some() {
                    return Sent::Gone(why);
                }
                self.refuse(message, &why).await;
            }
            Err(_) => self.refuse(message, &format!("HTTP {status}")).await,
        }
        Sent::Answered
    }

    /// Remembers what later messages need of an answer: the session that was begun, and what headers repeat.
    fn learn(&self, message: &Value, begun: Option<&String>, text: &str) {
        let method = message["method"].as_str().unwrap_or_default();
        if !matches!(method, "initialize" | "tools/list") {
            return;
        }
        let Ok(answer) = serde_json::from_str::<Value>(text) else {
            return;
        };
        if answer["id"] != message["id"] {
            return;
        }
        if method == "tools/list" {
            let mut mirrored = self.0.mirrored.lock().unwrap_or_else(PoisonError::into_inner);
            mirrored.learn(&answer);
        } else if let Some(version) = version(&answer) {
            self.0.session.send_replace(Session {
                id: begun.cloned(),
                version: Some(version),
            });
        }
    }

    /// Passes on the notifications of the client's session, whichever it is.
    async fn listen(self) {
        let mut sessions = self.0.session.subscribe();
        loop {
            let session = sessions.borrow_and_update().clone();
            tokio::select! {
                () = self.follow(&session) => {}
                changed = sessions.changed() => match changed {
                    Ok(()) => continue,
                    Err(_) => return,
                },
            }
            if sessions.changed().await.is_err() {
                return;
            }
        }
    }

    /// Passes on the notifications of a session while it has any.
    async fn follow(&self, session: &Session) {
        if session.id.is_none() {
            return;
        }
        let (mut pause, mut is_first) = (PAUSE, true);
        loop {
            let request = self
                .request(Method::GET, session)
                .header(ACCEPT, "text/event-stream");
            match request.send().await {
                Ok(response) if response.status().is_success() => {
                    pause = PAUSE;
                    if !is_first {
                        self.changed().await;
                    }
                    is_first = false;
                    let mut events = Events::of(response);
                    while let Ok(Some(text)) = events.next().await {
                        let _closed = self.0.output.send(text).await;
                    }
                }
                // There is no stream, or no longer a session.
                Ok(response) if response.status().is_client_error() => return,
                _ => {}
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Says that each list may have changed.
    async fn changed(&self) {
        for list in LISTS {
            let method = format!("notifications/{list}/list_changed");
            self.say(&json!({"jsonrpc": "2.0", "method": method})).await;
        }
    }

    async fn say(&self, message: &Value) {
        let _closed = self.0.output.send(message.to_string()).await;
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

fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    let value = headers.get(name)?.to_str().ok()?;
    Some(value.to_owned())
}

fn is_events(response: &Response) -> bool {
    header(response.headers(), CONTENT_TYPE.as_str())
        .is_some_and(|kind| kind.starts_with("text/event-stream"))
}

/// The revision that an answer to `initialize` agrees to.
fn version(answer: &Value) -> Option<String> {
    let version = answer["result"]["protocolVersion"].as_str()?;
    Some(version.to_owned())
}
