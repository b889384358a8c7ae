//! Ranking on a small labelled set, the meaning of scores, and what is never shown.

use chrono::DateTime;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use rstest::rstest;
use serde_json::json;

use super::*;
use crate::policy::evaluation_context::EvaluationContext;
use crate::policy::groups::GroupSet;
use crate::snapshot::LabelInput;
use crate::snapshot::testing::{Draft, anytime, grant, project, strings, tool};

fn described(name: &str, description: &str, parameters: &[(&str, &str)]) -> Draft {
    let properties: serde_json::Map<_, _> = parameters
        .iter()
        .map(|(name, text)| ((*name).to_owned(), json!({"type": "string", "description": text})))
        .collect();
    let mut draft = tool(name).parameters(&json!({"type": "object", "properties": properties}));
    draft.0.definition.description = description.to_owned();
    draft
}

/// Eleven tools as a project has them.
fn library() -> ProjectSnapshot {
    project([
        described(
            "knowledge-query",
            "Answer a question from the knowledge graph.",
            &[("query", "What to look for")],
        )
        .groups(&["knowledge/read", "basic"]),
        described(
            "graph-update",
            "Add or change nodes and edges of the knowledge graph.",
            &[("node", "The node"), ("edge", "The edge")],
        )
        .groups(&["knowledge/write"])
        .states(&["modification"]),
        described(
            "web-search",
            "Search the internet for pages.",
            &[("q", "Search words"), ("num", "How many results")],
        )
        .groups(&["web"]),
        described(
            "read-page",
            "Fetch a web page and return its text as Markdown.",
            &[("url", "Address of the page")],
        )
        .groups(&["web"]),
        described(
            "send-email",
            "Send an e-mail message to a person.",
            &[("to", "Recipient"), ("subject", "Subject line"), ("body", "Text")],
        )
        .groups(&["mail"]),
        described(
            "list-invoices",
            "List the invoices of a customer.",
            &[("customer_id", "The customer")],
        )
        .groups(&["billing/read"]),
        described(
            "create-invoice",
            "Create an invoice for a customer.",
            &[("customer_id", "The customer"), ("amount", "Amount in cents")],
        )
        .groups(&["billing/write"]),
        described(
            "text-completion",
            "Complete a text with a language model.",
            &[("prompt", "The beginning")],
        )
        .groups(&["basic"]),
        described(
            "translate",
            "Translate a text into another language.",
            &[("text", "The text"), ("language", "The target language")],
        )
        .groups(&["basic"]),
        described(
            "forecast-ru",
            "Показывает прогноз погоды для города.",
            &[("город", "Название города")],
        )
        .groups(&["ru"]),
        described("tenki", "都市の天気予報を表示する。", &[("city", "都市の名前")]).groups(&["ja"]),
    ])
}

fn asked<'a>(
    question: &'a str,
    granted: &'a GroupSet,
    evaluation: &'a EvaluationContext<'a>,
) -> RecommendationQuestion<'a> {
    RecommendationQuestion {
        question,
        granted,
        preferred: None,
        state: None,
        evaluation,
        limit: 10,
    }
}

fn names(found: &[Found]) -> Vec<&str> {
    found.iter().map(|found| found.tool.name()).collect()
}

/// The labelled set: for each question the tool that people would pick.
#[rstest]
#[case("What does our knowledge graph know about Ada Lovelace?", "knowledge-query")]
#[case("search the internet for news", "web-search")]
#[case("fetch the text of this web page", "read-page")]
#[case("write an e-mail to Bob", "send-email")]
#[case("which invoices does this customer have", "list-invoices")]
#[case("create a new invoice", "create-invoice")]
#[case("translate this into another language", "translate")]
#[case("complete my text", "text-completion")]
#[case("the target language", "translate")]
#[case("webSearch", "web-search")]
#[case("CUSTOMER_ID amount", "create-invoice")]
#[case("какая погода в городе", "forecast-ru")]
#[case("прогнозы по городам", "forecast-ru")]
#[case("天気予報", "tenki")]
fn the_best_tool_comes_first(#[case] question: &str, #[case] expected: &str) {
    let snapshot = library();
    let index = Index::build(&snapshot);
    let (granted, evaluation) = (grant(&["*"]), anytime());
    let ranking = rank(&snapshot, &index, &asked(question, &granted, &evaluation), |_| 0).unwrap();
    assert_eq!(
        names(&ranking.tools).first().copied(),
        Some(expected),
        "{:?}",
        names(&ranking.tools)
    );
    let best = &ranking.tools[0];
    assert!(best.score > 0.0 && best.score < 1.0);
    assert!(!Index::common_words(question, &best.tool).is_empty());
}

