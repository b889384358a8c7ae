//! Divides the compiled dashboard at its split points: what every page needs, and what browsers load later.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use wasm_encoder::reencode::{self, Reencode};
use wasm_encoder::{Module, TypeSection};
use wasmparser::{CustomSectionReader, Parser, TypeSectionReader};

use crate::pack;

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
        chunks.insert(name.to_string_lossy().into_owned(), slimmed(&bytes)?);
    }
    let loader = fs::read_to_string(folder.join(LOADER)).context("there is no loader for the chunks")?;
    let main = fs::read(&main).context("the divided module has no main part")?;
    let bundles = split
        .prefetch_map
        .into_iter()
        .map(|(name, files)| (name, files.iter().map(|file| format!("{file}.wasm")).collect()))
        .collect();
    let mut divided = Divided {
        main,
        chunks,
        bundles,
        loader,
    };
    pack::pack(&mut divided)?;
    Ok(divided)
}

/// The module with those types only that it uses, and without its custom sections. The divider copies the types of the whole
/// dashboard into every chunk, of which a page loads more than a hundred.
fn slimmed(module: &[u8]) -> Result<Vec<u8>> {
    let mut used = UsedTypes::default();
    used.parse_core_module(&mut Module::new(), Parser::new(0), module)
        .map_err(|error| anyhow!("a part of the module is broken: {error}"))?;
    let mut slim = Module::new();
    Slimmed(used.0.into_iter().collect())
        .parse_core_module(&mut slim, Parser::new(0), module)
        .map_err(|error| anyhow!("the module cannot be written: {error}"))?;
    Ok(slim.finish())
}

/// Finds the types that a module uses.
#[derive(Default)]
struct UsedTypes(BTreeSet<u32>);

impl Reencode for UsedTypes {
    type Error = Infallible;

    fn type_index(&mut self, ty: u32) -> Result<u32, reencode::Error> {
        self.0.insert(ty);
        Ok(ty)
    }

    fn parse_type_section(
        &mut self,
        _types: &mut TypeSection,
        _section: TypeSectionReader<'_>,
    ) -> Result<(), reencode::Error> {
        Ok(())
    }

    fn parse_custom_section(
        &mut self,
        _module: &mut Module,
        _section: CustomSectionReader<'_>,
    ) -> Result<(), reencode::Error> {
        Ok(())
    }
}

/// Writes a module with some of its types, in their order. They are those of functions, which refer to no others.
struct Slimmed(Vec<u32>);

impl Reencode for Slimmed {
    type Error = Infallible;

    fn type_index(&mut self, ty: u32) -> Result<u32, reencode::Error> {
        let at = self.0.binary_search(&ty).unwrap_or_default();
        Ok(u32::try_from(at).unwrap_or_default())
    }

    fn parse_type_section(
        &mut self,
        types: &mut TypeSection,
        section: TypeSectionReader<'_>,
    ) -> Result<(), reencode::Error> {
        for (at, group) in (0..).zip(section) {
            let group = group?;
            if self.0.binary_search(&at).is_ok() {
                self.parse_recursive_type_group(types.ty(), group)?;
            }
        }
        Ok(())
    }

    fn parse_custom_section(
        &mut self,
        _module: &mut Module,
        _section: CustomSectionReader<'_>,
    ) -> Result<(), reencode::Error> {
        Ok(())
    }
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
    // A comment on each chunk names the parts that need it: a fifth of the file.
    let is_comment = |line: &str| line.starts_with("/* ") && line.ends_with(" */");
    let body: String = loader
        .lines()
        .filter(|line| !line.starts_with("import ") && !is_comment(line))
        .map(|line| line.strip_prefix("export ").unwrap_or(line).to_owned() + "\n")
        .collect();
    let exported: Vec<_> = loader
        .lines()
        .filter_map(|line| line.strip_prefix("export const "))
        .filter_map(|rest| rest.split_once(' '))
        .map(|(name, _)| name)
        .collect();
    // All names stand for the same.
    let (first, others) = names.split_first().context("no name")?;
    let mut objects = format!("const {first} = {{ {} }};\n", exported.join(", "));
    objects.extend(others.iter().map(|name| format!("const {name} = {first};\n")));
    Ok(format!("{}\n{body}{objects}", glue.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::{join, slimmed};
    use wasm_encoder::{CodeSection, CustomSection, Function, FunctionSection, Module, TypeSection, ValType};

    #[test]
    fn the_loader_moves_into_the_glue() {
        let glue = "import * as import1 from \"./__wasm_split.js\"\nimport * as import2 from \"./__wasm_split.js\"\nuse(import1);\nexport { initSync };\n";
        let loader = "import { initSync } from \"./app.js\";\n\nfunction load() {}\n/* one, other */\nexport const part = load(new URL(\"./part.wasm\"));\n";
        let joined = join(glue, loader).unwrap();
        assert!(
            !joined.contains("import *") && !joined.contains("import {"),
            "{joined}"
        );
        assert!(joined.contains("\nconst part = load("), "{joined}");
        assert!(!joined.contains("/*"), "{joined}");
        let objects = "const import1 = { part };\nconst import2 = import1;\n";
        assert!(joined.ends_with(objects), "{joined}");
        assert!(join("nothing", loader).is_err());
        assert!(join("import { a } from \"./__wasm_split.js\"", loader).is_err());
    }

    /// A module of a function of each of these types: so many parameters.
    fn module(types: &[usize], function: u32, name: Option<&[u8]>) -> Vec<u8> {
        let mut section = TypeSection::new();
        for &parameters in types {
            section.ty().function(vec![ValType::I32; parameters], []);
        }
        let mut functions = FunctionSection::new();
        functions.function(function);
        let mut code = CodeSection::new();
        let mut body = Function::new([]);
        body.instructions().end();
        code.function(&body);
        let mut module = Module::new();
        module.section(&section).section(&functions).section(&code);
        if let Some(data) = name {
            module.section(&CustomSection {
                name: "name".into(),
                data: data.into(),
            });
        }
        module.finish()
    }

    #[test]
    fn names_and_unused_types_are_left_out() {
        let whole = module(&[0, 1, 2, 3], 2, Some(b"\0"));
        assert_eq!(slimmed(&whole).unwrap(), module(&[2], 0, None));
        assert!(slimmed(b"no module").is_err());
    }
}
