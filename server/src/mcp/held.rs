//! Calls that wait for their clients in the revision without sessions: a question is the result of one request, and its answer comes with the
//! next one. The call runs on meanwhile.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use moka::sync::Cache;
use rmcp::model::{CallToolRequestParams, CallToolResponse, ErrorData, InputRequest, InputRequiredResult};
use serde_json::json;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};
use toolgate_core::ids::ProjectUid;
use toolgate_core::principal::PrincipalRef;
use toolgate_executors::{Parts, UpstreamLog};
use tracing::Instrument;
use uuid::Uuid;

use super::answer;
use super::asking::{Answer, Asks, ClientAsker, LONGEST, Put};
use super::calling::{self, With};
use super::turn::Turn;
use crate::gateway::Gateway;

/// Calls that wait on one server.
const MOST: u64 = 1_000;
/// What a question is called in a result. There is one at a time.
const QUESTION: &str = "question";

/// The calls that wait, by the state that their clients send back.
pub(super) struct HeldCalls(Cache<Uuid, Parked>);

impl Default for HeldCalls {
    fn default() -> Self {
        Self(Cache::builder().max_capacity(MOST).time_to_live(LONGEST).build())
    }
}

/// A call that runs.
struct Held {
    whose: (ProjectUid, PrincipalRef),
    call: JoinHandle<CallToolResponse>,
    questions: mpsc::Receiver<Put>,
    /// Takes the answer to its question.
    waiting: Option<oneshot::Sender<Answer>>,
    /// Ends the call when nothing waits for it any more.
    _ends: DropGuard,
}

/// A call that is taken once.
#[derive(Clone)]
struct Parked(Arc<Mutex<Option<Held>>>);

impl Parked {
    fn new(held: Held) -> Self {
        Self(Arc::new(Mutex::new(Some(held))))
    }

    fn take_if(&self, is_meant: impl FnOnce(&Held) -> bool) -> Option<Held> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !held.as_ref().is_some_and(is_meant) {
            return None;
        }
        held.take()
    }
}

/// Calls a tool, or goes on with a call that waits for its client.
///
/// # Errors
/// When the state is of no call that waits.
pub(super) async fn call(
    gateway: &Arc<Gateway>,
    calls: &HeldCalls,
    turn: &Arc<Turn>,
    request: CallToolRequestParams,
    asks: Asks,
    (parts, log): (Option<Parts>, Option<UpstreamLog>),
) -> Result<CallToolResponse, ErrorData> {
    let whose = (
        turn.entry.project.row.uid,
        PrincipalRef::from(&turn.entry.caller.identity.principal),
    );
    let mut held = match &request.request_state {
        None => begin(gateway, turn, request, asks, (parts, log), whose),
        Some(state) => {
            let id: Option<Uuid> = state.parse().ok();
            let found = id.and_then(|id| calls.0.get(&id)?.take_if(|held| held.whose == whose));
            let mut found = found.ok_or_else(|| {
                ErrorData::invalid_params(
                    "No call waits for this answer: it has ended, was answered, or runs on another server. Call the tool again.",
                    None,
                )
            })?;
            let answer = request
                .input_responses
                .and_then(|mut answers| answers.remove(QUESTION));
            if let Some(waiting) = found.waiting.take() {
                let _gone = waiting.send(answer.ok_or(()));
            }
            found
        }
    };
    tokio::select! {
        biased;
        ended = &mut held.call => ended.map_err(|_| ErrorData::internal_error("the call ended unexpectedly", None)),
        Some(put) = held.questions.recv() => {
            let asked = json!({"method": "elicitation/create", "params": put.question});
            let asked: InputRequest = serde_json::from_value(asked)
                .map_err(|_| ErrorData::internal_error("the question cannot be put", None))?;
            held.waiting = Some(put.answer);
            let state = gateway.clock.new_id();
            calls.0.insert(state, Parked::new(held));
            let asked = BTreeMap::from([(QUESTION.to_owned(), asked)]);
            Ok(InputRequiredResult::new(Some(asked), Some(state.to_string())).into())
        }
    }
}

fn begin(
    gateway: &Arc<Gateway>,
    turn: &Arc<Turn>,
    request: CallToolRequestParams,
    asks: Asks,
    (parts, log): (Option<Parts>, Option<UpstreamLog>),
    whose: (ProjectUid, PrincipalRef),
) -> Held {
    let (asker, questions) = ClientAsker::by_results(gateway, asks);
    let cancelled = CancellationToken::new();
    let with = With {
        parts,
        log,
        asker: Some(asker),
        cancelled: cancelled.clone(),
    };
    let (gateway, turn) = (Arc::clone(gateway), Arc::clone(turn));
    let running = async move {
        let arguments = request.arguments.unwrap_or_default();
        let called = calling::call(&gateway, &turn, &request.name, arguments, with).await;
        called
            .unwrap_or_else(|problem| answer::problem(&turn, problem, None))
            .into()
    };
    Held {
        whose,
        call: tokio::spawn(running.in_current_span()),
        questions,
        waiting: None,
        _ends: cancelled.drop_guard(),
    }
}