#[test]
fn a_score_is_the_share_of_the_best_possible_match() {
    let snapshot = library();
    let index = Index::build(&snapshot);
    let best = |question: &str| index.search(question).first().map_or(0.0, |found| found.score);
    assert!(best("create invoice") > 0.5, "{}", best("create invoice"));
    let diluted = best("create invoice quantum chromodynamics lattice");
    assert!(
        diluted > 0.0 && diluted < best("create invoice") / 1.5,
        "words that no tool knows lower it: {diluted}"
    );
    assert_eq!(best("quantum chromodynamics"), 0.0);
    assert_eq!(best("--- !!"), 0.0);
    // It is not made relative to the best one, and repeating the question changes nothing.
    assert!((best("create invoice create invoice") - best("create invoice")).abs() < 1e-9);
    assert_eq!(Index::build(&project([])).search("create invoice"), []);
}

#[test]
fn what_cannot_be_called_now_is_listed_apart() {
    let snapshot = library();
    let index = Index::build(&snapshot);
    let (granted, evaluation) = (grant(&["knowledge", "basic"]), anytime());
    let preferred = strings(&["knowledge"]);
    let question = "change nodes of the knowledge graph in another language";
    let ask = |state| {
        let asked = RecommendationQuestion {
            preferred: Some(&preferred),
            state: Some(state),
            ..asked(question, &granted, &evaluation)
        };
        rank(&snapshot, &index, &asked, |_| 0).unwrap()
    };
    let ranking = ask("modification");
    assert_eq!(names(&ranking.tools), ["graph-update", "knowledge-query"]);
    assert_eq!(
        names(&ranking.elsewhere),
        ["translate", "text-completion"],
        "another group"
    );
    let ranking = ask("");
    assert_eq!(names(&ranking.tools), ["knowledge-query"]);
    assert!(
        names(&ranking.elsewhere).contains(&"graph-update"),
        "another state"
    );
    assert_eq!(ranking.elsewhere[0].groups, ["knowledge/write"]);
}

#[test]
fn a_preferred_group_that_was_not_granted_is_refused() {
    let snapshot = library();
    let index = Index::build(&snapshot);
    let (granted, evaluation) = (grant(&["basic"]), anytime());
    let preferred = strings(&["basic", "mail"]);
    let asked = RecommendationQuestion {
        preferred: Some(&preferred),
        ..asked("send", &granted, &evaluation)
    };
    let denial = rank(&snapshot, &index, &asked, |_| 0).expect_err("not granted");
    assert_eq!(denial.missing, ["mail"]);
}

#[test]
fn groups_are_judged_by_their_tools() {
    let snapshot = library();
    let index = Index::build(&snapshot);
    let (granted, evaluation) = (grant(&["billing", "mail", "web"]), anytime());
    let ranking = rank(
        &snapshot,
        &index,
        &asked("invoices of a customer", &granted, &evaluation),
        |_| 0,
    )
    .unwrap();
    let groups: Vec<_> = ranking.groups.iter().map(|group| group.group.as_str()).collect();
    assert_eq!(groups[0], "billing", "both of its children have fitting tools");
    assert_eq!(ranking.groups[0].tools, ["list-invoices", "create-invoice"]);
    assert!(
        ranking
            .groups
            .iter()
            .all(|group| !group.fallback && group.score < 1.0)
    );
    assert!(groups.contains(&"billing/read") && groups.contains(&"billing/write"));
}

#[test]
fn other_groups_are_named_when_the_preferred_ones_have_nothing() {
    let snapshot = library();
    let index = Index::build(&snapshot);
    let (granted, evaluation) = (grant(&["billing", "mail"]), anytime());
    let preferred = strings(&["mail"]);
    let ask = |question: &'static str, preferred: &[String]| {
        let asked = RecommendationQuestion {
            preferred: Some(preferred),
            ..asked(question, &granted, &evaluation)
        };
        rank(&snapshot, &index, &asked, |_| 0).unwrap()
    };
    let ranking = ask("create an invoice", &preferred);
    assert!(ranking.tools.is_empty());
    assert_eq!(names(&ranking.elsewhere)[0], "create-invoice");
    assert!(!ranking.groups.is_empty() && ranking.groups.iter().all(|group| group.fallback));
    // Nothing fits: the groups in which anything can be called, with a low score.
    let ranking = ask("quantum chromodynamics", &strings(&[]));
    assert!(ranking.tools.is_empty() && ranking.elsewhere.is_empty());
    assert!(
        ranking
            .groups
            .iter()
            .all(|group| group.fallback && group.score == 0.0 && group.fitting > 0)
    );
    assert_eq!(ranking.groups.len(), 4, "{:?}", ranking.groups);
}

#[test]
fn usage_decides_between_equal_scores_only() {
    let twin = |name: &str| described(name, "Count sheep.", &[]);
    let snapshot = project([
        twin("one-x"),
        twin("two-x"),
        described("sheep", "Count sheep.", &[]),
    ]);
    let index = Index::build(&snapshot);
    let (granted, evaluation) = (grant(&["*"]), anytime());
    let usage = |tool: &CompiledTool| if tool.name() == "two-x" { 5 } else { 0 };
    let ranking = rank(&snapshot, &index, &asked("sheep", &granted, &evaluation), usage).unwrap();
    assert_eq!(names(&ranking.tools), ["sheep", "two-x", "one-x"]);
    let ranking = rank(&snapshot, &index, &asked("sheep", &granted, &evaluation), |_| 0).unwrap();
    assert_eq!(names(&ranking.tools), ["sheep", "one-x", "two-x"]);
}

