//! Puts the small chunks of the divided dashboard into one file. A page needs more than a hundred of them, most of a few hundred
//! bytes: one request instead of one each, and together they compress to a third.

use std::collections::BTreeMap;
use std::fmt::Write;

use anyhow::{Context, Result};

use crate::split::Divided;

/// The file.
pub(crate) const PACK: &str = "chunks.bin";
/// Chunks below so many bytes are packed. A page then loads at most some 20 files, and the heaviest page is lighter than without
/// a pack; with larger ones every page would load much that it does not need.
const SMALL: usize = 4_000;
/// How the names of chunks begin that several pages share.
const SHARED: &str = "chunk_";

/// What the loader fetches a packed chunk by. A failed request is made again by the next one who needs it.
const FETCHER: &str = r#"let pack = undefined;
async function fetchPack() {
    const response = await fetch(new URL("./chunks.bin", import.meta.url));
    if (!response.ok) throw new Error(`${response.url}: ${response.status}`);
    return response.arrayBuffer();
}
const packed = (at, length) => () => {
    const src = (pack ??= fetchPack());
    src.catch(() => { pack = undefined; });
    return async (imports) => WebAssembly.instantiate(new Uint8Array(await src, at, length), imports);
};
"#;

/// Packs the small chunks that several pages share: the pack takes their place among the files, and the loader finds them in it.
pub(crate) fn pack(divided: &mut Divided) -> Result<()> {
    let mut bytes = Vec::new();
    let mut places = BTreeMap::new();
    divided.chunks.retain(|name, chunk| {
        let is_small = name.starts_with(SHARED) && chunk.len() < SMALL;
        if is_small {
            places.insert(name.clone(), (bytes.len(), chunk.len()));
            bytes.append(chunk);
        }
        !is_small
    });
    if places.is_empty() {
        return Ok(());
    }
    divided.chunks.insert(PACK.to_owned(), bytes);
    for files in divided.bundles.values_mut() {
        let before = files.len();
        files.retain(|file| !places.contains_key(file));
        if files.len() < before {
            files.insert(0, PACK.to_owned());
        }
    }
    divided.loader = loader(&divided.loader, &places)?;
    Ok(())
}

/// The loader with the fetchers of packed chunks replaced.
fn loader(text: &str, places: &BTreeMap<String, (usize, usize)>) -> Result<String> {
    let mut loader = String::with_capacity(text.len());
    let mut rest = text;
    let begin = "makeLoad(() => {\n    const src = fetch(new URL(\"./";
    let mut found = 0;
    while let Some((before, after)) = rest.split_once(begin) {
        let (name, _) = after.split_once('"').context("a fetcher names no file")?;
        loader += before;
        rest = after;
        match places.get(name) {
            Some((at, length)) => {
                let (_, after) = after.split_once("}\n").context("a fetcher has no end")?;
                write!(loader, "makeLoad(packed({at}, {length})")?;
                rest = after;
                found += 1;
            }
            None => loader += begin,
        }
    }
    anyhow::ensure!(
        found == places.len(),
        "the loader has fetchers for {found} of {} packed chunks",
        places.len()
    );
    Ok(format!("{FETCHER}{loader}{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loads(name: &str) -> String {
        format!(
            "makeLoad(() => {{\n    const src = fetch(new URL(\"./{name}\", import.meta.url));\n    src.catch(() => {{}});\n    \
             return async (imports) => (WebAssembly.instantiateStreaming(src, imports));\n}}\n, []);\n"
        )
    }

    /// Two small shared chunks, a large one, and that of a page.
    fn divided() -> Divided {
        let names = ["chunk_1.wasm", "chunk_2.wasm", "chunk_3.wasm", "split_tools.wasm"];
        let sizes = [3, SMALL, 5, 7];
        let bytes = (0..).zip(sizes).map(|(at, size)| vec![at; size]);
        Divided {
            main: Vec::new(),
            chunks: names.map(str::to_owned).into_iter().zip(bytes).collect(),
            bundles: BTreeMap::from([
                ("tools".to_owned(), names.map(str::to_owned).to_vec()),
                ("plain".to_owned(), vec!["split_plain.wasm".to_owned()]),
            ]),
            loader: names.map(|name| format!("const x = {}", loads(name))).concat(),
        }
    }

    #[test]
    fn small_shared_chunks_come_in_one_file() {
        let mut divided = divided();
        pack(&mut divided).unwrap();
        let files: Vec<_> = divided.chunks.keys().map(String::as_str).collect();
        assert_eq!(files, ["chunk_2.wasm", PACK, "split_tools.wasm"]);
        assert_eq!(divided.chunks[PACK], [0, 0, 0, 2, 2, 2, 2, 2]);
        assert_eq!(
            divided.bundles["tools"],
            [PACK, "chunk_2.wasm", "split_tools.wasm"]
        );
        assert_eq!(divided.bundles["plain"], ["split_plain.wasm"]);
        let loads = [
            "makeLoad(packed(0, 3), []);\n",
            &loads("chunk_2.wasm"),
            "makeLoad(packed(3, 5), []);\n",
            &loads("split_tools.wasm"),
        ];
        let expected = loads.map(|load| format!("const x = {load}")).concat();
        assert_eq!(divided.loader, format!("{FETCHER}{expected}"));
        assert!(FETCHER.contains(PACK));
    }

    #[test]
    fn a_loader_of_another_form_is_an_error() {
        let mut divided = divided();
        divided.loader = "const x = load('./chunk_1.wasm');".to_owned();
        assert!(pack(&mut divided).is_err());
    }
}
