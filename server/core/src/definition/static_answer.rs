//! `options.static`: an answer that the definition gives itself.

use toolgate_api::ErrorCode;
use toolgate_api::tool_types::{FieldValue, STATIC, STATIC_ERROR};

use super::destination;
use super::fields;
use super::model::{StaticError, StaticOptions};
use super::nearest::nearest;
use super::node::{Cursor, Data};
use super::parameters::Declared;
use super::report::{Report, listed, shown};
use super::template::{self, ARGUMENTS, VARIABLES};

/// Longest time that an answer may be waited for, in milliseconds.
const LONGEST_DELAY: i64 = 300_000;
/// Longest message of an error, in characters.
const LONGEST_MESSAGE: usize = 1_000;
/// Longest wait that an error may ask for, in seconds.
const LONGEST_WAIT: i64 = 86_400;

/// Reads it.
pub(super) fn read(
    cursor: &Cursor<'_>,
    timeout_ms: Option<u64>,
    report: &mut Report,
) -> Option<StaticOptions> {
    if !fields::map(cursor, "static", report) {
        return None;
    }
    fields::known_fields(cursor, STATIC, "static", report);
    let result = cursor.get("result");
    let error = cursor.get("error");
    match (&result, &error) {
        (None, None) => report.error(
            &cursor.spot,
            "static has neither a \"result\" nor an \"error\"",
            "write result: <any value>, or error: {message: <text>}",
        ),
        (Some(_), Some(at)) => report.error(
            &at.spot,
            "\"result\" and \"error\" both say how a call ends",
            "keep one of them",
        ),
        _ => {}
    }
    if let Some(at) = &result {
        no_secrets(at, report);
    }
    let delay = cursor.get("delay_ms").and_then(|at| {
        let delay = fields::integer(&at, "delay_ms", 0, LONGEST_DELAY, report)?;
        let delay = u64::try_from(delay).ok()?;
        if timeout_ms.is_some_and(|timeout| delay >= timeout) {
            report.warning(
                &at.spot,
                "every call will time out: the answer takes as long as options.timeout_ms, or longer",
                "make delay_ms less than timeout_ms",
            );
        }
        Some(delay)
    });
    Some(StaticOptions {
        result: result.map(|at| at.node.to_value()),
        error: error.and_then(|at| failure(&at, report)),
        delay_ms: delay,
    })
}

fn failure(cursor: &Cursor<'_>, report: &mut Report) -> Option<StaticError> {
    if !fields::map(cursor, "error", report) {
        return None;
    }
    fields::known_fields(cursor, STATIC_ERROR, "error", report);
    let code = cursor
        .get("code")
        .map_or(Some(ErrorCode::ExecutionFailed), |at| code(&at, report));
    let retry_after_s = cursor
        .get("retry_after_s")
        .and_then(|at| fields::integer(&at, "retry_after_s", 1, LONGEST_WAIT, report))
        .and_then(|seconds| u32::try_from(seconds).ok());
    let Some(at) = cursor.get("message") else {
        report.error(&cursor.spot, "error has no \"message\"", "write message: <text>");
        return None;
    };
    no_secrets(&at, report);
    let message = fields::string(&at, "message", report)?;
    if message.trim().is_empty() || message.chars().count() > LONGEST_MESSAGE {
        report.error(
            &at.spot,
            format!("\"message\" must have 1 to {LONGEST_MESSAGE} characters"),
            "write what went wrong, for people",
        );
    }
    Some(StaticError {
        code: code?,
        message,
        retry_after_s,
    })
}

fn code(cursor: &Cursor<'_>, report: &mut Report) -> Option<ErrorCode> {
    let text = fields::string(cursor, "code", report)?;
    let choices = STATIC_ERROR.iter().find_map(|field| match field.value {
        FieldValue::Choice(choices) if field.name == "code" => Some(choices),
        _ => None,
    })?;
    let mut codes = ErrorCode::ALL.iter().copied();
    let known = codes.find(|code| code.as_str() == text && choices.contains(&code.as_str()));
    if known.is_none() {
        let hint = match nearest(&text, choices.iter().copied()) {
            Some(near) => format!("did you mean {near:?}?"),
            None => format!("codes are {}", listed(choices)),
        };
        report.error(
            &cursor.spot,
            format!("an upstream's failure has no code {}", shown(&text)),
            hint,
        );
    }
    known
}

/// What looks like a credential would be answered to every caller.
fn no_secrets(value: &Cursor<'_>, report: &mut Report) {
    if let Data::Text(text) = &value.node.data
        && destination::looks_secret(text)
    {
        report.error(
            &value.spot,
            "this looks like a secret, and every caller would get it",
            "write a text that is evidently an example",
        );
    }
    value.items().for_each(|item| no_secrets(&item, report));
    value
        .entries()
        .for_each(|(_, _, inner)| no_secrets(&inner, report));
}

/// Checks the placeholders, once the parameters are known. `cursor` is at `static`.
pub(super) fn check(cursor: &Cursor<'_>, declared: &Declared<'_>, report: &mut Report) {
    for at in ["/result", "/error/message"] {
        placeholders(&cursor.find(at), declared, report);
    }
}

fn placeholders(value: &Cursor<'_>, declared: &Declared<'_>, report: &mut Report) {
    if let Data::Text(text) = &value.node.data {
        for name in template::placeholders(text) {
            if let Some((message, hint)) = fault(name, declared) {
                report.error(&value.spot, message, hint);
            }
        }
    }
    value
        .items()
        .for_each(|item| placeholders(&item, declared, report));
    value
        .entries()
        .for_each(|(_, _, inner)| placeholders(&inner, declared, report));
}

/// Why a placeholder cannot be resolved, and what to do.
fn fault(name: &str, declared: &Declared<'_>) -> Option<(String, String)> {
    let Some(argument) = name.strip_prefix(ARGUMENTS) else {
        if VARIABLES.contains(&name) {
            return None;
        }
        let hint = if declared.knows(name) {
            format!("write {{{ARGUMENTS}{name}}} for the argument; write {{{{{name}}}}} for the literal text")
        } else {
            let known = listed(VARIABLES.map(|known| format!("{{{known}}}")));
            format!("known are {{{ARGUMENTS}NAME}} and {known}; write {{{{{name}}}}} for the literal text")
        };
        return Some((format!("unknown placeholder {{{name}}}"), hint));
    };
    let first = argument.split('.').next().unwrap_or_default();
    if declared.knows(argument) || declared.knows(first) {
        return None;
    }
    let known: Vec<&str> = declared.names().collect();
    let hint = match nearest(first, known.iter().copied()) {
        Some(near) => format!("did you mean {{{ARGUMENTS}{near}}}?"),
        None => "add it to parameters.properties".to_owned(),
    };
    let message = format!("{} is no declared parameter", shown(first));
    Some((message, hint))
}
