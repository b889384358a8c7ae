//! An answer that comes as server-sent events: its parts, and what it comes to.

use gloo_net::http::Response;
use js_sys::{Reflect, Uint8Array};
use serde_json::Value;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::ReadableStreamDefaultReader;

use super::{Answer, ApiError, parse, read_json};
use crate::language::t;

/// Reads the events of a call; each `part` is passed on, and `answer` or `problem` ends it.
pub(super) async fn answer(response: &Response, on_part: Box<dyn Fn(Value)>) -> Result<Answer, ApiError> {
    let body = response.body().ok_or_else(cut)?;
    let reader: ReadableStreamDefaultReader = body.get_reader().dyn_into().map_err(|_| cut())?;
    let mut events = Events::default();
    loop {
        let chunk = JsFuture::from(reader.read())
            .await
            .map_err(|_| ApiError::Network)?;
        let member = |name: &str| Reflect::get(&chunk, &JsValue::from_str(name));
        if member("done").is_ok_and(|done| done.is_truthy()) {
            return Err(cut());
        }
        let bytes = member("value").map_err(|_| cut())?;
        for (name, data) in events.feed(&Uint8Array::new(&bytes).to_vec()) {
            match name.as_str() {
                "part" => on_part(parse(&data)?),
                "answer" => {
                    return Ok(Answer {
                        etag: String::new(),
                        text: data,
                    });
                }
                "problem" => return Err(ApiError::Problem(Box::new(read_json(&data)?))),
                _ => {}
            }
        }
    }
}

fn cut() -> ApiError {
    ApiError::Unreadable(t("the answer ended before it was complete").to_owned())
}

/// Takes a stream of bytes apart into events.
#[derive(Default)]
struct Events {
    /// What has come of a line.
    line: Vec<u8>,
    name: String,
    data: String,
}

impl Events {
    /// The events, as name and data, that are complete with these bytes.
    fn feed(&mut self, bytes: &[u8]) -> Vec<(String, String)> {
        let mut complete = Vec::new();
        for &byte in bytes {
            if byte != b'\n' {
                self.line.push(byte);
                continue;
            }
            let line = std::mem::take(&mut self.line);
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end_matches('\r');
            if line.is_empty() {
                let (name, data) = (std::mem::take(&mut self.name), std::mem::take(&mut self.data));
                if !name.is_empty() || !data.is_empty() {
                    complete.push((name, data));
                }
                continue;
            }
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "event" => value.clone_into(&mut self.name),
                "data" => {
                    if !self.data.is_empty() {
                        self.data.push('\n');
                    }
                    self.data.push_str(value);
                }
                _ => {}
            }
        }
        complete
    }
}

#[cfg(test)]
mod tests {
    use super::Events;

    #[test]
    fn events_are_complete_wherever_the_bytes_are_cut() {
        let text = "event: call\ndata: {\"call_id\": 1}\n\n: alive\n\nevent: part\r\ndata: \"Gr\u{fc}n\"\r\n\r\ndata: a\ndata: b\n\nevent: cut";
        let expected = [
            ("call", "{\"call_id\": 1}"),
            ("part", "\"Gr\u{fc}n\""),
            ("", "a\nb"),
        ]
        .map(|(name, data)| (name.to_owned(), data.to_owned()));
        for size in 1..text.len() {
            let mut events = Events::default();
            let found: Vec<_> = text
                .as_bytes()
                .chunks(size)
                .flat_map(|chunk| events.feed(chunk))
                .collect();
            assert_eq!(found, expected, "in chunks of {size}");
        }
    }
}
