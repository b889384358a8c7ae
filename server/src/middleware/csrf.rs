//! Requests that a browser sends on behalf of a page of another site are refused.
//!
//! Browsers attach cookies on their own, but not `Authorization`: requests that carry one are not concerned. The
//! others are judged by what browsers say about where they come from, with or without a cookie, so that another site
//! cannot sign a user in as another one either.

use http::header::{AUTHORIZATION, HOST, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, HeaderName, Method, Uri};

use super::host::HostPolicy;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Whether another site's page made the browser send this.
pub(super) fn is_cross_site(hosts: &HostPolicy, method: &Method, uri: &Uri, headers: &HeaderMap) -> bool {
    if method.is_safe() || headers.contains_key(AUTHORIZATION) {
        return false;
    }
    if let Some(site) = headers.get(SEC_FETCH_SITE) {
        return !matches!(site.as_bytes(), b"same-origin" | b"none");
    }
    // Older browsers say the origin only; other clients say nothing.
    let Some(origin) = headers.get(ORIGIN) else {
        return false;
    };
    let host = uri.authority().map(Authority::as_str);
    let host = host
        .or_else(|| headers.get(HOST)?.to_str().ok())
        .unwrap_or_default();
    !origin
        .to_str()
        .is_ok_and(|origin| hosts.is_own_origin(origin, host))
}

#[cfg(test)]
mod tests {
    use http::Request;
    use rstest::rstest;
    use url::Url;

    use super::*;

    #[rstest]
    #[case::safe("GET", &[("cookie", "s=1"), ("sec-fetch-site", "cross-site")], false)]
    #[case::not_a_browser("POST", &[("cookie", "s=1")], false)]
    #[case::same_origin("POST", &[("cookie", "s=1"), ("sec-fetch-site", "same-origin")], false)]
    #[case::typed_by_the_user("POST", &[("cookie", "s=1"), ("sec-fetch-site", "none")], false)]
    #[case::cross_site("POST", &[("cookie", "s=1"), ("sec-fetch-site", "cross-site")], true)]
    #[case::sibling("DELETE", &[("cookie", "s=1"), ("sec-fetch-site", "same-site")], true)]
    #[case::cross_site_sign_in("POST", &[("sec-fetch-site", "cross-site")], true)]
    #[case::site_wins("POST", &[("sec-fetch-site", "cross-site"), ("origin", "http://localhost:8080")], true)]
    #[case::own_origin("PUT", &[("origin", "http://localhost:8080")], false)]
    #[case::public_origin("PUT", &[("origin", "https://tools.example.com")], false)]
    #[case::other_origin("PUT", &[("origin", "https://evil.example")], true)]
    #[case::other_port("PUT", &[("origin", "http://localhost:9090")], true)]
    #[case::prefix_of_ours("PUT", &[("origin", "http://localhost:8080.evil.example")], true)]
    #[case::null_origin("PATCH", &[("origin", "null")], true)]
    #[case::bearer("POST", &[("authorization", "Bearer x"), ("sec-fetch-site", "cross-site")], false)]
    fn who_may_change_something(
        #[case] method: &str,
        #[case] headers: &[(&str, &str)],
        #[case] refused: bool,
    ) {
        let public = Url::parse("https://tools.example.com").unwrap();
        let hosts = HostPolicy::new("127.0.0.1:8080".parse().unwrap(), Some(&public), &[]);
        let mut request = Request::builder()
            .method(method)
            .uri("/x")
            .header("host", "localhost:8080");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(()).unwrap();
        assert_eq!(
            is_cross_site(&hosts, request.method(), request.uri(), request.headers()),
            refused
        );
    }
}
