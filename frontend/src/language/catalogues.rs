//! Every text of the dashboard has a translation in every catalogue, and every translation fits its text.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use toolgate_api::tool_types::{ALL, COMMON, definition_schema, schema};

/// The functions and the macro whose first argument is a text.
const MARKS: [&str; 3] = ["t", "marked", "tf"];

/// Names and codes, which are the same in each language.
const NAMES: [&str; 4] = ["Toolgate", "CSV", "JSONL", "egress_denied"];

/// What the sources of the dashboard say.
#[derive(Default)]
struct Found {
    /// The texts, with where the first of each is.
    texts: BTreeMap<String, String>,
    /// Words between tags that are not translated.
    bare: Vec<String>,
    /// All literals.
    literals: BTreeSet<String>,
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        match path.extension() {
            None => sources(&path, found),
            Some(extension) if extension == "rs" && !path.ends_with("language/catalogues.rs") => {
                found.push(path);
            }
            Some(_) => {}
        }
    }
}

fn read() -> Found {
    let mut found = Found::default();
    let mut files = Vec::new();
    sources(&folder("src"), &mut files);
    for file in files {
        let text = fs::read_to_string(&file).expect("a source");
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let tokens: TokenStream = text
            .parse()
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        walk(tokens, &file.display().to_string(), false, &mut found);
    }
    found
}

fn walk(tokens: TokenStream, file: &str, in_view: bool, found: &mut Found) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        found.literals.extend(literal(token));
        let before = |back: usize| {
            at.checked_sub(back)
                .map(|at| tokens[at].to_string())
                .unwrap_or_default()
        };
        match token {
            TokenTree::Group(group) => {
                let is_macro = before(1) == "!";
                let name = if is_macro { before(2) } else { before(1) };
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                let mut put = |text: String| {
                    found.texts.entry(text).or_insert_with(|| file.to_owned());
                };
                if group.delimiter() == Delimiter::Parenthesis
                    && MARKS.contains(&name.as_str())
                    && before(2) != "fn"
                    && let Some(text) = inner.first().and_then(literal)
                {
                    put(text);
                }
                if name == "counted"
                    && let Some(text) = inner.iter().rev().find_map(literal)
                {
                    put(format!("{text}s"));
                    put(text);
                }
                let is_view = is_macro && name == "view";
                // What is in braces or parentheses between tags is code.
                walk(group.stream(), file, is_view, found);
            }
            TokenTree::Literal(_) if in_view => {
                let is_node =
                    before(1) != "=" && (before(1) != ">" || !["=", "-"].contains(&before(2).as_str()));
                if is_node
                    && let Some(text) = literal(token)
                    && text.chars().filter(|c| c.is_alphabetic()).count() > 1
                    && !NAMES.contains(&text.as_str())
                {
                    found.bare.push(format!("{file}: {text:?}"));
                }
            }
            _ => {}
        }
    }
}

fn literal(token: &TokenTree) -> Option<String> {
    match token {
        TokenTree::Literal(_) => syn::parse_str::<syn::LitStr>(&token.to_string())
            .ok()
            .map(|text| text.value()),
        // What a macro has passed on.
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
            group.stream().into_iter().next().as_ref().and_then(literal)
        }
        _ => None,
    }
}

/// The catalogues by their language, as they are written.
fn catalogues() -> Vec<(String, Vec<(String, String)>)> {
    let files = fs::read_dir(folder("languages")).expect("the catalogues");
    files
        .map(|entry| {
            let path = entry.expect("an entry").path();
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            let text = fs::read_to_string(&path).expect("a catalogue");
            let read: serde_json::Map<String, serde_json::Value> =
                serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
            let texts = read.into_iter().map(|(english, translation)| {
                let translation = translation
                    .as_str()
                    .unwrap_or_else(|| panic!("{name}: {english:?} is no text"));
                (english, translation.to_owned())
            });
            let texts = texts.collect();
            (name, texts)
        })
        .collect()
}

/// The names in braces.
fn names(template: &str) -> BTreeSet<&str> {
    let parts = template
        .split('{')
        .skip(1)
        .filter_map(|part| part.split_once('}'));
    let is_name = |name: &&str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    parts.map(|(name, _)| name).filter(is_name).collect()
}

/// The texts of forms that the API says: of the types of tools, and of the schema of definitions.
fn texts_of_forms() -> BTreeSet<String> {
    let mut texts = BTreeSet::new();
    let of_schema = |schema: &serde_json::Value, texts: &mut BTreeSet<String>| {
        let mut open = vec![schema.clone()];
        while let Some(value) = open.pop() {
            match value {
                serde_json::Value::Object(members) => {
                    let text = members.get("description").and_then(serde_json::Value::as_str);
                    texts.extend(text.map(str::to_owned));
                    open.extend(members.into_iter().map(|(_, value)| value));
                }
                serde_json::Value::Array(items) => open.extend(items),
                _ => {}
            }
        }
    };
    of_schema(&definition_schema(), &mut texts);
    of_schema(&schema(COMMON.iter()), &mut texts);
    for kind in ALL {
        texts.insert(kind.title.to_owned());
        of_schema(&kind.form(), &mut texts);
    }
    texts
}

