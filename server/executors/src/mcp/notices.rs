//! Progress and log messages of running calls, taken in the order in which they come. rmcp handles each notification in a task of its own, so an
//! answer could overtake what was said before it.

use rmcp::RoleClient;
use rmcp::model::{GetMeta, JsonRpcMessage, ServerNotification};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

use super::callers;
use super::handler::Handler;

/// A transport whose progress and log messages go to the callers at once, and no further.
pub(super) struct Notices<T> {
    inner: T,
    handler: Handler,
}

impl<T> Notices<T> {
    pub(super) fn new(inner: T, handler: &Handler) -> Self {
        Self {
            inner,
            handler: handler.clone(),
        }
    }

    /// Whether a message was one for a caller.
    fn takes(&self, message: &RxJsonRpcMessage<RoleClient>) -> bool {
        let JsonRpcMessage::Notification(notification) = message else {
            return false;
        };
        let notification = &notification.notification;
        match notification {
            ServerNotification::ProgressNotification(progress) => self.handler.progress(&progress.params),
            ServerNotification::LoggingMessageNotification(logged) => {
                let request = notification.get_meta().get(callers::REQUEST);
                self.handler.logged(&logged.params, request);
            }
            _ => return false,
        }
        true
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Notices<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let message = self.inner.receive().await?;
            if !self.takes(&message) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
