//! The guides of the product, which the server has with it.

use serde::{Deserialize, Serialize};

/// A section of a guide.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct HelpSection {
    /// The guide's title.
    #[cfg_attr(feature = "utoipa", schema(example = "Groups and states"))]
    pub guide: String,
    /// The section's heading; the guide's title for its beginning.
    #[cfg_attr(feature = "utoipa", schema(example = "Conditions"))]
    pub heading: String,
    /// Where a browser opens it.
    #[cfg_attr(feature = "utoipa", schema(example = "/help/groups-and-states#conditions"))]
    pub path: String,
    /// The beginning of its text.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "A condition closes a group unless it is true.")
    )]
    pub excerpt: String,
}

/// What was found in the guides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct HelpSections {
    /// The best first.
    #[cfg_attr(feature = "utoipa", schema(max_items = 50))]
    pub items: Vec<HelpSection>,
}
