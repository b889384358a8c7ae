//! The pages: the list of guides, a search, and a guide. They need no sign-in and no script of the dashboard.

use askama::Template;
use axum::Router;
use axum::extract::{Path, Query};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use serde::Deserialize;
use toolgate_api::help::HelpSection;

use super::library::{Guide, guides};
use super::search::search;
use crate::web::{self, PlainFiles};

#[derive(Deserialize)]
struct Question {
    #[serde(default)]
    q: String,
}

/// The list of guides, or what was found.
#[derive(Template)]
#[template(path = "help.html")]
struct Contents {
    files: Option<PlainFiles>,
    guides: &'static [Guide],
    current: &'static str,
    q: String,
    found: Vec<HelpSection>,
}

/// One guide.
#[derive(Template)]
#[template(path = "guide.html")]
struct Shown {
    files: Option<PlainFiles>,
    guides: &'static [Guide],
    current: &'static str,
    q: String,
    guide: &'static Guide,
}

/// The routes.
pub(crate) fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new()
        .route("/help", get(contents))
        .route("/help/{guide}", get(show))
}

async fn contents(Query(question): Query<Question>) -> Response {
    let q: String = question.q.chars().take(200).collect();
    web::page(&Contents {
        files: PlainFiles::embedded(),
        guides: guides(),
        current: "",
        found: search(&q),
        q,
    })
}

async fn show(Path(name): Path<String>) -> Response {
    match guides().iter().find(|guide| guide.name == name) {
        Some(guide) => web::page(&Shown {
            files: PlainFiles::embedded(),
            guides: guides(),
            current: guide.name,
            q: String::new(),
            guide,
        }),
        None => web::error_page(
            StatusCode::NOT_FOUND,
            "There is no such guide",
            "The list of guides is at /help.",
        ),
    }
}
