//! `cargo xtask ui`: the browser's files, ready to be embedded by the server.
//!
//! `target/ui` gets the dashboard's WebAssembly in parts and its glue, `boot.js`, the catalogues of languages, the stylesheet
//! and every asset, each with its content hash in the name and its `.br` and `.gz` beside it, and `manifest.json` from
//! plain to hashed names.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};

use crate::package::{self, Package};
use crate::{pages, paths, split, style, wasm};

/// The sources of a package besides the compiled dashboard.
struct Sources {
    boot: Vec<u8>,
    style: Vec<u8>,
    assets: BTreeMap<String, Vec<u8>>,
    languages: BTreeMap<String, Vec<u8>>,
}

/// Compiles and packages; returns the folder. Nothing is written when nothing changed, so that the server that
/// embeds the folder is not compiled again.
pub(crate) fn run() -> Result<PathBuf> {
    wasm::assert_one_bindgen_version()?;
    println!("  compiling the dashboard for the browser; the first time takes a few minutes");
    let compiled = wasm::build()?;
    let bytes = fs::read(&compiled).with_context(|| format!("cannot read {}", compiled.display()))?;
    let sources = read_sources(&paths::root().join("frontend"))?;
    let folder = paths::target().join("ui");
    let stamp_file = paths::target().join("ui.stamp");
    let stamp = stamp(&bytes, &sources);
    if fs::read_to_string(&stamp_file).is_ok_and(|old| old == stamp) && folder.join("manifest.json").is_file()
    {
        println!("  {} is up to date", folder.display());
        return Ok(folder);
    }
    let started = Instant::now();
    let _ = fs::remove_file(&stamp_file);
    package(&bytes, &sources)?.write(&folder)?;
    fs::write(&stamp_file, stamp)?;
    println!(
        "  packaged {} in {:.1} s",
        folder.display(),
        started.elapsed().as_secs_f32()
    );
    for (name, size) in package::sizes(&folder)? {
        println!("    {name:<28} {:>9} B  {:>8} B br", size.raw, size.brotli);
    }
    Ok(folder)
}

fn read_sources(frontend: &Path) -> Result<Sources> {
    let read = |name: &str| {
        let path = frontend.join(name);
        fs::read(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    let mut assets = BTreeMap::new();
    let folder = frontend.join("assets");
    if folder.is_dir() {
        collect(&folder, "", &mut assets)?;
    }
    let mut languages = BTreeMap::new();
    collect(&frontend.join("languages"), "languages/", &mut languages)?;
    Ok(Sources {
        boot: read("boot.js")?,
        style: style::join(&frontend.join("style"))?,
        assets,
        languages,
    })
}

/// Every file below a folder, by its path with slashes.
fn collect(folder: &Path, prefix: &str, files: &mut BTreeMap<String, Vec<u8>>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{name}/"), files)?;
        } else {
            files.insert(name, fs::read(entry.path())?);
        }
    }
    Ok(())
}

/// Changes when any input or this program's own way of packaging changes.
fn stamp(wasm: &[u8], sources: &Sources) -> String {
    let rules = [
        include_bytes!("ui.rs").as_slice(),
        include_bytes!("package.rs"),
        include_bytes!("pack.rs"),
        include_bytes!("pages.rs"),
        include_bytes!("../../../frontend/src/page_table.rs"),
        include_bytes!("split.rs"),
    ];
    let mut parts = vec![wasm, &sources.boot, &sources.style];
    parts.extend(rules);
    for (name, bytes) in sources.assets.iter().chain(&sources.languages) {
        parts.push(name.as_bytes());
        parts.push(bytes);
    }
    package::hash(&parts)
}

fn package(compiled: &[u8], sources: &Sources) -> Result<Package> {
    let folder = tempfile::tempdir()?;
    let divided = split::divide(compiled, folder.path())?;
    let glue = tempfile::tempdir()?;
    wasm_bindgen_cli_support::Bindgen::new()
        .input_bytes("app", divided.main)
        .web(true)?
        .typescript(false)
        // The chunks refer to what they share by the linker's names.
        .keep_lld_exports(true)
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate(glue.path())
        .context("wasm-bindgen failed")?;
    let mut files = BTreeMap::new();
    collect(glue.path(), "", &mut files)?;
    let app = files.remove("app.js").context("wasm-bindgen made no app.js")?;
    let app = split::join(&String::from_utf8(app)?, &divided.loader)?;
    files.insert("app.js".to_owned(), app.into_bytes());
    assemble(files, divided.chunks, &divided.bundles, sources)
}

