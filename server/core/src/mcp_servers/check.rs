//! What of a server is invalid, all at once.

use std::collections::BTreeMap;

use toolgate_api::Diagnostic;
use toolgate_api::mcp_servers::{McpInstance, McpServerDefinition, McpTransport};

use super::LEAST_REFRESH_S;
use super::value::ValueTemplate;
use crate::ids::ImportId;
use crate::pointer;
use crate::redact::is_secret_name;

/// Longest argument or value, in bytes.
const LONGEST: usize = 8_000;
/// Arguments, variables and headers of one server, each.
const MOST: usize = 100;
/// Characters of the name of a group or state.
const NAME: usize = 128;
/// Headers that the protocol or the connection sets.
const RESERVED: [&str; 12] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "transfer-encoding",
];
/// Variables with which a process can be made to load what it should not.
const REFUSED_ENV: [&str; 6] = [
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "LD_AUDIT",
    "HOME",
    "PATH",
    "LANG",
];

/// Why a text cannot name a server.
#[must_use]
pub fn name_fault(name: &str) -> Option<String> {
    ImportId::parse(name).err().map(|error| error.to_string())
}

/// Every fault of a server; none when it can be stored.
#[must_use]
pub fn check(server: &McpServerDefinition) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    let mut fault = |at: &str, message: &str, hint: &str| {
        faults.push(Diagnostic::error(message).hint(hint).at_pointer(at));
    };
    let is_stdio = server.transport() == McpTransport::Stdio;
    match (&server.command, &server.url) {
        (None, None) => fault(
            "",
            "nothing says how the server is reached",
            "write `command` for a process of this machine, or `url` for a server over HTTP",
        ),
        (Some(_), Some(_)) => fault(
            "/url",
            "a server has a `command` or a `url`, not both",
            "remove one of them",
        ),
        (Some(_), None) if !is_stdio => fault(
            "/transport",
            "a server with a `command` is reached by `stdio`",
            "remove `transport`",
        ),
        (None, Some(_)) if is_stdio => fault(
            "/transport",
            "a server with a `url` is not reached by `stdio`",
            "write `streamable_http` or `sse`",
        ),
        _ => {}
    }
    if let Some(command) = &server.command
        && (command.trim().is_empty() || command.len() > 1000 || command.chars().any(char::is_control))
    {
        fault(
            "/command",
            "the command is empty, too long or has control characters",
            "write the name or the path of a program; its arguments belong into `args`",
        );
    }
    if server.args.len() > MOST {
        fault("/args", "there are more than 100 arguments", "use fewer");
    }
    for (at, arg) in server.args.iter().enumerate() {
        if arg.len() > LONGEST || arg.contains('\0') {
            fault(
                &format!("/args/{at}"),
                "the argument is too long or has a U+0000",
                "shorten it",
            );
        }
        let (flag, value) = arg.split_once('=').unwrap_or((arg, ""));
        let before = at.checked_sub(1).and_then(|at| server.args.get(at));
        let named = |text: &str| text.starts_with('-') && is_secret_name(text.trim_start_matches('-'));
        if (!value.is_empty() && named(flag))
            || (!arg.starts_with('-') && before.is_some_and(|flag| named(flag)))
        {
            fault(
                &format!("/args/{at}"),
                "the argument looks like a credential, which would be kept and shown",
                "pass it as a variable: `env` with `${secret:NAME}`",
            );
        }
    }
    if server
        .description
        .as_ref()
        .is_some_and(|text| text.chars().count() > 1000)
    {
        fault(
            "/description",
            "the description has more than 1000 characters",
            "shorten it",
        );
    }
    if is_stdio && !server.headers.is_empty() {
        fault("/headers", "a stdio server gets no headers", "use `env`");
    }
    if !is_stdio && (!server.env.is_empty() || !server.args.is_empty()) {
        fault(
            "",
            "a server over HTTP gets no arguments and no variables",
            "use `headers`",
        );
    }
    if let Some(provider) = &server.account {
        if is_stdio {
            fault(
                "/account",
                "a stdio server gets no credential of callers: it serves all of them",
                "use `env`",
            );
        }
        if server.oauth.is_some() {
            fault(
                "/account",
                "a server is called with an OAuth client or with accounts, not both",
                "remove one of them",
            );
        }
        if let Some(why) = crate::accounts::name_fault(provider) {
            fault("/account", &why, "write the name of an account provider");
        }
    }
    if let Some(client) = &server.oauth {
        if is_stdio {
            fault("/oauth", "a stdio server gets no access token", "use `env`");
        }
        if server
            .headers
            .keys()
            .any(|name| name.eq_ignore_ascii_case("authorization"))
        {
            fault(
                "/oauth",
                "the access token is sent as the header `Authorization`, which `headers` sets too",
                "remove one of them",
            );
        }
        let scope_is_valid =
            |scope: &String| !scope.is_empty() && scope.bytes().all(|byte| byte.is_ascii_graphic());
        if client.scopes.len() > MOST || !client.scopes.iter().all(scope_is_valid) {
            fault(
                "/oauth/scopes",
                "a scope is a word without spaces, and there are at most 100",
                "write each scope by itself",
            );
        }
    }
    let between =
        |value: Option<u32>, least: u32, most: u32| value.is_none_or(|value| (least..=most).contains(&value));
    if !between(server.timeout_ms, 100, 300_000) {
        fault(
            "/timeout_ms",
            "it must be between 100 and 300000",
            "leave it out for 30000",
        );
    }
    if !between(server.max_concurrent, 1, 1000) {
        fault(
            "/max_concurrent",
            "it must be between 1 and 1000",
            "leave it out for 16",
        );
    }
    if !between(server.idle_stop_s, 0, 86_400) {
        fault(
            "/idle_stop_s",
            "it must be between 0 and 86400",
            "leave it out for 600",
        );
    }
    if !between(server.refresh_s.filter(|&s| s != 0), LEAST_REFRESH_S, 604_800) {
        fault(
            "/refresh_s",
            "it must be 0, or between 10 and 604800",
            "leave it out for 3600",
        );
    }
    if !between(server.max_instances, 1, 1000) {
        fault(
            "/max_instances",
            "it must be between 1 and 1000",
            "leave it out for 16",
        );
    }
    match server.instance {
        McpInstance::Shared if server.max_instances.is_some() => fault(
            "/max_instances",
            "a shared server has one instance",
            "remove it, or write `instance: session`",
        ),
        McpInstance::Session if server.idle_stop_s == Some(0) => fault(
            "/idle_stop_s",
            "an instance of a session is ended when nothing calls it",
            "write a number of seconds, or leave it out for 600",
        ),
        _ => {}
    }
    for (place, offer) in [("resources", &server.resources), ("prompts", &server.prompts)] {
        if let Some(offer) = offer {
            names(&format!("/{place}/group"), &offer.group, &mut faults);
            let states = offer.available_in_states.as_deref().unwrap_or_default();
            names(&format!("/{place}/available_in_states"), states, &mut faults);
        }
    }
    values("env", &server.env, env_fault, &mut faults);
    values("headers", &server.headers, header_fault, &mut faults);
    if let Some(text) = &server.url {
        faults.extend(address_fault("/url", text));
    }
    if let Some(client) = &server.oauth {
        faults.extend(address_fault("/oauth/token_url", &client.token_url));
        let texts = [
            ("client_id", &client.client_id),
            ("client_secret", &client.client_secret),
        ];
        let texts = texts.map(|(name, text)| (name.to_owned(), text.clone())).into();
        values("oauth", &texts, |_| None, &mut faults);
    }
    faults
}

