//! Removing secrets from every text that comes back or is kept.

mod decoded;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use aho_corasick::AhoCorasick;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use bytes::Bytes;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

/// What replaces a secret.
pub(crate) const MASK: &str = "[redacted]";
/// The longest upstream message that is kept, in characters.
const MESSAGE_CHARS: usize = 500;
/// Shorter values (`true`, `eu`, `8080`) are settings rather than secrets: masking them in results would spoil results.
const MIN_RESULT_SECRET: usize = 8;

/// Shorter arguments, such as one digit, would hit by chance.
const MIN_MESSAGE_VALUE: usize = 4;

/// So many forms are looked for one by one, in texts of so many bytes: more is searched at once.
const FEW: usize = 32;
/// See [`FEW`].
const SHORT: usize = 16 << 10;
/// Bytes of the beginnings by which one of many forms is found.
const BEGINNING: usize = 32;

/// Secret values, and what they are recognised by: as they are, percent-encoded, escaped as in JSON, as hexadecimal digits,
/// and in base64 even inside of something longer.
#[derive(Clone, Default)]
pub struct Secrets {
    /// The values themselves, and the forms under which an upstream may echo them.
    forms: Vec<SecretString>,
    /// Values that are masked in messages only.
    in_messages: Vec<SecretString>,
    /// The secrets that are known beside those of the request.
    known: Option<Arc<Secrets>>,
    number: usize,
    /// What finds the beginnings of many forms at once.
    beginnings: OnceLock<Option<AhoCorasick>>,
}

impl Secrets {
    /// Adds a value, and the forms under which an upstream may echo it.
    pub fn add(&mut self, secret: &SecretString) {
        let value = secret.expose_secret();
        if value.is_empty() {
            return;
        }
        let mut forms = Vec::new();
        if value.len() >= MIN_RESULT_SECRET {
            forms.extend([
                hex(value, u8::to_ascii_lowercase),
                hex(value, u8::to_ascii_uppercase),
            ]);
            forms.extend((0..3).flat_map(|shift| base64_at(value, shift)));
        }
        forms.sort_unstable();
        forms.dedup();
        self.forms.extend(forms.into_iter().map(SecretString::from));
        self.forms.push(secret.clone());
        self.number += 1;
        self.beginnings = OnceLock::new();
    }

    /// Adds a value that stays in results, where its caller may want it, but not in messages.
    pub(crate) fn add_to_messages(&mut self, value: &str) {
        if value.len() >= MIN_MESSAGE_VALUE {
            self.in_messages.push(value.into());
        }
    }

    /// Adds the values of others.
    pub(crate) fn merge(&mut self, others: &Self) {
        self.forms.extend(others.forms.iter().cloned());
        self.number += others.number;
        self.beginnings = OnceLock::new();
    }

    /// Adds secrets that the request does not carry, but that a caller may have sent.
    pub(crate) fn know(&mut self, known: Option<Arc<Self>>) {
        self.known = known;
    }

    /// Whether any of the values occurs in the bytes.
    pub(crate) fn occur_in(&self, bytes: &[u8]) -> bool {
        !self.places(bytes, 1, &[]).is_empty()
    }

    /// Whether anything in a result would be masked.
    pub(crate) fn spoil(&self, result: &[u8]) -> bool {
        !self
            .places_in(result, MIN_RESULT_SECRET, &[], decoded::LEVELS + 1)
            .is_empty()
    }

    /// The text without any of the values, cut to what a message may hold.
    pub(crate) fn message(&self, text: &str) -> String {
        // Redacting comes first: a cut through the middle of a secret would leave half of it behind.
        let clean = self.redact(text, 1, &self.in_messages);
        let mut cut: String = clean
            .chars()
            .filter(|c| !c.is_control() || *c == '\n')
            .take(MESSAGE_CHARS)
            .collect();
        if clean.chars().count() > MESSAGE_CHARS {
            cut.push('…');
        }
        cut
    }

    /// Masks the values in every string and key of a result.
    pub fn clean(&self, value: &mut Value) {
        self.clean_value(value);
    }

