//! What is chosen of a description, said in the shortest way: by tag, method or path rather than one by one, so that an
//! operation that the API gets later is in it, or not, for a reason.

use std::collections::BTreeSet;

use toolgate_api::imports::{ImportOutcome, ImportedOperation};

use crate::browser::lower;
use crate::language::{t, tf};

/// Most characters that a list in the query may have, and a list of operations.
const LONGEST: usize = 2_000;
const LONGEST_NAMES: usize = 16_000;

/// What no import may be called.
pub(super) const NEW: &str = "new";

/// A selection of operations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Rule {
    /// All of them.
    All,
    /// Those with any of these tags.
    Tags(Vec<String>),
    /// Those with any of these methods.
    Methods(Vec<String>),
    /// Those whose path matches.
    Path(String),
    /// These, by the names of their tools.
    Each(Vec<String>),
}

impl Rule {
    /// The shortest one that chooses just these of all operations; `pattern` is a path pattern that was used to choose.
    pub(super) fn of(all: &[ImportedOperation], chosen: &BTreeSet<String>, pattern: &str) -> Self {
        let possible: Vec<&ImportedOperation> = all.iter().filter(|one| can_be_chosen(one)).collect();
        let is_meant = |one: &&&ImportedOperation| chosen.contains(&one.tool);
        if possible.iter().all(|one| chosen.contains(&one.tool)) {
            return Self::All;
        }
        let is_exact = |is_in: &dyn Fn(&ImportedOperation) -> bool| {
            possible
                .iter()
                .all(|one| is_in(one) == chosen.contains(&one.tool))
        };
        // What may be in a list has no comma; the first of several rules that fit says the most.
        let tags: BTreeSet<&String> = possible
            .iter()
            .filter(is_meant)
            .flat_map(|one| &one.tags)
            .collect();
        let whole = tags.into_iter().filter(|tag| {
            let mut with = possible.iter().filter(|one| one.tags.contains(tag));
            !tag.contains(',') && tag.trim() == tag.as_str() && with.all(|one| chosen.contains(&one.tool))
        });
        let whole: Vec<String> = whole.cloned().collect();
        if !whole.is_empty() && is_exact(&|one| one.tags.iter().any(|tag| whole.contains(tag))) {
            return Self::Tags(whole);
        }
        let methods: BTreeSet<&String> = possible.iter().filter(is_meant).map(|one| &one.method).collect();
        if !methods.is_empty() && is_exact(&|one| methods.contains(&one.method)) {
            return Self::Methods(methods.into_iter().cloned().collect());
        }
        if !pattern.is_empty() && !pattern.contains(',') && is_exact(&|one| fits(pattern, &one.path)) {
            return Self::Path(pattern.to_owned());
        }
        Self::Each(
            possible
                .iter()
                .filter(is_meant)
                .map(|one| one.tool.clone())
                .collect(),
        )
    }

    /// The parameter of the query that says it; nothing for everything.
    pub(super) fn query(&self) -> Option<(&'static str, String)> {
        Some(match self {
            Self::All => return None,
            Self::Tags(tags) => ("tag", tags.join(",")),
            Self::Methods(methods) => ("method", methods.join(",")),
            Self::Path(pattern) => ("path", pattern.clone()),
            Self::Each(tools) => ("operation_id", tools.join(",")),
        })
    }

    /// What it means for operations that the API gets later, or why it cannot be sent.
    pub(super) fn summary(&self) -> String {
        if self.is_too_long() {
            return t("These are too many to be named in one import. Choose fewer tags, a method, or a path pattern; or choose all, and delete the tools that you do not want.").to_owned();
        }
        match self {
            Self::All => {
                t("Operations that the API gets later become tools when you import it again.").to_owned()
            }
            Self::Tags(tags) => tf!(
                "Later operations with the tags {tags} become tools too.",
                tags = tags.join(", ")
            ),
            Self::Methods(methods) => tf!(
                "Later {methods} operations become tools too.",
                methods = methods.join(t(" and "))
            ),
            Self::Path(pattern) => tf!("Later operations below {pattern} become tools too.", pattern),
            Self::Each(_) => {
                t("Operations that the API gets later are left out until you choose them.").to_owned()
            }
        }
    }

    /// Whether the server would refuse it for its length.
    pub(super) fn is_too_long(&self) -> bool {
        let longest = match self {
            Self::Each(_) => LONGEST_NAMES,
            _ => LONGEST,
        };
        self.query()
            .is_some_and(|(_, list)| list.chars().count() > longest)
    }
}

/// Whether an operation can become a tool at all.
pub(super) fn can_be_chosen(one: &ImportedOperation) -> bool {
    one.outcome != ImportOutcome::Refused
}

/// Whether a search finds an operation: a path pattern when it looks like one, else any part of what is shown.
pub(super) fn finds(wanted: &str, one: &ImportedOperation) -> bool {
    if is_pattern(wanted) {
        return fits(wanted, &one.path);
    }
    let wanted = lower(wanted);
    [&one.path, &one.tool, &one.method]
        .into_iter()
        .chain(&one.operation_id)
        .chain(&one.summary)
        .chain(&one.tags)
        .any(|text| lower(text).contains(&wanted))
}

/// Whether a search is a path pattern.
pub(super) fn is_pattern(wanted: &str) -> bool {
    wanted.starts_with('/') && wanted.contains('*')
}

