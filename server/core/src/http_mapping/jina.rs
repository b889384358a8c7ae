//! The names of Jina's arguments: which of them mean the same thing to Jina, and which are headers.

use crate::definition::model::JinaMode;

/// Documented option headers without their `X-`.
const OPTIONS: [&str; 35] = [
    "respond-with",
    "return-format",
    "engine",
    "timeout",
    "target-selector",
    "wait-for-selector",
    "remove-selector",
    "no-cache",
    "cache-tolerance",
    "with-links-summary",
    "with-images-summary",
    "with-generated-alt",
    "with-favicons",
    "retain-images",
    "retain-links",
    "with-iframe",
    "with-shadow-dom",
    "remove-overlay",
    "keep-img-data-url",
    "locale",
    "referer",
    "user-agent",
    "set-cookie",
    "proxy",
    "proxy-url",
    "robots-txt",
    "token-budget",
    "max-tokens",
    "markdown-chunking",
    "base",
    "respond-timing",
    "no-gfm",
    "site",
    "preset",
    "instruction",
];

/// The one argument that a request cannot do without, as it is sent: the search terms or the address of the page.
#[must_use]
pub const fn subject(mode: JinaMode) -> &'static str {
    match mode {
        JinaMode::Search => "q",
        JinaMode::Reader => "url",
    }
}

/// What Jina takes an argument for. Two names with the same key are two spellings of one argument: `q` and `query`,
/// `respondWith` and `X-Respond-With`, `num` and `count`.
#[must_use]
pub fn key(name: &str) -> String {
    let option = option(name);
    let known = match option.as_str() {
        "query" => "q",
        "count" => "num",
        "engine" => "provider",
        "target-url" => "url",
        _ => return option,
    };
    known.to_owned()
}

/// What Jina takes a header or an argument for that is sent as one. A header and an argument with the same option
/// overwrite each other.
#[must_use]
pub fn option(name: &str) -> String {
    let name = kebab(name);
    if name == "return-format" {
        return "respond-with".to_owned();
    }
    name
}

/// Which of the constant headers of a definition an argument would overwrite. Only headers with `X-` and `DNT` are
/// options of Jina's.
pub fn overwritten<'h>(mut headers: impl Iterator<Item = &'h str>, argument: &str) -> Option<&'h str> {
    let wanted = option(argument);
    headers.find(|header| {
        let lower = header.to_ascii_lowercase();
        (lower.starts_with("x-") || lower == "dnt") && option(header) == wanted
    })
}

/// The header of a documented option, however its name is spelled: `respond_with`, `respondWith`, `X-Respond-With`.
#[must_use]
pub fn option_header(parameter: &str) -> Option<String> {
    let name = kebab(parameter);
    if name == "dnt" {
        return Some(name);
    }
    (OPTIONS.contains(&name.as_str()) || name.starts_with("md-")).then(|| format!("x-{name}"))
}

/// The header of any parameter.
#[must_use]
pub fn any_header(parameter: &str) -> String {
    format!("x-{}", kebab(parameter))
}

/// Lower case with hyphens, without a leading `x-`.
fn kebab(parameter: &str) -> String {
    let mut name = String::with_capacity(parameter.len() + 4);
    let mut after_lower = false;
    for c in parameter.chars() {
        if c.is_ascii_uppercase() {
            if after_lower {
                name.push('-');
            }
            name.push(c.to_ascii_lowercase());
        } else {
            name.push(if c == '_' { '-' } else { c });
        }
        after_lower = c.is_ascii_lowercase() || c.is_ascii_digit();
    }
    name.strip_prefix("x-").map(str::to_owned).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("respond_with", Some("x-respond-with"))]
    #[case("respondWith", Some("x-respond-with"))]
    #[case("X-Respond-With", Some("x-respond-with"))]
    #[case("keepImgDataUrl", Some("x-keep-img-data-url"))]
    #[case("md_heading_style", Some("x-md-heading-style"))]
    #[case("DNT", Some("dnt"))]
    #[case("session_id", None)]
    #[case("authorization", None)]
    #[case("", None)]
    fn documented_options(#[case] parameter: &str, #[case] header: Option<&str>) {
        assert_eq!(option_header(parameter).as_deref(), header);
    }

    #[rstest]
    #[case(&["q", "query", "Query", "X-Query"])]
    #[case(&["num", "count"])]
    #[case(&["provider", "engine"])]
    #[case(&["url", "URL", "target_url", "targetUrl", "target-url"])]
    #[case(&["respondWith", "respond_with", "X-Respond-With", "returnFormat", "x-return-format"])]
    #[case(&["proxyUrl", "proxy_url", "X-Proxy-Url"])]
    fn spellings_of_one_argument(#[case] spellings: &[&str]) {
        for name in spellings {
            assert_eq!(key(name), key(spellings[0]), "{name}");
        }
    }

    #[rstest]
    #[case("q", "url")]
    #[case("proxy", "proxyUrl")]
    #[case("location", "loc")]
    fn different_arguments(#[case] one: &str, #[case] other: &str) {
        assert_ne!(key(one), key(other));
    }

    #[test]
    fn an_option_overwrites_its_header_only() {
        let over = |headers: &[&'static str], argument| overwritten(headers.iter().copied(), argument);
        assert_eq!(
            over(&["Accept", "X-Respond-With"], "respondWith"),
            Some("X-Respond-With")
        );
        assert_eq!(
            over(&["X-Return-Format"], "respond_with"),
            Some("X-Return-Format")
        );
        assert_eq!(over(&["User-Agent"], "userAgent"), None);
        assert_eq!(over(&["X-Engine"], "provider"), None);
        assert_eq!(over(&["DNT"], "dnt"), Some("DNT"));
    }

    #[test]
    fn any_parameter_has_a_header() {
        assert_eq!(any_header("api_key"), "x-api-key");
        assert_eq!(any_header("x_token"), "x-token");
    }
}
