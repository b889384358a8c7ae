//! The tool that an operation becomes. What its schema refers to is shared with the other tools of the description: where
//! schemas lead to each other, each tool has hundreds of them, and a description thousands of tools.

use std::sync::Arc;

use serde_json::Value;
use toolgate_api::Diagnostic;

use super::operations::Built;
use crate::definition::extent::Extent;
use crate::definition::{ToolDefinition, UploadContext, check_tool};

/// Where a tool's schema has what it refers to.
pub(super) const DEFINITIONS: &str = "$defs";
/// Faults that are told of one tool.
const MAX_TOLD: usize = 3;

/// Something that schemas refer to by its name.
#[derive(Debug, PartialEq)]
pub(super) struct Definition {
    pub(super) name: String,
    pub(super) schema: Value,
}

impl Definition {
    pub(super) fn new(name: &str, schema: Value) -> Arc<Self> {
        Arc::new(Self {
            name: name.to_owned(),
            schema,
        })
    }
}

/// A tool that passes the rules of definitions.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedTool {
    /// Everything but the `$defs` of its schema.
    plain: Box<ToolDefinition>,
    pub(super) definitions: Vec<Arc<Definition>>,
}

impl ImportedTool {
    /// The tool that was built, if it passes the rules of definitions; warnings become notes.
    ///
    /// Its parts have passed those of schemas already, each with any value for what it refers to. References within a schema
    /// change nothing of that, so that only the whole's extent is left to check.
    ///
    /// # Errors
    /// The rules that it breaks.
    pub(super) fn checked(
        built: &Built,
        context: &UploadContext<'_>,
        notes: &mut Vec<String>,
    ) -> Result<Self, String> {
        let (mut plain, warnings) = check_tool(&built.definition, context).map_err(reasons)?;
        notes.extend(warnings.into_iter().map(|warning| warning.message));
        if let Some(schema) = plain.parameters.as_object_mut() {
            schema.shift_remove(DEFINITIONS);
        }
        let mut extent = Extent::of(&plain.parameters);
        built.parts.extents.iter().for_each(|part| extent.add_part(part));
        extent.check()?;
        Ok(Self {
            plain: Box::new(plain),
            definitions: built.parts.definitions.clone(),
        })
    }

    /// The tool without what its schema refers to: enough for all but its arguments.
    #[must_use]
    pub fn plain(&self) -> &ToolDefinition {
        &self.plain
    }

    /// The whole tool, put together anew.
    #[must_use]
    pub fn definition(&self) -> Box<ToolDefinition> {
        let mut whole = self.plain.clone();
        if let Some(schema) = whole.parameters.as_object_mut()
            && !self.definitions.is_empty()
        {
            let definitions = self.definitions.iter();
            let definitions = definitions.map(|part| (part.name.clone(), part.schema.clone()));
            schema.insert(DEFINITIONS.to_owned(), Value::Object(definitions.collect()));
        }
        whole
    }
}

/// Why something is refused, by its first faults.
pub(super) fn reasons(faults: Vec<Diagnostic>) -> String {
    let errors = faults.into_iter().filter(Diagnostic::is_error).take(MAX_TOLD);
    let errors: Vec<String> = errors.map(|fault| fault.message).collect();
    errors.join("; ")
}
