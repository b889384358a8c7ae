//! `options.http.result` made ready: what becomes of an answer.

use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;
use toolgate_api::calls::{ResultNotes, Truncation};
use toolgate_api::{ErrorCode, JsonText};
use toolgate_core::definition::model::{Beyond, HttpResult};
use toolgate_core::http_mapping::media::is_media_type;
use toolgate_core::selector::Selector;

use super::answer;
use super::send::Answer;
use super::text::{self, Kind};
use crate::failure::Failure;
use crate::invocation::{Artifact, ArtifactKind, Execution};
use crate::redact::Secrets;

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

    /// Reads an answer.
    ///
    /// # Errors
    /// As for answers as they are; `upstream_invalid` when nothing can be selected from it, or it cannot be cut.
    pub(crate) fn read(&self, answer: &Answer, secrets: &Secrets) -> Result<Execution, Failure> {
        answer::accepted(answer, secrets)?;
        self.shape(answer, secrets)
            .map_err(|failure| answer::with_status(answer, failure))
    }

    fn shape(&self, answer: &Answer, secrets: &Secrets) -> Result<Execution, Failure> {
        let media_type = text::media_type(&answer.headers);
        let kind = text::kind(&media_type);
        let mut value = answer::value(answer, kind, &media_type)?;
        secrets.clean(&mut value);
        let structured = matches!(kind, Kind::Json | Kind::Events);
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
            artifact = self.keep.map(|keep| {
                let whole = if structured {
                    Whole::Json(&result)
                } else {
                    Whole::of(&value)
                };
                Box::new(whole.keep(keep, media_type, answer, secrets))
            });
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
        let told = truncated.is_some() || next.is_some();
        Ok(Execution {
            result,
            usage: None,
            notes: told.then(|| {
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

/// What is kept of a result that is too large.
enum Whole<'a> {
    /// The result, because it is a value.
    Json(&'a JsonText),
    /// The text that it is.
    Text(&'a str),
    /// What the upstream sent.
    Bytes,
}

impl<'a> Whole<'a> {
    /// A result that is no JSON.
    fn of(value: &'a Value) -> Self {
        value
            .get("text")
            .and_then(Value::as_str)
            .map_or(Self::Bytes, Self::Text)
    }

    fn keep(self, keep: Duration, media_type: String, answer: &Answer, secrets: &Secrets) -> Artifact {
        let known =
            Some(media_type).filter(|media_type| is_media_type(media_type) && !media_type.contains('*'));
        let or = |standard: &str| known.unwrap_or_else(|| standard.to_owned());
        let (kind, content_type, content) = match self {
            Self::Json(result) => (
                ArtifactKind::Json,
                "application/json".to_owned(),
                Bytes::copy_from_slice(result.get().as_bytes()),
            ),
            Self::Text(text) => (
                ArtifactKind::Text,
                or("text/plain") + "; charset=utf-8",
                Bytes::copy_from_slice(text.as_bytes()),
            ),
            Self::Bytes => (
                ArtifactKind::Bytes,
                or("application/octet-stream"),
                secrets.clean_bytes(&answer.body),
            ),
        };
        Artifact {
            kind,
            content_type,
            content,
            keep,
        }
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

/// As much of a list or a text as has so many bytes as JSON; `None` for other values.
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

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::{HeaderMap, HeaderValue, StatusCode, header};
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn answer(content_type: &'static str, body: &str) -> Answer {
        let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static(content_type))]);
        Answer {
            status: StatusCode::OK,
            headers,
            body: Bytes::copy_from_slice(body.as_bytes()),
        }
    }

    fn template(options: Value) -> ResultTemplate {
        ResultTemplate::new(&serde_json::from_value(options).expect("options")).expect("usable")
    }

    #[rstest]
    #[case::one_place(json!({"select": "$.a.b"}), json!(1))]
    #[case::several(json!({"select": "$.items[*].n"}), json!([1, 2]))]
    #[case::nothing_there(json!({"select": "$.nope"}), json!(null))]
    fn a_part_is_the_result(#[case] options: Value, #[case] expected: Value) {
        let body = json!({"a": {"b": 1}, "items": [{"n": 1}, {"n": 2}]}).to_string();
        let execution = template(options)
            .read(&answer("application/json", &body), &Secrets::default())
            .expect("a result");
        assert_eq!(execution.result, expected);
        assert_eq!(execution.notes, None);
    }

    #[test]
    fn events_can_be_selected_from_and_texts_cannot() {
        let template = template(json!({"select": "$.events[-1].data.text"}));
        let stream = answer(
            "text/event-stream",
            "data: {\"text\":\"a\"}\n\ndata: {\"text\":\"b\"}\n\n",
        );
        let execution = template.read(&stream, &Secrets::default()).expect("a result");
        assert_eq!(execution.result, json!("b"));
        let failure = template
            .read(&answer("text/plain", "a"), &Secrets::default())
            .expect_err("no JSON");
        assert_eq!(
            (failure.code, failure.upstream_status),
            (ErrorCode::UpstreamInvalid, Some(200))
        );
    }

    #[rstest]
    #[case(json!({"next": "n1"}), Some("n1"))]
    #[case(json!({"next": 7}), Some("7"))]
    #[case(json!({"next": null}), None)]
    #[case(json!({"next": ""}), None)]
    #[case(json!({"next": {"a": 1}}), None)]
    #[case(json!({}), None)]
    fn the_next_page_is_told(#[case] body: Value, #[case] expected: Option<&str>) {
        let execution = template(json!({"next": "$.next"}))
            .read(
                &answer("application/json", &body.to_string()),
                &Secrets::default(),
            )
            .expect("a result");
        let next = execution.notes.and_then(|notes| notes.next);
        assert_eq!(next.as_deref(), expected);
    }

    #[test]
    fn what_is_too_large_is_cut_and_said_so() {
        let list = json!((0..1000).collect::<Vec<_>>());
        let text = "a\u{e9}\"\n".repeat(500);
        for (kind, body) in [
            ("application/json", list.to_string()),
            ("text/plain", text.clone()),
        ] {
            for most in [100_u64, 101, 102, 103, 500] {
                let execution = template(json!({"max_bytes": most}))
                    .read(&answer(kind, &body), &Secrets::default())
                    .expect("a result");
                let result = execution.result.get();
                let truncated = execution
                    .notes
                    .and_then(|notes| notes.truncated)
                    .expect("it was cut");
                assert_eq!(truncated.kept_bytes, result.len() as u64);
                assert!(
                    truncated.total_bytes > most && result.len() as u64 <= most,
                    "{result}"
                );
                assert!(
                    result.len() as u64 > most - 10,
                    "no more than needed is cut: {result}"
                );
                match execution.result.to_value() {
                    Value::Array(items) => {
                        assert_eq!(items[..], list.as_array().expect("a list")[..items.len()]);
                    }
                    value => assert!(text.starts_with(value["text"].as_str().expect("a text"))),
                }
            }
        }
        let large = json!({"a": "x".repeat(500), "b": 1}).to_string();
        let failure = template(json!({"max_bytes": 100}))
            .read(&answer("application/json", &large), &Secrets::default())
            .expect_err("an object cannot be cut");
        assert!(failure.message.contains("select a part"), "{}", failure.message);
        let small = template(json!({"max_bytes": 1000}))
            .read(&answer("application/json", &large), &Secrets::default())
            .expect("a result");
        assert_eq!(small.notes, None);
    }
}
