//! Events of an upstream as values (WHATWG HTML, section 9.2.6).

use serde_json::{Map, Value};

use crate::events::EventSplitter;

/// Every event as `{event?, id?, data}`; data that is JSON is a value, other data a text.
pub(crate) fn read(stream: &[u8]) -> Value {
    let mut splitter = EventSplitter::new(usize::MAX);
    let mut events = Vec::new();
    // No event is too large.
    let _ = splitter.push(stream, &mut events);
    // A server that is done need not send the last empty line.
    events.extend(splitter.finish());
    let events = events.iter().filter_map(|event| value(event)).collect();
    Value::Object(Map::from_iter([("events".to_owned(), Value::Array(events))]))
}

/// One whole event; `None` when it has no data.
pub(super) fn value(event: &[u8]) -> Option<Value> {
    let mut read = Event::default();
    String::from_utf8_lossy(event)
        .lines()
        .for_each(|line| read.line(line));
    read.finish()
}

#[derive(Default)]
struct Event {
    name: Option<String>,
    id: Option<String>,
    data: Option<String>,
}

impl Event {
    fn line(&mut self, line: &str) {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => match &mut self.data {
                None => self.data = Some(value.to_owned()),
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
            },
            "event" => self.name = Some(value.to_owned()),
            "id" => self.id = Some(value.to_owned()),
            // Comments, `retry` and unknown fields.
            _ => {}
        }
    }

    /// Without data there was no event.
    fn finish(self) -> Option<Value> {
        let data = self.data?;
        let mut event = Map::new();
        for (key, text) in [("event", self.name), ("id", self.id)] {
            event.extend(text.map(|text| (key.to_owned(), Value::String(text))));
        }
        let data = serde_json::from_str(&data).unwrap_or(Value::String(data));
        event.insert("data".to_owned(), data);
        Some(Value::Object(event))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case("data: a\n\ndata: b\n\n", json!([{"data": "a"}, {"data": "b"}]))]
    #[case("event: done\nid: 7\ndata: {\"n\": 1}\n\n", json!([{"event": "done", "id": "7", "data": {"n": 1}}]))]
    #[case("data: a\ndata:  b\ndata\n\n", json!([{"data": "a\n b\n"}]))]
    #[case(": comment\nretry: 5\nevent: empty\n\n", json!([]))]
    #[case("data: a\r\n\r\ndata: b\r\n\r\n", json!([{"data": "a"}, {"data": "b"}]))]
    #[case("data: a\r\rdata: b\r\r", json!([{"data": "a"}, {"data": "b"}]))]
    #[case("data: [DONE]", json!([{"data": "[DONE]"}]))]
    #[case("", json!([]))]
    fn streams(#[case] text: &str, #[case] expected: Value) {
        assert_eq!(read(text.as_bytes())["events"], expected);
    }
}
