//! Divides the compiled dashboard at its split points: what every page needs, and what browsers load later.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use wasm_encoder::{Module, RawSection};
use wasmparser::{Parser, Payload};

/// The script that loads the chunks, as the divided module imports it.
const LOADER: &str = "./__wasm_split.js";
/// The glue that starts the module; the loader takes the module's exports from it.
const GLUE: &str = "./app.js";

/// A divided module.
pub(crate) struct Divided {
    /// What is loaded at the start, still to be given its glue.
    pub(crate) main: Vec<u8>,
    /// What is loaded later, by file name.
    pub(crate) chunks: BTreeMap<String, Vec<u8>>,
    /// The files of every split point, in the order in which they are needed, its own last.
    pub(crate) bundles: BTreeMap<String, Vec<String>>,
    /// The loader.
    pub(crate) loader: String,
}

/// Divides a module that was linked with its relocations.
pub(crate) fn divide(module: &[u8], folder: &Path) -> Result<Divided> {
    let main = folder.join("main.wasm");
    let mut options = wasm_split_cli_support::Options::new(module);
    options.output_dir = folder;
    options.main_out_path = &main;
    options.link_name = LOADER;
    options.main_module = GLUE;
    let split = wasm_split_cli_support::transform(options)
        .map_err(|error| anyhow!("the module cannot be divided: {error:#}"))?;
    let mut chunks = BTreeMap::new();
    for path in split.split_modules {
        let name = path.file_name().context("a chunk has no name")?;
        let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        chunks.insert(name.to_string_lossy().into_owned(), without_names(&bytes)?);
    }
    let loader = fs::read_to_string(folder.join(LOADER)).context("there is no loader for the chunks")?;
    let main = fs::read(&main).context("the divided module has no main part")?;
    let bundles = split
        .prefetch_map
        .into_iter()
        .map(|(name, files)| (name, files.iter().map(|file| format!("{file}.wasm")).collect()))
        .collect();
    Ok(Divided {
        main,
        chunks,
        bundles,
        loader,
    })
}

/// The module without its custom sections: names of functions, and the like, which browsers do not need.
fn without_names(module: &[u8]) -> Result<Vec<u8>> {
    let mut kept = Module::new();
    for payload in Parser::new(0).parse_all(module) {
        let payload = payload.context("a part of the module is broken")?;
        if matches!(payload, Payload::CustomSection(_)) {
            continue;
        }
        if let Some((id, range)) = payload.as_section() {
            let range = usize::try_from(range.start)?..usize::try_from(range.end)?;
            let data = module.get(range).context("a part of the module is cut off")?;
            kept.section(&RawSection { id, data });
        }
    }
    Ok(kept.finish())
}

/// Puts the loader into the glue. The two import each other, so neither could be named by the hash of its content while
/// they are files of their own.
pub(crate) fn join(glue: &str, loader: &str) -> Result<String> {
    let (imports, glue): (Vec<_>, Vec<_>) = glue
        .lines()
        .partition(|line| line.starts_with("import ") && line.contains(LOADER));
    let names = imports
        .iter()
        .map(|import| {
            let name = import.strip_prefix("import * as ")?.split_once(' ')?.0;
            Some(name)
        })
        .collect::<Option<Vec<_>>>()
        .filter(|names| !names.is_empty())
        .with_context(|| format!("the glue imports the loader in an unknown way: {imports:?}"))?;
    let body: String = loader
        .lines()
        .filter(|line| !line.starts_with("import "))
        .map(|line| line.strip_prefix("export ").unwrap_or(line).to_owned() + "\n")
        .collect();
    let exported: Vec<_> = loader
        .lines()
        .filter_map(|line| line.strip_prefix("export const "))
        .filter_map(|rest| rest.split_once(' '))
        .map(|(name, _)| name)
        .collect();
    let exported = exported.join(", ");
    let objects: String = names
        .into_iter()
        .map(|name| format!("const {name} = {{ {exported} }};\n"))
        .collect();
    Ok(format!("{}\n{body}{objects}", glue.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::{join, without_names};
    use wasm_encoder::{CustomSection, MemorySection, MemoryType, Module};

    #[test]
    fn the_loader_moves_into_the_glue() {
        let glue = "import * as import1 from \"./__wasm_split.js\"\nimport * as import2 from \"./__wasm_split.js\"\nuse(import1);\nexport { initSync };\n";
        let loader = "import { initSync } from \"./app.js\";\n\nfunction load() {}\nexport const part = load(new URL(\"./part.wasm\"));\n";
        let joined = join(glue, loader).unwrap();
        assert!(
            !joined.contains("import *") && !joined.contains("import {"),
            "{joined}"
        );
        assert!(joined.contains("\nconst part = load("), "{joined}");
        for name in ["import1", "import2"] {
            assert!(
                joined.contains(&format!("const {name} = {{ part }};")),
                "{joined}"
            );
        }
        assert!(join("nothing", loader).is_err());
        assert!(join("import { a } from \"./__wasm_split.js\"", loader).is_err());
    }

    #[test]
    fn names_are_left_out() {
        let mut memories = MemorySection::new();
        memories.memory(MemoryType {
            minimum: 1,
            maximum: None,
            memory64: false,
            shared: false,
            page_size_log2: None,
        });
        let mut plain = Module::new();
        plain.section(&memories);
        let mut named = Module::new();
        named.section(&memories);
        named.section(&CustomSection {
            name: "name".into(),
            data: b"\0".as_slice().into(),
        });
        assert_eq!(without_names(&named.finish()).unwrap(), plain.finish());
        assert!(without_names(b"no module").is_err());
    }
}
