//! How much of a project may be used, and how much of it is left.

use serde::{Deserialize, Serialize};

/// The limits of a project. Replacing them replaces all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ProjectLimits {
    /// All limits; a call must be within every one that applies to it.
    #[cfg_attr(feature = "utoipa", schema(max_items = 100))]
    pub limits: Vec<Limit>,
}

/// One limit: a rate, a number of calls at the same time, or both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// Unique in the project; headers and problems name the limit by it.
    #[cfg_attr(
        feature = "utoipa",
        schema(
            example = "per-key",
            min_length = 1,
            max_length = 64,
            pattern = "^[A-Za-z0-9][A-Za-z0-9._-]*$"
        )
    )]
    pub name: String,
    /// What is limited.
    pub subject: LimitSubject,
    /// How many calls in how long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<RequestRate>,
    /// How many calls at the same time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = 4, minimum = 1, maximum = 10_000))]
    pub concurrency: Option<u32>,
}

/// A number of calls in a time. All of them may come at once; then they become free again one by one, evenly over the
/// time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RequestRate {
    /// How many.
    #[cfg_attr(feature = "utoipa", schema(example = 100, minimum = 1, maximum = 1_000_000))]
    pub count: u32,
    /// In how many seconds.
    #[cfg_attr(feature = "utoipa", schema(example = 60, minimum = 1, maximum = 86_400))]
    pub per_s: u32,
}

/// What a limit is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum LimitSubject {
    /// Each principal is counted separately, whatever its kind.
    EachPrincipal,
    /// Each service key is counted separately.
    EachKey,
    /// Each user is counted separately.
    EachUser,
    /// Each subject of an external issuer is counted separately.
    EachExternal,
    /// One principal.
    Principal {
        /// `user:<id>`, `service_key:<id>` or `external:<issuer>|<subject>`.
        #[cfg_attr(
            feature = "utoipa",
            schema(
                example = "service_key:0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11",
                min_length = 6,
                max_length = 1100
            )
        )]
        principal: String,
    },
    /// All calls of one tool together.
    Tool {
        /// Its name.
        #[cfg_attr(
            feature = "utoipa",
            schema(example = "web-search", min_length = 1, max_length = 128)
        )]
        tool: String,
    },
    /// All calls of the tools in a group or its children together, whichever group the caller asks for.
    Group {
        /// Its name.
        #[cfg_attr(
            feature = "utoipa",
            schema(example = "expensive", min_length = 1, max_length = 128)
        )]
        group: String,
    },
    /// All calls in the project together.
    Project,
}

/// How much of the limits is used, as the server that answers counts it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct LimitUsage {
    /// The number of servers that share the limits; each allows its part.
    #[cfg_attr(feature = "utoipa", schema(example = 1, minimum = 1))]
    pub servers: u32,
    /// What is in use, the fullest first; what is unused is not here.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub items: Vec<LimitFill>,
}

/// How much of one limit one subject has used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct LimitFill {
    /// The limit's name.
    #[cfg_attr(feature = "utoipa", schema(example = "per-key"))]
    pub limit: String,
    /// Who, for limits that count each principal separately.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "service_key:0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11")
    )]
    pub principal: Option<String>,
    /// Calls that this server would still allow now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = 50, minimum = 0))]
    pub remaining: Option<u32>,
    /// Seconds until all of them are free again, if nothing is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = 30, minimum = 0))]
    pub resets_in_s: Option<u32>,
    /// Calls that run now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = 2, minimum = 0))]
    pub running: Option<u32>,
}
