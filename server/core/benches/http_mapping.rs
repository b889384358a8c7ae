//! How long it takes to make a request of arguments: what mapping costs beyond the HTTP request.
//!
//! `cargo bench -p toolgate-core --bench http_mapping`

use std::borrow::Cow;
use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::{Value, json};
use toolgate_core::definition::model::request::HttpRequest;
use toolgate_core::http_mapping::{Argument, MappedRequest, RequestMapping};

fn mapping(path: &str, request: Value) -> RequestMapping {
    let request: HttpRequest = serde_json::from_value(request).expect("a request");
    RequestMapping::new(path, &request).expect("a mapping")
}

fn map(mapping: &RequestMapping, arguments: &Value) -> MappedRequest {
    mapping
        .map(&|name| {
            arguments.get(name).map(|value| Argument {
                value: Cow::Borrowed(value),
                secret: false,
            })
        })
        .expect("a request")
}

fn requests(criterion: &mut Criterion) {
    let parameters = json!([
        {"name": "owner", "in": "path"}, {"name": "repo", "in": "path"},
        {"name": "state", "in": "query"}, {"name": "labels", "in": "query", "explode": false},
        {"name": "filter", "in": "query", "style": "deepObject"},
        {"name": "page", "in": "query"}, {"name": "per_page", "in": "query"},
        {"name": "X-Request-Id", "in": "header", "argument": "request_id"},
        {"name": "session", "in": "cookie"},
    ]);
    let arguments = json!({
        "owner": "octo org", "repo": "hello/world", "state": "open", "labels": ["bug", "help wanted", "ui"],
        "filter": {"author": "ada", "since": "2026-01-01T00:00:00Z"}, "page": 2, "per_page": 100,
        "request_id": "0193-abc", "session": "s-1",
        "body": {
            "title": "Found a bug", "body": "It does not work. ".repeat(40), "assignees": ["ada", "grace"],
            "milestone": 1, "labels": ["bug"], "nested": {"a": [1, 2, 3], "b": {"c": null, "d": true}},
        },
    });
    let with = |content_type: &str| {
        mapping(
            "/repos/{owner}/{repo}/issues",
            json!({"parameters": parameters, "body": {"argument": "body", "content_type": content_type}}),
        )
    };
    let mut bench = criterion.benchmark_group("http_mapping");
    for (what, content_type) in [
        ("nine parameters and JSON", "application/json"),
        ("nine parameters and a form", "application/x-www-form-urlencoded"),
        ("nine parameters and multipart", "multipart/form-data"),
    ] {
        let mapping = with(content_type);
        assert!(map(&mapping, &arguments).body.is_some());
        bench.bench_function(what, |run| run.iter(|| map(&mapping, black_box(&arguments))));
    }
    bench.finish();
}

fn settings() -> Criterion {
    Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
}

criterion_group! { name = benches; config = settings(); targets = requests }
criterion_main!(benches);
