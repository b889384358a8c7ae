//! The dashboard's files, embedded by `build.rs` and served with names that change with their content.

use axum::body::Body;
use axum::extract::Path;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, VARY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

use super::encoding::{Encoding, choose};

/// One file, in every form in which it is sent.
pub(super) struct Asset {
    /// The name in the sources, for example `app.js`.
    pub(super) name: &'static str,
    /// The name that is served, with a hash of the content.
    pub(super) file: &'static str,
    /// The content.
    pub(super) raw: &'static [u8],
    /// The content, compressed.
    pub(super) brotli: Option<&'static [u8]>,
    /// The content, compressed.
    pub(super) gzip: Option<&'static [u8]>,
}

/// Every embedded file; empty without the feature `embed-ui`.
static ASSETS: &[Asset] = include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// The path of a file by its name in the sources.
pub(super) fn path_of(name: &str) -> Option<String> {
    ASSETS
        .iter()
        .find(|asset| asset.name == name)
        .map(|asset| served(asset.file))
}

/// The path at which a file is served.
pub(super) fn served(file: &str) -> String {
    format!("/ui/assets/{file}")
}

/// The content of a text file by its name in the sources.
pub(super) fn text_of(name: &str) -> Option<&'static str> {
    let asset = ASSETS.iter().find(|asset| asset.name == name)?;
    std::str::from_utf8(asset.raw).ok()
}

/// Serves a file. What it is called changes with what it contains, so it may be cached without an end.
pub(super) async fn get_asset(Path(file): Path<String>, headers: HeaderMap) -> Response {
    match ASSETS.iter().find(|asset| asset.file == file) {
        Some(asset) => asset.respond(choose(&headers)),
        None => not_found(),
    }
}

/// The answer where a file is asked for that is not there.
pub(super) fn not_found() -> Response {
    let headers: [(HeaderName, HeaderValue); 3] = [
        (
            CONTENT_TYPE,
            HeaderValue::from_static("text/plain; charset=utf-8"),
        ),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        // After an update an old page may ask for an old name; the answer must not outlive the next update.
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (
        StatusCode::NOT_FOUND,
        headers,
        "There is no such file. Reload the page.\n",
    )
        .into_response()
}

impl Asset {
    /// The file in an encoding, or as it is when that form does not exist.
    pub(super) fn respond(&self, wanted: Encoding) -> Response {
        let (encoding, content) = match (wanted, self.brotli, self.gzip) {
            (Encoding::Brotli, Some(content), _) => (Encoding::Brotli, content),
            (Encoding::Brotli | Encoding::Gzip, _, Some(content)) => (Encoding::Gzip, content),
            _ => (Encoding::Identity, self.raw),
        };
        let mut response = Response::new(Body::from(content));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type(self.name)));
        headers.insert(CONTENT_LENGTH, content.len().into());
        headers.insert(
            CACHE_CONTROL,
            HeaderValue::from_static("public, max-age=31536000, immutable"),
        );
        headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        if let Some(token) = encoding.token() {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static(token));
        }
        response
    }
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("woff2") => "font/woff2",
        Some("json") => "application/json",
        _ => "application/octet-stream",
    }
}
