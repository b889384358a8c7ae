//! What a request without a body of its own says about groups, state, session and context: in its query.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde_json::{Map, Value};
use toolgate_api::ErrorCode;
use toolgate_api::calls::ResolveRequest;
use url::form_urlencoded;
use uuid::Uuid;

use crate::extract::check_query;
use crate::gateway::{Problem, bounds};

/// The question of a request.
#[derive(Debug, Default)]
pub struct RequestedTools(pub ResolveRequest);

/// How [`RequestedTools`] is written.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the query; `RequestedTools` reads it")]
pub struct RequestedToolsQuery {
    /// The requested groups, each as a parameter of its own: `group=a&group=b`. Absent asks for `default`, or for the
    /// session's groups; `group=` asks for nothing; `*` for every group.
    #[param(max_items = 1000, required = false)]
    group: Vec<String>,
    /// The workflow state; absent or empty is `undefined`. Not together with `session_id`.
    #[param(max_length = 128, required = false)]
    state: String,
    /// A session of the caller, whose state and groups are used.
    #[param(required = false)]
    session_id: Uuid,
    /// Where the request comes from: the channel.
    #[param(max_length = 256, required = false)]
    channel_id: String,
    /// The agent.
    #[param(max_length = 256, required = false)]
    agent_id: String,
    /// The agent's turn.
    #[param(max_length = 256, required = false)]
    agent_turn_id: String,
    /// The step.
    #[param(max_length = 256, required = false)]
    step_id: String,
    /// The model's id of this tool call.
    #[param(max_length = 256, required = false)]
    tool_call_id: String,
    /// The step above.
    #[param(max_length = 256, required = false)]
    parent_step_id: String,
    /// The trace.
    #[param(max_length = 256, required = false)]
    trace_id: String,
    /// The turn's epoch.
    #[param(minimum = 0, maximum = 4_294_967_295_u32, required = false)]
    turn_epoch: u32,
    /// The context box.
    #[param(max_length = 256, required = false)]
    context_box_id: String,
}

impl<S: Send + Sync> FromRequestParts<S> for RequestedTools {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        check_query(parts)?;
        read(parts.uri.query().unwrap_or_default()).map(Self)
    }
}

/// Reads a query.
///
/// # Errors
/// 400 for what it does not know, and for what contradicts itself.
pub(crate) fn read(query: &str) -> Result<ResolveRequest, Problem> {
    let mut asked = ResolveRequest::default();
    let mut context = Map::new();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let twice = match &*name {
            "group" => {
                asked.group.get_or_insert_default().push(value.into_owned());
                false
            }
            "state" => asked.state.replace(value.into_owned()).is_some(),
            "session_id" => {
                let id = value
                    .parse()
                    .map_err(|_| malformed("`session_id` is not a UUID"))?;
                asked.session_id.replace(id).is_some()
            }
            "turn_epoch" => {
                let epoch: u32 = value
                    .parse()
                    .map_err(|_| malformed("`turn_epoch` is not a whole number from 0 to 4294967295"))?;
                context.insert(name.into_owned(), epoch.into()).is_some()
            }
            _ => context
                .insert(name.into_owned(), Value::String(value.into_owned()))
                .is_some(),
        };
        if twice {
            return Err(malformed("only `group` may be sent more than once"));
        }
    }
    if !context.is_empty() {
        // Whatever is no part of a context is not known here either.
        let read =
            serde_json::from_value(Value::Object(context)).map_err(|error| malformed(&error.to_string()))?;
        asked.context = Some(read);
    }
    check(&mut asked)?;
    Ok(asked)
}

fn check(asked: &mut ResolveRequest) -> Result<(), Problem> {
    if let Some(names) = &mut asked.group {
        if *names == [""] {
            names.clear();
        } else if names.iter().any(String::is_empty) {
            return Err(malformed(
                "an empty `group` asks for nothing and must be the only one",
            ));
        }
    }
    let mut errors = bounds::faults(
        asked.group.as_deref(),
        asked.state.as_deref(),
        asked.context.as_ref(),
    );
    if asked.session_id.is_some() && asked.state.is_some() {
        errors.push(bounds::state_beside_session());
    }
    // A query has no places that a pointer could name.
    for error in &mut errors {
        if let Some(place) = error.pointer.take() {
            error.message = format!("`{}` {}", place.trim_start_matches('/'), error.message);
        }
    }
    if errors.is_empty() {
        return Ok(());
    }
    Err(malformed("see `errors`").errors(errors))
}

fn malformed(why: &str) -> Problem {
    Problem::new(
        ErrorCode::MalformedRequest,
        format!("The query is not valid: {why}."),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(names: &[&str]) -> Option<Vec<String>> {
        Some(names.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn absent_and_empty_groups_stay_different() {
        for (query, group) in [
            ("", None),
            ("group=", strings(&[])),
            ("group=a", strings(&["a"])),
            ("group=a&group=b%2Cc+d", strings(&["a", "b,c d"])),
            ("group=*", strings(&["*"])),
        ] {
            assert_eq!(read(query).unwrap().group, group, "{query}");
        }
    }

    #[test]
    fn everything_else_is_read_once() {
        let id = "0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11";
        let asked = read(&format!("session_id={id}&agent_id=a1&turn_epoch=3")).unwrap();
        assert_eq!(asked.session_id, Some(id.parse().unwrap()));
        let context = asked.context.unwrap();
        assert_eq!(
            (context.agent_id.as_deref(), context.turn_epoch),
            (Some("a1"), Some(3))
        );
        assert_eq!(read("state=open").unwrap().state.as_deref(), Some("open"));
    }

    #[test]
    fn what_is_not_meant_is_refused() {
        let long = format!("state={}", "x".repeat(129));
        for query in [
            "stat=open",
            "state=a&state=b",
            "agent_id=a&agent_id=b",
            "session_id=7",
            "turn_epoch=-1",
            "group=&group=a",
            "state=a&session_id=0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11",
            &long,
        ] {
            let error = read(query).unwrap_err();
            assert_eq!(error.code(), ErrorCode::MalformedRequest, "{query}");
        }
    }
}
