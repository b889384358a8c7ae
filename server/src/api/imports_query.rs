//! What the query of an import says.

use std::collections::BTreeMap;

use axum::extract::Request;
use axum::http::header;
use serde::Deserialize;
use toolgate_api::ErrorCode;
use toolgate_core::definition::source::{ValueSource, is_name};
use toolgate_core::openapi_import::prefix_fault;

use super::tools_edit::read;
use crate::error::{ApiError, ApiResult};
use crate::extract::{Caller, body};
use crate::gateway::imports::source::{Description, Said, Selected};
use crate::state::AppState;

/// Longest text of a query parameter, in characters.
const LONGEST: usize = 2_000;
/// The same of names of operations, which may be chosen one by one.
const LONGEST_NAMES: usize = 16_000;

/// A query that says how to read a description and which of its operations are meant, and what else is given.
macro_rules! import_query {
    ($(#[$doc:meta])* $name:ident { $($more:tt)* }) => {
        $(#[$doc])*
        #[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
        #[serde(deny_unknown_fields)]
        #[into_params(parameter_in = Query)]
        pub struct $name {
            /// Only operations with any of these tags.
            #[param(max_length = 2000, example = "pets,owners")]
            tag: Option<String>,
            /// Only operations with any of these paths; `*` is anything within a segment, `**` anything.
            #[param(max_length = 2000, example = "/pets/**")]
            path: Option<String>,
            /// Only operations with any of these methods.
            #[param(max_length = 2000, example = "GET,HEAD")]
            method: Option<String>,
            /// Only these operations, by their id or the name of their tool.
            #[param(max_length = 16_000, example = "getPet,listPets")]
            operation_id: Option<String>,
            /// Where to fetch the description, instead of a body; for system administrators.
            #[param(max_length = 2000, example = "https://petstore.example.com/openapi.json")]
            url: Option<String>,
            /// Where the description came from, for servers without a host.
            #[param(max_length = 2000, example = "https://petstore.example.com/openapi.json")]
            document_url: Option<String>,
            /// The API's address, instead of the servers of the description.
            #[param(max_length = 2000, example = "https://petstore.example.com/v1")]
            base_url: Option<String>,
            /// What the names of new tools begin with, so that APIs with operations of one name can stand side by side.
            #[param(max_length = 32, pattern = "^([A-Za-z0-9][A-Za-z0-9_-]*)?$", example = "petstore_")]
            prefix: Option<String>,
            /// Values of variables in the addresses of servers, as `name=value`.
            #[param(max_length = 2000, example = "region=eu,stage=live")]
            variables: Option<String>,
            /// The credential of each security scheme that tools are to present: an environment variable or `secret:NAME`, as
            /// `scheme=source`.
            #[param(max_length = 2000, example = "apiKey=secret:PETSTORE_KEY")]
            credentials: Option<String>,
            /// Also answer every definition, and its difference from the project's tool of that name or what changed in it.
            #[serde(default)]
            #[param(default = false)]
            pub definitions: bool,
            $($more)*
        }

        impl $name {
            /// What is said about a description and where it is.
            pub fn words(&self) -> Words<'_> {
                Words {
                    tag: self.tag.as_deref(),
                    path: self.path.as_deref(),
                    method: self.method.as_deref(),
                    operation_id: self.operation_id.as_deref(),
                    url: self.url.as_deref(),
                    document_url: self.document_url.as_deref(),
                    base_url: self.base_url.as_deref(),
                    variables: self.variables.as_deref(),
                    credentials: self.credentials.as_deref(),
                    prefix: self.prefix.as_deref(),
                }
            }
        }
    };
}

import_query! {
    /// How to read a description, and which of its operations are meant. Lists have commas between their items.
    PreviewQuery {}
}

import_query! {
    /// How to import a description. Lists have commas between their items.
    ImportQuery {
        /// Only say what the import would do.
        #[serde(default)]
        #[param(default = false)]
        pub dry_run: bool,
        /// Take in tools that are there by the name of an operation, as they are.
        #[serde(default)]
        #[param(default = false)]
        pub adopt: bool,
        /// Why; kept with the revisions.
        #[param(max_length = 500)]
        pub note: Option<String>,
        /// Store it even if policy tests that hold now would fail; the revisions' note then names them.
        #[serde(default)]
        #[param(default = false)]
        pub ignore_policy_tests: bool,
    }
}

/// What a query says about a description and where it is.
#[derive(Debug, Clone, Copy)]
pub struct Words<'q> {
    tag: Option<&'q str>,
    path: Option<&'q str>,
    method: Option<&'q str>,
    operation_id: Option<&'q str>,
    url: Option<&'q str>,
    document_url: Option<&'q str>,
    base_url: Option<&'q str>,
    variables: Option<&'q str>,
    credentials: Option<&'q str>,
    prefix: Option<&'q str>,
}

