//! The stylesheet: `style/main.css` names its parts, and they travel as one file.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

/// The file that names the parts, in the order in which they count.
const MAIN: &str = "main.css";

/// The parts that `main.css` imports, one after the other. A part that is not imported is an error, so that no rule is
/// forgotten.
pub(crate) fn join(folder: &Path) -> Result<Vec<u8>> {
    let read = |name: &str| {
        let path = folder.join(name);
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    let main = read(MAIN)?;
    let parts: Vec<_> = main.lines().filter_map(imported).collect();
    let mut joined = String::new();
    for part in &parts {
        joined.push_str(&read(part)?);
    }
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name != MAIN && name.ends_with(".css") && !parts.contains(&name.as_str()) {
            bail!("{MAIN} does not import {name}");
        }
    }
    Ok(joined.into_bytes())
}

/// The part that a line imports.
fn imported(line: &str) -> Option<&str> {
    line.strip_prefix("@import \"")?.strip_suffix("\";")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    #[test]
    fn parts_follow_each_other_as_they_are_imported() {
        let main = "/* Parts. */\n@import \"z.css\";\n@import \"a.css\";\n";
        let folder = folder(&[("main.css", main), ("a.css", "a {}\n"), ("z.css", "z {}\n")]);
        assert_eq!(join(folder.path()).unwrap(), b"z {}\na {}\n");
    }

    #[test]
    fn a_part_that_is_missing_or_forgotten_is_an_error() {
        let missing = folder(&[("main.css", "@import \"a.css\";\n")]);
        assert!(join(missing.path()).is_err());
        let forgotten = folder(&[("main.css", ""), ("a.css", "a {}\n")]);
        assert!(join(forgotten.path()).unwrap_err().to_string().contains("a.css"));
    }
}
