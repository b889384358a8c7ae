//! Which names announce a secret.

/// Anywhere in a name, written together and in lower case.
const STEMS: [&str; 18] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "secret",
    "apikey",
    "accesskey",
    "privatekey",
    "signingkey",
    "encryptionkey",
    "subscriptionkey",
    "authkey",
    "authorization",
    "authcode",
    "cookie",
    "credential",
    "bearer",
    "sessionkey",
];

/// A whole word of a name.
const WORDS: [&str; 9] = [
    "token",
    "pwd",
    "jwt",
    "auth",
    "otp",
    "pin",
    "signature",
    "sig",
    "pat",
];

/// Words that turn `token` into a measure: `token_count`, `max_token_budget`.
const MEASURES: [&str; 8] = [
    "count", "budget", "limit", "max", "min", "usage", "size", "number",
];

/// Whether a name announces a secret, however it is written: `api_key`, `X-Api-Key`, `apiKey` and `APIKEY` alike.
pub fn is_secret_name(name: &str) -> bool {
    // Most names are one word already.
    if name.len() <= 200 && name.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return announces(name, &[name]);
    }
    let words = words(name);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    announces(&words.concat(), &words)
}

fn announces(joined: &str, words: &[&str]) -> bool {
    if STEMS.iter().any(|stem| joined.contains(stem)) {
        return true;
    }
    if words.iter().any(|word| MEASURES.contains(word)) {
        return false;
    }
    // `accesstoken` is one; `tokens` counts what a model reads.
    joined.ends_with("token") || words.iter().any(|word| WORDS.contains(word))
}

/// The words of a name in lower case: split at everything but letters and digits, and where a capital follows a small
/// letter.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut small_before = false;
    for c in name.chars().take(200) {
        if !c.is_alphanumeric() || (c.is_uppercase() && small_before) {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        small_before = c.is_lowercase() || c.is_ascii_digit();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_however_they_are_written() {
        for name in [
            "password",
            "Password",
            "db_password",
            "userPassword",
            "passwd",
            "pwd",
            "passphrase",
            "secret",
            "client_secret",
            "clientSecret",
            "api_key",
            "apiKey",
            "API-KEY",
            "APIKEY",
            "x-api-key",
            "X-API-Key",
            "token",
            "access_token",
            "accessToken",
            "accesstoken",
            "TOKEN",
            "token_value",
            "auth",
            "basic-auth",
            "Authorization",
            "proxy-authorization",
            "cookie",
            "Set-Cookie",
            "cookies",
            "credentials",
            "aws_access_key_id",
            "private_key",
            "privateKey",
            "jwt",
            "bearer",
            "otp",
            "pin",
            "sig",
            "secrets",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn ordinary_names_stay_readable() {
        for name in [
            "",
            "q",
            "query",
            "key",
            "keyword",
            "name",
            "url",
            "max_tokens",
            "tokens",
            "token_count",
            "tokenCount",
            "max_token_budget",
            "tokenizer",
            "author",
            "authority",
            "spin",
            "pinned",
            "design",
            "path",
            "pattern",
            "session_id",
            "monkey",
            "passenger",
            "number",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }
}