    /// The text with the values masked, as in a result.
    #[must_use]
    pub fn clean_text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.redact(text, MIN_RESULT_SECRET, &[])
    }

    /// The bytes with the values masked, as in a result.
    pub(crate) fn clean_bytes(&self, bytes: &Bytes) -> Bytes {
        let places = self.places(bytes, MIN_RESULT_SECRET, &[]);
        if places.is_empty() {
            return bytes.clone();
        }
        masked(bytes, places).into()
    }

    fn clean_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(clean) = self.clean_text(text) {
                    *text = clean;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.clean_value(item)),
            Value::Object(fields) => {
                if fields
                    .keys()
                    .any(|key| matches!(self.clean_text(key), Cow::Owned(_)))
                {
                    let old = std::mem::take(fields);
                    fields.extend(
                        old.into_iter()
                            .map(|(key, field)| (self.clean_text(&key).into_owned(), field)),
                    );
                }
                fields.values_mut().for_each(|field| self.clean_value(field));
            }
            // A value of digits may come back as a number.
            Value::Number(number) => {
                if let Cow::Owned(clean) = self.clean_text(&number.to_string()) {
                    *value = Value::String(clean);
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn redact<'a>(&self, text: &'a str, least: usize, more: &[SecretString]) -> Cow<'a, str> {
        let places = self.places(text.as_bytes(), least, more);
        if places.is_empty() {
            return Cow::Borrowed(text);
        }
        let clean = masked(text.as_bytes(), places);
        Cow::Owned(String::from_utf8_lossy(&clean).into_owned())
    }

    /// The places of values of at least `least` bytes.
    fn places(&self, text: &[u8], least: usize, more: &[SecretString]) -> Vec<Range<usize>> {
        self.places_in(text, least, more, decoded::LEVELS)
    }

    fn places_in(
        &self,
        text: &[u8],
        least: usize,
        more: &[SecretString],
        levels: usize,
    ) -> Vec<Range<usize>> {
        let more: Vec<&[u8]> = more.iter().map(|form| form.expose_secret().as_bytes()).collect();
        if self.forms.is_empty() && more.is_empty() && self.known.is_none() {
            return Vec::new();
        }
        decoded::find_all(text, levels, &|text| {
            let mut found = self.find(text, least);
            more.iter().for_each(|needle| find(text, needle, &mut found));
            if let Some(known) = &self.known {
                found.extend(known.find(text, MIN_RESULT_SECRET));
            }
            found
        })
    }

    /// The places of literal forms of at least `least` bytes.
    fn find(&self, text: &[u8], least: usize) -> Vec<Range<usize>> {
        let forms = || self.forms.iter().map(|form| form.expose_secret().as_bytes());
        let mut found = Vec::new();
        if self.forms.len() <= FEW && text.len() <= SHORT {
            forms()
                .filter(|form| form.len() >= least)
                .for_each(|form| find(text, form, &mut found));
            return found;
        }
        let beginnings = self.beginnings.get_or_init(|| {
            let beginnings = forms().map(|form| &form[..form.len().min(BEGINNING)]);
            AhoCorasick::new(beginnings).ok()
        });
        let Some(beginnings) = beginnings else {
            forms().for_each(|form| find(text, form, &mut found));
            return found;
        };
        for beginning in beginnings.find_overlapping_iter(text) {
            let form = self.forms[beginning.pattern().as_usize()]
                .expose_secret()
                .as_bytes();
            if form.len() >= least && text[beginning.start()..].starts_with(form) {
                found.push(beginning.start()..beginning.start() + form.len());
            }
        }
        found
    }
}

/// The places of a needle, overlaps included.
fn find(text: &[u8], needle: &[u8], found: &mut Vec<Range<usize>>) {
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| position(rest, needle)) {
        found.push(from + at..from + at + needle.len());
        from += at + 1;
    }
}

