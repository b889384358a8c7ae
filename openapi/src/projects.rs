//! Projects: the tenants. Nothing crosses from one to another.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// What is needed to create a project.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CreateProject {
    /// A slug: 1-63 lower-case letters, digits and single hyphens, starting with a letter.
    #[cfg_attr(
        feature = "utoipa",
        schema(
            example = "demo",
            min_length = 1,
            max_length = 63,
            pattern = "^[a-z](-?[a-z0-9])*$"
        )
    )]
    pub id: String,
    /// A name for people, 1-200 characters; the id when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "utoipa",
        schema(
            example = "Demonstration",
            min_length = 1,
            max_length = 200,
            pattern = r"^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$"
        )
    )]
    pub name: Option<String>,
}

/// Another name for a project.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RenameProject {
    /// The name for people, 1-200 characters.
    #[cfg_attr(
        feature = "utoipa",
        schema(
            example = "Research assistant",
            min_length = 1,
            max_length = 200,
            pattern = r"^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$"
        )
    )]
    pub name: String,
}

/// A project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Project {
    /// The slug that is used in paths.
    #[cfg_attr(feature = "utoipa", schema(example = "demo"))]
    pub id: String,
    /// The name for people.
    #[cfg_attr(feature = "utoipa", schema(example = "Demonstration"))]
    pub name: String,
    /// When it was created.
    pub created_at: DateTime<Utc>,
}

/// A page of projects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ProjectPage {
    /// The projects, by id.
    #[cfg_attr(feature = "utoipa", schema(max_items = 200))]
    pub items: Vec<Project>,
    /// Send it as `cursor` for the next page; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
