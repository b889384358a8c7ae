//! What a browser gets: the pages that the server renders, and the files of the dashboard.
//!
//! The dashboard itself runs in the browser and speaks to the REST API alone; the server renders the sign-in page and
//! one shell for every other page. Nothing here reads the application's state, so nothing here can leak any of it.

mod assets;
mod encoding;
mod page_chunks;
mod pages;

pub(crate) use pages::{PlainFiles, error_page, forwarding_page, page, wants_page};

use axum::Router;
use axum::response::Redirect;
use axum::routing::get;

/// The pages and files under `/ui/`, and the way there from `/`.
///
/// Built without the feature `embed-ui`, every page says that and how to build it in.
pub fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new()
        .route("/", get(|| async { Redirect::temporary("/ui/") }))
        .route("/ui", get(|| async { Redirect::permanent("/ui/") }))
        .route("/ui/", get(pages::show_dashboard))
        .route("/ui/sign-in", get(pages::show_sign_in))
        .route("/ui/{*path}", get(pages::show_dashboard))
        .route("/ui/assets/{*file}", get(assets::get_asset))
}

#[cfg(test)]
mod tests;
