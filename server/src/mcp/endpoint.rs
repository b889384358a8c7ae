//! The way of a message: who sends it, in which session, and on to the protocol.

use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolgate_api::ErrorCode;
use toolgate_api::audit::{AuditAction, Entrance};
use toolgate_core::ids::SessionId;
use toolgate_core::principal::PrincipalRef;
use toolgate_core::session::{self as rules, SessionLife};
use tracing::Span;
use uuid::Uuid;

use super::asking::{self, Asks, ClientAsker};
use super::changes::Follower;
use super::endpoint_query::{self, EndpointQuery};
use super::message::{self, Invalid, Message, VERSION};
use super::server::{Prepared, TURN};
use super::session::{self, Opened, Stored};
use super::turn::{Placed, Turn};
use super::{cancel, idempotency, metadata, plain, stream, upstream};
use crate::extract::{self, content_type, unsupported};
use crate::gateway::available::{self, Question};
use crate::gateway::call::{NEED, RunningCall, cancel_named};
use crate::gateway::entry::Entry;
use crate::gateway::{Gateway, Problem, sessions};
use crate::state::App;

/// The id of a session.
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// What the protocol's implementation wants to be accepted; what the client takes is decided here.
const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// A message, or what it was refused with.
pub(super) async fn post(State(app): State<App>, Path(project): Path<String>, request: Request) -> Response {
    match Box::pin(take(&app, &project, request)).await {
        Ok(response) => response,
        Err(Refused::Problem(problem)) => metadata::refusal(&app.gateway.config, &project, *problem),
        Err(Refused::Invalid(invalid)) => invalid.into_response(),
    }
}

/// The stream of a session's notifications.
pub(super) async fn get(State(app): State<App>, Path(project): Path<String>, request: Request) -> Response {
    let listening = async {
        let (mut parts, _) = request.into_parts();
        let credential = extract::required_credential(&parts.headers)?;
        let entry = enter(&mut parts, &app, &project, &credential).await?;
        let asked = endpoint_query::read(&parts)?;
        let Some(id) = session_header(&parts.headers) else {
            return Ok(no_stream());
        };
        let opened = open_session(&entry, id)?;
        let entry = Arc::new(entry);
        let placed = match asked.request.session_id {
            Some(id) => named(&app.gateway, &entry, &asked, id).await?,
            None => own(&app.gateway, &entry, &opened).await?,
        };
        let turn = turn(&parts, entry, asked, placed, false, Span::current())?;
        let follower = Follower::new(&app.gateway, &app.mcp.changes, credential.into(), turn).await;
        match follower {
            Ok(follower) => Ok(stream::answer(&app.gateway, follower)),
            Err(_) => Err(no_session()),
        }
    };
    let answer: Result<Response, Problem> = Box::pin(listening).await;
    answer.unwrap_or_else(|problem| metadata::refusal(&app.gateway.config, &project, problem))
}

/// Ends a session.
pub(super) async fn delete(
    State(app): State<App>,
    Path(project): Path<String>,
    request: Request,
) -> Response {
    let ending = async {
        let (mut parts, _) = request.into_parts();
        let credential = extract::required_credential(&parts.headers)?;
        let entry = enter(&mut parts, &app, &project, &credential).await?;
        let Some(id) = session_header(&parts.headers) else {
            return Ok(no_stream());
        };
        let opened = open_session(&entry, id)?;
        match session::stored(&app.gateway, &entry, opened.id).await? {
            Stored::NotYet => session::end_unstored(&app.gateway, opened.id).await?,
            Stored::Living(row) => {
                let requester = entry.requester();
                let ended = sessions::end(&app.gateway, &entry.project, &requester, *row, None);
                Box::pin(ended).await?;
            }
            Stored::Gone => return Err(no_session()),
        }
        Ok(StatusCode::NO_CONTENT.into_response())
    };
    let answer: Result<Response, Problem> = Box::pin(ending).await;
    answer.unwrap_or_else(|problem| metadata::refusal(&app.gateway.config, &project, problem))
}

