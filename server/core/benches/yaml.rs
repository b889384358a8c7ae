//! How long reading and checking an upload takes: one tool, and as many as an upload can hold.
//!
//! `cargo bench -p toolgate-core --bench yaml`

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use toolgate_core::definition::{TextFormat, Upload, UploadContext, parse_upload};
use toolgate_core::ids::ProjectId;

/// The largest upload that is read.
const LARGEST: usize = 1 << 20;

/// A search tool as administrators write it, with so many more lines of description.
fn tool(number: usize, lines: usize) -> String {
    let more = "  It never follows links, never signs in and never buys anything.\n".repeat(lines);
    format!(
        r#"name: web-search-{number}
type: openapi
description: |
  Searches the web and returns the ten best pages.
  Use it for facts that may have changed lately.
{more}group: [knowledge/read, research]
state: analysis
available_in_states: [undefined, research]
parameters:
  type: object
  properties:
    q: {{type: string, minLength: 1, maxLength: 500, description: What to look for}}
    num: {{type: integer, minimum: 1, maximum: 50}}
    lang: {{type: string, enum: [en, de, fr]}}
    project: {{type: string}}
    api_key: {{type: string}}
  required: [q]
  additionalProperties: false
options:
  args:
    defaults: {{num: 10, lang: en}}
    fixed: {{project: "{{project_id}}"}}
  envs: {{api_key: SEARCH_API_KEY}}
  timeout_ms: 10000
  jina: {{mode: search}}
"#
    )
}

fn parse(text: &str) -> Upload {
    let project = ProjectId::parse("demo").expect("a valid project id");
    let context = UploadContext {
        project: &project,
        env_allowed: &|_| true,
        existing_services: &|_| None,
        executes: toolgate_core::definition::ExecutorSet::BUILT_IN,
        subjects: None,
    };
    match parse_upload(text.as_bytes(), TextFormat::Yaml, &context) {
        Ok(upload) => upload,
        Err(faults) => panic!("the upload must be valid: {:?}", faults.first()),
    }
}

fn uploads(criterion: &mut Criterion) {
    let one = tool(0, 0);
    assert_eq!(parse(&one).tools.len(), 1);

    // The number of values in an upload is bounded too, so the largest one has longer texts.
    let mut many = String::new();
    let mut count = 0;
    loop {
        let next = format!("---\n{}", tool(count, 18));
        if many.len() + next.len() > LARGEST {
            break;
        }
        many.push_str(&next);
        count += 1;
    }
    assert_eq!(parse(&many).tools.len(), count);

    let mut bench = criterion.benchmark_group("parse_upload");
    for (what, text) in [("a typical tool", &one), ("1 MiB of tools", &many)] {
        bench.throughput(Throughput::Bytes(text.len() as u64));
        bench.bench_function(what, |run| run.iter(|| parse(black_box(text))));
    }
    bench.finish();
}

fn settings() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
}

criterion_group! { name = benches; config = settings(); targets = uploads }
criterion_main!(benches);
