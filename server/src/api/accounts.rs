//! Accounts of persons at other services, and their providers.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use toolgate_api::accounts::{
    AccountCompleted, AccountConnection, AccountProvider, AccountProviderDefinition, AccountProviderList,
    CompleteAccount, ConnectedAccount, ConnectedAccountPage, OwnAccountList, SetPersonalKey,
};
use uuid::Uuid;

use super::precondition::{IfMatch, ReplaceCondition, ReplaceIfMatch, etag};
use super::projects::PageQuery;
use crate::extract::{
    InProject, Json, ManageKeys, ManagePolicy, Path, Query, ReadDefinitions, SignedIn, Use,
};
use crate::gateway::accounts::{self, manage, provider_not_found, providers};
use crate::gateway::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem, cursor};

/// The provider in the path, after its project.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes the parameter; the extractor reads it")]
pub struct ProviderPath {
    /// The provider's name.
    #[param(
        example = "github",
        min_length = 1,
        max_length = 63,
        pattern = "^[a-z][a-z0-9-]*$"
    )]
    provider_name: String,
}

/// The account in the path, after its project.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes the parameter; the extractor reads it")]
pub struct AccountPath {
    /// The account's id.
    account_id: Uuid,
}

/// List account providers
///
/// The services at which callers of the project's tools have accounts of their own, by name.
#[utoipa::path(get, path = "/projects/{project_id}/account-providers", tag = "accounts", params(super::ProjectPath),
    responses((status = 200, description = "All providers", body = AccountProviderList)))]
pub async fn list_account_providers(place: InProject<ReadDefinitions>) -> axum::Json<AccountProviderList> {
    let providers = place.project.account_providers.iter();
    axum::Json(AccountProviderList {
        items: providers
            .map(|provider| AccountProvider::clone(provider))
            .collect(),
    })
}

/// Get an account provider
///
/// How accounts are connected there, and where their credentials may be sent.
#[utoipa::path(get, path = "/projects/{project_id}/account-providers/{provider_name}", tag = "accounts",
    params(super::ProjectPath, ProviderPath),
    responses((status = 200, description = "The provider", body = AccountProvider, headers(("ETag" = String, description = "For `If-Match`")))))]
pub async fn get_account_provider(
    place: InProject<ReadDefinitions>,
    Path((_, name)): Path<(String, String)>,
) -> Result<Response, Problem> {
    answer(&place.project, &name, StatusCode::OK)
}

/// Put an account provider
///
/// Creates it or replaces it; replacing needs `If-Match`. Tools refer to it by `auth: {scheme: account, provider: NAME}`, MCP servers
/// by `account: NAME`: each call is then sent with the caller's own credential, to the `hosts` only. Another method, issuer or token
/// endpoint disconnects the accounts that are connected there.
#[utoipa::path(put, path = "/projects/{project_id}/account-providers/{provider_name}", tag = "accounts",
    params(super::ProjectPath, ProviderPath, ReplaceIfMatch), request_body = AccountProviderDefinition,
    responses((status = 200, description = "Replaced", body = AccountProvider, headers(("ETag" = String, description = "For `If-Match`"))),
        (status = 201, description = "Created", body = AccountProvider, headers(("ETag" = String, description = "For `If-Match`")))))]
pub async fn put_account_provider(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<ManagePolicy>,
    Path((_, name)): Path<(String, String)>,
    Json(definition): Json<AccountProviderDefinition>,
) -> Result<Response, Problem> {
    let precondition = ReplaceCondition::optional(&headers)?;
    let is_new = place.project.account_providers.get(&name).is_none();
    let condition =
        |revision: Option<i64>| precondition.check(revision.map(tag).as_deref(), "account provider");
    let (id, requester) = (&place.project.row.id, place.requester());
    let change = providers::change(&gateway, id, &requester, &name, Some(definition), condition);
    Box::pin(change).await?;
    let status = if is_new {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    let snapshot = gateway.snapshots.now();
    let project = snapshot.project(id.as_str());
    answer(project.ok_or_else(|| provider_not_found(&name))?, &name, status)
}

/// Delete an account provider
///
/// The accounts that are connected there are forgotten, and calls of the tools that use them are refused.
#[utoipa::path(delete, path = "/projects/{project_id}/account-providers/{provider_name}", tag = "accounts",
    params(super::ProjectPath, ProviderPath, super::IfMatchHeader),
    responses((status = 204, description = "Deleted")))]
pub async fn delete_account_provider(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<ManagePolicy>,
    Path((_, name)): Path<(String, String)>,
) -> Result<StatusCode, Problem> {
    let precondition = IfMatch::required(&headers)?;
    let condition = |revision: Option<i64>| match revision {
        Some(revision) => precondition.check(&tag(revision)),
        None => Err(provider_not_found(&name)),
    };
    let (id, requester) = (&place.project.row.id, place.requester());
    let change = providers::change(&gateway, id, &requester, &name, None, condition);
    Box::pin(change).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// List one's own accounts
///
/// The account providers of the project, each with the account of the person who asks, if one is connected. Only persons who are signed
/// in have accounts. Credentials are never shown.
#[utoipa::path(get, path = "/projects/{project_id}/accounts", tag = "accounts", params(super::ProjectPath),
    responses((status = 200, description = "All providers", body = OwnAccountList)))]