impl Words<'_> {
    /// The description: of the body, or at the address.
    ///
    /// # Errors
    /// 403 when somebody else than a system administrator names an address; 400 for both or what is not readable.
    pub async fn description(
        self,
        app: &AppState,
        caller: &Caller,
        request: Request,
    ) -> ApiResult<Description> {
        let Some(url) = self.url else {
            return read(app, request)
                .await
                .map(|(bytes, _)| Description::Sent(bytes));
        };
        caller.require_system_admin()?;
        bounded("url", url)?;
        if request.headers().contains_key(header::CONTENT_TYPE) && !body(request, app).await?.is_empty() {
            return Err(malformed(
                "Send a description or the `url` of one, not both.".to_owned(),
            ));
        }
        Ok(Description::At(url.to_owned()))
    }

    /// What is said about it.
    ///
    /// # Errors
    /// 400 for what is not readable.
    pub fn said(self) -> ApiResult<Said> {
        let chosen = [self.tag, self.path, self.method, self.operation_id];
        let selection = if chosen.iter().any(Option::is_some) {
            Some(Selected {
                tags: list("tag", self.tag)?,
                paths: list("path", self.path)?,
                methods: list("method", self.method)?,
                operations: list("operation_id", self.operation_id)?,
            })
        } else {
            None
        };
        Ok(Said {
            selection,
            document_url: text("document_url", self.document_url)?,
            base_url: text("base_url", self.base_url)?,
            variables: pairs("variables", self.variables)?,
            credentials: sources(self.credentials)?,
            prefix: prefix(self.prefix)?,
        })
    }
}

fn bounded<'t>(name: &str, text: &'t str) -> ApiResult<&'t str> {
    let longest = match name {
        "operation_id" => LONGEST_NAMES,
        _ => LONGEST,
    };
    if text.chars().nth(longest).is_some() {
        return Err(malformed(format!("`{name}` has more than {longest} characters.")));
    }
    Ok(text)
}

fn list(name: &str, text: Option<&str>) -> ApiResult<Vec<String>> {
    let text = bounded(name, text.unwrap_or_default())?;
    Ok(text
        .split(',')
        .map(str::trim)
        .filter(|item| !item.is_empty())
        .map(str::to_owned)
        .collect())
}

fn text(name: &str, text: Option<&str>) -> ApiResult<Option<String>> {
    text.map(|text| Ok(bounded(name, text)?.to_owned())).transpose()
}

/// The beginning of names.
///
/// # Errors
/// 400 when names cannot begin with it.
pub(super) fn prefix(text: Option<&str>) -> ApiResult<Option<String>> {
    match text.and_then(prefix_fault) {
        Some(fault) => Err(malformed(format!("`prefix` is not valid: it {fault}."))),
        None => Ok(text.map(str::to_owned)),
    }
}

fn pairs(name: &str, text: Option<&str>) -> ApiResult<Option<BTreeMap<String, String>>> {
    if text.is_none() {
        return Ok(None);
    }
    let pairs = list(name, text)?;
    pairs
        .iter()
        .map(|item| match item.split_once('=') {
            Some((key, value)) if !key.is_empty() && !value.is_empty() => {
                Ok((key.to_owned(), value.to_owned()))
            }
            _ => Err(malformed(format!("`{name}` has an item that is not name=value."))),
        })
        .collect::<ApiResult<_>>()
        .map(Some)
}

/// Where credentials come from. What is no name may be the credential itself, so it is not repeated.
fn sources(text: Option<&str>) -> ApiResult<Option<BTreeMap<String, String>>> {
    let Some(sources) = pairs("credentials", text)? else {
        return Ok(None);
    };
    let is_source = |text: &str| match ValueSource::of(text) {
        ValueSource::Env(name) | ValueSource::Secret(name) => is_name(name),
    };
    for (scheme, named) in &sources {
        if named.split('/').count() > 2 || !named.split('/').all(is_source) {
            return Err(malformed(format!(
                "`credentials` names no source for {scheme:?}. Write the name of a variable (`NAME`) or of a secret of the \
                 project (`secret:NAME`), never the credential; the id and the secret of an OAuth 2 client have a `/` between."
            )));
        }
    }
    Ok(Some(sources))
}

fn malformed(detail: String) -> ApiError {
    ApiError::new(ErrorCode::MalformedRequest, detail)
}