#[test]
fn what_callers_do_not_see_is_not_searched() {
    let snapshot =
        project([described("t", "", &[("token", "Secret handshake")]).envs(&[("token", "TOKEN")])]);
    assert_eq!(Index::build(&snapshot).search("secret handshake"), []);
}

/// BM25 as its formula is written, of tools that have nothing but a name, the group `default` and a description.
fn plainly(descriptions: &[Vec<&str>], asked: &[&str]) -> Vec<f64> {
    let weight = |words: &[&str], word: &str| -> f64 {
        words
            .iter()
            .map(|other| if *other == word { 1.0 } else { 0.0 })
            .sum()
    };
    let count = |number: usize| f64::from(u32::try_from(number).unwrap());
    let length = |words: &Vec<&str>| 3.0 + 1.5 + count(words.len());
    let average = descriptions.iter().map(length).sum::<f64>() / count(descriptions.len());
    let rarity = |word: &str| {
        let having = count(descriptions.iter().filter(|words| words.contains(&word)).count());
        (1.0 + (count(descriptions.len()) - having + 0.5) / (having + 0.5)).ln()
    };
    let best: f64 = asked.iter().map(|word| rarity(word) * 2.2).sum();
    let score = |words: &Vec<&str>| {
        let of = |word: &&str| {
            let weight = weight(words, word);
            rarity(word) * weight * 2.2 / (weight + 1.2 * (0.25 + 0.75 * length(words) / average))
        };
        asked.iter().map(of).sum::<f64>() / best
    };
    descriptions.iter().map(score).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn scores_are_those_of_the_formula(
        descriptions in proptest::collection::vec(
            proptest::collection::vec(select(&["tree", "river", "stone", "cloud"][..]), 0..7),
            1..7,
        ),
        asked in subsequence(&["tree", "river", "stone", "moon"][..], 1..=4),
    ) {
        let tools = descriptions.iter().enumerate();
        let tools = tools.map(|(at, words)| described(&format!("t{at}"), &words.join(" "), &[]));
        let index = Index::build(&project(tools));
        let mut scores = vec![0.0; descriptions.len()];
        let found = index.search(&asked.join(" "));
        prop_assert!(found.is_sorted_by(|a, b| a.score >= b.score));
        for found in found {
            scores[found.position] = found.score;
        }
        for (score, expected) in scores.iter().zip(plainly(&descriptions, &asked)) {
            prop_assert!((score - expected).abs() < 1e-5, "{score} {expected}");
        }
    }

    /// Nothing outside the grant is ever shown, and "now" means what a call would be answered.
    #[test]
    fn only_what_is_held_is_recommended(
        held in subsequence(&["knowledge", "knowledge/read", "web", "billing", "basic", "*", "ru"][..], 0..=4),
        wanted in proptest::option::of(subsequence(&["knowledge/read", "web", "basic", "*"][..], 0..=2)),
        state in select(&["", "modification"][..]),
        closed in any::<bool>(),
        question in select(&["knowledge graph text web invoice", "search", "погода", ""][..]),
    ) {
        let condition = LabelInput {
            name: "web".to_owned(),
            description: String::new(),
            condition: Some((!closed).to_string()),
            revision: 1,
            updated_at: DateTime::UNIX_EPOCH,
            updated_by: String::new(),
        };
        let snapshot = library().with_labels(vec![condition], Vec::new(), None);
        let index = Index::build(&snapshot);
        let (granted, evaluation) = (grant(&held), anytime());
        let preferred = wanted.as_deref().map(strings);
        let asked = RecommendationQuestion { preferred: preferred.as_deref(), state: Some(state), ..asked(question, &granted, &evaluation) };
        let Ok(ranking) = rank(&snapshot, &index, &asked, |_| 0) else {
            prop_assert!(preferred.unwrap().iter().any(|group| !granted.covers(group)));
            return Ok(());
        };
        let requested = preferred.unwrap_or_else(|| granted.to_vec());
        let decide = |requested: &[String], name: &str| {
            snapshot.decide(&granted, Some(requested), Some(state), name, &evaluation).is_allowed()
        };
        for found in &ranking.tools {
            prop_assert!(decide(&requested, found.tool.name()));
        }
        for found in &ranking.elsewhere {
            prop_assert!(!decide(&requested, found.tool.name()));
        }
        for found in ranking.tools.iter().chain(&ranking.elsewhere) {
            prop_assert!(snapshot.visible(&granted).tool(found.tool.name()).is_some());
            prop_assert!(found.groups.iter().all(|group| granted.covers(group)));
            prop_assert!(found.score > 0.0 && found.score <= 1.0);
        }
        for group in &ranking.groups {
            prop_assert!(granted.covers(&group.group));
            for name in &group.tools {
                prop_assert!(decide(&granted.to_vec(), name), "{} cannot be called", name);
            }
        }
    }
}