/// Puts the glue and the sources together; a file that names another is added after it, so that it can name it by
/// its hashed name.
fn assemble(
    mut glue: BTreeMap<String, Vec<u8>>,
    chunks: BTreeMap<String, Vec<u8>>,
    bundles: &BTreeMap<String, Vec<String>>,
    sources: &Sources,
) -> Result<Package> {
    let mut package = Package::default();
    let wasm = glue
        .remove("app_bg.wasm")
        .context("wasm-bindgen made no app_bg.wasm")?;
    let app = glue.remove("app.js").context("wasm-bindgen made no app.js")?;
    // What remains are snippets: the glue imports them by their own paths.
    for (name, bytes) in glue {
        package.add_as_is(&name, bytes);
    }
    let wasm = package.add("app_bg.wasm", wasm);
    let mut names = vec![("app_bg.wasm".to_owned(), wasm.clone())];
    for (name, bytes) in chunks {
        let hashed = package.add(&name, bytes);
        names.push((name, hashed));
    }
    let app = package.add("app.js", replace(app, &borrowed(&names))?);
    let mut loaded = vec![("app.js".to_owned(), app), ("app_bg.wasm".to_owned(), wasm)];
    for (name, bytes) in sources.assets.iter().chain(&sources.languages) {
        let hashed = package.add(name, bytes.clone());
        loaded.push((name.clone(), hashed));
    }
    for (name, hashed) in &mut loaded {
        (*name, *hashed) = (format!("./{name}"), format!("./{hashed}"));
    }
    package.add("boot.js", replace(sources.boot.clone(), &borrowed(&loaded))?);
    let links: Vec<_> = sources
        .assets
        .keys()
        .filter_map(|name| {
            Some((
                format!("../assets/{name}"),
                format!("./{}", package.hashed(name)?),
            ))
        })
        .collect();
    let style = replace(sources.style.clone(), &borrowed(&links))?;
    package.add("main.css", style);
    package.add("pages.json", pages::manifest(bundles, &package)?);
    Ok(package)
}

fn borrowed(names: &[(String, String)]) -> Vec<(&str, &str)> {
    names
        .iter()
        .map(|(from, to)| (from.as_str(), to.as_str()))
        .collect()
}

fn replace(bytes: Vec<u8>, names: &[(&str, &str)]) -> Result<Vec<u8>> {
    let mut text = String::from_utf8(bytes).context("a script or stylesheet is not UTF-8")?;
    for (from, to) in names {
        text = text.replace(from, to);
    }
    Ok(text.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources() -> Sources {
        Sources {
            boot: b"import init from './app.js'; init('./app_bg.wasm'); import('./vendor/editor.js'); \
                    fetch('./languages/de.json')"
                .to_vec(),
            style: b"a { background: url(../assets/mark.svg) }".to_vec(),
            assets: BTreeMap::from([
                ("mark.svg".to_owned(), b"<svg/>".to_vec()),
                ("vendor/editor.js".to_owned(), b"export {}".to_vec()),
            ]),
            languages: BTreeMap::from([("languages/de.json".to_owned(), b"{}".to_vec())]),
        }
    }

    fn bundles() -> BTreeMap<String, Vec<String>> {
        pages::tests::chunks()
    }

    fn chunks() -> BTreeMap<String, Vec<u8>> {
        let later = [("later.wasm".to_owned(), b"\0asm later".to_vec())];
        let of_pages = bundles().into_values().flatten();
        of_pages
            .map(|name| (name, b"\0asm".to_vec()))
            .chain(later)
            .collect()
    }

    fn glue() -> BTreeMap<String, Vec<u8>> {
        BTreeMap::from([
            (
                "app.js".to_owned(),
                b"new URL('app_bg.wasm', import.meta.url); new URL('./later.wasm', import.meta.url)".to_vec(),
            ),
            ("app_bg.wasm".to_owned(), b"\0asm".to_vec()),
            ("snippets/x/inline0.js".to_owned(), b"export {}".to_vec()),
        ])
    }

    #[test]
    fn files_name_each_other_by_their_hashed_names() {
        let folder = tempfile::tempdir().unwrap();
        let package = assemble(glue(), chunks(), &bundles(), &sources()).unwrap();
        package.write(folder.path()).unwrap();
        let hashed = |plain| package.hashed(plain).unwrap().to_owned();
        let text = |plain| fs::read_to_string(folder.path().join(hashed(plain))).unwrap();

        assert!(text("boot.js").contains(&format!("'./{}'", hashed("app.js"))));
        assert!(text("boot.js").contains(&format!("'./{}'", hashed("app_bg.wasm"))));
        assert!(text("boot.js").contains(&format!("'./{}'", hashed("vendor/editor.js"))));
        assert!(text("boot.js").contains(&format!("'./{}'", hashed("languages/de.json"))));
        assert!(text("app.js").contains(&hashed("app_bg.wasm")));
        assert!(text("app.js").contains(&hashed("later.wasm")));
        assert!(text("pages.json").contains(&hashed("split_tools_pages.wasm")));
        assert!(text("main.css").contains(&format!("url(./{})", hashed("mark.svg"))));
        assert_eq!(hashed("snippets/x/inline0.js"), "snippets/x/inline0.js");
    }

    #[test]
    fn any_changed_input_changes_the_stamp() {
        let first = stamp(b"1", &sources());
        assert_eq!(first, stamp(b"1", &sources()));
        assert_ne!(first, stamp(b"2", &sources()));
        let mut other = sources();
        other.assets.insert("b.svg".to_owned(), Vec::new());
        assert_ne!(first, stamp(b"1", &other));
        let mut other = sources();
        other.languages.clear();
        assert_ne!(first, stamp(b"1", &other));
    }

    #[test]
    fn incomplete_glue_is_an_error() {
        assert!(assemble(BTreeMap::new(), chunks(), &bundles(), &sources()).is_err());
    }
}
