//! The tool that an operation becomes. What its schema refers to is shared with the other tools of the source: where schemas
//! lead to each other, each tool has hundreds of them, and a source thousands of tools.

use std::sync::Arc;

use serde_json::Value;
use toolgate_api::Diagnostic;

use crate::definition::extent::Extent;
use crate::definition::{ToolDefinition, UploadContext, check_tool};

/// Where a tool's schema has what it refers to.
pub(crate) const DEFINITIONS: &str = "$defs";
/// Faults that are reported per tool.
const MAX_TOLD: usize = 3;

/// Something that schemas refer to by its name.
#[derive(Debug, PartialEq)]
pub(crate) struct Definition {
    name: String,
    pub(crate) schema: Value,
}

impl Definition {
    /// A schema, which is stored under its name.
    pub(crate) fn new(name: &str, schema: Value) -> Arc<Self> {
        Arc::new(Self {
            name: name.to_owned(),
            schema,
        })
    }
}

/// What the schema of one tool refers to, checked already.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    pub(crate) definitions: Vec<Arc<Definition>>,
    pub(crate) extents: Vec<Extent>,
}

/// A tool that passes the rules of definitions.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedTool {
    /// Everything but the `$defs` of its schema.
    plain: Box<ToolDefinition>,
    pub(crate) definitions: Vec<Arc<Definition>>,
}

impl ImportedTool {
    /// The tool of a definition that is whole, if it passes the rules of definitions; warnings become notes.
    ///
    /// # Errors
    /// The rules that it breaks.
    pub fn new(
        definition: &Value,
        context: &UploadContext<'_>,
        notes: &mut Vec<String>,
    ) -> Result<Self, String> {
        let (whole, warnings) = check_tool(definition, context).map_err(reasons)?;
        notes.extend(warnings.into_iter().map(|warning| warning.message));
        Ok(Self {
            plain: Box::new(whole),
            definitions: Vec::new(),
        })
    }

    /// The tool of a definition without what its schema refers to, and of these parts.
    ///
    /// The parts have passed those of schemas already, each with any value for what it refers to. References within a schema
    /// change nothing of that, so that only the whole's extent is left to check.
    ///
    /// # Errors
    /// The rules that it breaks.
    pub(crate) fn with_parts(
        definition: &Value,
        parts: &Parts,
        context: &UploadContext<'_>,
        notes: &mut Vec<String>,
    ) -> Result<Self, String> {
        let (mut plain, warnings) = check_tool(definition, context).map_err(reasons)?;
        notes.extend(warnings.into_iter().map(|warning| warning.message));
        plain.parameters.edit(|schema| {
            schema.shift_remove(DEFINITIONS);
        });
        let mut extent = Extent::of(&plain.parameters.value());
        parts.extents.iter().for_each(|part| extent.add_part(part));
        extent.check()?;
        Ok(Self {
            plain: Box::new(plain),
            definitions: parts.definitions.clone(),
        })
    }

    /// The tool without what its schema shares with others: enough for all but its arguments.
    #[must_use]
    pub fn plain(&self) -> &ToolDefinition {
        &self.plain
    }

    /// The whole tool, composed again.
    #[must_use]
    pub fn definition(&self) -> Box<ToolDefinition> {
        let mut whole = self.plain.clone();
        if !self.definitions.is_empty() {
            let definitions = self.definitions.iter();
            let definitions = definitions.map(|part| (part.name.clone(), part.schema.clone()));
            whole.parameters.edit(|schema| {
                schema.insert(DEFINITIONS.to_owned(), Value::Object(definitions.collect()));
            });
        }
        whole
    }
}

/// Why something is refused, by its first faults.
pub(crate) fn reasons(faults: Vec<Diagnostic>) -> String {
    let errors = faults.into_iter().filter(Diagnostic::is_error).take(MAX_TOLD);
    let errors: Vec<String> = errors.map(|fault| fault.message).collect();
    errors.join("; ")
}
