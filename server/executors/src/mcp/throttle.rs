//! A bound on what a server says unasked, so that a flood of it costs next to nothing: it is read no faster than this.

use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::JsonRpcMessage;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::time::{Instant, sleep_until};

/// Notifications, requests and answers to nothing that are read within a second.
const UNASKED: usize = 1_000;
/// The same for each request that waits for its answer: their progress.
const PROGRESS: usize = 100;
const WINDOW: Duration = Duration::from_secs(1);

/// A transport that reads slowly what nothing asked for.
pub(super) struct Throttled<T> {
    inner: T,
    /// Requests that were sent and not answered.
    open: usize,
    /// Unasked messages since the window began.
    unasked: usize,
    began: Instant,
}

impl<T> Throttled<T> {
    pub(super) fn new(inner: T) -> Self {
        Self {
            inner,
            open: 0,
            unasked: 0,
            began: Instant::now(),
        }
    }

    /// Waits until the next message may be read. Nothing is lost when the wait is given up.
    async fn admit(&mut self) {
        if self.unasked >= UNASKED + self.open.saturating_mul(PROGRESS) {
            sleep_until(self.began + WINDOW).await;
        }
        if self.began.elapsed() >= WINDOW {
            (self.began, self.unasked) = (Instant::now(), 0);
        }
    }

    fn count(&mut self, message: &RxJsonRpcMessage<RoleClient>) {
        let answers = matches!(message, JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_));
        if answers && self.open > 0 {
            self.open -= 1;
        } else {
            self.unasked += 1;
        }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Throttled<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        if matches!(item, JsonRpcMessage::Request(_)) {
            self.open += 1;
        }
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        self.admit().await;
        let message = self.inner.receive().await?;
        self.count(&message);
        Some(message)
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use rmcp::model::{
        ClientRequest, NumberOrString, PingRequest, ServerJsonRpcMessage, ServerNotification, ServerResult,
        ToolListChangedNotification,
    };

    use super::*;

    /// Says the same for ever.
    struct Flood(ServerJsonRpcMessage);

    impl Transport<RoleClient> for Flood {
        type Error = Infallible;

        fn send(
            &mut self,
            _item: TxJsonRpcMessage<RoleClient>,
        ) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
            std::future::ready(Ok(()))
        }

        async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
            Some(self.0.clone())
        }

        async fn close(&mut self) -> Result<(), Infallible> {
            Ok(())
        }
    }

    async fn read(transport: &mut Throttled<Flood>, messages: usize) -> Duration {
        let start = Instant::now();
        for _ in 0..messages {
            transport.receive().await.expect("a message");
        }
        start.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn what_nothing_asked_for_is_read_slowly_and_answers_are_not() {
        let notice = ServerNotification::ToolListChangedNotification(ToolListChangedNotification::default());
        let notice = ServerJsonRpcMessage::notification(notice);
        let mut notices = Throttled::new(Flood(notice));
        assert_eq!(read(&mut notices, UNASKED).await, Duration::ZERO);
        assert_eq!(read(&mut notices, 2 * UNASKED).await, 2 * WINDOW);

        let answer = ServerJsonRpcMessage::response(ServerResult::empty(()), NumberOrString::Number(1));
        let mut answers = Throttled::new(Flood(answer));
        for _ in 0..3 * UNASKED {
            let ping = ClientRequest::PingRequest(PingRequest::default());
            let ping = TxJsonRpcMessage::<RoleClient>::request(ping, NumberOrString::Number(1));
            answers.send(ping).await.expect("sent");
        }
        assert_eq!(read(&mut answers, 3 * UNASKED).await, Duration::ZERO);
        assert_eq!(
            read(&mut answers, 2 * UNASKED).await,
            WINDOW,
            "answers to nothing"
        );
    }
}
