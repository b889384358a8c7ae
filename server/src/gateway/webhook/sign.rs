//! The signature of a message (Standard Webhooks 1.0): HMAC-SHA-256 over id, time and body.

use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use secrecy::{ExposeSecret, SecretString};

/// The prefix of a key in base64.
const PREFIX: &str = "whsec_";

/// The value of the header `webhook-signature`. A secret that begins with `whsec_` is the base64 of the key, as Standard
/// Webhooks writes it; any other is the key itself.
pub(super) fn signature(secret: &SecretString, id: &str, timestamp: i64, body: &[u8]) -> String {
    let text = secret.expose_secret();
    let decoded = text
        .strip_prefix(PREFIX)
        .and_then(|encoded| STANDARD.decode(encoded).ok());
    let key = hmac::Key::new(hmac::HMAC_SHA256, decoded.as_deref().unwrap_or(text.as_bytes()));
    let mut context = hmac::Context::with_key(&key);
    context.update(format!("{id}.{timestamp}.").as_bytes());
    context.update(body);
    format!("v1,{}", STANDARD.encode(context.sign()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed with another implementation (Python's `hmac`).
    #[test]
    fn signatures_are_those_of_another_implementation() {
        let sign = |secret: &str, body: &str| {
            signature(
                &SecretString::from(secret),
                "msg_p5jXN8AQM9LWM0D4loKWxJek",
                1_614_265_330,
                body.as_bytes(),
            )
        };
        let body = r#"{"test": 2432232314}"#;
        assert_eq!(
            sign("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", body),
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        );
        assert_eq!(
            sign("a plain secret", body),
            "v1,ENqrYZJfEdejvH41MpDAd0s4SZwl35B0bx0LOnREaDY="
        );
        assert_ne!(sign("a plain secret", body), sign("a plain secret", "{}"));
    }
}
