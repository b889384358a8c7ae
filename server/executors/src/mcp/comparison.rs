//! When the tools of a server are compared with what was approved: after it said that they changed, after it was connected to
//! again, and by its schedule.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use toolgate_core::mcp_import::McpListing;

use super::connection::Connection;
use super::instances::{Place, shared_of};
use super::manager::McpServers;
use super::target::McpTarget;
use crate::failure::Failure;

/// The pause after a comparison that failed; it doubles.
const AGAIN_AFTER: Duration = Duration::from_secs(30);
/// The longest pause.
const AGAIN_AT_LAST: Duration = Duration::from_secs(3600);
/// A new connection is compared if nothing was compared for this long: a server may have been replaced while it was not connected.
const NEW_AFTER: Duration = Duration::from_secs(60);
/// Comparisons that begin in one look. The others begin in the next ones.
const AT_ONCE: usize = 16;

/// Why the tools of a server are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparedBecause {
    /// It said that they changed.
    Changed,
    /// It was connected to again.
    Connected,
    /// Its schedule.
    Schedule,
}

/// When a server was compared.
#[derive(Debug)]
pub(super) struct Compared {
    at: Instant,
    /// Since when the connection is open that was compared last.
    connection: Option<Instant>,
    has_changed: bool,
    is_running: bool,
    failures: u32,
    not_before: Option<Instant>,
}

impl Compared {
    pub(super) fn new() -> Self {
        Self {
            at: Instant::now(),
            connection: None,
            has_changed: false,
            is_running: false,
            failures: 0,
            not_before: None,
        }
    }

    /// The server said that its tools changed.
    pub(super) fn changed(&mut self) {
        self.has_changed = true;
    }

    /// Begins a comparison, if one is due on the connection that is open since then.
    pub(super) fn begin(
        &mut self,
        open_since: Option<Instant>,
        every: Option<Duration>,
    ) -> Option<ComparedBecause> {
        let waits = self.not_before.is_some_and(|until| until > Instant::now());
        if self.is_running || waits {
            return None;
        }
        let age = self.at.elapsed();
        let why = match open_since {
            _ if self.has_changed => ComparedBecause::Changed,
            Some(since) if self.connection != Some(since) && every.is_some() && age >= NEW_AFTER => {
                ComparedBecause::Connected
            }
            Some(_) if every.is_some_and(|every| age >= every) => ComparedBecause::Schedule,
            _ => return None,
        };
        *self = Self {
            at: Instant::now(),
            connection: open_since,
            has_changed: false,
            is_running: true,
            failures: self.failures,
            not_before: None,
        };
        Some(why)
    }

    /// It ended. One that failed is made again.
    fn end(&mut self, failed: bool) {
        self.is_running = false;
        if !failed {
            self.failures = 0;
            return;
        }
        let pause = AGAIN_AFTER.saturating_mul(1 << self.failures.min(16));
        self.failures = self.failures.saturating_add(1);
        self.has_changed = true;
        self.not_before = Some(Instant::now() + pause.min(AGAIN_AT_LAST));
    }
}

/// A comparison that runs. There is no other one of its server meanwhile; unless it is done, it is made again.
pub struct Comparison {
    connection: Arc<Connection>,
    /// Where the server is reached with accounts: the connection of a caller who is connected.
    of_caller: Option<Arc<Connection>>,
    /// The server.
    pub target: McpTarget,
    /// Why it is made.
    pub why: ComparedBecause,
    is_done: bool,
}

impl Comparison {
    /// What the server lists for a caller who is connected; `None` where it needs no account.
    ///
    /// # Errors
    /// Why it could not be listed.
    pub async fn listed_for_caller(&self) -> Result<Option<Arc<McpListing>>, Failure> {
        match &self.of_caller {
            Some(connection) => Ok(Some(Arc::new(connection.list().await?.listing.clone()))),
            None => Ok(None),
        }
    }

    /// It has succeeded, or there is nothing to compare.
    pub fn done(mut self) {
        self.is_done = true;
    }
}

impl Drop for Comparison {
    fn drop(&mut self) {
        self.connection.seen().compared.end(!self.is_done);
    }
}

