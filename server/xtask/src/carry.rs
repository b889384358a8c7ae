//! Small parts of the divided dashboard travel in the module of each family that needs them: some thirty requests for a few
//! hundred bytes each keep a browser busy for longer than what they bring.
//!
//! A family's module carries them as custom sections with their names. What is large stays a file of its own, which browsers
//! load once for all families.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use wasm_encoder::{CustomSection, Section};

/// Bytes, not compressed, up to which a part travels along.
const SMALL: usize = 16 * 1024;
/// Where the loader of a family begins in the script, followed by the family's name.
const FAMILY: &str = "const __wasm_split_load_";
/// Where it ends.
const END: &str = "]));";
/// What stands before the first loader, and after the functions that they call.
const LOADERS: &str = "/* ";

/// Added to the script: it takes what a module carries from the module that is being loaded. Nothing else runs between the
/// beginning of a family's loading and that of its parts.
const CARRY: &str = "let carrier;
function carry(fetcher, load) {
    let loading;
    return () => {
        if (loading === undefined) {
            carrier = fetcher();
            carrier.catch(() => {});
            loading = load();
            loading.catch(() => (loading = undefined));
        }
        return loading;
    };
}
";

/// Puts the small parts into the modules of their families; returns the loader that takes them from there.
pub(crate) fn small_parts(parts: &mut BTreeMap<String, Vec<u8>>, loader: &str) -> Result<String> {
    let mut script = loader.to_owned();
    let mut carried = BTreeMap::new();
    for start in loader.match_indices(FAMILY).map(|(at, _)| at + FAMILY.len()) {
        let statement = &loader[start..];
        let end = statement.find(END).context("a loader has no end")?;
        let statement = &statement[..end + END.len()];
        let (family, _) = statement.split_once(" = ").context("a loader has no name")?;
        let (_, needed) = statement
            .split_once("}\n, [")
            .context("a loader names no parts")?;
        let needed = needed.trim_end_matches(END);
        let file = format!("split_{family}.wasm");
        let mut module = parts.get(&file).context("a family has no module")?.clone();
        for chunk in needed.split(", ").filter_map(|name| name.strip_prefix("__")) {
            let part = format!("{chunk}.wasm");
            if let Some(data) = parts.get(&part).filter(|data| data.len() <= SMALL) {
                let section = CustomSection {
                    name: chunk.into(),
                    data: data.into(),
                };
                section.append_to(&mut module);
                carried.insert(part, chunk.to_owned());
            }
        }
        parts.insert(file.clone(), module);
        script = script.replace(statement, &carrying(statement, &file)?);
    }
    for (part, chunk) in &carried {
        parts.remove(part);
        let taken = format!("WebAssembly.Module.customSections(await src, \"{chunk}\")[0]");
        script = swap(&script, &streamed(part), &from_carrier(&taken))?;
    }
    let at = script.find(LOADERS).context("the script has no loaders")?;
    script.insert_str(at, CARRY);
    Ok(script)
}

/// The loader of a family whose module carries parts.
fn carrying(statement: &str, file: &str) -> Result<String> {
    let module =
        format!("carry(() => WebAssembly.compileStreaming(fetch(new URL(\"./{file}\", import.meta.url))), ");
    let statement = swap(statement, &streamed(file), &from_carrier("await src"))?;
    let statement = swap(&statement, "wrapAsyncCb(", &format!("wrapAsyncCb({module}"))?;
    swap(&statement, END, "])));")
}

/// How the script loads a file of its own.
fn streamed(file: &str) -> String {
    format!(
        "    const src = fetch(new URL(\"./{file}\", import.meta.url));\n    src.catch(() => {{}});\n    \
         return async (imports) => (WebAssembly.instantiateStreaming(src, imports));\n"
    )
}

/// How the script makes an instance of something that came with the module that is being loaded.
fn from_carrier(source: &str) -> String {
    format!(
        "    const src = carrier;\n    return async (imports) => (WebAssembly.instantiate({source}, imports));\n"
    )
}

fn swap(text: &str, from: &str, to: &str) -> Result<String> {
    let (before, after) = text
        .split_once(from)
        .with_context(|| format!("the loader is written in an unknown way: it lacks {from}"))?;
    Ok(format!("{before}{to}{after}"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use wasmparser::{Parser, Payload};

    use super::{SMALL, small_parts, streamed};

    fn loader() -> String {
        let load = |file: &str| streamed(file);
        format!(
            "function makeLoad(fetcher, deps) {{}}\n/* a_pages, b_pages */\nconst __chunk_7 = makeLoad(() => {{\n{}}}\n, []);\n\
             /* a_pages, b_pages */\nconst __chunk_8 = makeLoad(() => {{\n{}}}\n, []);\n\
             export const __wasm_split_load_a_pages = wrapAsyncCb(makeLoad(() => {{\n{}}}\n, [__chunk_7, __chunk_8]));\n\
             export const __wasm_split_load_b_pages = wrapAsyncCb(makeLoad(() => {{\n{}}}\n, [__chunk_7]));\n",
            load("chunk_7.wasm"),
            load("chunk_8.wasm"),
            load("split_a_pages.wasm"),
            load("split_b_pages.wasm"),
        )
    }

    fn sections(module: &[u8]) -> Vec<(String, Vec<u8>)> {
        let parsed = Parser::new(0).parse_all(module).map(Result::unwrap);
        parsed
            .filter_map(|payload| match payload {
                Payload::CustomSection(section) => Some((section.name().to_owned(), section.data().to_vec())),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn small_parts_are_in_the_modules_of_all_their_families() {
        let module = wasm_encoder::Module::new().finish();
        let large = vec![0; SMALL + 1];
        let mut parts = BTreeMap::from([
            ("chunk_7.wasm".to_owned(), b"seven".to_vec()),
            ("chunk_8.wasm".to_owned(), large),
            ("split_a_pages.wasm".to_owned(), module.clone()),
            ("split_b_pages.wasm".to_owned(), module),
        ]);
        let script = small_parts(&mut parts, &loader()).unwrap();
        let names: Vec<_> = parts.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            ["chunk_8.wasm", "split_a_pages.wasm", "split_b_pages.wasm"]
        );
        for family in ["split_a_pages.wasm", "split_b_pages.wasm"] {
            assert_eq!(
                sections(&parts[family]),
                [("chunk_7".to_owned(), b"seven".to_vec())]
            );
            let fetched = format!("carry(() => WebAssembly.compileStreaming(fetch(new URL(\"./{family}\",");
            assert!(script.contains(&fetched), "{script}");
        }
        assert!(!script.contains("chunk_7.wasm"), "{script}");
        assert!(
            script.contains("customSections(await src, \"chunk_7\")"),
            "{script}"
        );
        assert!(script.contains(&streamed("chunk_8.wasm")), "{script}");
        assert!(script.contains("}\n, [__chunk_7, __chunk_8])));\n"), "{script}");
        assert!(
            script.find("let carrier").unwrap() < script.find("const __chunk_7").unwrap(),
            "{script}"
        );
    }

    #[test]
    fn a_loader_of_another_kind_is_an_error() {
        let mut parts = BTreeMap::from([("split_a_pages.wasm".to_owned(), Vec::new())]);
        assert!(small_parts(&mut parts, "nothing").is_err());
        let other =
            "/* */\nexport const __wasm_split_load_a_pages = wrapAsyncCb(makeLoad(() => import(1)}\n, []));";
        assert!(small_parts(&mut parts, other).is_err());
    }
}
