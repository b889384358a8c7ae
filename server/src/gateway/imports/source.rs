//! Where a description comes from, and how it is read: what the request says, over what the import keeps.

use std::collections::BTreeMap;

use bytes::Bytes;
use toolgate_api::ErrorCode;
use toolgate_api::imports::ImportSource;
use toolgate_core::openapi_import::{ImportOptions, Selection};
use url::Url;

use super::fetch;
use crate::error::{ApiError, ApiResult};
use crate::gateway::world::ProjectState;
use crate::state::App;

/// A description that was sent, or where it is to be fetched.
pub enum Description {
    /// What was sent.
    Sent(Bytes),
    /// An address.
    At(String),
}

impl Description {
    /// Its text.
    ///
    /// # Errors
    /// Why it could not be fetched.
    pub async fn read(self, app: &App, project: &ProjectState) -> ApiResult<Bytes> {
        match self {
            Self::Sent(bytes) => Ok(bytes),
            Self::At(url) => fetch::description(app, project, &url).await,
        }
    }

    /// The address.
    #[must_use]
    pub fn url(&self) -> Option<&str> {
        match self {
            Self::Sent(_) => None,
            Self::At(url) => Some(url),
        }
    }
}

/// What a request says about a description. What it does not mention stays as the import has it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Said {
    /// Which operations; together, so that a new choice does not mix with an old one.
    pub selection: Option<Selected>,
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
}

/// Which operations are chosen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selected {
    /// With any of these tags.
    pub tags: Vec<String>,
    /// With any of these paths.
    pub paths: Vec<String>,
    /// With any of these methods.
    pub methods: Vec<String>,
    /// By id or name.
    pub operations: Vec<String>,
}

impl Said {
    /// What is said now, over what was said before.
    #[must_use]
    pub fn over(self, before: Option<&ImportSource>, url: Option<&str>) -> ImportSource {
        let mut source = before.cloned().unwrap_or_default();
        source.url = url.map(str::to_owned);
        if let Some(selected) = self.selection {
            source.tags = selected.tags;
            source.paths = selected.paths;
            source.methods = selected.methods;
            source.operations = selected.operations;
        }
        let given = |text: String| (!text.is_empty()).then_some(text);
        if let Some(text) = self.document_url {
            source.document_url = given(text);
        }
        if let Some(text) = self.base_url {
            source.base_url = given(text);
        }
        if let Some(variables) = self.variables {
            source.variables = variables;
        }
        if let Some(credentials) = self.credentials {
            source.credentials = credentials;
        }
        if let Some(text) = self.prefix {
            source.prefix = given(text);
        }
        source
    }
}

/// How a description is read, and which of its operations are chosen.
///
/// # Errors
/// 400 when an address is none.
pub fn reading(source: &ImportSource) -> ApiResult<(ImportOptions, Selection)> {
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
    let options = ImportOptions {
        document_url,
        base_url: source.base_url.clone(),
        variables: source.variables.clone(),
        credentials: source.credentials.clone(),
        prefix: source.prefix.clone().unwrap_or_default(),
    };
    let selection = Selection {
        tags: source.tags.clone(),
        paths: source.paths.clone(),
        methods: source.methods.clone(),
        operations: source.operations.clone(),
    };
    Ok((options, selection))
}

fn malformed(detail: String) -> ApiError {
    ApiError::new(ErrorCode::MalformedRequest, detail)
}
