//! The pages that the server renders.

use askama::Template;
use axum::http::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, StatusCode, Uri};
use axum::response::{IntoResponse, Response};

use super::{assets, page_chunks};

/// What a page may load and do: its own files, its own server. WebAssembly needs its own word; nothing inline runs,
/// so that text which slipped into a page stays text.
pub(super) const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; \
     img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; \
     frame-ancestors 'none'";

/// Browser features that no page of the dashboard uses. Copying to the clipboard is the one it does.
const PERMISSIONS: &str = "accelerometer=(), camera=(), clipboard-write=(self), display-capture=(), geolocation=(), \
     gyroscope=(), microphone=(), midi=(), payment=(), usb=()";

/// Headers of every page. They are reused by name in the tests.
pub(super) const HEADERS: [(HeaderName, HeaderValue); 7] = [
    (CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
    (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
    (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    ),
    (
        HeaderName::from_static("permissions-policy"),
        HeaderValue::from_static(PERMISSIONS),
    ),
];

/// The served paths of the files that every page loads.
struct Files {
    style: String,
    theme: String,
    favicon: String,
    boot: String,
    app: String,
    wasm: String,
}

impl Files {
    /// None when the dashboard was not built in.
    fn embedded() -> Option<Self> {
        Some(Self {
            style: assets::path_of("main.css")?,
            theme: assets::path_of("theme.js")?,
            favicon: assets::path_of("favicon.svg")?,
            boot: assets::path_of("boot.js")?,
            app: assets::path_of("app.js")?,
            wasm: assets::path_of("app_bg.wasm")?,
        })
    }
}

/// The served paths of the files that pages without the dashboard load.
pub(crate) struct PlainFiles {
    pub(crate) style: String,
    pub(crate) theme: String,
    pub(crate) favicon: String,
}

impl PlainFiles {
    /// None when the dashboard was not built in.
    pub(crate) fn embedded() -> Option<Self> {
        Some(Self {
            style: assets::path_of("main.css")?,
            theme: assets::path_of("theme.js")?,
            favicon: assets::path_of("favicon.svg")?,
        })
    }
}

/// The empty page that the dashboard fills.
#[derive(Template)]
#[template(path = "shell.html")]
struct Shell {
    files: Files,
    parts: &'static [String],
}

/// The sign-in page; the dashboard takes over its form.
#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignIn {
    files: Files,
    parts: &'static [String],
    points: [&'static str; 3],
}

/// The page in place of the dashboard where it was not built in.
#[derive(Template)]
#[template(path = "not_built.html")]
struct NotBuilt;

/// What a person reads whose browser has asked for something that is not there.
#[derive(Template)]
#[template(path = "error.html")]
struct Error<'a> {
    files: Option<PlainFiles>,
    title: &'a str,
    detail: &'a str,
}

/// Leads to another page of this server. A redirect that another site has caused would not bring the session cookie
/// (`SameSite=Strict`); what this page opens does.
#[derive(Template)]
#[template(path = "forwarding.html")]
struct Forwarding<'a> {
    next: &'a str,
}

/// What the product is for, beside the sign-in form.
const POINTS: [&str; 3] = [
    "Groups and workflow states decide who may call what, at every call.",
    "Every decision is on record before anything runs.",
    "Definitions are checked before they are stored, and every revision is kept.",
];

/// Every page of the dashboard: it reads the address itself.
pub(super) async fn show_dashboard(address: Uri) -> Response {
    if !page_chunks::may_be_a_page(address.path()) {
        return assets::not_found();
    }
    match Files::embedded() {
        Some(files) => page(&Shell {
            files,
            parts: page_chunks::of_page(address.path()),
        }),
        None => page(&NotBuilt),
    }
}

/// The sign-in page.
pub(super) async fn show_sign_in() -> Response {
    match Files::embedded() {
        Some(files) => page(&SignIn {
            files,
            parts: &[],
            points: POINTS,
        }),
        None => page(&NotBuilt),
    }
}

/// Whether a page is wanted, as when an address is opened in a browser; programs ask for JSON or for anything.
pub(crate) fn wants_page(headers: &HeaderMap) -> bool {
    headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|accept| accept.to_str().ok())
        .any(|accept| accept.contains("text/html"))
}

/// An error, as a page.
pub(crate) fn error_page(status: StatusCode, title: &str, detail: &str) -> Response {
    let mut response = page(&Error {
        files: PlainFiles::embedded(),
        title,
        detail,
    });
    *response.status_mut() = status;
    response
}

/// A page that leads to another page of this server.
pub(crate) fn forwarding_page(next: &str) -> Response {
    page(&Forwarding { next })
}

/// A page, with the headers of all pages.
pub(crate) fn page(template: &impl Template) -> Response {
    match template.render() {
        Ok(html) => (HEADERS, html).into_response(),
        Err(error) => {
            tracing::error!(%error, "a page could not be rendered");
            (
                StatusCode::INTERNAL_SERVER_ERROR,
                HEADERS,
                "The page could not be rendered.",
            )
                .into_response()
        }
    }
}
