//! A worker of the UTP tool protocol that searches a small library. Its target is the first argument, or `search`.

use serde_json::{Value, json};
use toolgate_worker::{Call, Error, Failure, Worker};

const LIBRARY: [&str; 3] = ["A cat's view of the world", "Cats and cafés", "Dogs at sea"];

fn search(call: &Call) -> Result<Value, Failure> {
    let word = call
        .arguments
        .get("q")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let word = word.to_lowercase();
    let found: Vec<&str> = LIBRARY
        .into_iter()
        .filter(|title| title.to_lowercase().contains(&word))
        .collect();
    if found.is_empty() {
        return Err(Failure::new(
            "not_found",
            format!("the library has nothing about {word:?}"),
        ));
    }
    Ok(json!({ "found": found }))
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let target = std::env::args().nth(1).unwrap_or_else(|| "search".to_owned());
    Worker::new(&target, async |call| search(&call)).run().await
}
