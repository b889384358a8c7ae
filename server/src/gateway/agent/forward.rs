//! Handing a question on to the project's agent, and its answer back as events.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use toolgate_api::ErrorCode;
use toolgate_core::ids::CallId;
use toolgate_executors::{EventSplitter, EventTooLarge, Failure, StreamLimits, StreamedAnswer};
use toolgate_store::rows::Opening;

use super::events::{KEEP_ALIVE, event};
use crate::gateway::limits::Running;
use crate::gateway::recorded::{self, OpenRecord};
use crate::gateway::{Gateway, Problem};

/// What an agent's answer may take.
const LIMITS: StreamLimits = StreamLimits {
    head: Duration::from_secs(120),
    idle: Duration::from_secs(120),
    total: Duration::from_secs(30 * 60),
    max_bytes: 64 * 1024 * 1024,
};
/// Bytes of one event.
const MAX_EVENT: usize = 1024 * 1024;
/// Bytes of an answer that is one JSON value.
const MAX_JSON: usize = 10 * 1024 * 1024;
/// Events that wait for a slow reader; then the agent waits.
const WAITING: usize = 16;
/// How often a silent answer says that it is alive.
const KEEP_ALIVE_EVERY: Duration = Duration::from_secs(15);

/// The answer's events, as they come.
pub type Events = mpsc::Receiver<Bytes>;

/// A question on its way.
pub(super) struct Forward {
    /// Where to.
    pub(super) url: String,
    /// What to send.
    pub(super) content: Bytes,
    /// The record to write before it is sent.
    pub(super) opening: Opening,
    /// Its places in the limits on what runs at the same time.
    pub(super) running: Option<Running>,
    /// For the problem in an `error` event.
    pub(super) request_id: String,
}

/// Records, sends, and waits for the agent's answer to begin. From the record on the work goes on in a task of its
/// own, which completes the record; it ends early when the listener has disconnected.
pub(super) async fn forward(gateway: &Arc<Gateway>, forward: Forward) -> Result<Events, Problem> {
    let open = Open {
        id: CallId(forward.opening.record.id),
        request_id: forward.request_id,
        _running: forward.running,
        record: recorded::open(gateway, forward.opening).await?,
    };
    let (answer, begun) = oneshot::channel();
    tokio::spawn(run(
        Arc::clone(gateway),
        forward.url,
        forward.content,
        open,
        answer,
    ));
    match begun.await {
        Ok(answer) => answer,
        Err(error) => Err(Problem::internal(&error)),
    }
}

/// An open record, and what is needed until it is completed.
struct Open {
    id: CallId,
    record: OpenRecord,
    request_id: String,
    /// Given back when the answer has ended.
    _running: Option<Running>,
}

/// What the agent began to answer.
enum Begun {
    Stream(StreamedAnswer),
    Whole(Bytes),
}

async fn run(
    gateway: Arc<Gateway>,
    url: String,
    content: Bytes,
    open: Open,
    mut answer: oneshot::Sender<Result<Events, Problem>>,
) {
    let begun = tokio::select! {
        () = answer.closed() => Err(cancelled()),
        begun = begin(&gateway, &url, content) => begun.map_err(|failure| problem(&failure)),
    };
    let (sender, events) = mpsc::channel(WAITING);
    match begun {
        Err(error) => {
            let ended = open.record.complete(Some(error.code()), None).await;
            let _gone = answer.send(Err(ended.err().unwrap_or(error).call_id(open.id)));
        }
        Ok(Begun::Whole(event)) => {
            let ended = open.record.complete(None, None).await;
            let _first_of_many_places = sender.try_send(event);
            let _gone = answer.send(ended.map(|()| events));
        }
        Ok(Begun::Stream(stream)) => {
            let fault = match answer.send(Ok(events)) {
                Ok(()) => pump(stream, &sender).await.err(),
                Err(_) => Some(cancelled()),
            };
            let ended = open
                .record
                .complete(fault.as_ref().map(Problem::code), None)
                .await;
            if let Some(error) = ended.err().or(fault) {
                let problem = error.call_id(open.id).into_body(&open.request_id);
                let text = serde_json::to_string(&problem).unwrap_or_default();
                let _gone = timeout(LIMITS.idle, sender.send(event("error", &text))).await;
            }
        }
    }
}

/// Sends the question; an answer that is JSON is read completely.
async fn begin(gateway: &Gateway, url: &str, content: Bytes) -> Result<Begun, Failure> {
    let answer = gateway.executors.post_json(url, content, LIMITS).await?;
    let media_type = answer.media_type();
    if media_type == "text/event-stream" {
        return Ok(Begun::Stream(answer));
    }
    if media_type != "application/json" && !media_type.ends_with("+json") {
        return Err(unusable(
            "the agent answered neither text/event-stream nor application/json",
        ));
    }
    let text = answer.collect_at_most(MAX_JSON).await?;
    // Read and written again: data of an event is one line.
    let value: Value =
        serde_json::from_slice(&text).map_err(|_| unusable("the agent's answer is not valid JSON"))?;
    Ok(Begun::Whole(event("answer", &value.to_string())))
}

/// Passes events on until the agent has no more.
async fn pump(mut stream: StreamedAnswer, sender: &mpsc::Sender<Bytes>) -> Result<(), Problem> {
    let mut splitter = EventSplitter::new(MAX_EVENT);
    let mut complete = Vec::new();
    loop {
        let part = {
            let next = stream.next();
            tokio::pin!(next);
            loop {
                tokio::select! {
                    biased;
                    () = sender.closed() => return Err(cancelled()),
                    part = &mut next => break part.map_err(|failure| problem(&failure))?,
                    () = tokio::time::sleep(KEEP_ALIVE_EVERY) => pass_on(sender, KEEP_ALIVE).await?,
                }
            }
        };
        let Some(part) = part else { break };
        splitter
            .push(&part, &mut complete)
            .map_err(|EventTooLarge| problem(&unusable("the agent sent an event of more than 1 MiB")))?;
        for event in complete.drain(..) {
            pass_on(sender, event).await?;
        }
    }
    match splitter.finish() {
        Some(rest) => pass_on(sender, rest).await,
        None => Ok(()),
    }
}

/// A reader that takes nothing for too long counts as gone.
async fn pass_on(sender: &mpsc::Sender<Bytes>, event: Bytes) -> Result<(), Problem> {
    match timeout(LIMITS.idle, sender.send(event)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) | Err(_) => Err(cancelled()),
    }
}

fn cancelled() -> Problem {
    Problem::new(ErrorCode::Cancelled, "The client has disconnected.")
}

fn unusable(what: &str) -> Failure {
    Failure {
        code: ErrorCode::UpstreamInvalid,
        message: what.to_owned(),
        retryable: false,
        retry_after_s: None,
        upstream_status: None,
        upstream_message: None,
        upstream_answer: None,
        remedy: None,
    }
}

/// The agent's failure as ours.
fn problem(failure: &Failure) -> Problem {
    let mut detail = format!("The project's agent did not answer: {}.", failure.message);
    if let Some(words) = &failure.upstream_message {
        detail.push_str(&format!(" It says: {words}"));
    }
    let mut error = Problem::new(failure.code, detail);
    if !failure.retryable {
        error = error.final_();
    }
    match failure.retry_after_s {
        Some(seconds) => error.retry_after(seconds),
        None => error,
    }
}
