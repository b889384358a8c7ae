//! What lifts a refusal, where the server knows it exactly.

use serde::{Deserialize, Serialize};

/// What must change before the same call can succeed. It names what to change, never a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Remedy {
    /// The egress list of the project lacks an origin. A system administrator can add it.
    AllowHost {
        /// Scheme, host and port, as the egress list takes it.
        #[cfg_attr(feature = "utoipa", schema(example = "https://petstore.example.com"))]
        origin: String,
    },
    /// The project has no secret of a name.
    SetSecret {
        /// Its name.
        #[cfg_attr(feature = "utoipa", schema(example = "JINA_API_KEY"))]
        name: String,
    },
}