/// The titles of pages: the second text of each row of their table.
fn titles() -> BTreeSet<String> {
    let table = fs::read_to_string(folder("src/page_table.rs")).expect("the table of pages");
    let rows = table
        .lines()
        .filter(|line| line.contains(" => ") && line.contains(" = \""));
    let titles: BTreeSet<String> = rows
        .filter_map(|row| Some(row.split('"').nth(3)?.to_owned()))
        .filter(|title| !title.contains('`'))
        .collect();
    assert!(titles.contains("Overview"), "{titles:?}");
    titles
}

/// What the scripts of the editor and the charts translate.
fn texts_of_scripts() -> BTreeSet<String> {
    let mut texts = BTreeSet::new();
    for entry in fs::read_dir(folder("vendor/src")).expect("the scripts") {
        let text = fs::read_to_string(entry.expect("an entry").path()).expect("a script");
        let marked = [" t('", "(t('", "translate?.('"]
            .into_iter()
            .flat_map(|mark| text.split(mark).skip(1));
        texts.extend(marked.filter_map(|rest| Some(rest.split_once('\'')?.0.to_owned())));
    }
    assert!(texts.contains("Find"), "{texts:?}");
    texts
}

/// What the server's pages and the script that starts the dashboard translate.
fn texts_of_pages() -> String {
    let server = folder("../server");
    let templates =
        ["page.html", "shell.html", "sign_in.html"].map(|name| server.join("templates").join(name));
    let sources = [folder("boot.js"), server.join("src/web/pages.rs")];
    let read = |path: PathBuf| {
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    templates.into_iter().chain(sources).map(read).collect()
}

/// Whether a text is set apart from what is before it, and from what is after it.
fn edges(text: &str) -> (bool, bool) {
    (
        text.starts_with([' ', ',', ';', '\u{a0}']),
        text.ends_with([' ', '\u{a0}']),
    )
}

#[test]
fn every_text_is_translated() {
    let mut found = read();
    assert!(
        found.texts.len() > 1_000,
        "the texts are found: {}",
        found.texts.len()
    );
    for (from, texts) in [
        ("the forms of the API", texts_of_forms()),
        ("the table of pages", titles()),
        ("the scripts", texts_of_scripts()),
    ] {
        found
            .texts
            .extend(texts.into_iter().map(|text| (text, from.to_owned())));
    }
    for (language, catalogue) in catalogues() {
        let known: BTreeSet<&str> = catalogue.iter().map(|(english, _)| english.as_str()).collect();
        let missing: Vec<_> = found
            .texts
            .iter()
            .filter(|(text, _)| !known.contains(text.as_str()))
            .map(|(text, file)| format!("{file}: {text:?}"))
            .collect();
        assert!(
            missing.is_empty(),
            "not in {language}.json:\n{}",
            missing.join("\n")
        );
    }
}

#[test]
fn no_translation_is_left_over() {
    let mut literals = read().literals;
    literals.extend(texts_of_forms());
    literals.extend(titles());
    literals.extend(texts_of_scripts());
    let pages = texts_of_pages();
    // A word with a number has a plural.
    let is_used = |text: &str| {
        literals.contains(text)
            || text.strip_suffix('s').is_some_and(|one| literals.contains(one))
            || pages.contains(&format!(">{text}<"))
            || pages.contains(&format!("\"{text}\""))
            || pages.contains(&format!("'{text}'"))
    };
    for (language, catalogue) in catalogues() {
        let unused: Vec<_> = catalogue
            .iter()
            .map(|(text, _)| text)
            .filter(|text| !is_used(text))
            .collect();
        assert!(
            unused.is_empty(),
            "nothing uses these of {language}.json: {unused:#?}"
        );
    }
}

#[test]
fn no_words_of_a_view_are_left_out() {
    let bare = read().bare;
    assert!(bare.is_empty(), "put these into t():\n{}", bare.join("\n"));
}

#[test]
fn a_translation_has_the_names_and_the_edges_of_its_text() {
    for (language, catalogue) in catalogues() {
        for (english, translation) in &catalogue {
            let what = format!("{language}.json: {english:?}");
            assert!(!translation.trim().is_empty(), "{what}");
            assert_eq!(names(english), names(translation), "{what}");
            assert_eq!(edges(english), edges(translation), "{what}");
        }
    }
}

#[test]
fn a_catalogue_is_sorted_and_has_no_text_twice() {
    for (language, catalogue) in catalogues() {
        let texts: Vec<&str> = catalogue.iter().map(|(english, _)| english.as_str()).collect();
        let sorted: BTreeSet<&str> = texts.iter().copied().collect();
        assert!(sorted.into_iter().eq(texts), "sort {language}.json by its keys");
    }
}