/// Whether a path fits a pattern: `*` is anything within a segment, `**` anything. The time is bounded by the
/// product of their lengths.
fn fits(pattern: &str, path: &str) -> bool {
    let (pattern, path): (Vec<char>, Vec<char>) = (pattern.chars().collect(), path.chars().collect());
    // For every part of the pattern: the places of the path up to which it can reach.
    let mut reached = vec![false; path.len() + 1];
    reached[0] = true;
    let mut at = 0;
    while let Some(letter) = pattern.get(at) {
        let is_wide = *letter == '*' && pattern.get(at + 1) == Some(&'*');
        at += if is_wide { 2 } else { 1 };
        let mut next = vec![false; path.len() + 1];
        for place in 0..=path.len() {
            next[place] = if *letter == '*' {
                reached[place] || (place > 0 && next[place - 1] && (is_wide || path[place - 1] != '/'))
            } else {
                place > 0 && reached[place - 1] && path[place - 1] == *letter
            };
        }
        reached = next;
    }
    reached[path.len()]
}

/// An id made of a title: small letters, digits and single hyphens, a letter first. `new` is the address of the page that
/// imports, so it is no id.
pub(super) fn id_of(title: &str) -> String {
    let mut id = String::new();
    for letter in title.chars().map(|letter| letter.to_ascii_lowercase()) {
        if letter.is_ascii_alphabetic() || (letter.is_ascii_digit() && !id.is_empty()) {
            id.push(letter);
        } else if !id.is_empty() && !id.ends_with('-') {
            id.push('-');
        }
    }
    id.truncate(63);
    match id.trim_end_matches('-') {
        NEW => format!("{NEW}-api"),
        id => id.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;
    use toolgate_api::imports::ImportedOperation;

    use super::{Rule, finds, fits, id_of};

    fn operation(method: &str, path: &str, tags: &[&str], tool: &str, outcome: &str) -> ImportedOperation {
        serde_json::from_value(json!({
            "method": method, "path": path, "pointer": "", "tags": tags, "deprecated": false,
            "tool": tool, "outcome": outcome, "notes": [], "security": []
        }))
        .unwrap()
    }

    fn petstore() -> Vec<ImportedOperation> {
        vec![
            operation("GET", "/pets", &["pets"], "listPets", "new"),
            operation("POST", "/pets", &["pets", "admin"], "addPet", "new"),
            operation("GET", "/pets/{id}", &["pets"], "getPet", "new"),
            operation("GET", "/owners", &["owners"], "listOwners", "new"),
            operation("DELETE", "/owners", &["admin"], "clear", "refused"),
        ]
    }

    fn rule(names: &[&str], pattern: &str) -> Rule {
        let chosen: BTreeSet<String> = names.iter().map(|name| (*name).to_owned()).collect();
        Rule::of(&petstore(), &chosen, pattern)
    }

    #[test]
    fn the_shortest_rule_is_found() {
        let list = |items: &[&str]| items.iter().map(|item| (*item).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            rule(&["listPets", "addPet", "getPet", "listOwners"], ""),
            Rule::All
        );
        assert_eq!(rule(&["addPet"], ""), Rule::Tags(list(&["admin"])));
        assert_eq!(
            rule(&["listPets", "addPet", "getPet"], ""),
            Rule::Tags(list(&["admin", "pets"]))
        );
        assert_eq!(
            rule(&["listPets", "getPet", "listOwners"], ""),
            Rule::Methods(list(&["GET"]))
        );
        assert_eq!(
            rule(&["listPets", "addPet"], "/pet*"),
            Rule::Path("/pet*".to_owned())
        );
        assert_eq!(rule(&["listPets"], "/pets*"), Rule::Each(list(&["listPets"])));
        assert_eq!(rule(&[], ""), Rule::Each(Vec::new()));
    }

    #[test]
    fn a_rule_that_is_too_long_says_so() {
        let many = Rule::Each((0..1_500).map(|at| format!("operation-{at}")).collect());
        assert!(many.is_too_long() && many.summary().contains("too many"));
        assert!(!Rule::All.is_too_long());
        assert_eq!(Rule::All.query(), None);
    }

    #[test]
    fn patterns_fit_as_the_server_reads_them() {
        for (pattern, path, expected) in [
            ("/pets", "/pets", true),
            ("/pets", "/pets/{id}", false),
            ("/pets/*", "/pets/{id}", true),
            ("/pets/*", "/pets/{id}/photos", false),
            ("/pets/**", "/pets/{id}/photos", true),
            ("/*/photos", "/pets/photos", true),
            ("/**/photos", "/a/b/photos", true),
            ("/pé*", "/pété", true),
            ("/pets/*x", "/pets/y", false),
        ] {
            assert_eq!(fits(pattern, path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn searches_find_what_is_shown() {
        let one = operation("GET", "/pets/{id}", &["Animals"], "getPet", "new");
        for (wanted, expected) in [
            ("getpet", true),
            ("animals", true),
            ("get", true),
            ("/pets/*", true),
            ("/own*", false),
            ("owner", false),
        ] {
            assert_eq!(finds(wanted, &one), expected, "{wanted}");
        }
    }

    #[test]
    fn titles_become_ids() {
        assert_eq!(
            id_of("Swagger Petstore - OpenAPI 3.0"),
            "swagger-petstore-openapi-3-0"
        );
        assert_eq!(id_of("  3 Ünicode!"), "nicode");
        assert_eq!(id_of("New"), "new-api");
        assert_eq!(id_of(&"a".repeat(100)).len(), 63);
    }
}
