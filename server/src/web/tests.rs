//! The pages through the router, as a browser asks for them.

use axum::body::{Body, to_bytes};
use axum::http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, LOCATION, VARY};
use axum::http::{Request, Response, StatusCode};
use rstest::rstest;
use tower::ServiceExt;

use super::assets::Asset;
use super::encoding::Encoding;
use super::{pages, router};

async fn get(path: &str) -> Response<Body> {
    let request = Request::get(path).body(Body::empty()).unwrap();
    router::<()>().oneshot(request).await.unwrap()
}

async fn text(response: Response<Body>) -> String {
    String::from_utf8(to_bytes(response.into_body(), 1 << 20).await.unwrap().to_vec()).unwrap()
}

#[rstest]
#[case("/")]
#[case("/ui")]
#[tokio::test]
async fn leads_to_the_dashboard(#[case] path: &str) {
    let response = get(path).await;
    assert!(
        response.status().is_redirection(),
        "{path}: {}",
        response.status()
    );
    assert_eq!(response.headers()[LOCATION], "/ui/");
}

#[rstest]
#[case::start("/ui/")]
#[case::sign_in("/ui/sign-in")]
#[case::deep("/ui/projects/demo/tools?q=web")]
#[tokio::test]
async fn every_page_carries_the_protecting_headers(#[case] path: &str) {
    let response = get(path).await;
    assert_eq!(response.status(), StatusCode::OK);
    for (name, value) in pages::HEADERS {
        assert_eq!(response.headers().get(&name), Some(&value), "{path}: {name}");
    }
}

#[test]
fn the_policy_allows_no_inline_code_and_no_other_origin() {
    assert!(!pages::POLICY.contains("unsafe-inline"));
    assert!(!pages::POLICY.contains("'unsafe-eval'"));
    assert!(!pages::POLICY.contains("http"));
    assert!(pages::POLICY.starts_with("default-src 'none'"));
}

#[rstest]
#[case::script("/ui/x.js")]
#[case::dotfile("/ui/.env")]
#[case::encoded("/ui/%2eenv")]
#[case::folder("/ui/.git/config")]
#[case::in_a_project("/ui/projects/demo/.env")]
#[case::map("/ui/projects/demo/tools/a/app.js.map")]
#[tokio::test]
async fn what_looks_like_a_file_is_no_page(#[case] path: &str) {
    let response = get(path).await;
    assert_eq!(response.status(), StatusCode::NOT_FOUND, "{path}");
}

#[rstest]
#[case::tool("/ui/projects/demo/tools/web.search")]
#[case::section("/ui/projects/demo/policy-tests")]
#[case::user_page("/ui/users/")]
#[tokio::test]
async fn a_page_is_a_page(#[case] path: &str) {
    assert_eq!(get(path).await.status(), StatusCode::OK, "{path}");
}

#[tokio::test]
async fn an_unknown_file_is_plainly_not_there() {
    let response = get("/ui/assets/app.0000.js").await;
    assert_eq!(response.status(), StatusCode::NOT_FOUND);
    assert_eq!(response.headers()[CACHE_CONTROL], "no-store");
    assert_eq!(response.headers()[CONTENT_TYPE], "text/plain; charset=utf-8");
}

#[tokio::test]
#[cfg_attr(feature = "embed-ui", ignore = "the dashboard is embedded")]
async fn without_the_dashboard_a_page_says_how_to_build_it() {
    assert!(text(get("/ui/").await).await.contains("cargo xtask ui"));
}

#[cfg(feature = "embed-ui")]
mod embedded {
    use super::*;

    #[tokio::test]
    async fn pages_refer_only_to_files_that_are_served() {
        for path in ["/ui/", "/ui/sign-in"] {
            let html = text(get(path).await).await;
            let files: Vec<_> = html
                .split('"')
                .filter(|part| part.starts_with("/ui/assets/"))
                .collect();
            assert_eq!(files.len(), 6, "{path}: {files:?}");
            for file in files {
                assert_eq!(get(file).await.status(), StatusCode::OK, "{file}");
            }
        }
    }

