//! Asking for what was refused, and the inbox where that is decided.

mod ask;
mod decide;
mod page;

pub(crate) use page::AccessRequestsPage;

use toolgate_api::access_requests::Asked;

/// What is asked for, in words.
fn in_words(asked: &Asked) -> String {
    match asked {
        Asked::Groups { groups } => format!("Groups: {}", groups.join(", ")),
        Asked::Host { origin } => format!("Host: {origin}"),
    }
}
