//! Where HTTP tools send requests: base addresses, methods and constant headers.

use std::collections::BTreeMap;

use url::Url;

use super::fields;
use super::node::{Cursor, Data};
use super::report::{Report, Spot, listed, shown};
use crate::http_mapping::headers::{is_forwarding, is_transport};

/// Headers whose value is a secret by their meaning.
const SECRET_HEADERS: [&str; 4] = ["authorization", "proxy-authorization", "cookie", "set-cookie"];

/// Checks a base address: `https://api.example.com/v1`.
pub(super) fn base_url(cursor: &Cursor<'_>, report: &mut Report) -> Option<String> {
    address(cursor, "base_url", report)
}

/// Checks an address of that key in the same way: it says plainly where it leads, and holds neither a credential nor a
/// query.
pub(super) fn address(cursor: &Cursor<'_>, key: &str, report: &mut Report) -> Option<String> {
    let text = fields::word(cursor, key, 2_000, report)?;
    if let Err((why, hint)) = check_base_url(&text) {
        report.error(&cursor.spot, format!("{key:?} {why}: {}", shown(&text)), hint);
        return None;
    }
    Some(text)
}

fn check_base_url(text: &str) -> Result<(), (String, &'static str)> {
    const EXAMPLE: &str = "write https://api.example.com or https://api.example.com/v1";
    let fault = |why: &str, hint| Err((why.to_owned(), hint));
    if text.chars().any(|c| c.is_whitespace() || c == '\\') {
        return fault("must not contain blanks or backslashes", EXAMPLE);
    }
    let Ok(url) = Url::parse(text) else {
        return fault("is not an address", EXAMPLE);
    };
    if !matches!(url.scheme(), "http" | "https") {
        return fault("must begin with https:// or http://", EXAMPLE);
    }
    let Some((scheme, rest)) = text.split_once("://") else {
        return fault("needs // after the scheme", EXAMPLE);
    };
    if !scheme.eq_ignore_ascii_case(url.scheme()) {
        return fault("is not an address", EXAMPLE);
    }
    if !url.username().is_empty() || url.password().is_some() || authority(rest).contains('@') {
        return fault(
            "must not contain a user or password",
            "use auth.env for credentials",
        );
    }
    if url.query().is_some() || url.fragment().is_some() {
        return fault("must not contain ? or #", "map arguments under query instead");
    }
    // The parser turns `0x7f.1`, `１２７.0.0.1` or `%6c` into other hosts; who reads the definition would not see it.
    let typed = without_port(authority(rest)).to_ascii_lowercase();
    if url.host_str() != Some(typed.as_str()) {
        let host = url.host_str().unwrap_or_default();
        return Err((
            format!("has a host that means {host:?}"),
            "write the host in its plain form",
        ));
    }
    Ok(())
}

fn authority(after_scheme: &str) -> &str {
    after_scheme.split(['/', '?', '#']).next().unwrap_or_default()
}

fn without_port(authority: &str) -> &str {
    match authority.rfind(':') {
        // The colons of an IPv6 address are inside its brackets.
        Some(at) if !authority[at..].contains(']') => &authority[..at],
        _ => authority,
    }
}

/// A method, in capitals.
pub(super) fn method(cursor: &Cursor<'_>, allowed: &[&str], report: &mut Report) -> Option<String> {
    let text = fields::string(cursor, "method", report)?;
    let method = text.trim().to_ascii_uppercase();
    if !allowed.contains(&method.as_str()) {
        report.error(
            &cursor.spot,
            format!("the method {} is not supported here", shown(&text)),
            format!("methods are {}", listed(allowed)),
        );
        return None;
    }
    Some(method)
}

/// Checks the name of a header: a token of RFC 9110 that is not the client's own.
pub(super) fn header_name(name: &str, spot: &Spot, report: &mut Report) -> bool {
    let is_token = !name.is_empty()
        && name.len() <= 128
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b));
    if !is_token {
        report.error(
            spot,
            format!("{} is not a header name", shown(name)),
            "letters, digits and '-'",
        );
        return false;
    }
    if is_transport(name) {
        report.error(
            spot,
            format!("the header {name} is set by the gateway itself"),
            "remove it",
        );
        return false;
    }
    true
}

/// Checks the name of a header that an argument is sent in: also none by which the caller would pass for a proxy.
pub(super) fn argument_header(name: &str, spot: &Spot, report: &mut Report) -> bool {
    if is_forwarding(name) {
        report.error(
            spot,
            format!(
                "the header {name} is set by proxies; servers may take another client, path or method from it"
            ),
            "remove it, or give it a constant value under headers",
        );
        return false;
    }
    header_name(name, spot, report)
}

