//! Which destinations may be reached.
//!
//! Three checks apply in turn to every hop of every redirect: the exact origin must be on the allow-list or on that
//! of the call's project ([`EgressPolicy::permits_with`]), a base URL must be written the way it is read
//! ([`parse_exact`]), and every address that is dialled, whether it came from a resolver or was written in the URL,
//! must be a public one or be permitted by name (`connector`).

pub(crate) mod address;
pub(crate) mod connector;
mod entry;
mod origins;
mod policy;

pub use connector::Resolve;
pub use entry::parse_exact;
pub use origins::Origins;
pub use policy::{EgressError, EgressPolicy};
