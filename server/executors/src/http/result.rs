//! HTTP answers, shaped as `result` says.

use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;
use toolgate_core::http_mapping::media::is_media_type;

use super::answer;
use super::send::Answer;
use super::text::{self, Kind};
use crate::failure::Failure;
use crate::invocation::{Artifact, ArtifactKind, Execution};
use crate::redact::Secrets;
use crate::result::{ResultTemplate, Unshaped, json_artifact};

impl ResultTemplate {
    /// Reads an answer.
    ///
    /// # Errors
    /// As for answers as they are; `upstream_invalid` when nothing can be selected from it, or it cannot be cut.
    pub(crate) fn read(&self, answer: &Answer, secrets: &Secrets) -> Result<Execution, Failure> {
        answer::accepted(answer, secrets)?;
        self.shape_answer(answer, secrets)
            .map_err(|failure| answer::with_status(answer, failure))
    }

    fn shape_answer(&self, answer: &Answer, secrets: &Secrets) -> Result<Execution, Failure> {
        let media_type = text::media_type(&answer.headers);
        let kind = text::kind(&media_type);
        let mut value = answer::value(answer, kind, &media_type)?;
        secrets.clean(&mut value);
        let structured = matches!(kind, Kind::Json | Kind::Events);
        let unshaped = Unshaped { value, structured };
        self.shape(unshaped, |result, value, keep| {
            if structured {
                return json_artifact(result, keep);
            }
            whole(value, media_type, answer, secrets, keep)
        })
    }
}

/// A result that is no JSON, to be kept whole: the text that it is, or what the upstream sent.
fn whole(value: &Value, media_type: String, answer: &Answer, secrets: &Secrets, keep: Duration) -> Artifact {
    let known = Some(media_type).filter(|media_type| is_media_type(media_type) && !media_type.contains('*'));
    let or = |standard: &str| known.unwrap_or_else(|| standard.to_owned());
    let (kind, content_type, content) = match value.get("text").and_then(Value::as_str) {
        Some(text) => (
            ArtifactKind::Text,
            or("text/plain") + "; charset=utf-8",
            Bytes::copy_from_slice(text.as_bytes()),
        ),
        None => (
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

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue, StatusCode, header};
    use rstest::rstest;
    use serde_json::json;
    use toolgate_api::ErrorCode;

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