/// The faults of names of groups or states.
fn names(at: &str, names: &[String], faults: &mut Vec<Diagnostic>) {
    if names.len() > MOST {
        faults.push(Diagnostic::error("there are more than 100 of them").at_pointer(at));
    }
    for (position, name) in names.iter().enumerate() {
        if name.is_empty() || name.chars().nth(NAME).is_some() || name.chars().any(char::is_control) {
            let fault = Diagnostic::error(format!("a name has 1-{NAME} characters"));
            faults.push(
                fault
                    .hint("write the name of a group or state of the project")
                    .at_pointer(format!("{at}/{position}")),
            );
        }
    }
}

/// What is wrong with an address.
fn address_fault(at: &str, text: &str) -> Option<Diagnostic> {
    let url = match url::Url::parse(text) {
        Ok(url) => url,
        Err(error) => {
            let fault = Diagnostic::error(format!("this is no address: {error}"));
            return Some(fault.hint("write https://host/path").at_pointer(at));
        }
    };
    let (message, hint) = if !matches!(url.scheme(), "http" | "https") {
        ("the address is not one of http or https", "write https://...")
    } else if !url.username().is_empty() || url.password().is_some() {
        (
            "the address has user information, which would be shown",
            "send it as a header: `Authorization` with `${secret:NAME}`",
        )
    } else if url.query_pairs().any(|(name, _)| is_secret_name(&name)) {
        (
            "the query has what looks like a credential, which would be shown",
            "send it as a header with `${secret:NAME}`",
        )
    } else if text.len() > 2000 {
        ("the address is too long", "use at most 2000 bytes")
    } else {
        return None;
    };
    Some(Diagnostic::error(message).hint(hint).at_pointer(at))
}