/// Constant headers. Secrets have no place here: definitions are shown, compared and exported.
pub(super) fn headers(
    cursor: &Cursor<'_>,
    secret_hint: &str,
    report: &mut Report,
) -> BTreeMap<String, String> {
    let mut headers = BTreeMap::new();
    if !fields::map(cursor, "headers", report) {
        return headers;
    }
    for (name, spot, value) in cursor.entries() {
        if !header_name(name, &spot, report) {
            continue;
        }
        if headers
            .keys()
            .any(|other: &String| other.eq_ignore_ascii_case(name))
        {
            report.error(
                &spot,
                format!("the header {name} occurs twice"),
                "case does not matter in header names",
            );
        }
        // What a header carries is always a text; `X-Timeout: 30` needs no quotes.
        let text = match &value.node.data {
            Data::Number(_, text) => text.clone(),
            Data::Bool(flag) => flag.to_string(),
            _ => match fields::string(&value, name, report) {
                Some(text) => text,
                None => continue,
            },
        };
        if text.chars().any(|c| c.is_control() || !c.is_ascii()) {
            report.error(
                &value.spot,
                format!("the value of the header {name} must be printable ASCII"),
                "",
            );
        } else if is_secret_header(name) || looks_secret(&text) {
            report.error(
                &value.spot,
                format!("the header {name} looks like a secret, and definitions are no place for secrets"),
                secret_hint,
            );
        } else {
            headers.insert(name.to_owned(), text);
        }
    }
    headers
}

fn is_secret_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_HEADERS.contains(&name.as_str()) || is_secret_name(name.strip_prefix("x-").unwrap_or(&name))
}

/// Whether a name says that its value is a secret.
pub(super) fn is_secret_name(name: &str) -> bool {
    let folded: String = name
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    const NAMES: [&str; 13] = [
        "apikey",
        "apitoken",
        "apisecret",
        "authtoken",
        "accesstoken",
        "accesskey",
        "bearertoken",
        "clientsecret",
        "password",
        "passwd",
        "privatekey",
        "secret",
        "secretkey",
    ];
    NAMES.contains(&folded.as_str())
}

/// Whether a text is written like a well-known kind of credential.
pub(super) fn looks_secret(text: &str) -> bool {
    let text = text.trim();
    let scheme = text.split_once(' ').is_some_and(|(scheme, value)| {
        (scheme.eq_ignore_ascii_case("bearer") || scheme.eq_ignore_ascii_case("basic"))
            && value.trim().len() >= 8
    });
    const PREFIXES: [&str; 10] = [
        "sk-",
        "ghp_",
        "gho_",
        "ghs_",
        "github_pat_",
        "glpat-",
        "jina_",
        "xoxb-",
        "AKIA",
        "tgk_",
    ];
    scheme
        || text.contains("-----BEGIN")
        || text.len() >= 20 && !text.contains(' ') && PREFIXES.iter().any(|prefix| text.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_addresses_are_accepted() {
        for good in [
            "https://s.jina.ai",
            "https://s.jina.ai/",
            "HTTPS://S.Jina.AI",
            "http://127.0.0.1:8080/v1",
            "https://[::1]:8443",
            "https://xn--bcher-kva.example",
            "https://api.example.com:443/v1/",
        ] {
            assert_eq!(check_base_url(good), Ok(()), "{good}");
        }
    }

    #[test]
    fn addresses_that_hide_something_are_refused() {
        for bad in [
            "",
            "s.jina.ai",
            "//s.jina.ai",
            "https:s.jina.ai",
            "https:/s.jina.ai",
            "ftp://s.jina.ai",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "https://",
            "https://user@s.jina.ai",
            "https://user:pw@s.jina.ai",
            "https://@s.jina.ai",
            "https://s.jina.ai?x=1",
            "https://s.jina.ai#x",
            "https://s.jina.ai?",
            "https://s.jina.ai\\@evil.example",
            "https://s.jina.ai /",
            "https://s.ji\tna.ai",
            "https://0x7f.1",
            "https://2130706433",
            "https://127.1",
            "https://0177.0.0.1",
            "https://%6c%6fcalhost",
            "https://①②⑦.0.0.1",
            "https://１２７.0.0.1",
            "https://s。jina.ai",
            "https://bücher.example",
            "https://[::ffff:127.0.0.1]",
            "https:///s.jina.ai",
            "https://a:b:c",
        ] {
            assert!(check_base_url(bad).is_err(), "{bad}");
        }
    }
}
