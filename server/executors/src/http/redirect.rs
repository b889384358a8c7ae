//! Following redirects by hand, so that every hop passes the same gates.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{self, HeaderName};
use http::{HeaderMap, Method, StatusCode};
use toolgate_api::ErrorCode;
use url::Url;

use super::plan::QuerySecret;
use super::retry::RetryPolicy;
use crate::egress::Origins;
use crate::failure::Failure;
use crate::redact::Secrets;

/// Hops after the first request.
pub(crate) const MAX_REDIRECTS: usize = 5;

/// What may go to another origin than the one the definition names. Everything else could be a credential.
const HARMLESS: [HeaderName; 4] = [
    header::ACCEPT,
    header::ACCEPT_ENCODING,
    header::USER_AGENT,
    header::CONTENT_TYPE,
];

/// One request on the way.
#[derive(Clone)]
pub(crate) struct Hop {
    pub(crate) method: Method,
    /// Never holds a secret of its definition.
    pub(crate) url: Url,
    /// Values with secrets are marked sensitive.
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<Bytes>,
    /// What its project may reach beside the server's list.
    pub(crate) origins: Option<Arc<Origins>>,
    /// A credential of the query, kept out of the address until the very end.
    pub(crate) query_secret: Option<QuerySecret>,
    /// When it is sent again.
    pub(crate) retry: RetryPolicy,
}

