//! Conditions on groups: when, under which load and in which context a group is open (tool group specification,
//! section 11.1).
//!
//! A condition is an expression of the Common Expression Language. The library that evaluates it has no limit of
//! cost, so the language is cut down before anything is evaluated: no loops, no maps, known variables and functions
//! only, and every operand has a known type. What is left costs no more than its length, and faults are reported when
//! the condition is saved, not when a call needs it. What can still go wrong then (an overflow, a division by zero)
//! closes the group.

mod check;
mod types;
mod variables;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock};

use cel::common::ast::SourceInfo;
use cel::common::types::CelBool;
use cel::parser::Parser;
use cel::{Context, Env, IdedExpr, Value};
use chrono::{DateTime, Utc};
use toolgate_api::Diagnostic;
use toolgate_api::calls::CallContext;

use self::variables::Variables;
use super::evaluation_context::{EvaluationContext, Load};

/// Longest condition, in characters.
pub const MAX_LENGTH: usize = 1_024;
/// Deepest nesting of brackets.
const MAX_BRACKETS: u16 = 24;
/// The parser's stack: it takes some hundred kilobytes for each bracket, more than a server's thread has to spare.
const PARSER_STACK: usize = 16 << 20;
/// The most faults that are reported at once.
const MAX_FAULTS: usize = 20;
/// Characters of the library's own words that are repeated.
const MAX_REASON: usize = 200;

/// The functions that conditions may use; which of them are let through is decided in [`check`].
static ENVIRONMENT: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(Env::stdlib()));

/// A condition, ready to be evaluated.
#[derive(Debug)]
pub struct Condition {
    source: Box<str>,
    expression: IdedExpr,
}

impl Condition {
    /// Reads and checks a condition.
    ///
    /// # Errors
    /// Every fault, at most 20, each with the line and the column (in characters, from 1) of its position.
    pub fn parse(source: &str) -> Result<Self, Vec<Diagnostic>> {
        if source.trim().is_empty() {
            return Err(vec![
                Diagnostic::error("the condition is empty")
                    .hint("leave it out to keep the group open, or write `false` to close it")
                    .at(1, 1),
            ]);
        }
        if source.chars().nth(MAX_LENGTH).is_some() {
            return Err(vec![
                Diagnostic::error(format!("the condition has more than {MAX_LENGTH} characters")).at(1, 1),
            ]);
        }
        if source
            .chars()
            .any(|c| c.is_control() && !matches!(c, '\n' | '\t' | '\r'))
        {
            return Err(vec![
                Diagnostic::error("the condition has control characters")
                    .hint("write them as escapes, for example '\\u0007'")
                    .at(1, 1),
            ]);
        }
        let (expression, positions) = read(source)?;
        let expression = check::check(expression, source, &positions).map_err(|mut faults| {
            faults.truncate(MAX_FAULTS);
            faults
        })?;
        let condition = Self {
            source: source.into(),
            expression,
        };
        condition.rehearse()?;
        Ok(condition)
    }

    /// The text.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether it holds.
    ///
    /// # Errors
    /// Why it cannot be evaluated, in a few words; the group is closed then.
    pub fn holds(&self, evaluation: &EvaluationContext<'_>) -> Result<bool, String> {
        let variables = Variables::new(evaluation);
        let evaluated = catch_unwind(AssertUnwindSafe(|| {
            let mut context = Context::with_env(Arc::clone(&ENVIRONMENT));
            context.set_variable_resolver(&variables);
            match Value::resolve_val(&self.expression, &context) {
                Ok(value) => value
                    .downcast_ref::<CelBool>()
                    .map(|holds| *holds.inner())
                    .ok_or_else(|| "the result is not true or false".to_owned()),
                Err(error) => Err(shorten(&error.to_string())),
            }
        }));
        evaluated.unwrap_or_else(|_| Err("the evaluation broke off".to_owned()))
    }

    /// Evaluates it for a request that says everything about itself and one that says nothing: a condition that fails
    /// for both can hardly be what was meant.
    fn rehearse(&self) -> Result<(), Vec<Diagnostic>> {
        let id = || Some("a".to_owned());
        let full = CallContext {
            channel_id: id(),
            agent_id: id(),
            agent_turn_id: id(),
            step_id: id(),
            tool_call_id: id(),
            parent_step_id: id(),
            trace_id: id(),
            turn_epoch: Some(1),
            context_box_id: id(),
            recursion_depth: None,
        };
        let load = Load {
            calls_in_flight: 1,
            calls_per_minute: 1,
        };
        let at = DateTime::<Utc>::UNIX_EPOCH;
        let loaded = EvaluationContext::at(at).load(load).context(Some(&full));
        match (self.holds(&loaded), self.holds(&EvaluationContext::at(at))) {
            (Err(reason), Err(_)) => Err(vec![
                Diagnostic::error(format!("the condition cannot be evaluated: {reason}")).at(1, 1),
            ]),
            _ => Ok(()),
        }
    }
}

/// Parses on a thread with a stack of its own, so that neither a panic nor the depth of a text can affect other
/// requests.
fn read(source: &str) -> Result<(IdedExpr, SourceInfo), Vec<Diagnostic>> {
    let text = source.to_owned();
    let parsed = std::thread::Builder::new()
        .name("condition".to_owned())
        .stack_size(PARSER_STACK)
        .spawn(move || {
            Parser::default()
                .max_recursion_depth(MAX_BRACKETS)
                .error_recovery_limit(4)
                .parse_with_source_info(&text)
        })
        .map(std::thread::JoinHandle::join);
    match parsed {
        Ok(Ok(Ok(parsed))) => Ok(parsed),
        Ok(Ok(Err(errors))) => Err(unreadable(source, &errors)),
        Ok(Err(_)) | Err(_) => Err(vec![Diagnostic::error("the condition cannot be read").at(1, 1)]),
    }
}

/// The parser's faults with their places.
fn unreadable(source: &str, errors: &cel::ParseErrors) -> Vec<Diagnostic> {
    let lines = u32::try_from(source.lines().count()).unwrap_or(1).max(1);
    let mut faults: Vec<Diagnostic> = Vec::new();
    for error in errors.errors.iter().take(MAX_FAULTS) {
        let (line, column) = error.pos;
        // A fault without a place (the nesting is too deep) has none inside the text.
        let line = u32::try_from(line).unwrap_or(1).clamp(1, lines);
        let column = u32::try_from(column).unwrap_or(1).max(1);
        let fault = if error.msg.contains("Recursion limit") {
            Diagnostic::error(format!("brackets are nested deeper than {MAX_BRACKETS}"))
        } else {
            Diagnostic::error(shorten(&error.msg))
        }
        .at(line, column);
        if !faults.contains(&fault) {
            faults.push(fault);
        }
    }
    if faults.is_empty() {
        faults.push(Diagnostic::error("the condition cannot be read").at(1, 1));
    }
    faults
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(MAX_REASON) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

#[cfg(test)]
mod tests;
