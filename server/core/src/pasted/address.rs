//! A URL taken apart: where a request goes, and which parts of its path look like arguments.

use percent_encoding::percent_decode_str;
use toolgate_api::Diagnostic;
use url::Url;

use super::curl::pairs;

/// Names of documents that describe an API.
const DESCRIPTIONS: [&str; 8] = [
    "openapi.json",
    "openapi.yaml",
    "openapi.yml",
    "swagger.json",
    "swagger.yaml",
    "swagger.yml",
    "api-docs",
    "openapi",
];

/// A URL of a request.
#[derive(Debug)]
pub(super) struct Address {
    /// Scheme, host and port.
    pub(super) origin: String,
    /// The host, for names.
    pub(super) host: String,
    /// The segments of the path, in their order.
    pub(super) path: Vec<Segment>,
    /// The query, decoded, in its order.
    pub(super) query: Vec<(String, String)>,
    /// `user:password` of the URL.
    pub(super) user: Option<String>,
}

/// A part of a path between two slashes.
#[derive(Debug)]
pub(super) enum Segment {
    /// Always the same, as a definition writes it.
    Literal(String),
    /// An argument.
    Argument {
        /// What it may be called.
        name: String,
        /// The value that the URL has; none for a placeholder.
        value: Option<String>,
    },
}

/// Whether a URL is that of an API description.
pub(super) fn is_description(url: &str) -> bool {
    let Ok(url) = Url::parse(url) else { return false };
    let last = url
        .path()
        .trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or_default();
    let last = last.to_ascii_lowercase();
    matches!(url.scheme(), "http" | "https")
        && (DESCRIPTIONS.contains(&last.as_str())
            || [".openapi.json", ".openapi.yaml", ".swagger.json"]
                .iter()
                .any(|end| last.ends_with(end)))
}

/// Takes a URL apart.
///
/// # Errors
/// When it is no URL of HTTP.
pub(super) fn read(text: &str) -> Result<Address, Diagnostic> {
    let refused = |why: &str| {
        Diagnostic::error(format!("the address cannot be used: {why}"))
            .hint("an address begins with https:// and a host")
    };
    let url = Url::parse(text).map_err(|error| refused(&error.to_string()))?;
    let host = match url.host_str() {
        Some(host) if matches!(url.scheme(), "http" | "https") => host.to_owned(),
        _ => return Err(refused("only http and https are supported")),
    };
    let decode = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let user = (!url.username().is_empty() || url.password().is_some()).then(|| {
        let password = url.password().map(decode).unwrap_or_default();
        format!("{}:{password}", decode(url.username()))
    });
    let mut path = Vec::new();
    let mut before = String::new();
    for segment in url.path().split('/').skip(1) {
        let plain = decode(segment);
        path.push(match placeholder(&plain) {
            Some(name) => Segment::Argument { name, value: None },
            None if is_value(&plain) => Segment::Argument {
                name: name_after(&before),
                value: Some(plain.clone()),
            },
            None => Segment::Literal(literal(segment)),
        });
        before = plain;
    }
    Ok(Address {
        origin: url.origin().ascii_serialization(),
        host,
        path,
        query: pairs(url.query().unwrap_or_default()),
        user,
    })
}

/// A segment as it is sent. Braces have a meaning in paths of definitions.
fn literal(segment: &str) -> String {
    segment.replace('{', "%7B").replace('}', "%7D")
}

/// `{id}`, `<id>`, `:id` or `$ID`.
fn placeholder(segment: &str) -> Option<String> {
    let inner = segment
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'))
        .or_else(|| segment.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')))
        .or_else(|| segment.strip_prefix(':'))
        .or_else(|| segment.strip_prefix('$'))?;
    let name = super::arguments::name(inner.trim_matches(['{', '}']));
    inner.chars().any(char::is_alphanumeric).then_some(name)
}

/// Whether a segment is a value of this one request: a number, a UUID or a long id.
fn is_value(segment: &str) -> bool {
    let digits = segment.bytes().filter(u8::is_ascii_digit).count();
    let is_id = segment
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
    !segment.is_empty() && is_id && (digits == segment.len() || (segment.len() >= 16 && digits >= 4))
}

/// What an argument is called that comes after a segment: `users` gives `user_id`.
fn name_after(segment: &str) -> String {
    let word = super::arguments::name(segment);
    let one = match word.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None => word
            .strip_suffix('s')
            .filter(|stem| !stem.is_empty() && !stem.ends_with('s'))
            .unwrap_or(&word)
            .to_owned(),
    };
    match segment.chars().any(char::is_alphabetic) {
        true => format!("{one}_id"),
        false => "id".to_owned(),
    }
}
