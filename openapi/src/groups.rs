//! Groups as resources: what is declared about them, what uses them, and changing their names everywhere at once.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::auth::Role;
use crate::usage::UsageCounts;

/// A group that tools are in, that is declared, or both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Group {
    /// The name, matched exactly. `a/b` is a child of `a`.
    #[cfg_attr(feature = "utoipa", schema(example = "knowledge/read"))]
    pub name: String,
    /// For people and models; empty when nothing was declared.
    #[cfg_attr(feature = "utoipa", schema(example = "Reads the knowledge graph."))]
    pub description: String,
    /// When the group is open (a CEL expression); absent: always. Only for roles that read definitions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "now.getHours('Europe/Berlin') >= 9 && now.getHours('Europe/Berlin') < 17")
    )]
    pub condition: Option<String>,
    /// Whether it was declared; otherwise it is there because tools name it, or a child of it.
    pub declared: bool,
    /// Whether it is open now, for the caller and without a context.
    pub open: bool,
    /// Whose condition closes it, and why. Only for roles that read definitions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_by: Option<ClosedBy>,
    /// Tools that name it themselves.
    #[cfg_attr(feature = "utoipa", schema(example = 3, minimum = 0))]
    pub tools: u64,
    /// Tools in it and in its children.
    #[cfg_attr(feature = "utoipa", schema(example = 5, minimum = 0))]
    pub tools_with_children: u64,
    /// Those of them that MCP clients are offered.
    #[serde(default)]
    #[cfg_attr(feature = "utoipa", schema(example = 5, minimum = 0))]
    pub listed_tools: u64,
    /// About how many tokens a model spends on `listed_tools`, called or not: the bytes of their names, descriptions and parameters,
    /// divided by 4.
    #[serde(default)]
    #[cfg_attr(feature = "utoipa", schema(example = 850, minimum = 0))]
    pub tokens: u64,
    /// The nearest parent that the caller may see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "knowledge"))]
    pub parent: Option<String>,
    /// The names one level below, at most 200.
    #[cfg_attr(feature = "utoipa", schema(max_items = 200))]
    pub children: Vec<String>,
    /// How many principals hold it, by its name, a parent or `*`. Only for roles that see who holds what.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = 2, minimum = 0))]
    pub holder_count: Option<u64>,
    /// The first 200 of them; not in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(max_items = 200))]
    pub holders: Option<Vec<GroupHolder>>,
    /// How often it was asked for; absent when never. Only for roles that read definitions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<GroupUsage>,
    /// When the declaration was last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<DateTime<Utc>>,
    /// Who changed it; only for roles that read definitions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "admin"))]
    pub updated_by: Option<String>,
}

/// A page of groups.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct GroupPage {
    /// The groups, by name.
    #[cfg_attr(feature = "utoipa", schema(max_items = 200))]
    pub items: Vec<Group>,
    /// Send it as `cursor` for the next page; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// What closes a group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ClosedBy {
    /// The group whose condition it is: itself or a parent.
    #[cfg_attr(feature = "utoipa", schema(example = "knowledge"))]
    pub group: String,
    /// Why, in words.
    #[cfg_attr(feature = "utoipa", schema(example = "does not hold now"))]
    pub reason: String,
}

/// A principal that may request a group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct GroupHolder {
    /// `user:<id>`, `service_key:<id>` or `external:<issuer>|<subject>`.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "service_key:0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11")
    )]
    pub principal: String,
    /// Its name for people.
    #[serde(default)]
    #[cfg_attr(feature = "utoipa", schema(example = "research agent"))]
    pub name: String,
    /// Its role.
    pub role: Role,
    /// The name in its grant that covers the group.
    #[cfg_attr(feature = "utoipa", schema(example = "*"))]
    pub via: String,
}

/// How often a group was asked for, over all time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct GroupUsage {
    /// The counts.
    #[serde(flatten)]
    pub counts: UsageCounts,
    /// The last time.
    pub last_at: DateTime<Utc>,
}

/// Declares a group, in place of what was declared.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PutGroup {
    /// For people and models.
    #[serde(default)]
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "Reads the knowledge graph.", max_length = 1000)
    )]
    pub description: String,
    /// When the group is open (a CEL expression); always when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "load.calls_in_flight < 20", min_length = 1, max_length = 1024)
    )]
    pub condition: Option<String>,
}

/// Another name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RenameName {
    /// The name afterwards; nothing may have it yet.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "knowledge/query", min_length = 1, max_length = 128)
    )]
    pub to: String,
}

/// What a change of a name does, or with `dry_run` would do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct NameEffects {
    /// True when nothing was changed.
    pub dry_run: bool,
    /// How many tools get a new revision.
    #[cfg_attr(feature = "utoipa", schema(example = 2, minimum = 0))]
    pub tool_count: u64,
    /// The first 500 of them.
    #[cfg_attr(feature = "utoipa", schema(max_items = 500))]
    pub tools: Vec<ToolEffect>,
    /// Tools that lose their last group or state by it: only `*` reaches them, or nothing opens them. At most 500.
    #[cfg_attr(feature = "utoipa", schema(max_items = 500))]
    pub unreachable_tools: Vec<String>,
    /// How many grants name it and change.
    #[cfg_attr(feature = "utoipa", schema(example = 1, minimum = 0))]
    pub grant_count: u64,
    /// Whose, the first 200. Only for roles that see who holds what.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(max_items = 200))]
    pub grants: Option<Vec<String>>,
    /// How many active sessions request it, or are in it.
    #[cfg_attr(feature = "utoipa", schema(example = 0, minimum = 0))]
    pub session_count: u64,
    /// Policy tests that name it; a renaming changes them.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub policy_tests: Vec<String>,
    /// Limits that name it; a renaming changes them.
    #[cfg_attr(feature = "utoipa", schema(max_items = 100))]
    pub limits: Vec<String>,
    /// What else to think of.
    #[cfg_attr(feature = "utoipa", schema(max_items = 20))]
    pub warnings: Vec<String>,
}

/// A tool before and after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ToolEffect {
    /// The tool.
    #[cfg_attr(feature = "utoipa", schema(example = "web-search"))]
    pub tool: String,
    /// What its definition says now.
    pub before: ToolPlace,
    /// What it says afterwards.
    pub after: ToolPlace,
}

/// The groups and states of a tool. What its definition leaves out is absent, which is not `[]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ToolPlace {
    /// Its groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub group: Option<Vec<String>>,
    /// The states it is open in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub available_in_states: Option<Vec<String>>,
    /// Where its success leads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
}
