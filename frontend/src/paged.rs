//! A list that is read page by page: loading, failed, and ready with more to come.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::ApiError;
use crate::session::Session;

/// One page of an answer: items, and the cursor of the next page.
pub(crate) type PageOf<T> = (Vec<T>, Option<String>);

type Answer<T> = Pin<Box<dyn Future<Output = Result<PageOf<T>, ApiError>>>>;
type Fetch<K, T> = Arc<dyn Fn(K, Option<String>) -> Answer<T> + Send + Sync>;

/// Where a list stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Status {
    /// The first page is on its way; items of an earlier key may still be shown.
    Loading,
    /// A further page is on its way.
    LoadingMore,
    /// Nothing is on its way.
    Ready,
    /// The last request failed; what was read before is kept.
    Failed(ApiError),
}

/// A list whose content depends on a key, for example project and query. A changed key starts again, and answers to an
/// earlier key are dropped.
pub(crate) struct Paged<K: Send + Sync + 'static, T: Send + Sync + 'static> {
    /// What was read so far.
    pub(crate) items: RwSignal<Vec<T>>,
    /// Where it stands.
    pub(crate) status: RwSignal<Status>,
    /// The key that `items` belong to; none before the first answer.
    pub(crate) shown: RwSignal<Option<K>>,
    key: Memo<K>,
    next: RwSignal<Option<String>>,
    session: Session,
    run: StoredValue<u32>,
    asked: StoredValue<Option<String>>,
    fetch: StoredValue<Fetch<K, T>>,
}

impl<K: Send + Sync + 'static, T: Send + Sync + 'static> Clone for Paged<K, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K: Send + Sync + 'static, T: Send + Sync + 'static> Copy for Paged<K, T> {}

impl<K, T> Paged<K, T>
where
    K: Clone + PartialEq + Send + Sync + 'static,
    T: Clone + Send + Sync + 'static,
{
    /// Reads the first page now and whenever `key` changes.
    pub(crate) fn new<F, Fut>(key: Memo<K>, fetch: F) -> Self
    where
        F: Fn(K, Option<String>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<PageOf<T>, ApiError>> + 'static,
    {
        let fetch: Fetch<K, T> = Arc::new(move |key, cursor| Box::pin(fetch(key, cursor)));
        let list = Self {
            items: RwSignal::new(Vec::new()),
            status: RwSignal::new(Status::Loading),
            shown: RwSignal::new(None),
            key,
            next: RwSignal::new(None),
            session: Session::get(),
            run: StoredValue::new(0),
            asked: StoredValue::new(None),
            fetch: StoredValue::new(fetch),
        };
        Effect::new(move |_| {
            key.track();
            list.reload();
        });
        list
    }

    /// Reads the first page again.
    pub(crate) fn reload(self) {
        self.request(None, Status::Loading);
    }

    /// Reads the next page.
    pub(crate) fn more(self) {
        if let Some(cursor) = self.next.get_untracked() {
            self.request(Some(cursor), Status::LoadingMore);
        }
    }

    /// Tries the last request again.
    pub(crate) fn retry(self) {
        match self.asked.get_value() {
            Some(cursor) => self.request(Some(cursor), Status::LoadingMore),
            None => self.reload(),
        }
    }

    /// Whether there is a further page, reactively.
    pub(crate) fn has_more(self) -> bool {
        self.next.with(Option::is_some)
    }

    fn request(self, cursor: Option<String>, status: Status) {
        let run = self.run.get_value().wrapping_add(1);
        self.run.set_value(run);
        self.asked.set_value(cursor.clone());
        self.status.set(status);
        let key = self.key.get_untracked();
        let answer = (self.fetch.get_value())(key.clone(), cursor.clone());
        spawn_local(async move {
            let answer = answer.await;
            // The page may be gone, or a newer request may be under way.
            if self.run.try_get_value() != Some(run) {
                return;
            }
            match answer {
                Ok((items, next)) => {
                    self.next.set(next);
                    if cursor.is_some() {
                        self.items.update(|all| all.extend(items));
                    } else {
                        self.items.set(items);
                    }
                    self.shown.set(Some(key));
                    self.status.set(Status::Ready);
                }
                Err(error) => {
                    self.session.observe(&error);
                    self.status.set(Status::Failed(error));
                }
            }
        });
    }
}
