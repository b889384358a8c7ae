//! Which destinations may be reached.
//!
//! Three gates stand in a row, and every hop of every redirect passes all of them: the exact origin must be on the
//! allow-list or on that of the call's project ([`EgressPolicy::permits_with`]), a base URL must be written the way it is read ([`parse_exact`]), and every
//! address that is dialled, whether it came from a resolver or stood in the URL, must be a public one or be permitted
//! by name (`connector`).

pub(crate) mod address;
pub(crate) mod connector;
mod entry;
mod origins;
mod policy;

pub use connector::Resolve;
pub use entry::parse_exact;
pub use origins::Origins;
pub use policy::{EgressError, EgressPolicy};
