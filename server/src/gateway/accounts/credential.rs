//! The account that a call uses: whose it is, and its credential.

use std::sync::Arc;

use async_trait::async_trait;
use secrecy::{ExposeSecret, SecretString};
use tokio::time::Instant;
use toolgate_api::ErrorCode;
use toolgate_api::accounts::{AccountMethod, AccountProvider, AccountProviderDefinition};
use toolgate_api::audit::AuditAccount;
use toolgate_api::mcp_servers::McpServerDefinition;
use toolgate_core::definition::ToolDefinition;
use toolgate_core::ids::UserId;
use toolgate_core::principal::{PrincipalKind, PrincipalRef};
use toolgate_executors::{Account, Failure, McpTarget};
use toolgate_store::rows::AccountRow;
use uuid::Uuid;

use super::exchange::ExchangedAccount;
use super::{grant, page, provider_of, refresh};
use crate::auth::identity::{Credential, Identity};
use crate::gateway::entry::Entry;
use crate::gateway::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};

/// The account of a call.
pub struct CallAccount {
    /// For the executor.
    pub account: Arc<dyn Account>,
    /// For the record.
    pub recorded: AuditAccount,
}

/// The caller's account that a tool uses; `None` for tools that use none.
///
/// # Errors
/// `account_required` with the page to connect it at.
pub async fn for_call(
    gateway: &Arc<Gateway>,
    entry: &Entry,
    tool: &ToolDefinition,
) -> Result<Option<CallAccount>, Problem> {
    match provider_of(&entry.project, tool) {
        None => Ok(None),
        Some(name) => of_caller(gateway, entry, name).await.map(Some),
    }
}

/// The caller's account that an MCP server is reached with; `None` for servers that are reached with none.
///
/// # Errors
/// As [`for_call`].
pub async fn for_server(
    gateway: &Arc<Gateway>,
    entry: &Entry,
    server: &McpServerDefinition,
) -> Result<Option<CallAccount>, Problem> {
    match &server.account {
        None => Ok(None),
        Some(name) => of_caller(gateway, entry, name).await.map(Some),
    }
}

/// The caller's account of a provider.
async fn of_caller(gateway: &Arc<Gateway>, entry: &Entry, name: &str) -> Result<CallAccount, Problem> {
    let provider = entry.project.account_providers.get(name).ok_or_else(|| {
        Problem::new(
            ErrorCode::ToolUnavailable,
            format!(
                "The tool uses accounts of the account provider {name:?}, which the project does not have."
            ),
        )
        .final_()
    })?;
    let project = &entry.project;
    let found = match holder(provider, &entry.caller.identity) {
        Holder::User(user) => stored(gateway, project, provider, user).await,
        Holder::Token(token, subject) => Ok(CallAccount {
            account: Arc::new(ExchangedAccount::new(gateway, project, provider, token)),
            recorded: AuditAccount {
                provider: provider.name.clone(),
                label: Some(subject.chars().take(200).collect()),
                id: None,
            },
        }),
        Holder::None(why) => Err(why.to_owned()),
    };
    found.map_err(|why| refusal(gateway, project, provider, &why))
}

/// Who holds the account.
enum Holder<'a> {
    User(UserId),
    Token(&'a SecretString, &'a str),
    /// Why there is none.
    None(&'static str),
}

const KEYS: &str = "an API key stands for no person and has no account: call with the token of a person, or by a client that a person \
                    has let in";
const EXCHANGE: &str = "it is got by exchange of a token of an external issuer, and the caller presents none";
const SUBJECTS: &str = "subjects of external issuers connect no accounts: only users of this server do";

fn holder<'a>(provider: &AccountProvider, identity: &'a Identity) -> Holder<'a> {
    let exchanges = provider.definition.method == AccountMethod::TokenExchange;
    match &identity.credential {
        Credential::External {
            token: Some(token), ..
        } if exchanges => Holder::Token(token, &identity.principal.name),
        Credential::External { .. } => Holder::None(if exchanges { EXCHANGE } else { SUBJECTS }),
        Credential::Key { .. } => Holder::None(KEYS),
        Credential::User { .. } | Credential::Connection { .. } if exchanges => Holder::None(EXCHANGE),
        Credential::User { user, .. } | Credential::Connection { user, .. } => Holder::User(user.id),
    }
}

/// The account that a user has connected, or why there is none that can be used.
async fn stored(
    gateway: &Arc<Gateway>,
    project: &Arc<ProjectState>,
    provider: &Arc<AccountProvider>,
    user: UserId,
) -> Result<CallAccount, String> {
    let row = gateway.store.account(project.row.uid, user, &provider.name).await;
    let row = row.map_err(|error| {
        tracing::warn!(cause = %error, "a connected account could not be read");
        "it could not be read now".to_owned()
    })?;
    let row = usable(row.as_ref())?;
    Ok(CallAccount {
        recorded: AuditAccount {
            provider: provider.name.clone(),
            label: row.label.clone(),
            id: Some(row.id),
        },
        account: Arc::new(StoredAccount {
            gateway: Arc::clone(gateway),
            project: Arc::clone(project),
            provider: Arc::clone(provider),
            id: row.id,
            key: row.id.to_string(),
        }),
    })
}

