//! Request metrics: one set of kept handles per route template.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use http::Method;
use metrics::{Counter, Histogram, Label};

use super::registry::Registry;

/// The label of requests that no route matched.
const UNMATCHED: &str = "unmatched";
const METHODS: [&str; 8] = [
    "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "other",
];
/// Statuses with a label of their own; the rest is `other`.
const STATUSES: [u16; 32] = [
    200, 201, 202, 204, 206, 301, 302, 303, 304, 307, 308, 400, 401, 403, 404, 405, 406, 408, 409, 412, 413,
    415, 421, 422, 428, 429, 431, 499, 500, 502, 503, 504,
];
const STATUS_LABELS: [&str; STATUSES.len() + 1] = [
    "200", "201", "202", "204", "206", "301", "302", "303", "304", "307", "308", "400", "401", "403", "404",
    "405", "406", "408", "409", "412", "413", "415", "421", "422", "428", "429", "431", "499", "500", "502",
    "503", "504", "other",
];

/// Handles by route template. The templates are those of the router, so the map stops growing soon after the start.
#[derive(Debug, Default)]
pub(super) struct HttpMetrics {
    routes: RwLock<HashMap<Box<str>, Arc<Route>>>,
}

#[derive(Debug, Default)]
struct Route {
    methods: [OnceLock<Box<PerMethod>>; METHODS.len()],
}

#[derive(Debug)]
struct PerMethod {
    duration: Histogram,
    statuses: [OnceLock<Counter>; STATUS_LABELS.len()],
}

impl HttpMetrics {
    pub(super) fn request(
        &self,
        registry: &Registry,
        method: &Method,
        route: Option<&str>,
        status: u16,
        duration: Duration,
    ) {
        let template = route.unwrap_or(UNMATCHED);
        let route = self.route(template);
        let method = METHODS
            .iter()
            .position(|name| *name == method.as_str())
            .unwrap_or(METHODS.len() - 1);
        let label = |name: &'static str, value: &'static str| Label::from_static_parts(name, value);
        let labels = || {
            vec![
                label("method", METHODS[method]),
                Label::new("route", template.to_owned()),
            ]
        };
        let of_method = route.methods[method].get_or_init(|| {
            Box::new(PerMethod {
                duration: registry.histogram_with("toolgate_http_request_duration_seconds", labels()),
                statuses: [const { OnceLock::new() }; STATUS_LABELS.len()],
            })
        });
        let status = STATUSES.binary_search(&status).unwrap_or(STATUSES.len());
        let counter = of_method.statuses[status].get_or_init(|| {
            let mut labels = labels();
            labels.push(label("status", STATUS_LABELS[status]));
            registry.counter_with("toolgate_http_requests_total", labels)
        });
        counter.increment(1);
        of_method.duration.record(duration.as_secs_f64());
    }

    fn route(&self, template: &str) -> Arc<Route> {
        if let Some(route) = self
            .routes
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(template)
        {
            return Arc::clone(route);
        }
        let mut routes = self.routes.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(routes.entry(template.into()).or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Metrics;
    use super::*;

    #[test]
    fn the_tables_agree() {
        assert!(STATUSES.is_sorted(), "the lookup is a binary search");
        for (status, label) in STATUSES.iter().zip(STATUS_LABELS) {
            assert_eq!(status.to_string(), label);
        }
    }

    #[test]
    fn requests_are_counted_by_method_route_and_status() {
        let metrics = Metrics::new();
        let count = |method: Method, route, status| {
            metrics.http_request(&method, route, status, Duration::from_millis(2));
        };
        count(Method::GET, Some("/projects/{project_id}"), 200);
        count(Method::GET, Some("/projects/{project_id}"), 200);
        count(Method::GET, Some("/projects/{project_id}"), 404);
        count(Method::from_bytes(b"BREW").unwrap(), None, 418);
        let text = metrics.render();
        for line in [
            "toolgate_http_requests_total{method=\"GET\",route=\"/projects/{project_id}\",status=\"200\"} 2",
            "toolgate_http_requests_total{method=\"GET\",route=\"/projects/{project_id}\",status=\"404\"} 1",
            "toolgate_http_requests_total{method=\"other\",route=\"unmatched\",status=\"other\"} 1",
            "toolgate_http_request_duration_seconds_count{method=\"GET\",route=\"/projects/{project_id}\"} 3",
        ] {
            assert!(
                text.lines().any(|found| found == line),
                "{line} is not in\n{text}"
            );
        }
    }
}
