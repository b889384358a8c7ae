//! What of an MCP server is offered to clients, under names that no other server has.
//!
//! A prompt is named `<server>_<prompt>`; names of servers have no underscore. An address is `toolgate://mcp/<server>/<address>`; one of a
//! view (MCP Apps) stays in its scheme: `ui://<server>/<rest>`. Both go in front, so a template of addresses stays one.

use serde_json::Value;

use crate::ids::ImportId;

/// What addresses begin with.
const ADDRESS: &str = "toolgate://mcp/";
/// What addresses of views begin with.
const VIEW: &str = "ui://";
/// What stands between the server and its prompt.
const BETWEEN: char = '_';

/// The address that clients see of an address of a server.
#[must_use]
pub fn address(server: &str, own: &str) -> String {
    match own.strip_prefix(VIEW) {
        Some(rest) => format!("{VIEW}{server}/{rest}"),
        None => format!("{ADDRESS}{server}/{own}"),
    }
}

/// Whether an address of a server is that of a view.
#[must_use]
pub fn is_view(own: &str) -> bool {
    own.starts_with(VIEW)
}

/// The server, and its own address; `None` for an address that is of no server.
#[must_use]
pub fn own_address(address: &str) -> Option<(&str, String)> {
    if let Some(rest) = address.strip_prefix(VIEW) {
        let (server, rest) = rest.split_once('/')?;
        return is_server(server).then(|| (server, format!("{VIEW}{rest}")));
    }
    let (server, own) = address.strip_prefix(ADDRESS)?.split_once('/')?;
    (is_server(server) && !own.starts_with(VIEW) && !own.is_empty()).then(|| (server, own.to_owned()))
}

/// The name that clients see of a prompt of a server.
#[must_use]
pub fn prompt(server: &str, own: &str) -> String {
    format!("{server}{BETWEEN}{own}")
}

/// The server, and its own name of a prompt; `None` for a name that is of no server.
#[must_use]
pub fn own_prompt(name: &str) -> Option<(&str, &str)> {
    let (server, own) = name.split_once(BETWEEN)?;
    (is_server(server) && !own.is_empty()).then_some((server, own))
}

fn is_server(name: &str) -> bool {
    ImportId::parse(name).is_ok()
}

/// Replaces every text of a value that is the address of a view by the one that clients see.
pub fn readdress_views(server: &str, value: &mut Value) {
    match value {
        Value::String(text) if text.starts_with(VIEW) => *text = address(server, text),
        Value::Array(items) => items.iter_mut().for_each(|item| readdress_views(server, item)),
        Value::Object(members) => members
            .values_mut()
            .for_each(|member| readdress_views(server, member)),
        _ => {}
    }
}

/// Replaces the addresses of views in a block of content by those that clients see, and with `links`, where clients may read the server's
/// resources, those of links and resources. Those of the web stay: clients fetch them by themselves.
pub fn readdress_block(server: &str, links: bool, block: &mut Value) {
    let at = match block.get("type").and_then(Value::as_str) {
        Some("resource_link") => "/uri",
        Some("resource") => "/resource/uri",
        _ => return,
    };
    if let Some(Value::String(uri)) = block.pointer_mut(at)
        && (is_view(uri) || links && !uri.starts_with("https://") && !uri.starts_with("http://"))
    {
        *uri = address(server, uri);
    }
}

/// The addresses of the views that the members of a tool's `_meta` name.
pub fn views(meta: &Value) -> Vec<&str> {
    match meta {
        Value::String(text) if text.starts_with(VIEW) => vec![text],
        Value::Array(items) => items.iter().flat_map(views).collect(),
        Value::Object(members) => members.values().flat_map(views).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case("file:///a/b?c=d#e", "toolgate://mcp/weather/file:///a/b?c=d#e")]
    #[case("file:///{path}", "toolgate://mcp/weather/file:///{path}")]
    #[case("ui://forecast/view.html", "ui://weather/forecast/view.html")]
    #[case("ui://", "ui://weather/")]
    fn addresses_are_of_their_server(#[case] own: &str, #[case] seen: &str) {
        assert_eq!(address("weather", own), seen);
        assert_eq!(own_address(seen), Some(("weather", own.to_owned())));
    }

    #[rstest]
    #[case("toolgate://guides/weather/x")]
    #[case("toolgate://mcp/weather")]
    #[case("toolgate://mcp/weather/")]
    #[case("toolgate://mcp/Weather/file:///a")]
    #[case("toolgate://mcp//file:///a")]
    #[case("toolgate://mcp/weather/ui://other")]
    #[case("ui://weather")]
    #[case("file:///etc/passwd")]
    fn other_addresses_are_of_none(#[case] address: &str) {
        assert_eq!(own_address(address), None);
    }

    #[rstest]
    #[case("weather_forecast", Some(("weather", "forecast")))]
    #[case("weather__x", Some(("weather", "_x")))]
    #[case("weather_", None)]
    #[case("Weather_x", None)]
    #[case("guide", None)]
    fn prompts_are_of_their_server(#[case] name: &str, #[case] expected: Option<(&str, &str)>) {
        assert_eq!(own_prompt(name), expected);
    }

    #[test]
    fn views_and_links_are_readdressed() {
        let mut meta = json!({"ui": {"resourceUri": "ui://a/b", "visibility": ["app"]}, "openai/outputTemplate": "ui://c"});
        assert_eq!(views(&meta), ["ui://a/b", "ui://c"]);
        readdress_views("w", &mut meta);
        assert_eq!(
            meta,
            json!({"ui": {"resourceUri": "ui://w/a/b", "visibility": ["app"]}, "openai/outputTemplate": "ui://w/c"})
        );
        for (uri, links, expected) in [
            ("file:///a", true, "toolgate://mcp/w/file:///a"),
            ("file:///a", false, "file:///a"),
            ("https://a.example/", true, "https://a.example/"),
            ("ui://a", false, "ui://w/a"),
        ] {
            let mut link = json!({"type": "resource_link", "uri": uri});
            let mut resource = json!({"type": "resource", "resource": {"uri": uri}});
            readdress_block("w", links, &mut link);
            readdress_block("w", links, &mut resource);
            assert_eq!(link["uri"], expected);
            assert_eq!(resource["resource"]["uri"], expected);
        }
    }

    proptest! {
        #[test]
        fn no_two_servers_share_a_name(one in "[a-z][a-z0-9]{0,5}(-[a-z0-9]{1,3})?", other in "[a-z][a-z0-9]{0,5}", own in ".{1,20}", theirs in ".{1,20}") {
            prop_assume!(one != other && one != "new" && other != "new");
            prop_assert_ne!(address(&one, &own), address(&other, &theirs));
            prop_assert_ne!(prompt(&one, &own), prompt(&other, &theirs));
            let seen = address(&one, &own);
            prop_assert_eq!(own_address(&seen), Some((one.as_str(), own.clone())));
            let name = prompt(&one, &own);
            prop_assert_eq!(own_prompt(&name), Some((one.as_str(), own.as_str())));
        }
    }
}