fn env_fault(name: &str) -> Option<&'static str> {
    if !crate::definition::source::is_name(name) {
        return Some("this cannot name a variable");
    }
    REFUSED_ENV
        .contains(&name)
        .then_some("this variable is set by the server")
}

fn header_fault(name: &str) -> Option<&'static str> {
    let is_token = |c: u8| c.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&c);
    if name.is_empty() || name.len() > 200 || !name.bytes().all(is_token) {
        return Some("this cannot name a header");
    }
    let lower = name.to_ascii_lowercase();
    let is_reserved = RESERVED.contains(&lower.as_str()) || lower.starts_with("mcp-param-");
    is_reserved.then_some("this header is set by the server")
}

/// The faults of names and values.
fn values(
    place: &str,
    entries: &BTreeMap<String, String>,
    of_name: fn(&str) -> Option<&'static str>,
    faults: &mut Vec<Diagnostic>,
) {
    if entries.len() > MOST {
        faults.push(Diagnostic::error("there are more than 100 of them").at_pointer(format!("/{place}")));
    }
    for (name, value) in entries {
        let at = pointer::of([place, name.as_str()]);
        if let Some(fault) = of_name(name) {
            faults.push(
                Diagnostic::error(fault)
                    .hint("choose another name, or leave it out")
                    .at_pointer(&*at),
            );
        }
        if value.len() > LONGEST || value.chars().any(|c| c.is_control() && c != '\t') {
            faults
                .push(Diagnostic::error("the value is too long or has control characters").at_pointer(&*at));
        }
        match ValueTemplate::parse(value) {
            Err(fault) => faults.push(Diagnostic::error(format!("the value {fault}")).at_pointer(at)),
            // Never repeated: it may be the credential.
            Ok(template)
                if is_secret_name(name) && !value.is_empty() && template.sources().next().is_none() =>
            {
                faults.push(
                    Diagnostic::error(format!(
                        "{name:?} looks like a credential, and its value would be kept and shown"
                    ))
                    .hint(format!(
                        "store it as a secret of the project and write ${{secret:{}}}",
                        secret_name(name)
                    ))
                    .at_pointer(at),
                );
            }
            Ok(_) => {}
        }
    }
}

fn secret_name(name: &str) -> String {
    let plain = name.chars().map(|c| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_uppercase()
        } else {
            '_'
        }
    });
    plain.collect()
}