/// Why a message went no further.
enum Refused {
    Problem(Box<Problem>),
    Invalid(Invalid),
}

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Self {
        Self::Problem(Box::new(problem))
    }
}

impl From<Invalid> for Refused {
    fn from(invalid: Invalid) -> Self {
        Self::Invalid(invalid)
    }
}

async fn take(app: &App, project: &str, request: Request) -> Result<Response, Refused> {
    let (mut parts, body) = request.into_parts();
    let credential = extract::required_credential(&parts.headers)?;
    let mut entry = enter(&mut parts, app, project, &credential).await?;
    let kind = content_type(&parts.headers);
    if kind.as_deref() != Some("application/json") {
        return Err(unsupported(kind.as_deref(), "application/json").into());
    }
    let mut asked = endpoint_query::read(&parts)?;
    let mut whole = Request::new(body);
    whole.extensions_mut().clone_from(&parts.extensions);
    let body = extract::body(whole).await?;
    let message = Message::read(&body)?;

    if message.initializes_in_vain && message::is_modern(&parts.headers) {
        return Err(Invalid::no_method(&message).into());
    }
    let modern = !message.initializes() && message::is_modern(&parts.headers);
    let opened = match session_header(&parts.headers) {
        Some(id) if !modern && !message.initializes() => Some(open_session(&entry, id)?),
        // A session from before does not keep a client from beginning another one.
        _ => None,
    };
    entry.caller.origin.client = match &opened {
        Some(opened) => opened.client.clone(),
        None => message.client.clone(),
    };
    app.gateway.mcp_clients.note(&entry);
    let entry = Arc::new(entry);
    if let (Some(opened), Some(id)) = (&opened, message.answers()) {
        if app.mcp.questions.answer(opened.id, id, &body) {
            return Ok(StatusCode::ACCEPTED.into_response());
        }
        let detail =
            "Nothing waits for this answer: it came before, the call has ended, or another server asked.";
        return Err(Invalid::request(Some(id), detail).into());
    }
    if let (Some(opened), Some(request)) = (&opened, &message.cancels) {
        let (name, what) = (cancel::name(opened.id, request), json!({"mcp_request": request}));
        Box::pin(cancel_named(&app.gateway, &entry, name, what)).await?;
    }
    let takes_argument = entry.project.settings.mcp_session_argument && opened.is_none();
    if takes_argument && message.calls() && asked.request.session_id.is_none() {
        asked.request.session_id = argued_session(&body, &asked)?;
    }
    let placed = match (asked.request.session_id, &opened) {
        (Some(id), _) => named(&app.gateway, &entry, &asked, id).await?,
        (None, Some(opened)) => own(&app.gateway, &entry, opened).await?,
        (None, None) => Placed::Alone,
    };
    let mut turn = turn(&parts, Arc::clone(&entry), asked, placed, modern, Span::current())?;
    let named = match (&opened, &message.id) {
        (Some(opened), Some(id)) => {
            let name = cancel::name(opened.id, id);
            Some(RunningCall::new(&app.gateway, name, turn.cancelled.clone()))
        }
        _ => None,
    };
    // Cancelled when the answer was sent or its client is gone: what has ended by then is not touched by it.
    let kept = (named, turn.cancelled.clone().drop_guard());
    turn.credential = Some(credential.into());
    turn.key = idempotency::key(&parts.headers, message.key.as_ref())?;

    let asked = match &opened {
        Some(opened) if opened.asks.is_any() && turn.takes_events && message.calls() => {
            let questions = &app.mcp.questions;
            let (asker, asked) = ClientAsker::new(&app.gateway, questions, opened.id, opened.asks);
            turn.asker = Some(asker);
            Some(asked)
        }
        _ => None,
    };
    let serving = serve(app.clone(), parts, body, message.clone(), opened, Arc::new(turn));
    let response = match asked {
        None => serving.await,
        Some(asked) => asking::answered(Box::pin(serving), asked).await,
    };
    if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
        let detail = format!("The message is not one that `{}` takes.", message.method);
        return Err(Invalid::request(message.id.as_ref(), detail).into());
    }
    let response = match message.initializes() && response.status() == StatusCode::OK {
        true => begun(&app.gateway, &entry, message.asks, response).await,
        false => response,
    };
    // What listens for a cancellation lives as long as the answer.
    Ok(response.map(|body| {
        Body::new(body.map_frame(move |frame| {
            let _kept = &kept;
            frame
        }))
    }))
}