fn usable(row: Option<&AccountRow>) -> Result<&AccountRow, String> {
    match row {
        None => Err("you have not connected one yet".to_owned()),
        Some(row) if row.expired => Err(
            "the service does not take your account's credential any more, so connect it again".to_owned(),
        ),
        Some(row) => Ok(row),
    }
}

fn title(provider: &AccountProvider) -> &str {
    provider.definition.title.as_deref().unwrap_or(&provider.name)
}

fn sentence(gateway: &Gateway, project: &ProjectState, provider: &AccountProvider, why: &str) -> String {
    format!(
        "This tool is called with the caller's own account at {}, and {why}. Accounts are connected at {} . Nothing was sent.",
        title(provider),
        page(gateway, project.row.id.as_str())
    )
}

fn refusal(gateway: &Gateway, project: &ProjectState, provider: &AccountProvider, why: &str) -> Problem {
    Problem::new(
        ErrorCode::AccountRequired,
        sentence(gateway, project, provider, why),
    )
    .connect_url(page(gateway, project.row.id.as_str()))
}

/// Whether a call of a principal would have an account, by the accounts that it has connected; the refusal otherwise.
///
/// # Errors
/// What a call would be refused with.
pub fn foreseen(
    gateway: &Gateway,
    project: &ProjectState,
    principal: PrincipalKind,
    connected: &[AccountRow],
    tool: &ToolDefinition,
) -> Result<(), (ErrorCode, String)> {
    let Some(name) = provider_of(project, tool) else {
        return Ok(());
    };
    let Some(provider) = project.account_providers.get(name) else {
        let why = format!("the project has no account provider {name:?}");
        return Err((ErrorCode::ToolUnavailable, why));
    };
    let exchanges = provider.definition.method == AccountMethod::TokenExchange;
    let of_provider = connected.iter().find(|row| row.provider == name);
    let why = match principal {
        PrincipalKind::ServiceKey => KEYS.to_owned(),
        PrincipalKind::External if exchanges => return Ok(()),
        PrincipalKind::External => SUBJECTS.to_owned(),
        PrincipalKind::User if exchanges => EXCHANGE.to_owned(),
        PrincipalKind::User => match usable(of_provider) {
            Ok(_) => return Ok(()),
            Err(why) => why,
        },
    };
    Err((
        ErrorCode::AccountRequired,
        sentence(gateway, project, provider, &why),
    ))
}

/// A server that is reached with accounts, with that of the principal who asks for its tools.
///
/// # Errors
/// `account_required`.
pub async fn for_listing(
    gateway: &Arc<Gateway>,
    project: &Arc<ProjectState>,
    target: McpTarget,
    principal: Option<&PrincipalRef>,
) -> Result<McpTarget, Problem> {
    let Some(name) = &target.server.definition.account else {
        return Ok(target);
    };
    let provider = project
        .account_providers
        .get(name)
        .ok_or_else(|| super::provider_not_found(name))?;
    let user = principal
        .filter(|principal| principal.kind == PrincipalKind::User)
        .and_then(PrincipalRef::uuid);
    let found = match user {
        Some(user) => stored(gateway, project, provider, UserId(user)).await,
        None => Err("its tools are listed with the account of a person".to_owned()),
    };
    let found = found.map_err(|why| refusal(gateway, project, provider, &why))?;
    Ok(McpTarget {
        account: Some(found.account),
        ..target
    })
}

/// A connected account. Its row is read for each credential, so that what another server has refreshed or a person has disconnected
/// counts at once.
struct StoredAccount {
    gateway: Arc<Gateway>,
    project: Arc<ProjectState>,
    provider: Arc<AccountProvider>,
    id: Uuid,
    key: String,
}

#[async_trait]
impl Account for StoredAccount {
    fn key(&self) -> &str {
        &self.key
    }

    fn provider(&self) -> &AccountProviderDefinition {
        &self.provider.definition
    }

    async fn credential(&self, deadline: Instant) -> Result<SecretString, Failure> {
        let with_page = |mut failure: Failure| {
            if failure.code == ErrorCode::AccountRequired {
                let page = page(&self.gateway, self.project.row.id.as_str());
                failure.message = format!("{}: {page}", failure.message);
            }
            failure
        };
        let mut row = refresh::current(&self.gateway, self.id)
            .await
            .map_err(with_page)?;
        let mut found = grant::of_row(&self.gateway, &row).map_err(with_page)?;
        if found.is_over(self.gateway.clock.now()) && found.refresh_token.is_some() {
            let refreshed = refresh::refreshed(&self.gateway, &self.project, row, deadline).await;
            row = refreshed.map_err(with_page)?;
            found = grant::of_row(&self.gateway, &row).map_err(with_page)?;
        }
        Ok(found.credential.into())
    }

    async fn refused(&self, credential: &SecretString, deadline: Instant) -> bool {
        let credential = credential.expose_secret();
        refresh::refused(&self.gateway, &self.project, self.id, credential, deadline).await
    }
}
