//! Which other sites' pages may use the API (CORS).

use std::time::Duration;

use http::{HeaderName, HeaderValue, Method, header};
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};
use url::Url;

use super::request_id;
use crate::oauth;

/// How long a browser may remember what it may send.
const MAX_AGE: Duration = Duration::from_hours(1);

/// Allows pages of `origins` to call the API with a bearer token; `None` when there are none. Cookies are never allowed:
/// the dashboard's session is for the dashboard's own origin.
pub(super) fn layer(origins: &[String]) -> Option<CorsLayer> {
    let origins: Vec<HeaderValue> = origins
        .iter()
        .filter_map(|text| HeaderValue::from_str(&origin(text).ok()?).ok())
        .collect();
    if origins.is_empty() {
        return None;
    }
    let exposed = [
        header::ETAG,
        header::LOCATION,
        header::LINK,
        header::RETRY_AFTER,
        header::CONTENT_DISPOSITION,
        HeaderName::from_static("mcp-session-id"),
        header::WWW_AUTHENTICATE,
        HeaderName::from_static("ratelimit"),
        HeaderName::from_static("ratelimit-policy"),
        request_id::HEADER,
    ];
    Some(
        CorsLayer::new()
            // What clients of other sites read before they have a token is open to all, here as where nothing is configured.
            .allow_origin(AllowOrigin::predicate(move |origin, request| {
                origins.contains(origin) || oauth::is_open(request.uri.path())
            }))
            .allow_methods([
                Method::GET,
                Method::POST,
                Method::PUT,
                Method::PATCH,
                Method::DELETE,
            ])
            .allow_headers(AllowHeaders::mirror_request())
            .expose_headers(exposed)
            .max_age(MAX_AGE),
    )
}

/// An origin as browsers write it: `scheme://host[:port]`, in lower case, without the scheme's own port.
///
/// # Errors
/// A sentence that says what is wrong with it.
pub fn origin(text: &str) -> Result<String, String> {
    let fault = || format!("{text:?} is not an origin: write https://host or https://host:port");
    let url = Url::parse(text).map_err(|_| fault())?;
    let only_an_origin = matches!(url.scheme(), "http" | "https")
        && url.path() == "/"
        && url.query().is_none()
        && url.fragment().is_none()
        && url.username().is_empty()
        && url.password().is_none()
        && !text.contains('*');
    if only_an_origin {
        Ok(url.origin().ascii_serialization())
    } else {
        Err(fault())
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("https://app.example.com", "https://app.example.com")]
    #[case("https://App.Example.com:443/", "https://app.example.com")]
    #[case("http://localhost:3000", "http://localhost:3000")]
    #[case("http://[::1]:3000", "http://[::1]:3000")]
    fn origins_are_read_as_browsers_write_them(#[case] text: &str, #[case] read: &str) {
        assert_eq!(origin(text).unwrap(), read);
    }

    #[rstest]
    #[case("*")]
    #[case("https://*.example.com")]
    #[case("null")]
    #[case("app.example.com")]
    #[case("ftp://app.example.com")]
    #[case("https://app.example.com/page")]
    #[case("https://app.example.com?x")]
    #[case("https://app.example.com#x")]
    #[case("https://user:pass@app.example.com")]
    fn anything_else_is_refused(#[case] text: &str) {
        assert!(origin(text).is_err(), "{text}");
    }
}
