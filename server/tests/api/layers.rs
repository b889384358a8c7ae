//! Rules of the architecture that a search through the sources can check.

use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

/// Every file below a folder.
fn files_below(root: &Path) -> Vec<PathBuf> {
    let mut folders = vec![root.to_owned()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files
}

/// Every source below a folder of the crate, without white space, by its path in `src`.
fn sources(below: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let dense = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap_or_default();
        let name = path.strip_prefix(&root).expect("below").display().to_string();
        (name, text.split_whitespace().collect())
    };
    files_below(&root.join(below)).into_iter().map(dense).collect()
}

fn with(sources: &[(String, String)], words: &[&str]) -> Vec<String> {
    let has = |text: &String| words.iter().any(|word| text.contains(word));
    let named = sources.iter().filter(|(_, text)| has(text));
    named.map(|(name, _)| name.clone()).collect()
}

/// A record that something else opens can be lost when its client disconnects or the database fails.
#[test]
fn only_the_recorder_writes_records() {
    let writers = with(&sources(""), &["records.open(", "records.complete("]);
    let allowed = |name: &String| {
        name.starts_with("gateway/call/")
            || name.starts_with("gateway/recorded/")
            || name == "gateway/recorded.rs"
    };
    let others: Vec<&String> = writers.iter().filter(|name| !allowed(name)).collect();
    assert_eq!(others, [""; 0], "use `gateway::recorded`");
    assert!(
        writers.iter().any(|name| name == "gateway/recorded.rs"),
        "{writers:?}"
    );
}

/// The use cases serve every entrance, so they know none of them.
#[test]
fn the_use_cases_are_free_of_http() {
    let gateway = sources("gateway");
    assert!(gateway.len() > 50, "the folder is read");
    let http = [
        "axum::",
        "crate::api",
        "crate::extract",
        "crate::serve",
        "crate::state",
        "crate::middleware",
        "crate::mcp",
        "rmcp::",
    ];
    assert_eq!(with(&gateway, &http), [""; 0]);
}

/// A call is decided, recorded and executed in one place, whichever entrance it comes by.
#[test]
fn entrances_call_by_one_door() {
    let api = sources("api");
    assert_eq!(with(&api, &["executors.execute("]), [""; 0]);
    let doors = with(&api, &["call_once("]);
    assert!(doors.iter().any(|name| name == "api/calls.rs"), "{doors:?}");
}

/// The sources of the product, by their folders in the workspace.
const PRODUCT: [&str; 6] = [
    "server/src",
    "server/core/src",
    "server/store/src",
    "server/executors/src",
    "openapi/src",
    "frontend/src",
];

/// `STYLE.md` lists words that make a reader guess. Texts of the product do without them.
#[test]
fn texts_use_plain_words() {
    const VAGUE: [&str; 10] = [
        "whoever", "nobody", "somebody", "anew", "mend", "mended", "mends", "told", "stands", "thereof",
    ];
    let texts = texts_of_product();
    assert!(texts.len() > 1000, "the sources are read");
    assert_eq!(with_words(texts, &VAGUE), [""; 0], "see STYLE.md");
}

/// Comments do without these words too.
#[test]
fn comments_use_plain_words() {
    const VAGUE: [&str; 8] = [
        "whoever", "nobody", "somebody", "anew", "mend", "mended", "mends", "told",
    ];
    /// Written before the rule and not yet rewritten. A folder whose last such word is gone leaves this list.
    const OLDER: [&str; 2] = ["server/src/auth/", "server/src/mcp/"];
    let mut comments = comments_of_product();
    comments.retain(|(name, _)| !OLDER.iter().any(|older| name.starts_with(older)));
    assert!(comments.len() > 1000, "the sources are read");
    assert_eq!(with_words(comments, &VAGUE), [""; 0], "see STYLE.md");
}

/// Those of the texts that have one of the words, with their files.
fn with_words(texts: Vec<(String, String)>, words: &[&str]) -> Vec<String> {
    let has = |text: &String| {
        text.split(|letter: char| !letter.is_alphabetic())
            .any(|word| words.contains(&word.to_lowercase().as_str()))
    };
    let found = texts.into_iter().filter(|(_, text)| has(text));
    found.map(|(name, text)| format!("{name}: {text:?}")).collect()
}

/// The string literals of every product file, on one line each, by the file's path.
fn texts_of_product() -> Vec<(String, String)> {
    let literal = Regex::new(r#""((?:[^"\\]|\\.)*)""#).expect("a pattern");
    let mut texts = Vec::new();
    for (name, line) in lines_of_product() {
        if line.trim_start().starts_with("//") {
            continue;
        }
        let found = literal.captures_iter(&line).map(|found| found[1].to_owned());
        texts.extend(found.map(|text| (name.clone(), text)));
    }
    texts
}

/// The comments of every product file, line by line, by the file's path.
fn comments_of_product() -> Vec<(String, String)> {
    let comment = |line: &str| {
        let whole = line.trim_start().strip_prefix("//");
        let behind_code = || line.split_once(" // ").map(|(_, comment)| comment);
        whole.or_else(behind_code).map(str::to_owned)
    };
    let lines = lines_of_product().into_iter();
    lines
        .filter_map(|(name, line)| comment(&line).map(|comment| (name, comment)))
        .collect()
}

/// The lines of every product file up to its tests, by the file's path in the workspace.
fn lines_of_product() -> Vec<(String, String)> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut lines = Vec::new();
    for path in PRODUCT.iter().flat_map(|root| files_below(&workspace.join(root))) {
        let name = path
            .strip_prefix(&workspace)
            .expect("below")
            .display()
            .to_string();
        if name.contains("/tests/") || name.ends_with("/tests.rs") {
            continue;
        }
        let whole = fs::read_to_string(&path).unwrap_or_default();
        let product = whole.split("#[cfg(test)]").next().unwrap_or_default();
        lines.extend(product.lines().map(|line| (name.clone(), line.to_owned())));
    }
    lines
}
