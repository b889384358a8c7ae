//! The secret in every form that it could be recognised by.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

/// Everything in it has another form in some encoding.
pub(super) const CANARY: &str = "cnry\"Zx9+/Qm7~\\v k";
pub(super) const KEY: &str = "qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqo=";

/// The forms under which the canary would be recognised.
fn forms() -> Vec<String> {
    let mut forms = vec![
        CANARY.to_owned(),
        utf8_percent_encode(CANARY, NON_ALPHANUMERIC).to_string(),
        "cnry%22Zx9%2B%2FQm7%7E%5Cv+k".to_owned(),
        json!(CANARY).to_string().trim_matches('"').to_owned(),
        hex(CANARY),
        hex(CANARY).to_uppercase(),
        KEY.trim_end_matches("o=").to_owned(),
    ];
    // JSON inside of JSON.
    forms.push(json!(forms[3]).to_string().trim_matches('"').to_owned());
    for before in ["", "1", "22"] {
        let encoded = STANDARD_NO_PAD.encode(format!("{before}{CANARY}"));
        // Without the characters that also depend on what is around.
        let inner = encoded[4..encoded.len() - 2].to_owned();
        forms.push(inner.replace('+', "-").replace('/', "_"));
        forms.push(inner);
    }
    forms
}

pub(super) fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

#[track_caller]
pub(super) fn assert_clean(what: &str, bytes: &[u8]) {
    for form in forms() {
        let found = bytes
            .windows(form.len())
            .position(|window| window == form.as_bytes());
        if let Some(at) = found {
            let around = &bytes[at.saturating_sub(60)..(at + form.len() + 60).min(bytes.len())];
            panic!(
                "{what} holds the secret as {form:?}: ...{}...",
                String::from_utf8_lossy(around)
            );
        }
    }
}

/// The texts of a value one by one, as they are and not as JSON writes them.
pub(super) fn check_texts(what: &str, value: &Value) {
    match value {
        Value::String(text) => assert_clean(what, text.as_bytes()),
        Value::Array(items) => items.iter().for_each(|item| check_texts(what, item)),
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            assert_clean(what, name.as_bytes());
            check_texts(what, value);
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
