//! Questions to the person behind a client, while a call runs (elicitation in sessions).
//!
//! A question goes out in the answer to the call, which becomes a stream of events with it. The client's answer comes in a request of its own, in
//! the same session, to the same server.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use axum::body::Body;
use axum::http::header;
use axum::response::Response;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http_body_util::BodyExt;
use rmcp::model::ElicitationCapability;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, interval, timeout_at};
use toolgate_api::audit::{AuditQuestion, QuestionMode, QuestionOutcome};
use toolgate_executors::Asker;
use tracing::Instrument;
use uuid::Uuid;

use crate::events::event_stream;
use crate::gateway::Gateway;

/// Questions of one call.
const MOST: usize = 10;
/// The longest that a question waits for its answer; the call's own time-out is mostly shorter.
pub(super) const LONGEST: Duration = Duration::from_secs(600);
/// How often something is sent while a person thinks.
const HEARTBEAT: Duration = Duration::from_secs(15);
const ALIVE: Bytes = Bytes::from_static(b": alive\n\n");
/// Events that wait to be sent.
const QUEUE: usize = 16;

/// How a client can be asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Asks {
    /// By a form.
    pub(super) form: bool,
    /// By a page that the person visits.
    pub(super) url: bool,
}

impl Asks {
    /// As the capabilities of a client say; `{}` is a form.
    pub(super) fn of(elicitation: Option<&Value>) -> Self {
        let Some(Value::Object(modes)) = elicitation else {
            return Self::default();
        };
        Self {
            form: modes.is_empty() || modes.contains_key("form"),
            url: modes.contains_key("url"),
        }
    }

    /// As the capability of a client says.
    pub(super) fn from(elicitation: &ElicitationCapability) -> Self {
        Self {
            form: elicitation.form.is_some() || elicitation.url.is_none(),
            url: elicitation.url.is_some(),
        }
    }

    /// Whether it can be asked at all.
    pub(super) const fn is_any(self) -> bool {
        self.form || self.url
    }

    /// As a part of a session's id.
    pub(super) const fn as_str(self) -> &'static str {
        match (self.form, self.url) {
            (false, false) => "",
            (true, false) => "f",
            (false, true) => "u",
            (true, true) => "fu",
        }
    }

    /// From a part of a session's id.
    pub(super) fn parse(text: &str) -> Self {
        Self {
            form: text.contains('f'),
            url: text.contains('u'),
        }
    }
}

/// The answer of a client: a result, or an error.
pub(super) type Answer = Result<Value, ()>;

/// A question on its way to a client, with where the answer goes.
pub(super) struct Put {
    /// The params of `elicitation/create`.
    pub(super) question: Value,
    /// Takes the answer.
    pub(super) answer: oneshot::Sender<Answer>,
}

/// How questions get to a client.
enum Way {
    /// As events in the answer to its call; the answers come as requests of their own in the session.
    Events {
        questions: Arc<Questions>,
        session: Uuid,
        events: mpsc::Sender<Bytes>,
    },
    /// As the result of its call; the answers come with the next call.
    Results(mpsc::Sender<Put>),
}

impl Way {
    /// Puts a question, and waits for the answer.
    async fn put(&self, id: String, question: Value, deadline: Instant) -> Result<Value, String> {
        let gone = || "the caller's client is gone".to_owned();
        let answered = match self {
            Self::Events {
                questions,
                session,
                events,
            } => {
                let (_pending, answer) = questions.wait(*session, id.clone());
                let request =
                    json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": question});
                events.send(event(&request)).await.map_err(|_| gone())?;
                tokio::select! {
                    () = events.closed() => return Err(gone()),
                    answered = timeout_at(deadline, answer) => answered,
                }
            }
            Self::Results(questions) => {
                let (to, answer) = oneshot::channel();
                let put = Put { question, answer: to };
                questions.send(put).await.map_err(|_| gone())?;
                timeout_at(deadline, answer).await
            }
        };
        match answered {
            Err(_) => Err("no answer came in time".to_owned()),
            Ok(Err(_)) => Err(gone()),
            Ok(Ok(Err(()))) => Err("the caller's client answered with an error".to_owned()),
            Ok(Ok(Ok(answer))) => Ok(answer),
        }
    }
}
type Waiting = HashMap<(Uuid, String), oneshot::Sender<Answer>>;

