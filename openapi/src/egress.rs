//! Where the tools of a project may connect to, beside where every tool of the server may.

use serde::{Deserialize, Serialize};

/// The egress list of a project. Replacing it replaces all of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ProjectEgress {
    /// Origins, each as `scheme://host[:port]`, sorted.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = json!(["https://petstore.example.com"]), max_items = 1000)
    )]
    pub hosts: Vec<String>,
}
