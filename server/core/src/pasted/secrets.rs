//! Credentials of a request: their secrets, and values that only stand for one.

use super::{Credential, Taken};

/// The credentials of a text, and the secrets that are named for them.
pub(super) struct Secrets<'a> {
    pub(super) host: &'a str,
    pub(super) taken: Taken<'a>,
    pub(super) credentials: Vec<Credential>,
}

impl Secrets<'_> {
    /// Keeps a credential; the name of its secret.
    pub(super) fn keep(&mut self, suffix: &str, place: &str, value: String) -> String {
        let wish = format!("{}_{suffix}", prefix(self.host));
        let more = (2..).map(|number| format!("{wish}_{number}"));
        let is_free = |name: &String| {
            !(self.taken.secret)(name) && self.credentials.iter().all(|known| known.secret != *name)
        };
        let secret = std::iter::once(wish.clone())
            .chain(more)
            .find(is_free)
            .unwrap_or(wish);
        self.credentials.push(Credential {
            secret: secret.clone(),
            place: place.to_owned(),
            value: (!is_placeholder(&value)).then_some(value),
        });
        secret
    }
}

/// What the names of a host's secrets begin with: `api.example.com` gives `EXAMPLE`.
fn prefix(host: &str) -> String {
    let labels: Vec<&str> = host.split('.').collect();
    let label = match labels.as_slice() {
        [.., name, _] if host.contains(|c: char| c.is_ascii_alphabetic()) => name,
        _ => host,
    };
    let letter = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_uppercase()
        } else {
            '_'
        }
    };
    let name: String = label.chars().take(40).map(letter).collect();
    let name = name.trim_matches('_');
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        name.to_owned()
    } else {
        format!("HOST_{name}").trim_end_matches('_').to_owned()
    }
}

/// Whether a value stands for one: `$TOKEN`, `${TOKEN}`, `<token>`, `{token}`, `YOUR_API_KEY`, `***`.
fn is_placeholder(value: &str) -> bool {
    // Of `user:password` the password counts, unless the user is the key: `-u sk_live_...:`.
    let value = value
        .trim_end_matches(':')
        .rsplit(':')
        .next()
        .unwrap_or_default()
        .trim();
    let upper = value.to_ascii_uppercase();
    value.is_empty()
        || value.starts_with('$')
        || (value.starts_with(['<', '{', '[']) && value.ends_with(['>', '}', ']']))
        || upper.starts_with("YOUR_")
        || upper.starts_with("YOUR-")
        || value.chars().all(|c| matches!(c, '*' | 'x' | 'X' | '.' | '…'))
}