/// The questions that wait for their answers, by session and id.
#[derive(Debug, Default)]
pub(super) struct Questions {
    waiting: Mutex<Waiting>,
}

/// What a client sends in answer.
#[derive(Deserialize)]
struct Sent {
    result: Option<Value>,
}

impl Questions {
    fn wait(self: &Arc<Self>, session: Uuid, id: String) -> (Pending, oneshot::Receiver<Answer>) {
        let (to, answer) = oneshot::channel();
        let key = (session, id);
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.insert(key.clone(), to);
        let pending = Pending {
            questions: Arc::clone(self),
            key,
        };
        (pending, answer)
    }

    /// Takes an answer; `false` when nothing waits for it.
    pub(super) fn answer(&self, session: Uuid, id: &Value, body: &[u8]) -> bool {
        let Some(id) = id.as_str() else { return false };
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(to) = waiting.remove(&(session, id.to_owned())) else {
            return false;
        };
        let sent = serde_json::from_slice::<Sent>(body).ok();
        let _gone = to.send(sent.and_then(|sent| sent.result).ok_or(()));
        true
    }
}

/// A question that waits; nothing is kept of it afterwards.
struct Pending {
    questions: Arc<Questions>,
    key: (Uuid, String),
}

impl Drop for Pending {
    fn drop(&mut self) {
        let mut waiting = self
            .questions
            .waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        waiting.remove(&self.key);
    }
}

/// Asks the client of one call.
pub(super) struct ClientAsker {
    gateway: Arc<Gateway>,
    asks: Asks,
    way: Way,
    asked: Mutex<Vec<AuditQuestion>>,
}

impl ClientAsker {
    /// For a call in a session, with where its events come out.
    pub(super) fn new(
        gateway: &Arc<Gateway>,
        questions: &Arc<Questions>,
        session: Uuid,
        asks: Asks,
    ) -> (Arc<Self>, mpsc::Receiver<Bytes>) {
        let (events, queue) = mpsc::channel(QUEUE);
        let way = Way::Events {
            questions: Arc::clone(questions),
            session,
            events,
        };
        (Arc::new(Self::by(gateway, asks, way)), queue)
    }

    /// For a call without a session, with where its questions come out.
    pub(super) fn by_results(gateway: &Arc<Gateway>, asks: Asks) -> (Arc<Self>, mpsc::Receiver<Put>) {
        let (questions, queue) = mpsc::channel(1);
        (Arc::new(Self::by(gateway, asks, Way::Results(questions))), queue)
    }

    fn by(gateway: &Arc<Gateway>, asks: Asks, way: Way) -> Self {
        Self {
            gateway: Arc::clone(gateway),
            asks,
            way,
            asked: Mutex::default(),
        }
    }

    /// Notes a question; `None` when there were too many.
    fn note(&self, mode: QuestionMode) -> Option<usize> {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if asked.len() == MOST {
            return None;
        }
        asked.push(AuditQuestion {
            mode,
            outcome: QuestionOutcome::Unanswered,
        });
        Some(asked.len() - 1)
    }

    fn came(&self, at: usize, outcome: QuestionOutcome) {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(question) = asked.get_mut(at) {
            question.outcome = outcome;
        }
    }
}

