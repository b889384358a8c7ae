//! Whether what an import names as credentials is there: tools that present nothing else would fail at their first call.

use std::collections::{BTreeMap, BTreeSet};

use toolgate_api::Diagnostic;
use toolgate_core::definition::source::ValueSource;
use toolgate_core::imports::Operation;
use toolgate_core::pointer;

use crate::gateway::Gateway;
use crate::gateway::server_snapshot::ProjectState;

/// What should be corrected in the sources of credentials, by security scheme: never a value, only names.
pub(super) fn warnings(
    gateway: &Gateway,
    state: &ProjectState,
    credentials: &BTreeMap<String, String>,
    operations: &[Operation],
) -> Vec<Diagnostic> {
    let needs = operations.iter().flat_map(|operation| operation.security.iter());
    let known: BTreeSet<&str> = needs.flatten().map(|need| need.scheme.as_str()).collect();
    let mut found = Vec::new();
    for (scheme, named) in credentials {
        let at = |warning: Diagnostic| warning.at_pointer(pointer::of(["credentials", scheme.as_str()]));
        if !known.contains(scheme.as_str()) {
            found.push(at(Diagnostic::warning(format!(
                "no operation of the description asks for {scheme:?}"
            ))
            .hint("`security` of the operations has the names of the schemes")));
        }
        // The id and the secret of a client are named together.
        for one in named.split('/') {
            found.extend(absent(gateway, state, one).map(at));
        }
    }
    found
}

/// Why a source has no value.
fn absent(gateway: &Gateway, state: &ProjectState, named: &str) -> Option<Diagnostic> {
    let name = match ValueSource::of(named) {
        ValueSource::Env(name) => name,
        ValueSource::Secret(name) => {
            return state.secrets.get(name).is_none().then(|| {
                Diagnostic::warning(format!(
                    "the project has no secret {name}: calls that present it will fail"
                ))
                .hint(format!("set it: PUT /projects/{}/secrets/{name}", state.row.id))
            });
        }
    };
    if !gateway.env.allows(name) {
        let warning =
            format!("definitions may not use the variable {name}: operations that need it are refused");
        return Some(Diagnostic::warning(warning).hint(
            "name a secret of the project (`secret:NAME`), or ask the operator to offer the variable (TOOLGATE_TOOL_ENV)",
        ));
    }
    gateway.env.value(name).is_none().then(|| {
        Diagnostic::warning(format!(
            "the variable {name} is not set on this server: calls that present it will fail"
        ))
        .hint("ask the operator to set it, or name a secret of the project: `secret:NAME`")
    })
}
