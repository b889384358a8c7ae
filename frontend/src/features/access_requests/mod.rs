//! Asking for what was refused, and the inbox where that is decided.

mod ask;
mod decide;
mod page;

pub(crate) use page::AccessRequestsPage;

use toolgate_api::access_requests::Asked;

use crate::language::tf;

/// What is asked for, in words.
fn in_words(asked: &Asked) -> String {
    match asked {
        Asked::Groups { groups } => tf!("Groups: {groups}", groups = groups.join(", ")),
        Asked::Host { origin } => tf!("Host: {origin}", origin),
    }
}
