//! How long reading an upload takes.
//!
//! `cargo bench -p toolgate-core --bench yaml`

use criterion::{Criterion, criterion_group, criterion_main};

fn uploads(_: &mut Criterion) {}

criterion_group!(benches, uploads);
criterion_main!(benches);
