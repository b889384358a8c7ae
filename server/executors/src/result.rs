//! `result` made ready: what becomes of an answer.

use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;
use toolgate_api::calls::{ResultNotes, Truncation};
use toolgate_api::{ErrorCode, JsonText};
use toolgate_core::definition::model::{Beyond, HttpResult};
use toolgate_core::selector::Selector;

use crate::failure::Failure;
use crate::invocation::{Artifact, ArtifactKind, Execution};

/// Longest token of a next page, in bytes.
const LONGEST_NEXT: usize = 2_000;
/// How long a result is kept whole where the definition does not say.
const KEEP: Duration = Duration::from_secs(24 * 3600);

/// A prepared `result`.
pub(crate) struct ResultTemplate {
    select: Option<Selector>,
    next: Option<Selector>,
    max_bytes: Option<usize>,
    /// How long what is larger is kept whole, if it is.
    keep: Option<Duration>,
}

/// A result before the definition is followed.
pub(crate) struct Unshaped {
    pub(crate) value: Value,
    /// Whether it is JSON, so that a part of it can be selected.
    pub(crate) structured: bool,
}

impl ResultTemplate {
    /// Prepares it.
    ///
    /// # Errors
    /// `tool_unavailable` when a path is none.
    pub(crate) fn new(result: &HttpResult) -> Result<Self, Failure> {
        let path = |text: &Option<String>| {
            text.as_deref().map(Selector::parse).transpose().map_err(|why| {
                Failure::misconfigured(format!("`result` has a path that cannot be used: {why}"))
            })
        };
        Ok(Self {
            select: path(&result.select)?,
            next: path(&result.next)?,
            max_bytes: result.max_bytes.and_then(|bytes| usize::try_from(bytes).ok()),
            keep: (result.beyond == Beyond::Keep).then(|| {
                let seconds = result.keep_s.map(u64::from);
                seconds.map_or(KEEP, Duration::from_secs)
            }),
        })
    }

    /// Follows it for a result that is JSON.
    ///
    /// # Errors
    /// `upstream_invalid` when it is too large and cannot be cut.
    pub(crate) fn of_json(&self, execution: Execution) -> Result<Execution, Failure> {
        let unshaped = Unshaped {
            value: execution.result.to_value(),
            structured: true,
        };
        let shaped = self.shape(unshaped, |result, _, keep| json_artifact(result, keep))?;
        let mut notes = execution.notes;
        if let Some(cut) = shaped.notes {
            let all = notes.get_or_insert_default();
            all.truncated = cut.truncated;
            all.next = cut.next;
        }
        Ok(Execution {
            usage: execution.usage,
            notes,
            ..shaped
        })
    }

    /// Selects, notes where the next page is, and cuts. `whole` makes what is kept of a result that is too large: from its
    /// text, from its value, and for how long.
    ///
    /// # Errors
    /// As for [`Self::of_json`], and when something is to be selected from what is no JSON.
    pub(crate) fn shape(
        &self,
        unshaped: Unshaped,
        whole: impl FnOnce(&JsonText, &Value, Duration) -> Artifact,
    ) -> Result<Execution, Failure> {
        let Unshaped {
            mut value,
            structured,
        } = unshaped;
        let next = self.next.as_ref().filter(|_| structured);
        let next = next.and_then(|path| page(path.first(&value)?));
        if let Some(select) = &self.select {
            if !structured {
                return Err(invalid("is no JSON, so that nothing can be selected from it"));
            }
            value = select.select(&value);
        }
        let mut result = JsonText::from(&value);
        let total = result.get().len();
        let (mut truncated, mut artifact) = (None, None);
        if let Some(most) = self.max_bytes.filter(|most| total > *most) {
            artifact = self.keep.map(|keep| Box::new(whole(&result, &value, keep)));
            let kept = match cut(value, most) {
                Some(kept) => kept,
                None if artifact.is_some() => Value::Null,
                None => {
                    return Err(invalid(&format!(
                        "makes a result of {total} bytes, and the definition allows {most}; only lists and texts can be cut, \
                         so select a part of it, or keep it whole with beyond: keep"
                    )));
                }
            };
            result = JsonText::from(&kept);
            truncated = Some(Truncation {
                kept_bytes: result.get().len() as u64,
                total_bytes: total as u64,
            });
        }
        let is_cut = truncated.is_some() || next.is_some();
        Ok(Execution {
            result,
            usage: None,
            notes: is_cut.then(|| {
                Box::new(ResultNotes {
                    truncated,
                    next,
                    ..ResultNotes::default()
                })
            }),
            artifact,
        })
    }
}

/// A result that is a value, to be kept whole.
pub(crate) fn json_artifact(result: &JsonText, keep: Duration) -> Artifact {
    Artifact {
        kind: ArtifactKind::Json,
        content_type: "application/json".to_owned(),
        content: Bytes::copy_from_slice(result.get().as_bytes()),
        keep,
    }
}

fn invalid(what: &str) -> Failure {
    Failure::new(
        ErrorCode::UpstreamInvalid,
        format!("the upstream's answer {what}"),
    )
}

/// The token or address of a next page.
fn page(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    (!text.is_empty() && text.len() <= LONGEST_NEXT).then_some(text)
}

/// As much of a list or a text as fits this many bytes of JSON; `None` for other values.
fn cut(value: Value, most: usize) -> Option<Value> {
    match value {
        Value::Array(items) => Some(Value::Array(first_items(items, most))),
        Value::String(text) => Some(Value::String(first_characters(&text, most))),
        Value::Object(mut members) if members.len() == 1 => {
            let (key, inner) = members.iter_mut().next()?;
            // `{"":}` around the value.
            let around = key.len() + 5;
            if !matches!(
                (key.as_str(), &*inner),
                ("text", Value::String(_)) | ("events", Value::Array(_))
            ) {
                return None;
            }
            *inner = cut(inner.take(), most.checked_sub(around)?)?;
            Some(Value::Object(members))
        }
        _ => None,
    }
}

/// The first items, as many as fit between the brackets.
fn first_items(items: Vec<Value>, most: usize) -> Vec<Value> {
    let mut left = most.saturating_sub(2);
    let mut kept = Vec::new();
    for item in items {
        let size = item.to_string().len() + usize::from(!kept.is_empty());
        if size > left {
            break;
        }
        left -= size;
        kept.push(item);
    }
    kept
}

/// The first characters, as many as fit between the quotes with what has to be escaped.
fn first_characters(text: &str, most: usize) -> String {
    let mut left = most.saturating_sub(2);
    text.chars()
        .take_while(|c| {
            let size = match c {
                '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
                c if u32::from(*c) < 0x20 => 6,
                c => c.len_utf8(),
            };
            let fits = size <= left;
            left = left.saturating_sub(size);
            fits
        })
        .collect()
}
