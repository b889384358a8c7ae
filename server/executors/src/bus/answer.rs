//! The messages of one answer, in their order.

use std::collections::BTreeMap;

use serde_json::Value;
use toolgate_api::ErrorCode;

use super::envelope::Part;
use crate::failure::Failure;

/// The most messages of one answer.
const MOST_PARTS: usize = 10_000;
/// The most messages that wait for an earlier one.
const MOST_EARLY: usize = 256;

/// An answer as far as it has come.
pub(super) struct Answer {
    most_bytes: usize,
    bytes: usize,
    /// The number of the message that is next.
    next: u64,
    /// Messages that came before an earlier one.
    early: BTreeMap<u64, Part>,
    values: Vec<Value>,
    is_whole: bool,
}

impl Answer {
    pub(super) fn new(most_bytes: usize) -> Self {
        Self {
            most_bytes,
            bytes: 0,
            next: 0,
            early: BTreeMap::new(),
            values: Vec::new(),
            is_whole: false,
        }
    }

    /// Takes one message. What it adds to the answer, in order, is returned: nothing if it came before or an earlier one is
    /// missing, and several if it is the one that others waited for.
    ///
    /// # Errors
    /// The answer is too long, or has too large a gap.
    pub(super) fn take(&mut self, part: Part) -> Result<&[Value], Failure> {
        let had = self.values.len();
        self.bytes = self.bytes.saturating_add(part.bytes);
        if self.bytes > self.most_bytes {
            return Err(unusable(format!(
                "the answer of the tool service is larger than {} bytes",
                self.most_bytes
            )));
        }
        match part.sequence {
            Some(number) if number < self.next => {}
            Some(number) if number > self.next => {
                self.early.insert(number, part);
                if self.early.len() > MOST_EARLY {
                    return Err(unusable(format!(
                        "message {} of the tool service's answer is missing",
                        self.next
                    )));
                }
            }
            _ => {
                self.add(part);
                while let Some(part) = self.early.remove(&self.next) {
                    self.add(part);
                }
            }
        }
        if self.values.len() > MOST_PARTS {
            return Err(unusable(format!(
                "the answer of the tool service has more than {MOST_PARTS} messages"
            )));
        }
        Ok(&self.values[had..])
    }

    fn add(&mut self, part: Part) {
        if self.is_whole {
            return;
        }
        self.next += 1;
        self.is_whole = part.is_last;
        self.values.extend(part.content);
    }

    /// Whether the last message is there, and every one before it.
    pub(super) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// The number of the message that others wait for, if one is missing.
    pub(super) fn missing(&self) -> Option<u64> {
        (!self.early.is_empty()).then_some(self.next)
    }

    /// The result: texts joined to one, a single value as it is, and several as a list.
    pub(super) fn into_result(self) -> Value {
        let mut values = self.values;
        if values.iter().all(Value::is_string) {
            return Value::String(values.iter().filter_map(Value::as_str).collect());
        }
        if values.len() == 1 {
            return values.swap_remove(0);
        }
        Value::Array(values)
    }
}

fn unusable(fault: String) -> Failure {
    Failure::new(ErrorCode::UpstreamInvalid, fault)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn part(sequence: Option<u64>, content: Value, is_last: bool) -> Part {
        Part {
            sequence,
            content: (!content.is_null()).then_some(content),
            bytes: 10,
            is_last,
        }
    }

    #[rstest]
    #[case::one_text(&[(None, json!("a"), true)], json!("a"))]
    #[case::one_value(&[(None, json!({"a": 1}), true)], json!({"a": 1}))]
    #[case::nothing(&[(None, Value::Null, true)], json!(""))]
    #[case::texts(&[(None, json!("a"), false), (None, json!("b"), false), (None, Value::Null, true)], json!("ab"))]
    #[case::values(&[(None, json!(1), false), (None, json!("b"), true)], json!([1, "b"]))]
    #[case::reordered(&[(Some(1), json!("b"), false), (Some(2), json!("c"), true), (Some(0), json!("a"), false)], json!("abc"))]
    #[case::repeated(&[(Some(0), json!("a"), false), (Some(0), json!("a"), false), (Some(1), json!("b"), true)], json!("ab"))]
    #[case::after_the_end(&[(Some(1), json!("b"), true), (Some(2), json!("c"), true), (Some(0), json!("a"), false)], json!("ab"))]
    fn messages_are_joined_in_their_order(
        #[case] messages: &[(Option<u64>, Value, bool)],
        #[case] expected: Value,
    ) {
        let mut answer = Answer::new(1000);
        for (at, (sequence, content, is_last)) in messages.iter().enumerate() {
            assert!(!answer.is_whole(), "before message {at}");
            answer
                .take(part(*sequence, content.clone(), *is_last))
                .expect("within the bounds");
        }
        assert!(answer.is_whole());
        assert_eq!(answer.into_result(), expected);
    }

    #[test]
    fn what_a_message_adds_is_passed_on_once() {
        let mut answer = Answer::new(1000);
        assert_eq!(answer.take(part(Some(1), json!("b"), false)), Ok(&[][..]));
        assert_eq!(answer.missing(), Some(0));
        let both = [json!("a"), json!("b")];
        assert_eq!(answer.take(part(Some(0), json!("a"), false)), Ok(&both[..]));
        assert_eq!(answer.take(part(Some(0), json!("a"), false)), Ok(&[][..]));
        assert_eq!(answer.missing(), None);
    }

    #[test]
    fn an_answer_is_bounded() {
        let mut answer = Answer::new(25);
        for _ in 0..2 {
            answer.take(part(None, json!("a"), false)).expect("fits");
        }
        let failure = answer.take(part(None, json!("a"), false)).expect_err("too large");
        assert!(failure.message.contains("larger than 25 bytes"), "{failure:?}");

        let mut answer = Answer::new(usize::MAX);
        let refused = (1..)
            .find_map(|number| answer.take(part(Some(number), json!("a"), false)).err())
            .expect("a gap cannot be waited for without end");
        assert_eq!(refused.code, ErrorCode::UpstreamInvalid);
        assert!(refused.message.contains("message 0"), "{refused:?}");

        let mut answer = Answer::new(usize::MAX);
        let sent = (1..)
            .find(|_| answer.take(part(None, json!("a"), false)).is_err())
            .expect("refused");
        assert_eq!(sent, MOST_PARTS + 1);
    }
}
