//! Hearing what servers of the revision 2026-07-28 have changed: they say it to those who listen (`subscriptions/listen`).

use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{ServerCapabilities, ServerNotification, SubscriptionFilter};
use rmcp::service::{Peer, ServiceError, Subscription};
use tokio::time::sleep;

use super::handler::Handler;

/// The pause before listening again after the first end; it doubles.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

/// Listens until the connection ends, if the server says that it notifies of changes. Servers of earlier revisions do so unasked.
pub(super) fn start(peer: &Peer<RoleClient>, handler: &Handler) {
    let info = peer.peer_info();
    let Some(info) = info.filter(|info| !info.protocol_version.has_initialize()) else {
        return;
    };
    let filter = filter(&info.capabilities);
    if filter == SubscriptionFilter::default() {
        return;
    }
    tokio::spawn(listen(peer.clone(), handler.clone(), filter));
}

/// What the server notifies of.
fn filter(offered: &ServerCapabilities) -> SubscriptionFilter {
    let says_so = |list_changed: Option<bool>| list_changed.filter(|&says_so| says_so);
    let (tools, prompts, resources) = (&offered.tools, &offered.prompts, &offered.resources);
    let mut filter = SubscriptionFilter::new();
    filter.tools_list_changed = says_so(tools.as_ref().and_then(|tools| tools.list_changed));
    filter.prompts_list_changed = says_so(prompts.as_ref().and_then(|prompts| prompts.list_changed));
    filter.resources_list_changed = says_so(resources.as_ref().and_then(|resources| resources.list_changed));
    filter
}

async fn listen(peer: Peer<RoleClient>, handler: Handler, filter: SubscriptionFilter) {
    let mut pause = FIRST_PAUSE;
    let mut is_first = true;
    loop {
        match peer.listen(filter.clone()).await {
            Ok(subscription) => {
                if !is_first {
                    // What changed while it was not listened to was not said.
                    handler.everything_changed();
                }
                if follow(subscription, &handler).await {
                    pause = FIRST_PAUSE;
                }
                is_first = false;
            }
            // It does not offer it after all. The schedule finds what changes.
            Err(ServiceError::McpError(_)) => return,
            Err(_) => {}
        }
        if peer.is_transport_closed() {
            return;
        }
        sleep(pause).await;
        pause = pause.saturating_mul(2).min(LONGEST_PAUSE);
    }
}

/// Takes what is said until its end; whether there was anything.
async fn follow(mut subscription: Subscription, handler: &Handler) -> bool {
    let mut heard = false;
    while let Ok(Some(notification)) = subscription.next().await {
        heard = true;
        match notification {
            ServerNotification::ToolListChangedNotification(_) => handler.tools_changed(),
            ServerNotification::ResourceListChangedNotification(_) => handler.resources_changed(),
            ServerNotification::PromptListChangedNotification(_) => handler.prompts_changed(),
            _ => {}
        }
    }
    heard
}