    #[rstest]
    #[case("tools", "tools")]
    #[case("tools/look-up", "tool")]
    #[case("imports/petstore", "imports")]
    #[case("imports/new", "intake")]
    #[case("upload", "upload")]
    #[case("states", "state")]
    #[case("keys", "access")]
    #[case("records", "run")]
    #[tokio::test]
    async fn a_page_names_the_chunks_that_it_will_load(#[case] page: &str, #[case] bundle: &str) {
        let html = text(get(&format!("/ui/projects/demo/{page}")).await).await;
        let parts: Vec<_> = html
            .split('"')
            .filter(|part| part.ends_with(".wasm") && !part.contains("/app_bg."))
            .collect();
        assert_eq!(parts.iter().filter(|part| part.contains("/split_")).count(), 1);
        assert!(
            parts.last().unwrap().contains(&format!("/split_{bundle}_pages.")),
            "{parts:?}"
        );
        for part in parts {
            assert_eq!(get(part).await.status(), StatusCode::OK, "{part}");
        }
    }

    #[tokio::test]
    async fn the_sign_in_page_is_a_form_without_the_dashboard() {
        let html = text(get("/ui/sign-in").await).await;
        for part in [
            "<noscript>",
            "autocomplete=\"current-password\"",
            "method=\"post\"",
        ] {
            assert!(html.contains(part), "{part}");
        }
    }
}

const SCRIPT: Asset = Asset {
    name: "app.js",
    file: "app.0123.js",
    raw: b"let plain",
    brotli: Some(b"br"),
    gzip: Some(b"gz"),
};

#[rstest]
#[case(Encoding::Brotli, Some("br"), "br")]
#[case(Encoding::Gzip, Some("gzip"), "gz")]
#[case(Encoding::Identity, None, "let plain")]
#[tokio::test]
async fn files_come_compressed_and_may_be_kept(
    #[case] wanted: Encoding,
    #[case] encoding: Option<&str>,
    #[case] content: &str,
) {
    let response = SCRIPT.respond(wanted);
    let headers = response.headers();
    assert_eq!(
        headers.get(CONTENT_ENCODING).map(|value| value.to_str().unwrap()),
        encoding
    );
    assert_eq!(headers[CACHE_CONTROL], "public, max-age=31536000, immutable");
    assert_eq!(headers[VARY], "accept-encoding");
    assert_eq!(headers[CONTENT_TYPE], "text/javascript; charset=utf-8");
    assert_eq!(text(response).await, content);
}

#[tokio::test]
async fn a_form_that_does_not_exist_is_replaced_by_the_next_best() {
    let response = Asset {
        brotli: None,
        ..SCRIPT
    }
    .respond(Encoding::Brotli);
    assert_eq!(response.headers()[CONTENT_ENCODING], "gzip");
    let response = Asset {
        brotli: None,
        gzip: None,
        ..SCRIPT
    }
    .respond(Encoding::Brotli);
    assert!(!response.headers().contains_key(CONTENT_ENCODING));
}

#[test]
fn modules_are_served_as_webassembly() {
    let response = Asset {
        name: "app_bg.wasm",
        ..SCRIPT
    }
    .respond(Encoding::Identity);
    assert_eq!(response.headers()[CONTENT_TYPE], "application/wasm");
}

#[tokio::test]
async fn errors_are_pages_for_people() {
    let answer = pages::error_page(StatusCode::NOT_FOUND, "There is no such page", "<b>nothing</b>");
    assert_eq!(answer.status(), StatusCode::NOT_FOUND);
    for (name, value) in pages::HEADERS {
        assert_eq!(answer.headers().get(&name), Some(&value), "{name}");
    }
    let html = text(answer).await;
    assert!(
        html.contains("There is no such page") && !html.contains("<b>"),
        "{html}"
    );
}
