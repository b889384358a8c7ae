use rstest::rstest;
use serde_json::{Value, json};
use toolgate_api::mcp_servers::{McpInstance, McpServerDefinition, McpTransport};

use super::*;
use crate::definition::TextFormat;

fn faults(server: Value) -> String {
    let server: McpServerDefinition = serde_json::from_value(server).expect("a server");
    let faults = check(&server);
    let shown = faults.iter().map(|fault| {
        format!(
            "{} {}",
            fault.pointer.as_deref().unwrap_or_default(),
            fault.message
        )
    });
    shown.collect::<Vec<_>>().join("\n")
}

#[rstest]
#[case(json!({}), "nothing says how")]
#[case(json!({"command": "npx", "url": "https://a.example"}), "not both")]
#[case(json!({"command": "npx", "transport": "sse"}), "/transport")]
#[case(json!({"url": "https://a.example", "transport": "stdio"}), "/transport")]
#[case(json!({"url": "file:///etc/passwd"}), "/url")]
#[case(json!({"url": "https://user:pass@a.example"}), "user information")]
#[case(json!({"url": "https://a.example?api_key=1"}), "looks like a credential")]
#[case(json!({"url": "https://a.example", "headers": {"Authorization": "Bearer abc"}}), "/headers/Authorization")]
#[case(json!({"url": "https://a.example", "headers": {"Mcp-Session-Id": "1"}}), "set by the server")]
#[case(json!({"url": "https://a.example", "headers": {"a b": "1"}}), "cannot name a header")]
#[case(json!({"url": "https://a.example", "headers": {"X": "${secret:}"}}), "names \"secret:\"")]
#[case(json!({"url": "https://a.example", "headers": {"X": "${A"}}), "without its")]
#[case(json!({"command": "npx", "env": {"API_KEY": "abc"}}), "/env/API_KEY")]
#[case(json!({"command": "npx", "env": {"LD_PRELOAD": "x.so"}}), "set by the server")]
#[case(json!({"command": "npx", "args": ["--token", "abc"]}), "/args/1")]
#[case(json!({"command": "npx", "args": ["--api-key=abc"]}), "/args/0")]
#[case(json!({"command": "npx", "headers": {"X": "1"}}), "no headers")]
#[case(json!({"command": "", "timeout_ms": 1}), "/timeout_ms")]
#[case(json!({"command": "npx", "max_instances": 4}), "/max_instances a shared server")]
#[case(json!({"command": "npx", "instance": "session", "max_instances": 0}), "/max_instances it must be")]
#[case(json!({"command": "npx", "instance": "session", "idle_stop_s": 0}), "/idle_stop_s")]
#[case(json!({"command": "npx", "refresh_s": 9}), "/refresh_s it must be 0, or between")]
#[case(json!({"url": "https://a.example", "resources": {"group": ["a", ""]}}), "/resources/group/1")]
#[case(json!({"url": "https://a.example", "prompts": {"group": [], "available_in_states": ["\u{7}"]}}), "/prompts/available_in_states/0")]
fn faults_of_a_server_name_their_place(#[case] server: Value, #[case] expected: &str) {
    let found = faults(server);
    assert!(found.contains(expected), "{found}");
    assert!(!found.contains("abc"), "the credential is repeated: {found}");
}

#[rstest]
#[case(json!({"command": "uvx", "args": ["mcp-server-time", "--local-timezone", "UTC"], "env": {"API_KEY": "${secret:K}"}}))]
#[case(json!({"command": "npx", "instance": "session", "max_instances": 4, "idle_stop_s": 60}))]
#[case(json!({"command": "npx", "refresh_s": 0}))]
#[case(json!({"url": "https://a.example/mcp", "headers": {"Authorization": "Bearer ${secret:K}", "X-Region": "eu"}}))]
fn good_servers_have_no_faults(#[case] server: Value) {
    assert_eq!(faults(server), "");
}

#[test]
fn a_value_is_read_in_its_parts() {
    let parts = |text: &str| ValueTemplate::parse(text).expect("a value").parts().to_vec();
    let source = |name: &str| Part::Source(name.to_owned());
    let text = |text: &str| Part::Text(text.to_owned());
    assert_eq!(parts("Bearer ${secret:K}"), [text("Bearer "), source("secret:K")]);
    assert_eq!(
        parts("${A}-${env:B}!"),
        [source("A"), text("-"), source("B"), text("!")]
    );
    assert_eq!(parts("secret:K"), [source("secret:K")]);
    assert_eq!(parts("$A {B}"), [text("$A {B}")]);
    assert_eq!(parts(""), []);
}

