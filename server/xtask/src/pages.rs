//! The manifest of pages: `pages.json` says of every page which path it has and which chunks a browser loads for it. The
//! server names them in the page (`server/src/web/page_chunks.rs`); the browser tests open every page.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde_json::json;

use crate::package::Package;

#[path = "../../../frontend/src/page_table.rs"]
mod page_table;

/// A page of the dashboard's table.
struct Page {
    /// Below `/ui/`.
    path: &'static str,
    title: &'static str,
    /// `start`, or the split point that it comes with.
    bundle: &'static str,
}

macro_rules! pages {
    ($($bundle:ident { $(
        $(#[$_doc:meta])*
        $_kind:ident = $path:literal, $title:literal, $_symbol:ident, $_heading:ident, $_need:ident $(($_permission:ident))? => $_view:ident;
    )* })*) => {
        /// Every page.
        const PAGES: &[Page] = &[$($(Page { path: $path, title: $title, bundle: stringify!($bundle) },)*)*];
    };
}

page_table::page_table!(pages);

/// What comes with the first load, and is named by every page anyway.
const START: &str = "start";

/// The manifest. `chunks` has the plain names of the files of every bundle.
pub(crate) fn manifest(chunks: &BTreeMap<String, Vec<String>>, package: &Package) -> Result<Vec<u8>> {
    let files = |bundle: &str| -> Result<Vec<&str>> {
        if bundle == START {
            return Ok(Vec::new());
        }
        let names = chunks
            .get(bundle)
            .with_context(|| format!("the module has no split point {bundle}"))?;
        names
            .iter()
            .map(|name| {
                let hashed = package.hashed(name);
                hashed.with_context(|| format!("there is no file {name}"))
            })
            .collect()
    };
    let rows = PAGES
        .iter()
        .map(|page| {
            let path = format!("/ui/{}", page.path);
            Ok(json!({"path": path, "title": page.title, "chunks": files(page.bundle)?}))
        })
        .collect::<Result<Vec<_>>>()?;
    Ok((serde_json::to_string_pretty(&rows)? + "\n").into_bytes())
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    /// Chunks for every bundle: one of its own, and one that all share.
    pub(crate) fn chunks() -> BTreeMap<String, Vec<String>> {
        let bundles = PAGES.iter().map(|page| page.bundle).filter(|name| *name != START);
        bundles
            .map(|name| {
                let files = vec!["chunk_1.wasm".to_owned(), format!("split_{name}.wasm")];
                (name.to_owned(), files)
            })
            .collect()
    }

    #[test]
    fn every_page_names_its_chunks_by_their_hashed_names() {
        let mut package = Package::default();
        for name in chunks().into_values().flatten() {
            package.add(&name, name.clone().into_bytes());
        }
        let rows: Vec<Value> = serde_json::from_slice(&manifest(&chunks(), &package).unwrap()).unwrap();
        let of = |path: &str| &rows.iter().find(|row| row["path"] == path).unwrap()["chunks"];
        assert_eq!(of("/ui/"), &json!([]));
        let hashed = |name| package.hashed(name).unwrap();
        let imports = json!([hashed("chunk_1.wasm"), hashed("split_imports_pages.wasm")]);
        assert_eq!(of("/ui/projects/{project}/imports"), &imports);
        assert_eq!(of("/ui/projects/{project}/imports/{subject}"), &imports);
    }

    #[test]
    fn a_bundle_without_files_is_an_error() {
        assert!(manifest(&BTreeMap::new(), &Package::default()).is_err());
        assert!(manifest(&chunks(), &Package::default()).is_err());
    }

    #[test]
    fn no_two_pages_have_one_path() {
        let paths: BTreeSet<_> = PAGES.iter().map(|page| page.path).collect();
        assert_eq!(paths.len(), PAGES.len());
    }
}
