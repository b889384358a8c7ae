//! Which tools and groups fit a question, among those the caller holds.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Asks for tools that fit a question.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RecommendationRequest {
    /// What is to be done, in any language.
    #[cfg_attr(
        feature = "utoipa",
        schema(
            example = "find papers about graph databases",
            min_length = 1,
            max_length = 4000
        )
    )]
    pub question: String,
    /// The preferred groups. Absent or null prefers every granted group; a group that was not granted is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = json!(["knowledge"]), max_items = 1000))]
    pub group: Option<Vec<String>>,
    /// The workflow state. Absent, null or `""` is the state `undefined`. Not together with `session_id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "undefined", max_length = 128))]
    pub state: Option<String>,
    /// A session of the caller: its state is used, and its groups are the preferred ones, or fewer if `group` names some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<Uuid>,
    /// Entries per list at most; 10 when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(minimum = 1, maximum = 50))]
    pub limit: Option<u32>,
}

/// A tool that fits the question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct RecommendedTool {
    /// The tool.
    #[cfg_attr(feature = "utoipa", schema(example = "knowledge-query"))]
    pub tool: String,
    /// What it does.
    pub description: String,
    /// How well it fits, from 0 (not at all) to below 1; comparable between questions and between tools of a project.
    #[cfg_attr(feature = "utoipa", schema(example = 0.62, minimum = 0, maximum = 1))]
    pub score: f64,
    /// Words of the question that the tool's texts contain, as they were compared.
    #[cfg_attr(feature = "utoipa", schema(example = json!(["graph", "find"]), max_items = 200))]
    pub matched: Vec<String>,
    /// The groups to ask for: those of the tool's groups, or parents of them, that the caller holds.
    #[cfg_attr(feature = "utoipa", schema(example = json!(["knowledge"]), max_items = 1000))]
    pub groups: Vec<String>,
    /// The states it is open in; `*` means every state.
    #[cfg_attr(feature = "utoipa", schema(example = json!(["*"]), max_items = 1000))]
    pub states: Vec<String>,
    /// How often it was called, which decides between equal scores.
    #[cfg_attr(feature = "utoipa", schema(example = 17, minimum = 0))]
    pub usage: u64,
}

/// A group whose tools fit the question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct RecommendedGroup {
    /// The group.
    #[cfg_attr(feature = "utoipa", schema(example = "knowledge"))]
    pub group: String,
    /// How well its tools fit together, from 0 to below 1.
    #[cfg_attr(feature = "utoipa", schema(example = 0.71, minimum = 0, maximum = 1))]
    pub score: f64,
    /// Its best tools that can be called now.
    #[cfg_attr(feature = "utoipa", schema(example = json!(["knowledge-query"]), max_items = 10))]
    pub tools: Vec<String>,
    /// True when it is not among the preferred groups: they had nothing that fits and can be called now.
    pub fallback: bool,
    /// Why it is recommended.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "1 of its tools fits the question and can be called now")
    )]
    pub reason: String,
}

/// What fits a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct RecommendationResponse {
    /// The groups that were preferred.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub preferred_groups: Vec<String>,
    /// The state that was used.
    pub state: String,
    /// Tools of the preferred groups that can be called now, best first.
    #[cfg_attr(feature = "utoipa", schema(max_items = 50))]
    pub tools: Vec<RecommendedTool>,
    /// Tools that fit and that the caller holds, but in another state or in another group; best first.
    #[cfg_attr(feature = "utoipa", schema(max_items = 50))]
    pub elsewhere: Vec<RecommendedTool>,
    /// Groups to ask for, best first.
    #[cfg_attr(feature = "utoipa", schema(max_items = 50))]
    pub groups: Vec<RecommendedGroup>,
}