impl Hop {
    /// The next hop after an answer, or `None` when the answer is no redirect.
    ///
    /// `301` and `302` turn POST into GET and `303` turns everything but HEAD into GET; other methods and `307`, `308`
    /// are kept with their body, so that a redirected DELETE never passes for a successful one.
    ///
    /// # Errors
    /// `upstream_invalid` for a location that is no URL; `egress_denied` for one that must not be followed.
    pub(crate) fn next(
        &self,
        status: StatusCode,
        headers: &HeaderMap,
        secrets: &Secrets,
    ) -> Result<Option<Self>, Failure> {
        let becomes_get = match status.as_u16() {
            301 | 302 => self.method == Method::POST,
            303 => !matches!(self.method, Method::GET | Method::HEAD),
            307 | 308 => false,
            _ => return Ok(None),
        };
        let Some(location) = headers.get(header::LOCATION) else {
            return Ok(None);
        };
        let url = location
            .to_str()
            .ok()
            .and_then(|location| self.url.join(location).ok())
            .ok_or_else(|| {
                Failure::new(
                    ErrorCode::UpstreamInvalid,
                    "the upstream redirects to something that is no URL",
                )
            })?;
        if self.url.scheme() == "https" && url.scheme() != "https" {
            return Err(Failure::new(
                ErrorCode::EgressDenied,
                format!("the upstream redirects from https to {}", url.scheme()),
            ));
        }
        let mut next = Self { url, ..self.clone() };
        next.url.set_fragment(None);
        if becomes_get {
            next.method = Method::GET;
            next.body = None;
            next.headers.remove(header::CONTENT_TYPE);
        }
        if next.url.origin() != self.url.origin() {
            if secrets.occur_in(location.as_bytes()) {
                return Err(Failure::new(
                    ErrorCode::EgressDenied,
                    "the upstream redirects to another origin, with the credential in the address",
                ));
            }
            next.query_secret = None;
            if next.body.as_ref().is_some_and(|body| secrets.occur_in(body)) {
                return Err(Failure::new(
                    ErrorCode::EgressDenied,
                    "the upstream redirects a body with an environment value to another origin",
                ));
            }
            next.headers = HARMLESS
                .iter()
                .filter_map(|name| Some((name.clone(), next.headers.get(name)?.clone())))
                .collect();
        }
        // An upstream that hands the credential on within its own origin needs it once.
        if let Some(secret) = &self.query_secret
            && next.url.query_pairs().any(|(name, _)| *name == *secret.name)
        {
            next.query_secret = None;
        }
        Ok(Some(next))
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use rstest::rstest;
    use secrecy::SecretString;

    use super::*;

    fn hop(method: Method, body: &'static str) -> Hop {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("accept", "application/json"),
            ("authorization", "Bearer k"),
            ("x-api-key", "k"),
            ("content-type", "a/b"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        let url = Url::parse("https://a.example/x/y?q=1").expect("a URL");
        Hop {
            method,
            url,
            headers,
            body: Some(Bytes::from_static(body.as_bytes())),
            origins: None,
            query_secret: Some(QuerySecret {
                name: "key".into(),
                value: "topsecret".into(),
            }),
            retry: RetryPolicy::default(),
        }
    }

    fn follow(hop: &Hop, status: u16, location: &'static str) -> Result<Option<Hop>, Failure> {
        let mut headers = HeaderMap::new();
        headers.insert(header::LOCATION, HeaderValue::from_static(location));
        let mut secrets = Secrets::default();
        secrets.add(&SecretString::from("topsecret"));
        hop.next(
            StatusCode::from_u16(status).expect("a status"),
            &headers,
            &secrets,
        )
    }

    #[rstest]
    #[case(301, Method::GET, Method::GET, true)]
    #[case(301, Method::POST, Method::GET, false)]
    #[case(302, Method::POST, Method::GET, false)]
    #[case(302, Method::DELETE, Method::DELETE, true)]
    #[case(303, Method::POST, Method::GET, false)]
    #[case(303, Method::PUT, Method::GET, false)]
    #[case(303, Method::HEAD, Method::HEAD, true)]
    #[case(307, Method::POST, Method::POST, true)]
    #[case(308, Method::PATCH, Method::PATCH, true)]
    fn methods(#[case] status: u16, #[case] from: Method, #[case] to: Method, #[case] keeps_body: bool) {
        let next = follow(&hop(from, "{}"), status, "/z")
            .expect("allowed")
            .expect("a redirect");
        assert_eq!((next.method, next.body.is_some()), (to, keeps_body));
        assert_eq!(next.url.as_str(), "https://a.example/z");
        assert!(
            next.headers.contains_key("authorization"),
            "the same origin still gets the credential"
        );
    }

    #[rstest]
    #[case::host("https://b.example/")]
    #[case::port("https://a.example:8443/")]
    #[case::network_path("//b.example/")]
    fn another_origin_gets_no_credential(#[case] location: &'static str) {
        let next = follow(&hop(Method::GET, ""), 302, location)
            .expect("allowed")
            .expect("a redirect");
        let mut names: Vec<_> = next.headers.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["accept", "content-type"]);
        assert!(next.query_secret.is_none());
    }

    #[rstest]
    #[case::downgrade("http://a.example/", "")]
    #[case::other_scheme("ftp://a.example/", "")]
    #[case::file("file:///etc/passwd", "")]
    #[case::secret_body("https://b.example/", r#"{"k":"topsecret"}"#)]
    #[case::secret_query("https://b.example/?key=topsecret", "{}")]
    #[case::secret_fragment("https://b.example/#topsecret", "{}")]
    fn refused(#[case] location: &'static str, #[case] body: &'static str) {
        let failure = follow(&hop(Method::POST, body), 307, location)
            .err()
            .expect("refused");
        assert_eq!(failure.code, ErrorCode::EgressDenied);
    }

    #[rstest]
    #[case::without("/z", true)]
    #[case::with_it("/z?key=topsecret", false)]
    fn the_same_origin_gets_the_credential_of_the_query_once(
        #[case] location: &'static str,
        #[case] again: bool,
    ) {
        let next = follow(&hop(Method::GET, ""), 302, location)
            .expect("allowed")
            .expect("a redirect");
        assert_eq!(next.query_secret.is_some(), again);
    }

    #[test]
    fn answers_that_are_no_redirects_stand() {
        assert!(follow(&hop(Method::GET, ""), 200, "/z").expect("fine").is_none());
        assert!(follow(&hop(Method::GET, ""), 304, "/z").expect("fine").is_none());
        let without = hop(Method::GET, "").next(StatusCode::FOUND, &HeaderMap::new(), &Secrets::default());
        assert!(without.expect("fine").is_none());
    }
}