/// The bytes with every run of overlapping places replaced by one mask.
fn masked(bytes: &[u8], mut places: Vec<Range<usize>>) -> Vec<u8> {
    places.sort_unstable_by_key(|place| place.start);
    let mut clean = Vec::with_capacity(bytes.len());
    let mut done = 0;
    let mut places = places.into_iter().peekable();
    while let Some(mut place) = places.next() {
        while let Some(next) = places.next_if(|next| next.start < place.end) {
            place.end = place.end.max(next.end);
        }
        clean.extend_from_slice(&bytes[done..place.start]);
        clean.extend_from_slice(MASK.as_bytes());
        done = place.end;
    }
    clean.extend_from_slice(&bytes[done..]);
    clean
}

/// Where a part begins, which is not empty.
fn position(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    let (first, rest) = needle.split_first()?;
    let mut from = 0;
    // Most bytes are not the first one, and those are skipped fast.
    while let Some(at) = bytes.get(from..)?.iter().position(|byte| byte == first) {
        if bytes[from + at + 1..].starts_with(rest) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}

fn hex(value: &str, case: fn(&u8) -> u8) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(case(&DIGITS[usize::from(nibble)]));
    value
        .bytes()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}

/// The characters of base64 that come from the value alone when so many bytes (modulo 3) precede it, in both
/// alphabets. So the value is found inside of something longer that was encoded, too.
fn base64_at(value: &str, shift: usize) -> [String; 2] {
    let mut bytes = vec![0; shift];
    bytes.extend_from_slice(value.as_bytes());
    let (first, end) = ((shift * 8).div_ceil(6), bytes.len() * 8 / 6);
    let inner = |text: String| text.get(first..end).unwrap_or_default().to_owned();
    [
        inner(STANDARD_NO_PAD.encode(&bytes)),
        inner(URL_SAFE_NO_PAD.encode(&bytes)),
    ]
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.number)
    }
}

#[cfg(test)]
mod tests {
    use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn secrets(values: &[&str]) -> Secrets {
        let mut secrets = Secrets::default();
        for value in values {
            secrets.add(&SecretString::from(*value));
        }
        secrets
    }

    #[test]
    fn messages_lose_every_form_of_a_secret() {
        let secrets = secrets(&["k-1/\"2\" 3"]);
        let text = r#"plain k-1/"2" 3, encoded k%2D1%2F%222%22%203, in JSON "k-1/\"2\" 3""#;
        assert_eq!(
            secrets.message(text),
            r#"plain [redacted], encoded [redacted], in JSON "[redacted]""#
        );
    }

    #[test]
    fn a_message_is_redacted_before_it_is_cut() {
        let text = format!("{}{}", "a".repeat(495), "topsecretvalue");
        let message = secrets(&["topsecretvalue"]).message(&text);
        assert!(!message.contains("top"), "{message}");
        assert_eq!(
            message.chars().count(),
            501,
            "500 characters and the mark of the cut"
        );
    }

    #[test]
    fn results_keep_short_settings_and_lose_secrets() {
        let mut value =
            json!({"echo": "Bearer supersecret", "supersecret": [true, "eu", {"deep": "xsupersecretx"}]});
        secrets(&["supersecret", "eu", "true"]).clean(&mut value);
        assert_eq!(
            value,
            json!({"echo": "Bearer [redacted]", "[redacted]": [true, "eu", {"deep": "x[redacted]x"}]})
        );
    }

