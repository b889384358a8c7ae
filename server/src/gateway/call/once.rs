//! A call as every entrance makes it: bounds, idempotency, the call itself and the status of its limits afterwards.

use std::sync::Arc;

use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use toolgate_api::ErrorCode;
use toolgate_api::calls::CallRequest;
use toolgate_core::ids::CallId;
use toolgate_core::principal::Permission;
use toolgate_executors::Parts;
use toolgate_store::rows::IdempotencyKey;
use tracing::Instrument;

use super::{CallOptions, Watch, call, replay};
use crate::gateway::entry::Entry;
use crate::gateway::idempotency::{self, Answer};
use crate::gateway::limits::{self, LimitStatus};
use crate::gateway::{Gateway, Problem, bounds};

/// The permission that calling demands.
pub const NEED: Permission = Permission::Use;

/// Longest idempotency key, in characters.
const LONGEST_KEY: usize = 255;

/// An idempotency key as a caller chose it: 1-255 visible ASCII characters, unique per request within 24 hours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyText(String);

impl KeyText {
    /// The key, if the text can be one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let fits =
            (1..=LONGEST_KEY).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        fits.then(|| Self(text.to_owned()))
    }

    /// The key of a call that has none of its caller's. The space keeps it apart from those.
    pub(super) fn of(call: CallId) -> Self {
        Self(format!("call {}", call.0))
    }

    /// As the database has it.
    pub(super) fn into_text(self) -> String {
        self.0
    }
}

/// What a call came to.
pub struct Called {
    /// The answer; an error if the call was refused.
    pub answer: Result<Answer, Problem>,
    /// The status of the caller's limits now; empty where none applies.
    pub limits: Vec<LimitStatus>,
}

/// Calls a tool, unless the same request was answered before under its key.
pub async fn call_once(
    gateway: &Arc<Gateway>,
    entry: &Arc<Entry>,
    request: Arc<CallRequest>,
    key: Option<KeyText>,
) -> Called {
    let options = CallOptions {
        key,
        ..CallOptions::default()
    };
    call_once_with(gateway, entry, request, options).await
}

/// As [`call_once`], with what else the entrance knows of the call.
pub async fn call_once_with(
    gateway: &Arc<Gateway>,
    entry: &Arc<Entry>,
    request: Arc<CallRequest>,
    options: CallOptions,
) -> Called {
    let answer = match bounded(&request) {
        Ok(()) => {
            let id = CallId(gateway.clock.new_id());
            let watch = Watch {
                coercions: options.coercions,
                cancelled: options.cancelled,
                parts: options.parts,
                test: options.test,
                asker: options.asker,
                log: options.log,
                ..Watch::default()
            };
            answer(gateway, entry, &request, options.key, id, watch).await
        }
        Err(problem) => Err(problem),
    };
    called(gateway, entry, &request, answer)
}

/// A call that was admitted and runs in a task of its own.
pub struct Begun {
    /// Its id.
    pub id: CallId,
    /// What it comes to. Dropping it does not end the call.
    pub end: JoinHandle<Called>,
}

/// Begins a call whose answer is kept for 24 hours, whether it has a key or not, and waits until it is admitted. `parts`
/// takes parts of its answer as they come.
///
/// # Errors
/// What it came to, if it was refused or answered before it could be called running.
pub async fn begin_once(
    gateway: &Arc<Gateway>,
    entry: &Arc<Entry>,
    request: Arc<CallRequest>,
    key: Option<KeyText>,
    parts: Option<Parts>,
) -> Result<Begun, Called> {
    if let Err(problem) = bounded(&request) {
        return Err(called(gateway, entry, &request, Err(problem)));
    }
    let id = CallId(gateway.clock.new_id());
    let key = key.unwrap_or_else(|| KeyText::of(id));
    let (admitted, mut is_admitted) = oneshot::channel();
    let watch = Watch {
        admitted: Some(admitted),
        parts,
        ..Watch::default()
    };
    let (task, caller) = (Arc::clone(gateway), Arc::clone(entry));
    let work = async move {
        let answer = answer(&task, &caller, &request, Some(key), id, watch).await;
        called(&task, &caller, &request, answer)
    };
    let mut end = tokio::spawn(work.in_current_span());
    tokio::select! {
        biased;
        Ok(()) = &mut is_admitted => Ok(Begun { id, end }),
        ended = &mut end => Err(ended.unwrap_or_else(|error| Called {
            answer: Err(Problem::internal(&error)),
            limits: Vec::new(),
        })),
    }
}

fn bounded(request: &CallRequest) -> Result<(), Problem> {
    bounds::check(
        request.group.as_deref(),
        request.state.as_deref(),
        request.session_id,
        request.context.as_ref(),
    )
}

/// With the status of the limits after the call.
fn called(
    gateway: &Gateway,
    entry: &Entry,
    request: &CallRequest,
    answer: Result<Answer, Problem>,
) -> Called {
    let limits = if entry.project.limits.is_empty() {
        Vec::new()
    } else {
        let principal = &entry.caller.identity.principal;
        let now = gateway.clock.now();
        limits::limit_status(gateway, &entry.project, principal, &request.tool, now)
    };
    Called { answer, limits }
}

async fn answer(
    gateway: &Arc<Gateway>,
    entry: &Arc<Entry>,
    request: &Arc<CallRequest>,
    key: Option<KeyText>,
    id: CallId,
    watch: Watch,
) -> Result<Answer, Problem> {
    let Some(KeyText(key)) = key else {
        let answer = call(gateway, entry, id, request, None, watch).await;
        return answer.map(Answer::Fresh);
    };
    let requester = entry.requester();
    let key = IdempotencyKey {
        project: entry.project.row.uid,
        principal_id: requester.principal.id.clone(),
        key,
    };
    let (task, settle) = (Arc::clone(gateway), Some(key.clone()));
    let (caller, asked) = (Arc::clone(entry), Arc::clone(request));
    let work = async move { call(&task, &caller, id, &asked, settle, watch).await };
    // Boxed, because the layers around a handler move its future several times.
    let answer = Box::pin(idempotency::once(gateway, key, request, id, work)).await?;
    if let Answer::Replayed(earlier, _) = &answer {
        Box::pin(replay(gateway, &entry.project, &requester, request, *earlier)).await?;
    }
    Ok(answer)
}

/// A key that cannot be used.
#[must_use]
pub fn unusable_key(how: &str) -> Problem {
    Problem::new(
        ErrorCode::MalformedRequest,
        format!("{how} must be sent once, with 1-{LONGEST_KEY} visible ASCII characters."),
    )
}
