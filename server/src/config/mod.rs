//! Configuration: defaults, then a YAML file, then `TOOLGATE_*` variables, then command-line flags; later ones win.
//!
//! To add a setting: give it a field in `model` and a row in `keys`, with its default and its rule. Rules for several
//! settings together are in `check`.

mod args;
mod check;
mod env;
mod error;
mod keys;
mod load;
mod model;
mod nats;
mod rules;
mod single_sign_on;
mod sources;
mod summary;

#[cfg(test)]
mod tests;

pub use self::args::ServeArgs;
pub use self::env::AllowedEnv;
pub use self::error::{ConfigError, Fault};
pub use self::model::{
    AdminConfig, AuthConfig, Config, DatabaseUrl, Limits, LogConfig, LogFormat, McpConfig, MetricsAccess,
    SecretsConfig, TelemetryConfig,
};
pub use self::nats::{AuthCalloutConfig, NatsConfig};
pub use self::single_sign_on::{ProjectRule, SignInProvider};
pub use self::summary::Shown;
pub use crate::auth::external::IssuerConfig;
