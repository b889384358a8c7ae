//! Who is connected.

use std::time::Duration;

use tokio::time::Instant;
use toolgate_api::status::{StatusCheck, StatusLevel};

use super::{ClientReport, Clients};
use crate::gateway::status::{WithFix, ok};

/// How long a refusal is worth looking at.
const RECENT: Duration = Duration::from_secs(3600);

/// How many connections there are, who has the most, and what was refused.
pub fn connections(clients: &Clients, max_connections: u32) -> StatusCheck {
    let all = super::connections(max_connections);
    check(&clients.report(), all, Instant::now())
}

fn check(report: &ClientReport, all: u32, now: Instant) -> StatusCheck {
    let ClientReport {
        open,
        busiest,
        most,
        refused,
    } = report;
    let busiest = match busiest {
        Some((client, taken)) => format!("{client} has the most, {taken} of {most}"),
        None => format!("one client may have {most}"),
    };
    let summary = format!(
        "{open} of {all} connections are open; {busiest}. Since the server started, {} connections and requests were refused \
         and {} silent connections were closed.",
        refused.of_clients, refused.silent
    );
    let check = ok("connections", "Connections", summary);
    match refused.last {
        Some(last) if now.duration_since(last) < RECENT => check.with_fix(
            StatusLevel::Warning,
            "The server's log names the clients. If one is a proxy, name it in TOOLGATE_TRUSTED_PROXIES; if its clients are \
             as they should be, raise TOOLGATE_LIMITS_MAX_CONNECTIONS_PER_ADDRESS; otherwise block it.",
        ),
        _ => check,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::Refused;

    #[test]
    fn what_was_refused_lately_is_a_warning() {
        let now = Instant::now();
        let with = |last| ClientReport {
            open: 3,
            busiest: None,
            most: 2,
            refused: Refused {
                of_clients: 5,
                silent: 7,
                last,
            },
        };
        assert_eq!(check(&with(None), 10, now).status, StatusLevel::Ok);
        let lately = check(&with(Some(now)), 10, now);
        assert_eq!(lately.status, StatusLevel::Warning);
        assert_eq!(
            lately.summary,
            "3 of 10 connections are open; one client may have 2. Since the server started, 5 connections and requests were \
             refused and 7 silent connections were closed."
        );
        assert_eq!(check(&with(Some(now)), 10, now + RECENT).status, StatusLevel::Ok);
    }
}
