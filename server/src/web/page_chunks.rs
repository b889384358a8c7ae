//! The chunks of the dashboard that a page loads once it has started. The shell names them, so that browsers fetch them
//! while the dashboard starts.
//!
//! The packager writes which page has which chunks into `pages.json`, from the dashboard's own table of pages.

use std::sync::LazyLock;

use serde::Deserialize;

use super::assets;

/// The manifest of pages by its name in the package.
const MANIFEST: &str = "pages.json";

/// A page of the manifest.
#[derive(Debug, Deserialize)]
struct Page {
    /// Parts in braces match any one part of an address.
    path: String,
    /// The files, first as the packager names them, then by the paths at which they are served.
    chunks: Vec<String>,
}

/// Every page, in the order in which an address is looked up.
static PAGES: LazyLock<Vec<Page>> = LazyLock::new(|| {
    let mut pages = read(assets::text_of(MANIFEST).unwrap_or_default());
    for chunk in pages.iter_mut().flat_map(|page| &mut page.chunks) {
        *chunk = assets::served(chunk);
    }
    pages
});

/// The chunks of the page at a path; none where there is no page, or one that needs no more than the start.
pub(super) fn of_page(path: &str) -> &'static [String] {
    find(&PAGES, path).map_or(&[], |page| page.chunks.as_slice())
}

/// Whether there may be a page at a path. The parts of pages' addresses are words; only the name of a tool or an import, the
/// fourth part, may have dots. What looks like a file is one, and is not there.
pub(super) fn may_be_a_page(path: &str) -> bool {
    let parts = path.strip_prefix("/ui/").unwrap_or_default();
    let mut parts = segments(parts).enumerate();
    parts.all(|(at, part)| at == 3 || part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'))
}

/// What a manifest says. Without one, as in a server without the dashboard, no page has chunks.
fn read(manifest: &str) -> Vec<Page> {
    serde_json::from_str(manifest).unwrap_or_default()
}

/// The first page whose path fits.
fn find<'a>(pages: &'a [Page], path: &str) -> Option<&'a Page> {
    pages.iter().find(|page| fits(&page.path, path))
}

fn fits(pattern: &str, path: &str) -> bool {
    let mut parts = segments(path);
    segments(pattern).all(|wanted| {
        let part = parts.next();
        part.is_some_and(|part| wanted.starts_with('{') || wanted == part)
    }) && parts.next().is_none()
}

fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::{find, read};

    const MANIFEST: &str = r#"[
        {"path": "/ui/", "title": "Start", "chunks": []},
        {"path": "/ui/projects/{project}/tools", "title": "Tools", "chunks": ["1.wasm", "tools.wasm"]},
        {"path": "/ui/projects/{project}/imports/new", "title": "New import", "chunks": ["intake.wasm"]},
        {"path": "/ui/projects/{project}/imports/{subject}", "title": "Import", "chunks": ["imports.wasm"]},
        {"path": "/ui/users", "title": "Users", "chunks": ["users.wasm"]}
    ]"#;

    #[rstest]
    #[case::start("/ui/", Some(&[][..]))]
    #[case::list("/ui/projects/demo/tools", Some(&["1.wasm", "tools.wasm"][..]))]
    #[case::slash_at_the_end("/ui/projects/demo/tools/", Some(&["1.wasm", "tools.wasm"][..]))]
    #[case::the_first_that_fits("/ui/projects/demo/imports/new", Some(&["intake.wasm"][..]))]
    #[case::any_name("/ui/projects/demo/imports/tools", Some(&["imports.wasm"][..]))]
    #[case::server("/ui/users", Some(&["users.wasm"][..]))]
    #[case::nowhere("/ui/projects/demo/nothing", None)]
    #[case::too_short("/ui/projects/demo", None)]
    #[case::too_deep("/ui/users/demo/tools", None)]
    fn addresses_have_the_chunks_of_their_page(#[case] path: &str, #[case] expected: Option<&[&str]>) {
        let pages = read(MANIFEST);
        let found = find(&pages, path).map(|page| page.chunks.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(found.as_deref(), expected);
    }

    #[test]
    fn without_a_manifest_there_are_no_pages() {
        assert!(read("").is_empty());
    }
}
