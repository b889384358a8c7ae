//! What the query of an import says.

use std::collections::BTreeMap;

use axum::extract::Request;
use axum::http::header;
use serde::Deserialize;
use toolgate_api::ErrorCode;
use toolgate_core::definition::source::{ValueSource, is_name};
use toolgate_core::imports::{Selection, prefix_fault};
use toolgate_core::principal::PrincipalRef;

use super::tools_edit::read;
use crate::extract::{Caller, body};
use crate::gateway::Problem;
use crate::gateway::imports::request::ImportRequest;

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
            /// The MCP server of the project whose tools are meant, instead of a description.
            #[param(max_length = 63)]
            mcp_server: Option<String>,
            /// Where the description came from, for servers without a host.
            #[param(max_length = 2000, example = "https://petstore.example.com/openapi.json")]
            document_url: Option<String>,
            /// The API's address, instead of the servers of the description.
            #[param(max_length = 2000, example = "https://petstore.example.com/v1")]
            base_url: Option<String>,
            /// What the names of new tools begin with, so that APIs with operations of one name can exist side by
            /// side.
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
            /// What is asked; the description is of the body, or at the address.
            ///
            /// # Errors
            /// 400 for what is not readable; 403 when a caller other than a system administrator names an address.
            pub async fn read(&self, caller: &Caller, body: Request) -> Result<ImportRequest, Problem> {
                let asked = ImportRequest {
                    lister: Some(PrincipalRef::from(&caller.identity.principal)),
                    selection: selection([&self.tag, &self.path, &self.method, &self.operation_id])?,
                    mcp_server: text("mcp_server", self.mcp_server.as_deref())?,
                    document_url: text("document_url", self.document_url.as_deref())?,
                    base_url: text("base_url", self.base_url.as_deref())?,
                    variables: pairs("variables", self.variables.as_deref())?,
                    credentials: sources(self.credentials.as_deref())?,
                    prefix: prefix(self.prefix.as_deref())?,
                    definitions: self.definitions,
                    ..ImportRequest::default()
                };
                with_description(asked, self.url.as_deref(), caller, body).await
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

/// Adds the description: the body, or what is at the address.
///
/// # Errors
/// 403 when a caller other than a system administrator names an address; 400 for both or what is not readable.
async fn with_description(
    asked: ImportRequest,
    url: Option<&str>,
    caller: &Caller,
    request: Request,
) -> Result<ImportRequest, Problem> {
    if asked.mcp_server.is_some() {
        let has_body =
            request.headers().contains_key(header::CONTENT_TYPE) && !body(request).await?.is_empty();
        if url.is_some() || has_body {
            return Err(malformed(
                "Name the `mcp_server`, or send a description or its `url`, not both.".to_owned(),
            ));
        }
        return Ok(asked);
    }
    let Some(url) = url else {
        let (description, _) = read(request).await?;
        return Ok(ImportRequest { description, ..asked });
    };
    caller.require_system_admin()?;
    let url = bounded("url", url)?.to_owned();
    if request.headers().contains_key(header::CONTENT_TYPE) && !body(request).await?.is_empty() {
        return Err(malformed(
            "Send a description or the `url` of one, not both.".to_owned(),
        ));
    }
    Ok(ImportRequest {
        url: Some(url),
        ..asked
    })
}

/// Which operations are chosen, if anything is said about that.
fn selection(chosen: [&Option<String>; 4]) -> Result<Option<Selection>, Problem> {
    if chosen.iter().all(|said| said.is_none()) {
        return Ok(None);
    }
    let [tags, paths, methods, operations] = chosen.map(Option::as_deref);
    Ok(Some(Selection {
        tags: list("tag", tags)?,
        paths: list("path", paths)?,
        methods: list("method", methods)?,
        operations: list("operation_id", operations)?,
    }))
}

fn bounded<'t>(name: &str, text: &'t str) -> Result<&'t str, Problem> {
    let longest = match name {
        "operation_id" => LONGEST_NAMES,
        _ => LONGEST,
    };
    if text.chars().nth(longest).is_some() {
        return Err(malformed(format!("`{name}` has more than {longest} characters.")));
    }
    Ok(text)
}

fn list(name: &str, text: Option<&str>) -> Result<Vec<String>, Problem> {
    let text = bounded(name, text.unwrap_or_default())?;
    Ok(text
        .split(',')
        .map(str::trim)
        .filter(|item| !item.is_empty())
        .map(str::to_owned)
        .collect())
}

fn text(name: &str, text: Option<&str>) -> Result<Option<String>, Problem> {
    text.map(|text| Ok(bounded(name, text)?.to_owned())).transpose()
}

/// The beginning of names.
///
/// # Errors
/// 400 when names cannot begin with it.
pub(super) fn prefix(text: Option<&str>) -> Result<Option<String>, Problem> {
    match text.and_then(prefix_fault) {
        Some(fault) => Err(malformed(format!("`prefix` is not valid: it {fault}."))),
        None => Ok(text.map(str::to_owned)),
    }
}

fn pairs(name: &str, text: Option<&str>) -> Result<Option<BTreeMap<String, String>>, Problem> {
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
        .collect::<Result<_, Problem>>()
        .map(Some)
}

/// Where credentials come from. What is no name may be the credential itself, so it is not repeated.
fn sources(text: Option<&str>) -> Result<Option<BTreeMap<String, String>>, Problem> {
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

fn malformed(detail: String) -> Problem {
    Problem::new(ErrorCode::MalformedRequest, detail)
}
