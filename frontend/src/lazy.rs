//! Parts of the dashboard whose code a browser loads when they are first shown.

use std::future::Future;
use std::pin::Pin;

use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos::wasm_split::SplitLoaderError;

use crate::api::ApiError;
use crate::components::{ProblemPanel, Skeleton, after_paint};
use crate::reactive::part;

/// Code on its way.
pub(crate) type Loading<T> = Pin<Box<dyn Future<Output = Result<T, ApiError>>>>;

/// What is made of the code once it is here; until then that `what` is loading, if it has a name, or why it could not be
/// loaded. Loading begins at once, or after the next paint.
pub(crate) fn lazy<T: Copy + Send + Sync + 'static>(
    what: Option<&'static str>,
    at_once: bool,
    load: impl Fn() -> Loading<T> + Copy + Send + Sync + 'static,
    make: impl Fn(T) -> AnyView + Send + Sync + 'static,
) -> AnyView {
    let loaded = RwSignal::new(None);
    let load = move || {
        loaded.set(None);
        spawn_local(async move {
            let result = load().await;
            // The page may be gone.
            loaded.try_set(Some(result));
        });
    };
    if at_once {
        load();
    } else {
        after_paint(load);
    }
    part(move || match loaded.get() {
        Some(Ok(code)) => make(code),
        Some(Err(error)) => view! { <ProblemPanel error on_retry=move |()| load() /> }.into_any(),
        None => what.map(|what| view! { <Skeleton what /> }).into_any(),
    })
}

impl From<SplitLoaderError> for ApiError {
    fn from(_: SplitLoaderError) -> Self {
        Self::NotLoaded
    }
}
