//! Which changes of a definition can break what worked before: its arguments, its result, the address that it is called at, and
//! the authentication there.

use serde_json::Value;

use super::{result_changes, schema_changes};

/// What of a request is its address. A tool that is not sent by HTTP is called by its type and one of these names.
const ADDRESS: [&[&str]; 10] = [
    &["type"],
    &["target_subject"],
    &["service"],
    &["options", "http", "base_url"],
    &["options", "http", "path"],
    &["options", "http", "method"],
    &["options", "jina", "mode"],
    &["options", "jina", "base_url"],
    &["options", "jina", "path"],
    &["options", "jina", "method"],
];
/// What of it says how a caller is let in.
const AUTHENTICATION: [&[&str]; 6] = [
    &["options", "http", "auth", "scheme"],
    &["options", "http", "auth", "name"],
    &["options", "http", "auth", "client", "token_url"],
    &["options", "http", "auth", "client", "scopes"],
    &["options", "http", "auth", "client", "audience"],
    &["options", "http", "auth", "client", "auth_style"],
];
/// What breaks when it comes or goes as a whole. `envs` has the further credentials; where they come from is decided here.
const WHOLE: [&[&str]; 7] = [
    &[],
    &["options", "http"],
    &["options", "jina"],
    &["options", "http", "auth"],
    &["options", "http", "auth", "client"],
    &["options", "envs"],
    &["options", "envs", "*"],
];

/// Whether the change at a place of a definition can break calls. `None` is a place without a value.
pub(super) fn is_breaking(steps: &[&str], before: Option<&Value>, after: Option<&Value>) -> bool {
    match steps {
        ["parameters", within @ ..] => schema_changes::is_breaking(within, before, after),
        ["output_schema", within @ ..] => result_changes::is_breaking(within, before, after),
        // Whatever came or went with the options.
        ["options"] => [before, after].into_iter().flatten().any(|options| {
            ["http", "jina", "envs"]
                .iter()
                .any(|key| options.get(key).is_some())
        }),
        _ if WHOLE.iter().any(|place| leads_to(place, steps)) => {
            // What is replaced by a value of the same kind is looked at member by member, or is a source of a credential.
            before.is_none() || after.is_none() || !same_kind(before, after)
        }
        _ => ADDRESS.iter().chain(&AUTHENTICATION).any(|place| place == &steps),
    }
}

/// Whether a place is the one of this pattern, where `*` is any name.
fn leads_to(pattern: &[&str], steps: &[&str]) -> bool {
    pattern.len() == steps.len()
        && pattern
            .iter()
            .zip(steps)
            .all(|(part, step)| part == step || *part == "*")
}

fn same_kind(before: Option<&Value>, after: Option<&Value>) -> bool {
    before.map(std::mem::discriminant) == after.map(std::mem::discriminant)
}
