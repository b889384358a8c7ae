//! A future that continues in a spawned task if its caller is dropped.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime::Handle;

/// A future that goes on in a task of its own when it is dropped before it has completed. As long as it is awaited it
/// costs no task: it runs where it is awaited.
pub struct DetachOnDrop<T: Send + 'static> {
    work: Option<Pin<Box<dyn Future<Output = T> + Send>>>,
}

impl<T: Send + 'static> DetachOnDrop<T> {
    /// Nothing of the work has begun yet; dropped now, it still is done.
    pub(super) fn new(work: impl Future<Output = T> + Send + 'static) -> Self {
        Self {
            work: Some(Box::pin(work)),
        }
    }
}

impl<T: Send + 'static> Future for DetachOnDrop<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        // Taken out while it runs, so that work that panics is not polled again.
        let Some(mut work) = self.work.take() else {
            return Poll::Pending;
        };
        let polled = work.as_mut().poll(context);
        if polled.is_pending() {
            self.work = Some(work);
        }
        polled
    }
}

impl<T: Send + 'static> Drop for DetachOnDrop<T> {
    fn drop(&mut self) {
        if let Some(work) = self.work.take()
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(async move { drop(work.await) });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::AssertUnwindSafe;

    use futures_util::FutureExt;
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn it_gives_what_the_work_gives() {
        assert_eq!(DetachOnDrop::new(async { 7 }).await, 7);
    }

    #[tokio::test]
    async fn dropped_before_its_end_it_goes_on() {
        for polled in [false, true] {
            let (go, gone) = oneshot::channel::<()>();
            let (done, ended) = oneshot::channel();
            let mut work = DetachOnDrop::new(async move {
                gone.await.expect("told");
                done.send(7).expect("awaited");
            });
            if polled {
                assert!((&mut work).now_or_never().is_none());
            }
            drop(work);
            go.send(()).expect("it lives");
            assert_eq!(ended.await, Ok(7), "polled: {polled}");
        }
    }

    #[tokio::test]
    async fn what_panicked_is_not_taken_up_again() {
        let (alive, ended) = oneshot::channel::<()>();
        let mut work = DetachOnDrop::new(async move {
            let _alive = alive;
            panic!("as a test");
        });
        let caught = AssertUnwindSafe(&mut work).catch_unwind().await;
        assert!(caught.is_err());
        assert!(ended.await.is_err(), "the work is gone");
        drop(work);
    }
}
