//! Secrets at rest and in memory: sealed with the configured keys, opened when a project is loaded, never shown.
//!
//! To keep something else sealed, give it a `place` of its own and include it in `rotate`.

pub mod keyring;
pub mod place;
pub mod project;
pub mod rotate;
pub mod second_factor;
pub mod signing;

pub use keyring::{Keyring, SealError};
pub use project::ProjectSecrets;
