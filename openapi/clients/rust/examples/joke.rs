//! The joke service of the tool services specification. Its topic is the first argument, or `joke`.

use serde_json::Value;
use toolgate_worker::{Error, Request, ToolService};

fn pick_joke(topic: &str, style: &str) -> String {
    let topic = if topic.is_empty() { "nothing" } else { topic };
    match style {
        "dad-joke" => format!("I would tell you a joke about {topic}, but you would not get it."),
        _ => format!("Why do programmers confuse {topic} with Christmas? Because Oct 31 equals Dec 25."),
    }
}

fn tell(request: &Request) -> String {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let style = request
        .config
        .get("style")
        .and_then(Value::as_str)
        .unwrap_or("pun");
    let joke = pick_joke(&text(request.arguments.get("topic")), style);
    format!("Hey {}! Here's a {style} for you:\n\n{joke}", request.user)
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let topic = std::env::args().nth(1).unwrap_or_else(|| "joke".to_owned());
    ToolService::new(&topic, async |request| Ok(tell(&request).into()))
        .run()
        .await
}
