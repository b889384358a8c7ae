//! Words of the contract in the reader's language: outcomes, roles, kinds of callers and the like.

use serde::Serialize;

use crate::components::word;
use crate::language::{found, marked};

/// Those that the catalogue has, as they travel.
const _: [&str; 47] = [
    // What was asked.
    marked("call"),
    marked("test"),
    marked("resolve"),
    marked("explain"),
    marked("replay"),
    marked("cancel"),
    marked("agent_request"),
    marked("mcp_read"),
    marked("session"),
    marked("access"),
    marked("policy"),
    marked("definition"),
    marked("settings"),
    marked("secret"),
    marked("project"),
    marked("alert"),
    marked("import"),
    marked("export"),
    // How it ended, and what became of a request for access or a question to the caller.
    marked("open"),
    marked("succeeded"),
    marked("failed"),
    marked("denied"),
    marked("interrupted"),
    marked("granted"),
    marked("declined"),
    marked("accepted"),
    marked("cancelled"),
    marked("unanswered"),
    marked("refused"),
    // What the caller's turn does next.
    marked("suspend"),
    marked("terminate"),
    // By which way it came.
    marked("bus"),
    marked("schedule"),
    marked("action"),
    marked("internal"),
    // Who asks, and where the permission comes from.
    marked("user"),
    marked("service_key"),
    marked("external"),
    marked("grant"),
    marked("key"),
    marked("issuer"),
    marked("system_admin"),
    // Roles; an agent is an entrance too.
    marked("agent"),
    marked("viewer"),
    marked("editor"),
    marked("auditor"),
    marked("owner"),
];

/// A word of the contract for people; as it travels where the catalogue lacks it.
pub(crate) fn contract_word<T: Serialize>(value: &T) -> String {
    let word = word(value);
    found(&word).map_or(word, str::to_owned)
}
