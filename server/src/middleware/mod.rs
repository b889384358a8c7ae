//! What every request passes through: CORS, compression of the answer, and the rest in one pass, see [`edge`].

pub mod body;
mod client;
mod compression;
pub mod cors;
pub mod csrf;
pub mod edge;
pub mod headers;
pub mod host;
mod problem;
pub mod request_id;
mod trace;

#[cfg(test)]
mod tests;

use axum::Router;

pub use self::client::{ClientNetwork, TrustedProxies};
pub use self::edge::{EdgeLayer, EdgeSettings};
pub use self::request_id::RequestId;
pub use self::trace::LogPrincipal;
use crate::state::AppState;

/// Wraps every route and fallback that the router has by now.
pub fn apply(router: Router<AppState>, app: &AppState) -> Router<AppState> {
    let edge = EdgeLayer::new(EdgeSettings::from_config(&app.config, app.metrics.clone()));
    let router = router.layer(edge).layer(compression::layer());
    match cors::layer(&app.config.cors_origins) {
        Some(cors) => router.layer(cors),
        None => router,
    }
}
