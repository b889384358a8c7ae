//! Calls a tool over the bus: `invoke TOOL ARGUMENTS [GROUP...]`. `NATS_URL`, `TOOLGATE_URL`, `TOOLGATE_KEY` and `TOOLGATE_PROJECT`
//! say where and as whom.

use toolgate_worker::{Invocation, Invoker, RestTokens, connect};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let (tool, arguments) = words
        .next()
        .zip(words.next())
        .ok_or("invoke TOOL ARGUMENTS [GROUP...]")?;
    let groups: Vec<String> = words.collect();
    let project = std::env::var("TOOLGATE_PROJECT").unwrap_or_else(|_| "demo".to_owned());
    let invoker = Invoker::new(connect().await?, &project, RestTokens::from_env(&project)?);
    let call = Invocation {
        groups: (!groups.is_empty()).then_some(groups),
        ..Invocation::new(tool, serde_json::from_str(&arguments)?)
    };
    match invoker.invoke(call).await? {
        Ok(content) => println!("{content}"),
        Err(failure) => {
            return Err(format!("{}: {failure}", failure.code.as_deref().unwrap_or("failed")).into());
        }
    }
    Ok(())
}
