//! Strict parsing of URLs, so that each is read the way it is written.

use url::Url;

use super::EgressError;

/// Parses an `http` or `https` URL whose host is written exactly as it is read.
///
/// URL parsing is generous: `0x7f.1`, `2130706433`, full-width digits and tabs in the middle all become an address or
/// a name that the text does not show. A reviewer of a definition must see the destination, so such spellings are
/// refused.
///
/// # Errors
/// When the text is no such URL, carries user information, or spells its host in another way.
pub fn parse_exact(text: &str) -> Result<Url, EgressError> {
    if text
        .chars()
        .any(|c| c.is_control() || c.is_whitespace() || c == '\\')
    {
        return Err(EgressError::Unreadable {
            rule: "a URL has no spaces, control characters or backslashes",
        });
    }
    let url = Url::parse(text).map_err(|_| EgressError::Unreadable {
        rule: "write it as scheme://host[:port]",
    })?;
    if !matches!(url.scheme(), "https" | "http") {
        return Err(EgressError::Scheme {
            scheme: url.scheme().to_owned(),
        });
    }
    let (_, rest) = text.split_once("://").ok_or(EgressError::Unreadable {
        rule: "write it as scheme://host[:port]",
    })?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err(EgressError::UserInfo);
    }
    let typed = match authority.rfind(':') {
        Some(colon) if !authority[colon..].contains(']') => &authority[..colon],
        _ => authority,
    };
    let read = url.host_str().unwrap_or_default();
    if typed.eq_ignore_ascii_case(read) && !read.is_empty() {
        Ok(url)
    } else {
        Err(EgressError::Spelling {
            typed: typed.chars().take(80).collect(),
            read: read.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("https://s.jina.ai")]
    #[case("HTTPS://S.Jina.AI/")]
    #[case("http://127.0.0.1:8080/v1?x#y")]
    #[case("http://[::1]:8080")]
    #[case("https://xn--bcher-kva.example")]
    fn reads(#[case] text: &str) {
        assert!(parse_exact(text).is_ok());
    }

    #[rstest]
    #[case::decimal("http://2130706433")]
    #[case::hex("http://0x7f.1")]
    #[case::octal("http://0177.0.0.1")]
    #[case::short("http://127.1")]
    #[case::full_width("http://１２７.0.0.1")]
    #[case::circled("http://①②⑦.0.0.1")]
    #[case::ideographic_dot("http://127。0。0。1")]
    #[case::encoded("http://%31%32%37.0.0.1")]
    #[case::long_v6("http://[0:0:0:0:0:0:0:1]")]
    #[case::dotted_v6("http://[::ffff:127.0.0.1]")]
    #[case::tab("http://127.0\t.0.1")]
    #[case::newline("https://s.jina.ai\n")]
    #[case::backslash("https:\\\\s.jina.ai")]
    #[case::no_slashes("https:s.jina.ai")]
    #[case::one_slash("https:/s.jina.ai")]
    #[case::user("https://s.jina.ai@evil.example")]
    #[case::empty_user("https://@s.jina.ai")]
    #[case::idn("https://bücher.example")]
    #[case::ftp("ftp://s.jina.ai")]
    #[case::file("file:///etc/passwd")]
    #[case::nothing("")]
    fn refuses(#[case] text: &str) {
        assert!(parse_exact(text).is_err());
    }
}
