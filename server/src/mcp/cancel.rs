//! The name under which a request of a session is cancelled, on whichever server it runs.

use serde_json::Value;
use sha2::{Digest, Sha256};
use toolgate_core::ids::CallId;
use uuid::Uuid;

/// The name of a request: the same on every server, and of no other session.
pub(super) fn name(session: Uuid, request: &Value) -> CallId {
    let hash: [u8; 32] = Sha256::new()
        .chain_update(b"toolgate mcp request")
        .chain_update(session.as_bytes())
        .chain_update(request.to_string())
        .finalize()
        .into();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash[..16]);
    CallId(uuid::Builder::from_custom_bytes(bytes).into_uuid())
}
