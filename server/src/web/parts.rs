//! The parts of the dashboard that a page loads once it has started. The shell names them, so that browsers fetch them
//! while the dashboard starts.
//!
//! The dashboard's own `family.rs` says which pages come together; the addresses here follow it. A page that is missing
//! here works all the same, a little later.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::assets;

/// The served paths by the name of the family.
static PARTS: LazyLock<HashMap<String, Vec<String>>> = LazyLock::new(|| {
    let glue = assets::text_of("app.js").unwrap_or_default();
    let families = read(glue).into_iter();
    families
        .map(|(family, files)| (family, files.into_iter().map(assets::served).collect()))
        .collect()
});

/// The parts of the page at a path.
pub(super) fn of_page(path: &str) -> &'static [String] {
    path.strip_prefix("/ui/")
        .and_then(family)
        .and_then(|family| PARTS.get(family))
        .map_or(&[], Vec::as_slice)
}

/// Whether there may be a page at a path. The parts of pages' addresses are words; only the name of a tool or an import, the
/// fourth part, may have dots. What looks like a file is one, and is not there.
pub(super) fn may_be_a_page(path: &str) -> bool {
    let parts = path.strip_prefix("/ui/").unwrap_or_default().split('/');
    let mut parts = parts.filter(|part| !part.is_empty()).enumerate();
    parts.all(|(at, part)| at == 3 || part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'))
}

/// The family of the page at a path below `/ui/`; none for pages that need no more than the start.
fn family(path: &str) -> Option<&'static str> {
    let mut parts = path.split('/').filter(|part| !part.is_empty());
    let segment = match (parts.next()?, parts.next(), parts.next()) {
        ("projects", Some(_), Some("imports")) if parts.next() == Some("new") => "upload",
        ("projects", Some(_), segment) => segment?,
        (page, None, None) => page,
        _ => return None,
    };
    Some(match segment {
        "tools" => "tools_pages",
        "upload" => "intake_pages",
        "imports" | "quarantine" => "imports_pages",
        "groups" | "states" => "model_pages",
        "permissions" | "keys" | "simulator" | "policy-tests" | "users" => "access_pages",
        "sessions" | "records" | "alerts" | "limits" | "secrets" | "settings" | "connect" | "health" => {
            "run_pages"
        }
        _ => return None,
    })
}

/// What the loaders in the glue say: the files of each family, its own one last.
fn read(glue: &str) -> HashMap<String, Vec<&str>> {
    let mut chunks = HashMap::new();
    let mut families = HashMap::new();
    for statement in glue.split("\nconst ").filter(|text| text.contains("makeLoad(")) {
        let (Some((name, _)), Some(file)) = (
            statement.split_once(" = "),
            between(statement, "new URL(\"./", "\""),
        ) else {
            continue;
        };
        let Some(family) = name.strip_prefix("__wasm_split_load_") else {
            chunks.insert(name, file);
            continue;
        };
        let needed = between(statement, "}\n, [", "]").unwrap_or_default();
        let needed = needed.split(", ").filter_map(|chunk| chunks.get(chunk).copied());
        families.insert(family.to_owned(), needed.chain([file]).collect());
    }
    families
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(before)?;
    Some(rest.split_once(after)?.0)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::{family, read};

    const GLUE: &str = r#"export { initSync };
/* run_pages, tools_pages */
const __chunk_7 = makeLoad(() => {
    const src = fetch(new URL("./chunk_7.0a.wasm", import.meta.url));
    return async (imports) => (WebAssembly.instantiateStreaming(src, imports));
}
, []);
const __chunk_8 = makeLoad(() => {
    const src = fetch(new URL("./chunk_8.0b.wasm", import.meta.url));
}
, []);
const __wasm_split_load_tools_pages = wrapAsyncCb(makeLoad(() => {
    const src = fetch(new URL("./split_tools_pages.0c.wasm", import.meta.url));
}
, [__chunk_7, __chunk_8]));
const __wasm_split_load_run_pages = wrapAsyncCb(makeLoad(() => {
    const src = fetch(new URL("./split_run_pages.0d.wasm", import.meta.url));
}
, []));
const import1 = { __wasm_split_load_tools_pages };
"#;

    #[test]
    fn the_loaders_say_what_a_family_needs() {
        let families = read(GLUE);
        assert_eq!(
            families["tools_pages"],
            ["chunk_7.0a.wasm", "chunk_8.0b.wasm", "split_tools_pages.0c.wasm"]
        );
        assert_eq!(families["run_pages"], ["split_run_pages.0d.wasm"]);
        assert_eq!(families.len(), 2);
        assert!(read("").is_empty());
    }

    #[rstest]
    #[case::start("", None)]
    #[case::overview("projects/demo/overview", None)]
    #[case::list("projects/demo/tools", Some("tools_pages"))]
    #[case::one_tool("projects/demo/tools/keys", Some("tools_pages"))]
    #[case::new_import("projects/demo/imports/new", Some("intake_pages"))]
    #[case::one_import("projects/demo/imports/tools", Some("imports_pages"))]
    #[case::upload("projects/demo/upload", Some("intake_pages"))]
    #[case::groups("projects/demo/groups", Some("model_pages"))]
    #[case::keys("projects/tools/keys", Some("access_pages"))]
    #[case::users("users", Some("access_pages"))]
    #[case::records("projects/demo/records/", Some("run_pages"))]
    #[case::projects("projects", None)]
    #[case::nowhere("projects/demo/nothing", None)]
    #[case::too_deep("users/demo/tools", None)]
    fn addresses_have_families(#[case] path: &str, #[case] expected: Option<&str>) {
        assert_eq!(family(path), expected);
    }
}
