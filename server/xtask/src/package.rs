//! Files as the server sends them: content hash in the name, and smaller copies beside them.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

/// The packaged files by their hashed names, and the way from plain to hashed names.
#[derive(Default)]
pub(crate) struct Package {
    files: BTreeMap<String, Vec<u8>>,
    names: BTreeMap<String, String>,
}

/// A packaged file's size in bytes on disk and on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    /// Uncompressed.
    pub(crate) raw: u64,
    /// Compressed with brotli.
    pub(crate) brotli: u64,
}

impl Package {
    /// Adds a file under its plain name; returns its hashed name.
    pub(crate) fn add(&mut self, plain: &str, bytes: Vec<u8>) -> String {
        let hashed = hashed_name(plain, &bytes);
        self.names.insert(plain.to_owned(), hashed.clone());
        self.files.insert(hashed.clone(), bytes);
        hashed
    }

    /// Adds a file whose name others rely on, without a hash.
    pub(crate) fn add_as_is(&mut self, name: &str, bytes: Vec<u8>) {
        self.names.insert(name.to_owned(), name.to_owned());
        self.files.insert(name.to_owned(), bytes);
    }

    /// The hashed name of a plain one.
    pub(crate) fn hashed(&self, plain: &str) -> Option<&str> {
        self.names.get(plain).map(String::as_str)
    }

    /// Writes every file with its `.br` and `.gz`, and `manifest.json`, into a folder made afresh. It is put in place
    /// in one step, so that a reader never finds half a package.
    pub(crate) fn write(&self, folder: &Path) -> Result<()> {
        let parent = folder.parent().context("the folder has no parent")?;
        fs::create_dir_all(parent)?;
        let beside = || tempfile::Builder::new().prefix("ui-").tempdir_in(parent);
        let (fresh, old) = (beside()?, beside()?);
        self.write_into(fresh.path())?;
        if folder.exists() {
            fs::rename(folder, old.path().join("ui"))
                .with_context(|| format!("cannot replace {}", folder.display()))?;
        }
        fs::rename(fresh.keep(), folder).with_context(|| format!("cannot write {}", folder.display()))
    }

    fn write_into(&self, folder: &Path) -> Result<()> {
        for (name, bytes) in &self.files {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap_or(folder))?;
            fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
            fs::write(suffixed(&path, ".br"), brotli(bytes)?)?;
            fs::write(suffixed(&path, ".gz"), gzip(bytes)?)?;
        }
        let manifest = serde_json::to_string_pretty(&self.names)?;
        fs::write(folder.join("manifest.json"), manifest + "\n").context("cannot write the manifest")
    }
}

/// The sizes of a packaged folder's files, by plain name, as its manifest lists them.
pub(crate) fn sizes(folder: &Path) -> Result<BTreeMap<String, Size>> {
    let manifest = fs::read_to_string(folder.join("manifest.json"))
        .with_context(|| format!("{} has no manifest: run `cargo xtask ui`", folder.display()))?;
    let names: BTreeMap<String, String> =
        serde_json::from_str(&manifest).context("the manifest is broken")?;
    let length = |path: &Path| fs::metadata(path).map(|meta| meta.len());
    names
        .into_iter()
        .map(|(plain, hashed)| {
            let path = folder.join(&hashed);
            let size = Size {
                raw: length(&path)?,
                brotli: length(&suffixed(&path, ".br"))?,
            };
            Ok((plain, size))
        })
        .collect()
}

fn suffixed(path: &Path, suffix: &str) -> std::path::PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// `folder/app.js` becomes `folder/app.<hash>.js`; the hash is the first 16 hexadecimal digits of SHA-256.
fn hashed_name(plain: &str, bytes: &[u8]) -> String {
    let hash = hash(&[bytes]);
    let short = &hash[..16];
    let file_start = plain.rfind('/').map_or(0, |slash| slash + 1);
    match plain[file_start..].rfind('.') {
        Some(dot) => {
            let (stem, extension) = plain.split_at(file_start + dot);
            format!("{stem}.{short}{extension}")
        }
        None => format!("{plain}.{short}"),
    }
}

/// SHA-256 over several parts, in hexadecimal; each part's length goes in, so that parts cannot run together.
pub(crate) fn hash(parts: &[&[u8]]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        if parts.len() > 1 {
            hasher.update(part.len().to_le_bytes());
        }
        hasher.update(part);
    }
    hasher
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn brotli(bytes: &[u8]) -> Result<Vec<u8>> {
    let params = brotli::enc::BrotliEncoderParams {
        quality: 11,
        lgwin: 22,
        ..Default::default()
    };
    let mut output = Vec::new();
    brotli::BrotliCompress(&mut &*bytes, &mut output, &params).context("brotli failed")?;
    Ok(output)
}

fn gzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn the_hash_goes_before_the_extension() {
        let hash = "e3b0c44298fc1c14";
        for (plain, hashed) in [
            ("app.js", format!("app.{hash}.js")),
            ("app_bg.wasm", format!("app_bg.{hash}.wasm")),
            ("snippets/v1.2/inline", format!("snippets/v1.2/inline.{hash}")),
        ] {
            assert_eq!(hashed_name(plain, b""), hashed);
        }
        assert_ne!(hashed_name("a.js", b"1"), hashed_name("a.js", b"2"));
    }

    #[test]
    fn a_written_package_reads_back() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("ui");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("stale.js"), "old").unwrap();
        let text = "body { color: black; }\n".repeat(50);
        let mut package = Package::default();
        let hashed = package.add("main.css", text.clone().into_bytes());
        package.write(&folder).unwrap();

        assert!(!folder.join("stale.js").exists());
        assert_eq!(fs::read_to_string(folder.join(&hashed)).unwrap(), text);
        let mut plain = String::new();
        let compressed = fs::read(folder.join(format!("{hashed}.br"))).unwrap();
        brotli::Decompressor::new(&*compressed, 4096)
            .read_to_string(&mut plain)
            .unwrap();
        assert_eq!(plain, text);
        let mut plain = String::new();
        let compressed = fs::read(folder.join(format!("{hashed}.gz"))).unwrap();
        flate2::read::GzDecoder::new(&*compressed)
            .read_to_string(&mut plain)
            .unwrap();
        assert_eq!(plain, text);
        let sizes = sizes(&folder).unwrap();
        assert_eq!(sizes["main.css"].raw, 1150);
        assert!(sizes["main.css"].brotli < 100);
    }
}
