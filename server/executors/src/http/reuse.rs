//! Which requests are the same, and which answers may serve again.

use http::{HeaderMap, header};
use secrecy::ExposeSecret;
use sha2::{Digest, Sha256};

use super::plan::RequestPlan;
use crate::executor::Key;

/// The key of a request: all of it, with its credential. `client` stands for the client whose token is presented.
pub(super) fn key(plan: &RequestPlan, client: Option<&[u8; 32]>) -> Key {
    let mut hash = Sha256::new();
    let mut add = |part: &[u8]| {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    };
    add(plan.first.method.as_str().as_bytes());
    add(plan.first.url.as_str().as_bytes());
    add(client.map_or(&[], |client| client.as_slice()));
    add(plan.first.body.as_deref().unwrap_or_default());
    if let Some(secret) = &plan.first.query_secret {
        add(secret.name.as_bytes());
        add(secret.value.expose_secret().as_bytes());
    }
    for (name, value) in &plan.first.headers {
        add(name.as_str().as_bytes());
        add(value.as_bytes());
    }
    hash.finalize().into()
}

/// Whether the upstream lets its answer serve again (RFC 9111 section 5.2.2).
pub(super) fn is_permitted(headers: &HeaderMap) -> bool {
    !headers
        .get_all(header::CACHE_CONTROL)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|directive| directive.trim().eq_ignore_ascii_case("no-store"))
}
