//! A tool service that announces itself: its tool arrives disabled and is enabled in the project. Its name is the first argument, or
//! `dice`.

use serde_json::{Value, json};
use toolgate_worker::{Announcement, Error, ToolService};

/// A number from 1 to 6, of the time.
fn rolled() -> Value {
    let now = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
    json!({ "rolled": now.subsec_nanos() / 7 % 6 + 1 })
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "dice".to_owned());
    let project = std::env::var("TOOLGATE_PROJECT").unwrap_or_else(|_| "demo".to_owned());
    let roll = json!({
        "name": format!("roll-{name}"),
        "description": "Rolls dice.",
        "group": ["fun"],
        "arguments": [{"name": "dice", "type": "integer", "description": "How many, 1 to 6."}],
    });
    let own = format!("non-persistent://tg/{project}/{name}");
    ToolService::new(&name, async |request| {
        let dice = request.arguments.get("dice").and_then(Value::as_u64).unwrap_or(1);
        for _ in 1..dice.min(6) {
            request.send(rolled()).await;
        }
        Ok(rolled())
    })
    .request_queue(&own)
    .response_queue(&format!("{own}-answers"))
    .announce(&name, Announcement::new("1.0.0").tool(roll))
    .run()
    .await
}
