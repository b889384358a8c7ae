//! What every request passes through. The layers are those of tower-http; the files of this folder are what it lacks, and
//! the rules that it is given.

mod admission;
mod body;
mod client;
mod compression;
pub mod cors;
mod csrf;
mod headers;
pub mod host;
mod log;
mod problem;
pub mod request_id;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::Route;
use http::StatusCode;
use http::header::{AUTHORIZATION, COOKIE};
use tower::layer::layer_fn;
use tower::{ServiceBuilder, service_fn};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::request_id::{PropagateRequestIdLayer, SetRequestIdLayer};
use tower_http::sensitive_headers::SetSensitiveRequestHeadersLayer;
use tower_http::timeout::TimeoutLayer;

use self::host::HostPolicy;
use self::request_id::MakeId;
use crate::config::Config;
use crate::state::App;
use crate::telemetry::Metrics;

pub use self::client::TrustedProxies;
pub use self::log::LogPrincipal;

/// What the layers go by.
#[derive(Debug)]
pub struct EdgeSettings {
    /// Which hosts are answered for.
    pub hosts: HostPolicy,
    /// Whether clients reach the server by https only.
    pub https: bool,
    /// Bytes of a body.
    pub max_body_bytes: usize,
    /// For a body to arrive.
    pub body_timeout: Duration,
    /// For the head of the answer.
    pub request_timeout: Duration,
    /// Where requests are counted.
    pub metrics: Metrics,
}

impl EdgeSettings {
    /// As configured.
    #[must_use]
    pub fn from_config(config: &Config, metrics: Metrics) -> Self {
        Self {
            hosts: HostPolicy::new(config.listen, config.public_url.as_ref(), &config.allowed_hosts),
            https: config.is_https(),
            max_body_bytes: config.limits.max_body_bytes,
            body_timeout: config.limits.body_timeout(),
            request_timeout: config.limits.request_timeout(),
            metrics,
        }
    }
}

/// Wraps every route and fallback that the router has by now.
pub fn apply(router: Router<App>, app: &App) -> Router<App> {
    let (config, metrics) = (&app.gateway.config, &app.gateway.metrics);
    let router = wrap(router, EdgeSettings::from_config(config, metrics.clone()));
    match cors::layer(&config.cors_origins) {
        Some(cors) => router.layer(cors),
        None => router,
    }
}

/// The layers that every answer needs, from the inside out; those of one builder are in the order in which a request passes
/// them. They are one service around each route, so that a request boxes one future for all of them.
fn wrap<S: Clone + Send + Sync + 'static>(router: Router<S>, settings: EdgeSettings) -> Router<S> {
    let (https, timeout) = (settings.https, settings.request_timeout);
    let metrics = settings.metrics.clone();
    let settings = Arc::new(settings);
    router.layer(layer_fn(move |route: Route| {
        let settings = Arc::clone(&settings);
        let admitted =
            service_fn(move |request| admission::admit(Arc::clone(&settings), request, route.clone()));
        let answered = ServiceBuilder::new()
            .layer(headers::layers(https))
            .map_response(move |response| problem::write(response, timeout))
            .layer(PropagateRequestIdLayer::x_request_id())
            .layer(CatchPanicLayer::custom(problem::of_panic))
            .layer(TimeoutLayer::with_status_code(
                StatusCode::GATEWAY_TIMEOUT,
                timeout,
            ))
            .service(admitted);
        let metrics = metrics.clone();
        let logged = service_fn(move |request| log::line(metrics.clone(), request, answered.clone()));
        ServiceBuilder::new()
            .layer(compression::layer())
            .layer(SetSensitiveRequestHeadersLayer::new([AUTHORIZATION, COOKIE]))
            .map_request(request_id::keep_plain::<axum::body::Body>)
            .layer(SetRequestIdLayer::x_request_id(MakeId))
            .map_request(log::mark)
            .layer(log::spans())
            .service(logged)
    }))
}
