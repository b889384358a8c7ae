//! One id for every request: in the answer, in problems, in the log and in the record.

use http::{Extensions, HeaderName, HeaderValue, Request};
use tower_http::request_id::{MakeRequestId, RequestId};
use uuid::Uuid;

/// Where a client may give the id, and where the answer carries it.
pub const HEADER: HeaderName = HeaderName::from_static("x-request-id");
/// The longest id that is taken over from a client.
const LONGEST: usize = 64;

/// The id of a request, by its extensions; empty outside the layers.
#[must_use]
pub fn of(extensions: &Extensions) -> &str {
    let id = extensions.get::<RequestId>();
    id.and_then(|id| id.header_value().to_str().ok())
        .unwrap_or_default()
}

/// Removes an id of the client that is not a plain token.
pub(super) fn keep_plain<B>(mut request: Request<B>) -> Request<B> {
    let headers = request.headers_mut();
    if headers.get(HEADER).is_some_and(|id| !is_token(id.as_bytes())) {
        headers.remove(HEADER);
    }
    request
}

/// Makes the id of a request that has none: a UUID version 7. It need not be secret, only unique.
#[derive(Debug, Clone, Copy)]
pub(super) struct MakeId;

impl MakeRequestId for MakeId {
    fn make_request_id<B>(&mut self, _: &Request<B>) -> Option<RequestId> {
        #[expect(
            clippy::disallowed_methods,
            reason = "the layers have no clock, and no rule depends on this id"
        )]
        let id = Uuid::now_v7();
        let text = HeaderValue::from_str(id.hyphenated().encode_lower(&mut [0; 36])).ok()?;
        Some(RequestId::new(text))
    }
}

fn is_token(text: &[u8]) -> bool {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':');
    (1..=LONGEST).contains(&text.len()) && text.iter().all(plain)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::convert::Infallible;

    use rstest::rstest;
    use tower::{ServiceBuilder, ServiceExt, service_fn};
    use tower_http::request_id::SetRequestIdLayer;

    use super::*;

    /// The id of a request that is sent with this header, as a handler sees it.
    async fn of_request(given: Option<&[u8]>) -> String {
        let service = ServiceBuilder::new()
            .map_request(keep_plain::<()>)
            .layer(SetRequestIdLayer::x_request_id(MakeId))
            .service(service_fn(async |request: Request<()>| {
                Ok::<_, Infallible>(http::Response::new(of(request.extensions()).to_owned()))
            }));
        let mut request = Request::new(());
        if let Some(given) = given {
            let value = HeaderValue::from_bytes(given).unwrap();
            request.headers_mut().insert(HEADER, value);
        }
        service.oneshot(request).await.unwrap().into_body()
    }

    #[rstest]
    #[case("a")]
    #[case("0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11")]
    #[case("trace:1.2_3-4")]
    #[case(&"a".repeat(64))]
    #[tokio::test]
    async fn plain_tokens_are_taken_over(#[case] given: &str) {
        assert_eq!(of_request(Some(given.as_bytes())).await, given);
    }

    #[rstest]
    #[case(b"".as_slice())]
    #[case(b"two words")]
    #[case(b"<script>")]
    #[case(b"a\"b")]
    #[case(b"\xff")]
    #[case(&[b'a'; 65])]
    #[tokio::test]
    async fn anything_else_is_replaced(#[case] given: &[u8]) {
        let id = of_request(Some(given)).await;
        assert_eq!(Uuid::parse_str(&id).unwrap().get_version_num(), 7, "{id}");
    }

    #[tokio::test]
    async fn fresh_ids_differ() {
        let mut made = HashSet::new();
        for _ in 0..10_000 {
            made.insert(of_request(None).await);
        }
        assert_eq!(made.len(), 10_000);
    }
}
