//! One value that is read from the server: loading, failed, and there.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::ApiError;
use crate::components::{ProblemPanel, Skeleton};
use crate::session::Session;

type Answer<T> = Pin<Box<dyn Future<Output = Result<T, ApiError>>>>;
type Fetch<K, T> = Arc<dyn Fn(K) -> Answer<T> + Send + Sync>;

/// A value that depends on a key. A changed key reads again, and answers to an earlier key are dropped.
pub(crate) struct Loaded<K: Send + Sync + 'static, T: Send + Sync + 'static> {
    /// What was read last; none before the first answer, and none once the key has changed.
    pub(crate) value: RwSignal<Option<T>>,
    /// Why the last request failed.
    pub(crate) error: RwSignal<Option<ApiError>>,
    /// Whether a request is on its way.
    pub(crate) busy: RwSignal<bool>,
    key: Memo<K>,
    session: Session,
    run: StoredValue<u32>,
    fetch: StoredValue<Fetch<K, T>>,
}

impl<K: Send + Sync + 'static, T: Send + Sync + 'static> Clone for Loaded<K, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K: Send + Sync + 'static, T: Send + Sync + 'static> Copy for Loaded<K, T> {}

impl<K, T> Loaded<K, T>
where
    K: Clone + PartialEq + Send + Sync + 'static,
    T: Clone + Send + Sync + 'static,
{
    /// Reads now and whenever `key` changes.
    pub(crate) fn new<F, Fut>(key: Memo<K>, fetch: F) -> Self
    where
        F: Fn(K) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, ApiError>> + 'static,
    {
        let fetch: Fetch<K, T> = Arc::new(move |key| Box::pin(fetch(key)));
        let loaded = Self {
            value: RwSignal::new(None),
            error: RwSignal::new(None),
            busy: RwSignal::new(false),
            key,
            session: Session::get(),
            run: StoredValue::new(0),
            fetch: StoredValue::new(fetch),
        };
        Effect::new(move |_| {
            key.track();
            loaded.value.set(None);
            loaded.reload();
        });
        loaded
    }

    /// Reads again; what is shown stays until the answer is there.
    pub(crate) fn reload(self) {
        let run = self.run.get_value().wrapping_add(1);
        self.run.set_value(run);
        self.error.set(None);
        self.busy.set(true);
        let answer = (self.fetch.get_value())(self.key.get_untracked());
        spawn_local(async move {
            let answer = answer.await;
            if self.run.try_get_value() != Some(run) {
                return;
            }
            self.busy.set(false);
            match answer {
                Ok(value) => self.value.set(Some(value)),
                Err(error) => {
                    self.session.observe(&error);
                    self.error.set(Some(error));
                }
            }
        });
    }

    /// What stands in for the value while it is not there: bars, or the error with a button that tries again.
    pub(crate) fn placeholder(self, what: &'static str) -> AnyView {
        (move || match (self.error.get(), self.value.with(Option::is_some)) {
            (Some(error), _) => view! { <ProblemPanel error on_retry=move |()| self.reload() /> }.into_any(),
            (None, false) => view! { <Skeleton what rows=4 /> }.into_any(),
            (None, true) => ().into_any(),
        })
        .into_any()
    }
}