#[test]
fn both_documents_are_read() {
    let clients = json!({"mcpServers": {
        "Brave Search": {"command": "npx", "args": ["-y", "brave"], "env": {"BRAVE_API_KEY": "${secret:BRAVE}", "PORT": 1}, "disabled": true},
        "remote": {"type": "http", "url": "https://a.example/mcp", "alwaysAllow": ["x"]},
        "old": {"type": "sse", "url": "https://a.example/sse", "gibberish": 1},
    }});
    let found = read(&clients).expect("a document");
    let names: Vec<&str> = found.iter().map(|named| named.name.as_str()).collect();
    assert_eq!(names, ["brave-search", "remote", "old"]);
    assert!(!found[0].server.enabled && found[0].server.env["PORT"] == "1");
    assert_eq!(found[1].server.transport(), McpTransport::StreamableHttp);
    assert_eq!(found[2].server.transport(), McpTransport::Sse);
    assert_eq!(
        found[2].warnings[0].pointer.as_deref(),
        Some("/mcpServers/old/gibberish")
    );
    let specification = json!({"Mcp": {"Servers": [{
        "Name": "weather-server", "Command": "uvx", "Arguments": ["mcp-server-weather"],
        "EnvironmentVariables": {"API_KEY": "${secret:WEATHER}"}, "Instance": "session", "MaxInstances": 4,
    }]}});
    let found = read(&specification).expect("a document");
    assert_eq!(found[0].server.command.as_deref(), Some("uvx"));
    assert_eq!(found[0].server.env["API_KEY"], "${secret:WEATHER}");
    assert_eq!(
        (found[0].server.instance, found[0].server.max_instances),
        (McpInstance::Session, Some(4))
    );
}

#[test]
fn a_server_of_either_document_is_called_with_the_accounts_that_it_names() {
    let entry = json!({"url": "https://a.example/mcp", "account": "tracker"});
    let mut named = entry.clone();
    named["Name"] = json!("issues");
    for document in [
        json!({"mcpServers": {"issues": entry}}),
        json!({"Mcp": {"Servers": [named]}}),
    ] {
        let found = read(&document).expect("a document");
        assert_eq!(found[0].server.account.as_deref(), Some("tracker"), "{document}");
        assert_eq!(found[0].warnings, [], "{document}");
    }
}

#[rstest]
#[case(json!({}), "no servers")]
#[case(json!({"mcpServers": []}), "an object with a server")]
#[case(json!({"mcpServers": {"a": 1}}), "must be an object")]
#[case(json!({"mcpServers": {"a b": {"command": "x"}, "a-b": {"command": "x"}}}), "two servers")]
#[case(json!({"mcpServers": {"a": {"command": "x", "type": "carrier pigeon"}}}), "unknown transport")]
#[case(json!({"mcpServers": {"a": {"command": ["x"]}}}), "cannot be read")]
#[case(json!({"Mcp": {"Servers": [{"Command": "x"}]}}), "\"Name\"")]
fn faults_of_a_document_are_all_there(#[case] document: Value, #[case] expected: &str) {
    let faults = read(&document).expect_err("faults");
    let text: Vec<&str> = faults.iter().map(|fault| fault.message.as_str()).collect();
    assert!(text.join("\n").contains(expected), "{text:?}");
}

#[rstest]
#[case(TextFormat::Yaml, "mcpServers:\n  a:\n    url: https://a.example\n    headers:\n      Host: x\n", (5, 13))]
#[case(TextFormat::Json, "{\n\t\"mcpServers\": {\n\t\t\"a\": {\"command\": \"x\", \"type\": \"pigeon\"}\n\t}\n}", (3, 33))]
#[case(TextFormat::Yaml, "{\n\t\"mcpServers\": {\n\t\t\"a\": {\"command\": \"x\", \"type\": \"pigeon\"},\n\t}\n}", (3, 33))]
fn a_fault_has_its_place_in_the_text(
    #[case] format: TextFormat,
    #[case] text: &str,
    #[case] expected: (u32, u32),
) {
    let faults = parse(text.as_bytes(), format).expect_err("a fault");
    let found: Vec<_> = faults.iter().map(|fault| (fault.line, fault.column)).collect();
    assert_eq!(found, [(Some(expected.0), Some(expected.1))]);
}

#[test]
fn a_warning_has_its_place_in_the_text() {
    let text = "mcpServers:\n  a:\n    url: https://a.example\n    gibberish: 1\n";
    let found = parse(text.as_bytes(), TextFormat::Yaml).expect("a document");
    assert_eq!(found[0].warnings[0].line, Some(4), "{:?}", found[0].warnings);
}
