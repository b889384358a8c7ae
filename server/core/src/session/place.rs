//! Where a request may take its state from, and where a new session may begin (DESIGN, section 8).

use toolgate_api::audit::StateSource;
use toolgate_api::settings::{ProjectSettings, SessionUse};

use crate::policy::decision::{UNDEFINED_STATE, state_or_undefined};

/// Start states that a project may name.
pub const MAX_START_STATES: usize = 100;

/// Whether a request about tools must name a session.
#[must_use]
pub fn is_required(settings: &ProjectSettings) -> bool {
    settings.sessions == SessionUse::Required
}

/// The states that a new session may begin in; `None` for every state.
#[must_use]
pub fn start_states(settings: &ProjectSettings) -> Option<Vec<&str>> {
    match &settings.start_states {
        Some(states) => Some(states.iter().map(String::as_str).collect()),
        None => is_required(settings).then(|| vec![UNDEFINED_STATE]),
    }
}

/// A session may not begin in the state that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotAStart {
    /// The state.
    pub state: String,
    /// Those it may begin in.
    pub allowed: Vec<String>,
}

/// The state that a new session begins in. One that names no state begins in `undefined`, or in the first start state if
/// `undefined` is not one of them.
///
/// # Errors
/// When the state is none of the start states.
pub fn begin(settings: &ProjectSettings, asked: Option<&str>) -> Result<String, NotAStart> {
    let named = asked.filter(|state| !state.is_empty());
    let Some(allowed) = start_states(settings) else {
        return Ok(state_or_undefined(named).to_owned());
    };
    let otherwise = || match allowed.first() {
        Some(first) if !allowed.contains(&UNDEFINED_STATE) => first,
        _ => UNDEFINED_STATE,
    };
    let state = named.unwrap_or_else(otherwise);
    if allowed.contains(&state) {
        Ok(state.to_owned())
    } else {
        Err(NotAStart {
            state: state.to_owned(),
            allowed: allowed.into_iter().map(str::to_owned).collect(),
        })
    }
}

/// Where the state of a request came from.
#[must_use]
pub fn source(in_session: bool, named: Option<&str>) -> StateSource {
    match named {
        _ if in_session => StateSource::Session,
        Some(state) if !state.is_empty() => StateSource::Request,
        _ => StateSource::Default,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::free(json!({}), None, Ok("undefined"))]
    #[case::free_and_named(json!({}), Some("any"), Ok("any"))]
    #[case::empty_is_absent(json!({}), Some(""), Ok("undefined"))]
    #[case::required(json!({"sessions": "required"}), None, Ok("undefined"))]
    #[case::required_and_named(json!({"sessions": "required"}), Some("undefined"), Ok("undefined"))]
    #[case::required_elsewhere(json!({"sessions": "required"}), Some("any"), Err(&["undefined"][..]))]
    #[case::the_first(json!({"start_states": ["intake", "review"]}), None, Ok("intake"))]
    #[case::the_first_for_empty(json!({"start_states": ["intake", "review"]}), Some(""), Ok("intake"))]
    #[case::undefined_first(json!({"start_states": ["intake", "undefined"]}), None, Ok("undefined"))]
    #[case::one_of_them(json!({"sessions": "required", "start_states": ["intake", "review"]}), Some("review"), Ok("review"))]
    #[case::none_of_them(json!({"start_states": ["intake"]}), Some("undefined"), Err(&["intake"][..]))]
    #[case::none_at_all(json!({"start_states": []}), None, Err(&[][..]))]
    fn where_a_session_begins(
        #[case] settings: serde_json::Value,
        #[case] asked: Option<&str>,
        #[case] expected: Result<&str, &[&str]>,
    ) {
        let settings: ProjectSettings = serde_json::from_value(settings).expect("settings");
        let found = begin(&settings, asked).map_err(|refused| refused.allowed);
        let expected = expected
            .map(str::to_owned)
            .map_err(|allowed| allowed.iter().map(|&name| name.to_owned()).collect::<Vec<_>>());
        assert_eq!(found, expected);
    }

    #[rstest]
    #[case(true, None, StateSource::Session)]
    #[case(false, Some("a"), StateSource::Request)]
    #[case(false, Some(""), StateSource::Default)]
    #[case(false, None, StateSource::Default)]
    fn where_a_state_comes_from(
        #[case] session: bool,
        #[case] named: Option<&str>,
        #[case] from: StateSource,
    ) {
        assert_eq!(source(session, named), from);
    }
}