/// Hands a message to the protocol's implementation.
async fn serve(
    app: App,
    parts: Parts,
    body: Bytes,
    message: Message,
    opened: Option<Opened>,
    turn: Arc<Turn>,
) -> Response {
    if let Some(call) = plain::read(&app.mcp.levels, &turn, &parts.headers, &message, &body) {
        return plain::answer(&app.gateway, &turn, call).await;
    }
    let mut request = http::Request::new(Full::new(body));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = parts.uri;
    *request.headers_mut() = parts.headers;
    let headers = request.headers_mut();
    headers.insert(header::ACCEPT, BOTH);
    // The credential goes no further.
    headers.remove(header::AUTHORIZATION);
    headers.remove(header::COOKIE);
    headers.remove(SESSION);
    if message.initializes() {
        // What a client says at the beginning is negotiated, whatever it sent before.
        headers.remove(VERSION);
    } else if let Some(opened) = opened
        && !headers.contains_key(VERSION)
        && let Ok(version) = HeaderValue::from_str(&opened.version)
    {
        headers.insert(VERSION, version);
    }
    request.extensions_mut().insert(Prepared::new(Arc::clone(&turn)));
    let answer = TURN.scope(Arc::clone(&turn), app.mcp.service.handle(request));
    let response = answer.await.map(Body::new);
    let kept = turn.kept.lock().unwrap_or_else(PoisonError::into_inner).take();
    match kept {
        Some(kept) => completed(response, &kept).await,
        None => response,
    }
}

/// Adds to a result what the protocol's types do not know of it.
async fn completed(response: Response, kept: &Value) -> Response {
    let (mut parts, body) = response.into_parts();
    let Ok(body) = body.collect().await.map(http_body_util::Collected::to_bytes) else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let Ok(mut message) = serde_json::from_slice::<Value>(&body) else {
        return Response::from_parts(parts, Body::from(body));
    };
    if let Some(result) = message.get_mut("result") {
        upstream::complete(result, kept);
    }
    parts.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(message.to_string()))
}