    #[test]
    fn every_form_in_which_a_value_may_come_back_is_masked() {
        use base64::engine::general_purpose::{STANDARD, URL_SAFE};
        let value = "k/1+2 ~3\"?é>>";
        let secrets = secrets(&[value]);
        let mut shown = vec![
            value.to_owned(),
            serde_json::to_string(value).expect("JSON"),
            utf8_percent_encode(value, NON_ALPHANUMERIC).to_string(),
            utf8_percent_encode(value, NON_ALPHANUMERIC)
                .to_string()
                .to_lowercase(),
            "k/1+2%20~3%22?%c3%A9%3E>".to_owned(),
            "k%252F1%252B2%2520~3%2522?%25C3%25A9%253E%253E".to_owned(),
            serde_json::to_string(&serde_json::to_string(value).expect("JSON")).expect("JSON"),
            r#"k\/1+2 ~3\u0022?\u00E9>>"#.to_owned(),
            url::form_urlencoded::byte_serialize(value.as_bytes()).collect(),
            hex(value, u8::to_ascii_lowercase),
            hex(value, u8::to_ascii_uppercase),
        ];
        for around in ["", "a", "ab", "abc", "user:"] {
            let whole = format!("{around}{value}{around}");
            shown.extend([STANDARD.encode(&whole), URL_SAFE.encode(&whole)]);
        }
        for text in shown {
            let bytes = [
                &[0xff, value.as_bytes()[0]],
                text.as_bytes(),
                &[0],
                text.as_bytes(),
            ]
            .concat();
            let clean = secrets.clean_bytes(&bytes.into());
            assert_eq!(clean[..2], [0xff, value.as_bytes()[0]]);
            assert_eq!(
                clean
                    .windows(MASK.len())
                    .filter(|part| *part == MASK.as_bytes())
                    .count(),
                2,
                "{text}"
            );
            assert!(!secrets.occur_in(&clean), "{text}");
            let mut result = json!({ "echo": text });
            secrets.clean(&mut result);
            assert!(result["echo"].as_str().expect("text").contains(MASK), "{text}");
            assert!(secrets.message(&text).contains(MASK), "{text}");
        }
    }

    #[test]
    fn a_value_of_digits_is_masked_as_a_number_too() {
        let mut value = json!({"pin": 123_456_789_012_u64, "other": 12_345_678});
        secrets(&["123456789012"]).clean(&mut value);
        assert_eq!(value, json!({"pin": "[redacted]", "other": 12_345_678}));
    }

    #[test]
    fn one_of_many_is_found_among_the_others() {
        let values: Vec<String> = (0..200)
            .map(|n| format!("{n:03}-{}-{n:03}", "common".repeat(20)))
            .collect();
        let all = secrets(&values.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(
            all.clean_text(&format!("a {} b {}", values[7], values[199])),
            "a [redacted] b [redacted]"
        );
        let half = &values[7][..60];
        assert_eq!(all.clean_text(half), half, "the beginning alone is none");
    }

    #[test]
    fn what_a_caller_marked_stays_in_results_and_not_in_messages() {
        let mut secrets = Secrets::default();
        secrets.add_to_messages("p4ss");
        assert_eq!(secrets.message("p4ss is too short"), "[redacted] is too short");
        assert_eq!(secrets.clean_text("p4ss"), "p4ss");
    }

    proptest! {
        #[test]
        fn whatever_is_encoded_of_a_value_it_is_masked(
            value in "[ -~é/+]{8,20}",
            encoded in proptest::collection::vec(0..4_u8, 20),
        ) {
            let mut text = String::from("<");
            let mut form = String::from("<");
            for (character, how) in value.chars().zip(&encoded) {
                let whole = |upper: bool| -> String {
                    let hex = |byte: &u8| if upper { format!("%{byte:02X}") } else { format!("%{byte:02x}") };
                    character.to_string().as_bytes().iter().map(hex).collect()
                };
                // What has a meaning of its own is always encoded.
                let how = if "%+\\".contains(character) && *how == 0 { 1 } else { *how };
                match how {
                    0 => text.push(character),
                    1 => text.push_str(&whole(true)),
                    _ => text.push_str(&whole(false)),
                }
                if character == ' ' { form.push('+') } else { form.push_str(&whole(how % 2 == 0)) }
            }
            let secrets = secrets(&[&value]);
            prop_assert_eq!(secrets.clean_text(&text), "<[redacted]");
            prop_assert_eq!(secrets.clean_text(&form), "<[redacted]");
            let json = serde_json::to_string(&text).expect("JSON");
            prop_assert_eq!(secrets.clean_text(&json), "\"<[redacted]\"");
        }
    }

    #[test]
    fn debug_shows_only_a_count() {
        assert_eq!(format!("{:?}", secrets(&["supersecret"])), "Secrets(1)");
    }
}