pub async fn list_accounts(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<Use>,
) -> Result<axum::Json<OwnAccountList>, Problem> {
    Ok(axum::Json(manage::own(&gateway, &place).await?))
}

/// Begin to connect an account
///
/// Answers the address of the service that the person's browser goes to. The service sends the person back to the dashboard, which
/// completes the account by `POST /auth/accounts`. Where the provider has no client of its own, this server's metadata is named as the
/// client, or a client is registered, as the service's metadata says.
#[utoipa::path(post, path = "/projects/{project_id}/accounts/{provider_name}/connect", tag = "accounts",
    params(super::ProjectPath, ProviderPath),
    responses((status = 200, description = "Where to go", body = AccountConnection)))]
pub async fn connect_account(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<Use>,
    Path((_, name)): Path<(String, String)>,
) -> Result<axum::Json<AccountConnection>, Problem> {
    let connecting = accounts::connect(&gateway, &place, &name);
    Ok(axum::Json(Box::pin(connecting).await?))
}

/// Complete an account
///
/// Takes what the service sent the person back with. `state` is good once, for ten minutes, in the browser session that began; `iss` is
/// compared with the service that the person was sent to.
#[utoipa::path(post, path = "/auth/accounts", tag = "accounts", request_body = CompleteAccount,
    responses((status = 200, description = "Connected", body = AccountCompleted)))]
pub async fn complete_account(
    State(gateway): State<Arc<Gateway>>,
    person: SignedIn,
    Json(answer): Json<CompleteAccount>,
) -> Result<axum::Json<AccountCompleted>, Problem> {
    let completing = accounts::complete(&gateway, person.caller, &answer);
    Ok(axum::Json(Box::pin(completing).await?))
}

/// Store a personal key
///
/// Connects the account of the person who asks by a key of the service, in the place of the former one. The key is encrypted, sent to the
/// provider's `hosts` only, and never shown again.
#[utoipa::path(put, path = "/projects/{project_id}/accounts/{provider_name}", tag = "accounts",
    params(super::ProjectPath, ProviderPath), request_body = SetPersonalKey,
    responses((status = 200, description = "Connected", body = ConnectedAccount)))]
pub async fn set_personal_key(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<Use>,
    Path((_, name)): Path<(String, String)>,
    Json(key): Json<SetPersonalKey>,
) -> Result<axum::Json<ConnectedAccount>, Problem> {
    let setting = manage::set_key(&gateway, &place, &name, key);
    Ok(axum::Json(Box::pin(setting).await?))
}

/// Disconnect an account
///
/// Forgets the credential of the person who asks, effective at the next call.
#[utoipa::path(delete, path = "/projects/{project_id}/accounts/{provider_name}", tag = "accounts",
    params(super::ProjectPath, ProviderPath),
    responses((status = 204, description = "Disconnected")))]
pub async fn disconnect_account(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<Use>,
    Path((_, name)): Path<(String, String)>,
) -> Result<StatusCode, Problem> {
    Box::pin(manage::disconnect(&gateway, &place, &name)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// List connected accounts
///
/// The accounts of all persons in the project, newest first, without their credentials.
#[utoipa::path(get, path = "/projects/{project_id}/connected-accounts", tag = "accounts", params(super::ProjectPath, PageQuery),
    responses((status = 200, description = "A page", body = ConnectedAccountPage)))]
pub async fn list_connected_accounts(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ManageKeys>,
    Query(query): Query<PageQuery>,
) -> Result<axum::Json<ConnectedAccountPage>, Problem> {
    let (after, limit) = query.parse()?;
    let after = after
        .map(|text| text.parse::<Uuid>().map_err(|_| cursor::invalid()))
        .transpose()?;
    let found = manage::list(&gateway, &place, after, limit + 1).await?;
    let (items, next_cursor) = cursor::page(found, limit, |account| account.id.to_string());
    Ok(axum::Json(ConnectedAccountPage { items, next_cursor }))
}

/// Revoke a connected account
///
/// Forgets the credential of any person in the project, effective at the next call.
#[utoipa::path(delete, path = "/projects/{project_id}/connected-accounts/{account_id}", tag = "accounts",
    params(super::ProjectPath, AccountPath),
    responses((status = 204, description = "Revoked")))]
pub async fn revoke_connected_account(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ManageKeys>,
    Path((_, id)): Path<(String, Uuid)>,
) -> Result<StatusCode, Problem> {
    Box::pin(manage::revoke(&gateway, &place, id)).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn answer(project: &ProjectState, name: &str, status: StatusCode) -> Result<Response, Problem> {
    let provider = project
        .account_providers
        .get(name)
        .ok_or_else(|| provider_not_found(name))?;
    let tag = etag(&tag(provider.revision));
    let body = axum::Json(AccountProvider::clone(provider));
    Ok((status, [(header::ETAG, tag)], body).into_response())
}

fn tag(revision: i64) -> String {
    format!("v{revision}")
}