/// Gives a client that was let in the id of its session.
async fn begun(gateway: &Gateway, entry: &Entry, asks: Asks, response: Response) -> Response {
    #[derive(Deserialize)]
    struct Answer {
        result: Negotiated,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Negotiated {
        protocol_version: String,
    }
    let (mut parts, body) = response.into_parts();
    let Ok(body) = body.collect().await.map(http_body_util::Collected::to_bytes) else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    if let Ok(answer) = serde_json::from_slice::<Answer>(&body)
        && let Some(id) = session::begin(gateway, entry, &answer.result.protocol_version, asks)
        && let Ok(id) = HeaderValue::from_str(&id)
    {
        parts.headers.insert(SESSION, id);
    }
    Response::from_parts(parts, Body::from(body))
}

async fn enter(parts: &mut Parts, app: &App, project: &str, credential: &str) -> Result<Entry, Problem> {
    extract::caller(parts, app, credential, Entrance::Mcp)
        .await?
        .enter(project, NEED)
}

fn session_header(headers: &HeaderMap) -> Option<&str> {
    headers.get(SESSION).map(|id| id.to_str().unwrap_or_default())
}

/// Checks the id that a client sends.
fn open_session(entry: &Entry, id: &str) -> Result<Opened, Problem> {
    session::open(entry, id).ok_or_else(no_session)
}

/// 404 tells a client to begin a new session.
fn no_session() -> Problem {
    Problem::new(
        ErrorCode::NotFound,
        "There is no such session: it was ended, has expired, or is another client's. Begin a new one with `initialize`.",
    )
}

/// Without a session there is no stream: notifications of later revisions come in answer to `subscriptions/listen`.
fn no_stream() -> Response {
    let mut response = Problem::new(
        ErrorCode::MethodNotAllowed,
        "This needs the `Mcp-Session-Id` that `initialize` was answered with. Without a session, send `POST`.",
    )
    .into_response();
    let allowed = HeaderValue::from_static("POST");
    response.headers_mut().insert(header::ALLOW, allowed);
    response
}

/// The client's own session.
async fn own(gateway: &Gateway, entry: &Entry, opened: &Opened) -> Result<Placed, Problem> {
    let row = match session::stored(gateway, entry, opened.id).await? {
        Stored::NotYet => None,
        Stored::Living(row) => Some(row),
        Stored::Gone => return Err(no_session()),
    };
    if let Some(row) = &row
        && session::ends_early(row, gateway.clock.now())
    {
        session::keep(gateway, entry, opened.id).await;
    }
    Ok(Placed::Own { id: opened.id, row })
}

/// The session that a call names among its arguments.
fn argued_session(body: &[u8], asked: &EndpointQuery) -> Result<Option<Uuid>, Problem> {
    let Some(named) = message::session_argument(body) else {
        return Ok(None);
    };
    let malformed = |detail: &str| Problem::new(ErrorCode::MalformedRequest, detail);
    if asked.request.state.is_some() {
        return Err(malformed(
            "The address names a state and the call a session: leave one of them out.",
        ));
    }
    let id = named.as_str().and_then(|id| id.parse().ok());
    id.map(Some).ok_or_else(|| {
        malformed("`toolgate_session` must be the id of a session, as `POST .../sessions` answers it.")
    })
}

/// The session that the address or the call names. Naming one that cannot be used is recorded.
async fn named(
    gateway: &Arc<Gateway>,
    entry: &Entry,
    asked: &EndpointQuery,
    id: Uuid,
) -> Result<Placed, Problem> {
    let row = gateway
        .store
        .session(entry.project.row.uid, SessionId(id))
        .await?;
    let principal = PrincipalRef::from(&entry.caller.identity.principal);
    let now = gateway.clock.now();
    let usable = |row: &toolgate_store::rows::SessionRow| {
        row.principal == principal && rules::life(row.expires_at, row.ended_at, now) == SessionLife::Living
    };
    if let Some(row) = row.filter(usable) {
        return Ok(Placed::Named(Box::new(row)));
    }
    let question = Question {
        action: AuditAction::Resolve,
        group: asked.request.group.clone(),
        state: None,
        session_id: Some(id),
        context: asked.request.context.as_ref(),
        arguments: None,
        offers: None,
    };
    let asked = Box::pin(available::ask(
        gateway,
        &entry.project,
        &entry.requester(),
        question,
    ))
    .await;
    Err(asked.err().unwrap_or_else(no_session))
}

fn turn(
    parts: &Parts,
    entry: Arc<Entry>,
    asked: EndpointQuery,
    placed: Placed,
    modern: bool,
    span: Span,
) -> Result<Turn, Problem> {
    let search = asked.search.unwrap_or(entry.project.settings.mcp_search);
    Ok(Turn {
        entry,
        asked: asked.request,
        placed,
        search,
        modern,
        takes_events: takes_events(&parts.headers),
        key: None,
        cancelled: CancellationToken::new(),
        credential: None,
        asker: None,
        span,
        kept: Mutex::default(),
    })
}

/// Whether a client takes events: it says so, or does not say what it takes.
fn takes_events(headers: &HeaderMap) -> bool {
    let mut accepted = headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    accepted.any(|kind| {
        let kind = kind.split(';').next().unwrap_or_default().trim();
        kind.eq_ignore_ascii_case("text/event-stream")
    })
}
