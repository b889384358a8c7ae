//! What the parts of an import of an API's description share.

use std::collections::BTreeMap;

use serde_json::Value;
use toolgate_api::imports::DescriptionFormat;
use url::Url;

use crate::imports::Parts;

/// What the importing user says about the description.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// Where the description came from; servers without a host are on that host.
    pub document_url: Option<Url>,
    /// The API's address, instead of all servers of the description.
    pub base_url: Option<String>,
    /// Values of variables in the addresses of servers; others have their default.
    pub variables: BTreeMap<String, String>,
    /// Security scheme to environment variable or `secret:NAME`.
    pub credentials: BTreeMap<String, String>,
    /// What the names of the tools begin with.
    pub prefix: String,
}

/// What the versions differ in, as far as an import is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Swagger 2.0.
    Swagger2,
    /// OpenAPI 3.0, whose schemas are no JSON Schema.
    OpenApi30,
    /// OpenAPI 3.1.
    OpenApi31,
    /// OpenAPI 3.2.
    OpenApi32,
}

impl Dialect {
    /// Whether its schemas are JSON Schema 2020-12.
    pub(super) fn has_json_schema(self) -> bool {
        matches!(self, Self::OpenApi31 | Self::OpenApi32)
    }

    /// Its name in answers.
    pub(super) const fn format(self) -> DescriptionFormat {
        match self {
            Self::Swagger2 => DescriptionFormat::Swagger2,
            Self::OpenApi30 => DescriptionFormat::Openapi30,
            Self::OpenApi31 => DescriptionFormat::Openapi31,
            Self::OpenApi32 => DescriptionFormat::Openapi32,
        }
    }
}

/// One operation as the description has it.
pub(super) struct Found<'d> {
    pub(super) method: String,
    pub(super) path: &'d str,
    pub(super) pointer: String,
    pub(super) item: &'d Value,
    pub(super) operation: &'d Value,
}

impl<'d> Found<'d> {
    /// A text of the operation that is not blank.
    pub(super) fn text(&self, key: &str) -> Option<&'d str> {
        self.operation
            .get(key)?
            .as_str()
            .filter(|text| !text.trim().is_empty())
    }
}

/// A schema that was converted.
#[derive(Debug, Default)]
pub(super) struct Converted {
    pub(super) schema: Value,
    /// The definitions that it refers to.
    pub(super) refs: Vec<String>,
    /// What was changed because a tool's schema cannot say it.
    pub(super) notes: Vec<String>,
    /// Why it cannot be converted.
    pub(super) refusal: Option<String>,
}

/// A tool as a definition has it, and what it needs.
pub(super) struct Built {
    /// Without what its schema refers to.
    pub(super) definition: Value,
    pub(super) parts: Parts,
    pub(super) base_url: String,
}

/// How many values a value is.
pub(super) fn size(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(members) => members.values().map(size).sum(),
        _ => 0,
    }
}
