//! Storing and removing account providers.

use std::sync::Arc;

use serde_json::json;
use toolgate_api::Diagnostic;
use toolgate_api::ErrorCode;
use toolgate_api::accounts::{AccountProvider, AccountProviderDefinition};
use toolgate_api::audit::AuditAction;
use toolgate_core::accounts::{MAX_PROVIDERS, check, name_fault};
use toolgate_core::ids::ProjectId;
use toolgate_store::StoreError;
use toolgate_store::rows::Replacement;

use super::provider_not_found;
use crate::gateway::change_record::opening;
use crate::gateway::publish::{ATTEMPTS, current, too_busy, turn};
use crate::gateway::record::Requester;
use crate::gateway::recorded::recorded;
use crate::gateway::{Gateway, Problem};

/// Stores a provider, or removes it and what is connected there. `condition` is asked with the revision that is there.
///
/// # Errors
/// 422 with every fault; 404 when there is nothing to remove; what `condition` says.
pub async fn change(
    gateway: &Arc<Gateway>,
    project: &ProjectId,
    requester: &Requester<'_>,
    name: &str,
    definition: Option<AccountProviderDefinition>,
    condition: impl Fn(Option<i64>) -> Result<(), Problem>,
) -> Result<(), Problem> {
    if let Some(definition) = &definition {
        let of_name = name_fault(name).map(Diagnostic::error);
        let faults: Vec<_> = of_name.into_iter().chain(check(definition)).collect();
        if !faults.is_empty() {
            return Err(Problem::new(
                ErrorCode::InvalidRequest,
                "The account provider is invalid; nothing was stored. `errors` names each fault.",
            )
            .errors(faults));
        }
    }
    let _turn = turn(gateway, project).await?;
    for _ in 0..ATTEMPTS {
        let state = current(gateway, project)?;
        let before = state.account_providers.get(name).cloned();
        condition(before.as_ref().map(|provider| provider.revision))?;
        if definition.is_none() && before.is_none() {
            return Err(provider_not_found(name));
        }
        let others = state
            .account_providers
            .iter()
            .filter(|provider| provider.name != name);
        let mut providers: Vec<AccountProvider> =
            others.map(|provider| AccountProvider::clone(provider)).collect();
        if definition.is_some() && providers.len() >= MAX_PROVIDERS {
            return Err(Problem::new(
                ErrorCode::InvalidRequest,
                format!("A project has at most {MAX_PROVIDERS} account providers; nothing was stored."),
            ));
        }
        providers.extend(definition.clone().map(|definition| AccountProvider {
            name: name.to_owned(),
            // One that no provider of the project ever had.
            revision: state.account_providers.revision + 1,
            updated_at: gateway.clock.now(),
            updated_by: requester.principal.name.clone(),
            definition,
        }));
        providers.sort_by(|a, b| a.name.cmp(&b.name));
        let what = json!({
            "change": "account_provider",
            "provider": name,
            "before": before.as_ref().map(|provider| &provider.definition),
            "after": definition,
        });
        let place = (state.row.uid, state.snapshot.version());
        let opening = opening(gateway, place, requester, AuditAction::Settings, what);
        let (task, uid, id) = (Arc::clone(gateway), state.row.uid, state.row.id.clone());
        let (expected, author, name) = (
            state.account_providers.revision,
            requester.principal.name.clone(),
            name.to_owned(),
        );
        // What was connected by another method, or where tokens came from elsewhere, is of no use any more.
        let ends_accounts = before.as_ref().is_some_and(|before| {
            definition.as_ref().is_none_or(|after| {
                let of = |one: &AccountProviderDefinition| {
                    (
                        one.method,
                        one.token_url.clone(),
                        one.issuer.clone(),
                        one.resource.clone(),
                    )
                };
                of(after) != of(&before.definition)
            })
        });
        let stored = recorded(gateway, vec![opening], async move {
            let replacement = Replacement {
                value: &providers,
                expected: Some(expected),
                author: &author,
            };
            let now = task.clock.now();
            let outcome = task.store.put_account_providers(uid, &replacement, now).await;
            task.snapshots.refresh().await?;
            match outcome {
                Ok(_) => {
                    if ends_accounts {
                        task.store.delete_accounts_at(uid, &name).await?;
                    }
                    Ok(true)
                }
                Err(StoreError::VersionConflict) => Ok(false),
                Err(StoreError::NotFound { .. }) => Err(Problem::not_found(format!("project \"{id}\""))),
                Err(error) => Err(error.into()),
            }
        })
        .await?;
        if stored {
            return Ok(());
        }
    }
    Err(too_busy())
}
