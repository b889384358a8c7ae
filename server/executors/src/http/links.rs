//! The next page, as a `Link` header names it (RFC 8288).

use http::{HeaderMap, header};
use url::Url;

use crate::redact::Secrets;

/// Longest address that is passed on, in bytes.
const LONGEST: usize = 2_000;

/// The address of the next page. One that holds a secret of the request is not passed on.
pub(crate) fn next(headers: &HeaderMap, from: &Url, secrets: &Secrets) -> Option<String> {
    if !headers.contains_key(header::LINK) {
        return None;
    }
    headers
        .get_all(header::LINK)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .find_map(|value| find(value).and_then(|target| from.join(target).ok()))
        .map(String::from)
        .filter(|address| address.len() <= LONGEST && !secrets.occur_in(address.as_bytes()))
}

/// The target of the first link with the relation `next`.
fn find(mut rest: &str) -> Option<&str> {
    loop {
        let (target, after) = rest
            .trim_start_matches([' ', '\t', ','])
            .strip_prefix('<')?
            .split_once('>')?;
        let end = end_of_parameters(after);
        if after[..end].split(';').any(is_next) {
            return Some(target);
        }
        rest = &after[end..];
    }
}

/// Where the parameters of a link end: at the next comma outside of quotes.
fn end_of_parameters(text: &str) -> usize {
    let (mut quoted, mut escaped) = (false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = quoted,
            '"' => quoted = !quoted,
            ',' if !quoted => return at,
            _ => {}
        }
    }
    text.len()
}

/// Whether a parameter is `rel` with `next` among its words.
fn is_next(parameter: &str) -> bool {
    parameter.split_once('=').is_some_and(|(name, value)| {
        name.trim().eq_ignore_ascii_case("rel")
            && value
                .trim()
                .trim_matches('"')
                .split_ascii_whitespace()
                .any(|relation| relation.eq_ignore_ascii_case("next"))
    })
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("</p?page=2>; rel=\"next\"", Some("https://a.example/p?page=2"))]
    #[case(
        "<https://a.example/1>; rel=prev, <?c=x>; title=\"a, b\"; rel=\"last next\"",
        Some("https://a.example/v1/i?c=x")
    )]
    #[case("<https://b.example/x>;REL=Next", Some("https://b.example/x"))]
    #[case("<a>; rel=prev", None)]
    #[case("<a>; title=\"rel=next\"", None)]
    #[case("nothing", None)]
    #[case("<a", None)]
    #[case("</p?key=topsecret>; rel=next", None)]
    fn links(#[case] header: &'static str, #[case] expected: Option<&str>) {
        let headers = HeaderMap::from_iter([(header::LINK, HeaderValue::from_static(header))]);
        let from = Url::parse("https://a.example/v1/i?q=1").expect("an address");
        let mut secrets = Secrets::default();
        secrets.add(&"topsecret".into());
        assert_eq!(next(&headers, &from, &secrets).as_deref(), expected);
    }
}
