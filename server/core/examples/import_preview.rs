//! What descriptions of APIs become: one line for each operation that cannot be imported, and the sums.
//!
//! `cargo run --release -p toolgate-core --example import_preview -- FILE...`

use std::collections::BTreeMap;
use std::time::Instant;

use toolgate_core::definition::UploadContext;
use toolgate_core::ids::ProjectId;
use toolgate_core::openapi_import::{ImportOptions, preview};

fn main() {
    let project = ProjectId::parse("demo").expect("a slug");
    let context = UploadContext {
        project: &project,
        env_allowed: &|_| true,
        existing_services: &|_| None,
        executes: toolgate_core::definition::ExecutorSet::BUILT_IN,
        subjects: None,
    };
    // Descriptions without a host are of interest too.
    let options = ImportOptions {
        document_url: "https://description.example/openapi.json".parse().ok(),
        ..ImportOptions::default()
    };
    let (mut files, mut tools, mut refused, mut slowest) = (0, 0, BTreeMap::new(), 0);
    for path in std::env::args().skip(1) {
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(error) => {
                println!("{path}: {error}");
                continue;
            }
        };
        let start = Instant::now();
        match preview(&text, &options, &context) {
            Ok(preview) => {
                files += 1;
                for operation in &preview.operations {
                    match &operation.tool {
                        Ok(_) => tools += 1,
                        Err(why) => {
                            println!("{path}: {} {}: {why}", operation.method, operation.path);
                            let kind = why.split(['"', ':']).next().unwrap_or_default().to_owned();
                            *refused.entry(kind).or_insert(0) += 1;
                        }
                    }
                }
                let took = start.elapsed().as_millis();
                slowest = slowest.max(took);
                if took > 500 {
                    println!(
                        "{path}: {} bytes, {} operations, {took} ms",
                        text.len(),
                        preview.operations.len()
                    );
                }
            }
            Err(fault) => println!("{path}: {} at {:?}", fault.message, fault.line),
        }
    }
    println!("{files} descriptions, {tools} tools, slowest {slowest} ms");
    for (why, count) in refused {
        println!("{count:6} {why}");
    }
}