#[async_trait]
impl Asker for ClientAsker {
    async fn ask(&self, server: &str, mut question: Value, deadline: Instant) -> Result<Value, String> {
        let (mode, can) = match question.get("mode").and_then(Value::as_str) {
            None | Some("form") => (QuestionMode::Form, self.asks.form),
            Some("url") => (QuestionMode::Url, self.asks.url),
            Some(_) => return Err("the mode of the question is unknown".to_owned()),
        };
        let at = self
            .note(mode)
            .ok_or_else(|| format!("a call may ask at most {MOST} times"))?;
        if !can {
            self.came(at, QuestionOutcome::Refused);
            return Err("the caller's client offers no elicitation in this mode".to_owned());
        }
        if let Some(members) = question.as_object_mut() {
            members.remove("_meta");
            // Revisions before this mode had a name do not know it.
            if mode == QuestionMode::Form {
                members.remove("mode");
            }
            // The client shows its user the name of this gateway alone.
            if let Some(Value::String(message)) = members.get_mut("message") {
                message.insert_str(0, &format!("{server}: "));
            }
        }
        let id = format!("toolgate-{}", self.gateway.clock.new_id());
        let deadline = deadline.min(Instant::now() + LONGEST);
        let answer = self.way.put(id, question, deadline).await?;
        let outcome = match answer.get("action").and_then(Value::as_str) {
            Some("accept") => QuestionOutcome::Accepted,
            Some("decline") => QuestionOutcome::Declined,
            Some("cancel") => QuestionOutcome::Cancelled,
            _ => return Err("the answer of the caller's client is no answer".to_owned()),
        };
        self.came(at, outcome);
        Ok(answer)
    }

    fn asked(&self) -> Vec<AuditQuestion> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn event(message: &Value) -> Bytes {
    format!("event: message\ndata: {message}\n\n").into()
}

/// The answer to a call whose client can be asked: as it is, or as events once there are any.
pub(super) async fn answered(
    mut serving: BoxFuture<'static, Response>,
    mut questions: mpsc::Receiver<Bytes>,
) -> Response {
    let (first, answer) = tokio::select! {
        biased;
        response = &mut serving => match is_events(&response) {
            true => (None, Answering::Streams(response.into_body())),
            false => return response,
        },
        Some(question) = questions.recv() => (Some(question), Answering::Runs(serving)),
    };
    let (events, queue) = mpsc::channel(QUEUE);
    tokio::spawn(forward(first, answer, questions, events).in_current_span());
    event_stream(queue)
}

fn is_events(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

/// How far the answer to a call is.
enum Answering {
    /// The call runs.
    Runs(BoxFuture<'static, Response>),
    /// Its events come.
    Streams(Body),
}

/// Sends questions and the events of the answer as they come. If the client is gone, all of it is given up.
async fn forward(
    first: Option<Bytes>,
    mut answer: Answering,
    mut questions: mpsc::Receiver<Bytes>,
    events: mpsc::Sender<Bytes>,
) {
    let mut heartbeat = interval(HEARTBEAT);
    heartbeat.reset();
    let mut next = first;
    loop {
        if let Some(event) = next.take()
            && events.send(event).await.is_err()
        {
            return;
        }
        let part = async {
            match &mut answer {
                Answering::Runs(serving) => Part::Answer(serving.await),
                Answering::Streams(body) => match body.frame().await {
                    Some(Ok(frame)) => Part::Data(frame.into_data().unwrap_or_default()),
                    _ => Part::End,
                },
            }
        };
        let part = tokio::select! {
            biased;
            () = events.closed() => return,
            Some(question) = questions.recv() => Part::Data(question),
            part = part => part,
            _ = heartbeat.tick() => Part::Data(ALIVE),
        };
        match part {
            Part::Data(data) => next = (!data.is_empty()).then_some(data),
            Part::End => return,
            Part::Answer(response) if is_events(&response) => {
                answer = Answering::Streams(response.into_body());
            }
            Part::Answer(response) => {
                let Ok(body) = response.into_body().collect().await else {
                    return;
                };
                if let Ok(message) = serde_json::from_slice(&body.to_bytes()) {
                    let _gone = events.send(event(&message)).await;
                }
                return;
            }
        }
    }
}

enum Part {
    Data(Bytes),
    Answer(Response),
    End,
}
