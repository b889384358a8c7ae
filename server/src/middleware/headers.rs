//! Headers of every answer. A handler that sets one of them itself keeps its own.

use axum::response::Response;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, STRICT_TRANSPORT_SECURITY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderName, HeaderValue};
use tower_http::set_header::SetResponseHeaderLayer;

/// For answers that are data: nothing may be loaded from them, and no page may frame them.
const API_CSP: HeaderValue = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const NO_REFERRER: HeaderValue = HeaderValue::from_static("no-referrer");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const SAME_ORIGIN: HeaderValue = HeaderValue::from_static("same-origin");
const ONE_YEAR: HeaderValue = HeaderValue::from_static("max-age=31536000");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

type Fixed = SetResponseHeaderLayer<HeaderValue>;
type Chosen = SetResponseHeaderLayer<fn(&Response) -> Option<HeaderValue>>;
type Maybe = SetResponseHeaderLayer<Option<HeaderValue>>;

/// Adds what is missing. `https` says that clients reach the server by https only.
pub(super) fn layers(https: bool) -> (Fixed, Fixed, Fixed, Fixed, Fixed, Chosen, Maybe) {
    (
        SetResponseHeaderLayer::overriding(X_CONTENT_TYPE_OPTIONS, NOSNIFF),
        SetResponseHeaderLayer::overriding(REFERRER_POLICY, NO_REFERRER),
        SetResponseHeaderLayer::if_not_present(CONTENT_SECURITY_POLICY, API_CSP),
        SetResponseHeaderLayer::if_not_present(CACHE_CONTROL, NO_STORE),
        SetResponseHeaderLayer::if_not_present(RESOURCE_POLICY, SAME_ORIGIN),
        SetResponseHeaderLayer::if_not_present(OPENER_POLICY, of_pages),
        SetResponseHeaderLayer::if_not_present(STRICT_TRANSPORT_SECURITY, https.then_some(ONE_YEAR)),
    )
}

/// What only pages have.
fn of_pages(response: &Response) -> Option<HeaderValue> {
    let is_page = response
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
    is_page.then_some(SAME_ORIGIN)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use http::{HeaderMap, Request};
    use tower::{ServiceBuilder, ServiceExt, service_fn};

    use super::*;

    /// The headers of an answer that had these.
    async fn secured(headers: HeaderMap, https: bool) -> HeaderMap {
        let service =
            ServiceBuilder::new()
                .layer(layers(https))
                .service(service_fn(async |request: Request<()>| {
                    let mut response = Response::default();
                    *response.headers_mut() = request.into_parts().0.headers;
                    Ok::<_, Infallible>(response)
                }));
        let mut request = Request::new(());
        *request.headers_mut() = headers;
        service.oneshot(request).await.unwrap().into_parts().0.headers
    }

    fn text<'h>(headers: &'h HeaderMap, name: &str) -> &'h str {
        headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    #[tokio::test]
    async fn data_gets_the_strictest_headers() {
        let headers = secured(HeaderMap::new(), false).await;
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            (
                "content-security-policy",
                "default-src 'none'; frame-ancestors 'none'",
            ),
            ("cache-control", "no-store"),
            ("cross-origin-resource-policy", "same-origin"),
            ("cross-origin-opener-policy", ""),
            ("strict-transport-security", ""),
        ] {
            assert_eq!(text(&headers, name), value, "{name}");
        }
    }

    #[tokio::test]
    async fn a_page_keeps_its_own_policies() {
        let own = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'";
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(own));
        headers.insert(
            CACHE_CONTROL,
            HeaderValue::from_static("public, max-age=31536000, immutable"),
        );
        let headers = secured(headers, true).await;
        assert_eq!(text(&headers, "content-security-policy"), own);
        assert_eq!(
            text(&headers, "cache-control"),
            "public, max-age=31536000, immutable"
        );
        assert_eq!(text(&headers, "cross-origin-opener-policy"), "same-origin");
        assert_eq!(text(&headers, "strict-transport-security"), "max-age=31536000");
    }
}
