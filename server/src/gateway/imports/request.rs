//! What a request says about an import: where the description is and how it is read, over what the import keeps.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use toolgate_api::ErrorCode;
use toolgate_api::imports::ImportSource;
use toolgate_api::presence::AnnouncerKind;
use toolgate_core::announcements::Announcement;
use toolgate_core::imports::Selection;
use toolgate_core::mcp_import::McpListing;
use toolgate_core::openapi_import::ImportOptions;
use toolgate_core::principal::PrincipalRef;
use url::Url;

use super::fetch;
use crate::gateway::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};

/// What is asked of an import, or of a preview. What it does not mention stays as the import has it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ImportRequest {
    /// The description, if it was sent.
    pub description: Bytes,
    /// Where it is to be fetched instead.
    pub url: Option<String>,
    /// The MCP server whose tools are meant instead.
    pub mcp_server: Option<String>,
    /// What a program on the message bus announced instead.
    pub announcement: Option<Arc<Announcement>>,
    /// Whether new tools are enabled at once, because the project trusts who announced them.
    pub trusted: bool,
    /// Which operations; together, so that a new choice does not mix with an old one.
    pub selection: Option<Selection>,
    /// Where the description came from; empty: nowhere.
    pub document_url: Option<String>,
    /// The API's address; empty: what the description says.
    pub base_url: Option<String>,
    /// Variables of servers.
    pub variables: Option<BTreeMap<String, String>>,
    /// Sources of credentials.
    pub credentials: Option<BTreeMap<String, String>>,
    /// What the names of new tools begin with; empty: nothing.
    pub prefix: Option<String>,
    /// Whether tools that are there already are taken in.
    pub adopt: bool,
    /// Whether definitions and differences are answered too.
    pub definitions: bool,
    /// With whose account the tools of an MCP server are listed, where it is reached with accounts.
    pub lister: Option<PrincipalRef>,
    /// What an MCP server lists for one caller, where it is reached with accounts. What is not in it may be there for others.
    pub listing: Option<Arc<McpListing>>,
    /// Whether nothing is to be stored.
    pub dry_run: bool,
    /// Whether an import that changes nothing is neither stored nor recorded: another server may have made it before.
    pub only_changes: bool,
}

impl ImportRequest {
    /// The description's text, which is not kept.
    ///
    /// # Errors
    /// Why it could not be fetched.
    pub(super) async fn take_description(
        &mut self,
        gateway: &Gateway,
        project: &ProjectState,
    ) -> Result<Bytes, Problem> {
        match &self.url {
            None => Ok(std::mem::take(&mut self.description)),
            Some(url) => fetch::description(gateway, project, url).await,
        }
    }

    /// What is said now, over what was said before.
    #[must_use]
    pub fn over(&self, before: Option<&ImportSource>) -> ImportSource {
        let mut source = before.cloned().unwrap_or_default();
        source.url.clone_from(&self.url);
        if let Some(announcement) = &self.announcement {
            let name = Some(announcement.name.clone());
            match announcement.kind {
                AnnouncerKind::ToolService => source.tool_service = name,
                AnnouncerKind::Worker => source.worker = name,
            }
        }
        if let Some(selection) = self.selection.clone() {
            source.tags = selection.tags;
            source.paths = selection.paths;
            source.methods = selection.methods;
            source.operations = selection.operations;
        }
        let say = |said: &Option<String>, kept: &mut Option<String>| {
            if let Some(text) = said {
                *kept = Some(text.clone()).filter(|text| !text.is_empty());
            }
        };
        say(&self.document_url, &mut source.document_url);
        say(&self.base_url, &mut source.base_url);
        say(&self.mcp_server, &mut source.mcp_server);
        say(&self.prefix, &mut source.prefix);
        if let Some(variables) = &self.variables {
            source.variables.clone_from(variables);
        }
        if let Some(credentials) = &self.credentials {
            source.credentials.clone_from(credentials);
        }
        source
    }
}

/// How a description is read.
///
/// # Errors
/// 400 when an address is none.
pub(super) fn options(source: &ImportSource) -> Result<ImportOptions, Problem> {
    // Servers without a host are where the description is.
    let document = source.document_url.as_ref().or(source.url.as_ref());
    let document_url = match document {
        Some(text) => {
            let url = Url::parse(text)
                .map_err(|error| malformed(format!("`document_url` is no address: {error}.")))?;
            if !url.username().is_empty() || url.password().is_some() {
                return Err(malformed(
                    "`document_url` has user information; leave it out.".to_owned(),
                ));
            }
            Some(url)
        }
        None => None,
    };
    Ok(ImportOptions {
        document_url,
        base_url: source.base_url.clone(),
        variables: source.variables.clone(),
        credentials: source.credentials.clone(),
        prefix: source.prefix.clone().unwrap_or_default(),
    })
}

/// Which operations are chosen.
pub(super) fn selection(source: &ImportSource) -> Selection {
    Selection {
        tags: source.tags.clone(),
        paths: source.paths.clone(),
        methods: source.methods.clone(),
        operations: source.operations.clone(),
    }
}

fn malformed(detail: String) -> Problem {
    Problem::new(ErrorCode::MalformedRequest, detail)
}
