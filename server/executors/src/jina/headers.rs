//! The options that Jina reads from headers.

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

/// The header of a documented option, however its name is spelled: `respond_with`, `respondWith`, `X-Respond-With`.
pub(crate) fn option_header(parameter: &str) -> Option<String> {
    let name = kebab(parameter);
    if name == "dnt" {
        return Some(name);
    }
    (OPTIONS.contains(&name.as_str()) || name.starts_with("md-")).then(|| format!("x-{name}"))
}

/// The header of any parameter.
pub(crate) fn any_header(parameter: &str) -> String {
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

    #[test]
    fn any_parameter_has_a_header() {
        assert_eq!(any_header("api_key"), "x-api-key");
        assert_eq!(any_header("x_token"), "x-token");
    }
}