impl McpServers {
    /// The comparisons that are due. Servers that are reached with accounts are compared over the connection of a caller, if one is
    /// connected.
    #[must_use]
    pub fn take_comparisons(&self) -> Vec<Comparison> {
        let (shared, own) = self.by_sharing();
        let of_instances = own.iter().filter(|(_, connection)| connection.hear_changes());
        let heard: Vec<&Place> = of_instances.map(|(place, _)| place).collect();
        let mut begun = Vec::new();
        for (place, connection) in shared {
            let is_of_server = |other: &Place| other.is_of(&place.project, &place.server);
            connection.hear_changes();
            if heard.iter().any(|other| is_of_server(other)) {
                connection.seen().compared.changed();
            }
            if begun.len() == AT_ONCE {
                continue;
            }
            let target = connection.target();
            let (open_since, of_caller) = match target.server.definition.account {
                None => (connection.open_since(), None),
                Some(_) => {
                    let of_server = own.iter().filter(|(other, _)| is_of_server(other));
                    let open = of_server.filter_map(|(_, own)| Some((own.open_since()?, own)));
                    let Some((since, longest)) = open.min_by_key(|(since, _)| *since) else {
                        continue;
                    };
                    (Some(since), Some(Arc::clone(longest)))
                }
            };
            if let Some(why) = connection.begin_comparison(open_since) {
                begun.push(Comparison {
                    connection,
                    of_caller,
                    target,
                    why,
                    is_done: false,
                });
            }
        }
        begun
    }

    /// The connections that all callers share, one for each server, and those of single callers.
    fn by_sharing(&self) -> (Vec<Placed>, Vec<Placed>) {
        let mut connections = self.lock();
        let with_account = connections.iter().filter(|(place, _)| place.has_account());
        let targets: Vec<McpTarget> = with_account.map(|(_, connection)| connection.target()).collect();
        for target in &targets {
            shared_of(&mut connections, target);
        }
        let all = connections
            .iter()
            .map(|(place, connection)| (place.clone(), Arc::clone(connection)));
        all.partition(|(place, _)| place.is_shared())
    }
}

/// A connection, with what tells it apart.
type Placed = (Place, Arc<Connection>);

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Option<Duration> = Some(Duration::from_secs(3600));

    async fn after(seconds: u64) {
        tokio::time::advance(Duration::from_secs(seconds)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_is_compared_after_a_notice_a_new_connection_and_by_its_schedule() {
        let mut compared = Compared::new();
        let first = Some(Instant::now());
        assert_eq!(compared.begin(first, HOUR), None, "it was just started");
        compared.changed();
        assert_eq!(compared.begin(first, HOUR), Some(ComparedBecause::Changed));
        compared.changed();
        assert_eq!(compared.begin(first, HOUR), None, "one runs");
        compared.end(false);
        assert_eq!(
            compared.begin(first, HOUR),
            Some(ComparedBecause::Changed),
            "said meanwhile"
        );
        compared.end(false);
        after(3599).await;
        assert_eq!(compared.begin(first, HOUR), None);
        after(1).await;
        assert_eq!(compared.begin(None, HOUR), None, "not connected");
        assert_eq!(compared.begin(first, HOUR), Some(ComparedBecause::Schedule));
        compared.end(false);
        after(59).await;
        let second = Some(Instant::now());
        assert_eq!(compared.begin(second, HOUR), None, "compared a moment ago");
        after(1).await;
        assert_eq!(compared.begin(second, HOUR), Some(ComparedBecause::Connected));
        compared.end(false);
        after(60).await;
        assert_eq!(compared.begin(second, HOUR), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_comparison_that_failed_is_made_again() {
        let mut compared = Compared::new();
        compared.changed();
        assert!(compared.begin(None, None).is_some());
        compared.end(true);
        after(29).await;
        assert_eq!(compared.begin(None, None), None);
        after(1).await;
        assert_eq!(compared.begin(None, None), Some(ComparedBecause::Changed));
        compared.end(true);
        after(59).await;
        assert_eq!(compared.begin(None, None), None, "the pause doubles");
        after(1).await;
        assert!(compared.begin(None, None).is_some());
        compared.end(false);
        compared.changed();
        assert!(
            compared.begin(None, None).is_some(),
            "a notice counts at once after a success"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn without_a_schedule_only_a_notice_compares() {
        let mut compared = Compared::new();
        after(90_000).await;
        let open = Some(Instant::now());
        assert_eq!(compared.begin(open, None), None);
        compared.changed();
        assert_eq!(compared.begin(open, None), Some(ComparedBecause::Changed));
    }
}
