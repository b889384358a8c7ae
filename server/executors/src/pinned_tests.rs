//! What a definition fixes is sent as it is, whatever its callers give: over every form, layer and place.
//!
//! The oracle is plain: the request of a caller who gives nothing has only what the definition fixes, so everything in it
//! must be in the request of any other caller, and alone in its place.

use std::collections::BTreeMap;

use http::header;
use proptest::prelude::*;
use proptest::sample::select;
use secrecy::SecretString;
use serde_json::{Value, json};
use toolgate_core::arguments::{self, TemplateContext};
use toolgate_core::definition::Execution;
use toolgate_core::definition::model::ToolDefinition;
use toolgate_core::ids::ProjectId;
use toolgate_core::snapshot::{ProjectSnapshot, ToolInput};
use toolgate_core::validation::Effort;

use crate::config::EnvSource;
use crate::http::executor::{RequestTemplate, plan};
use crate::http::plan::RequestPlan;
use crate::http::template::HttpTemplate;
use crate::jina::JinaTemplate;
use crate::values::Values;

/// Names that arguments, parameters, headers, cookies and properties may have here.
const NAMES: [&str; 12] = [
    "key",
    "Key",
    "api_key",
    "api.key",
    "filter",
    "filter[a]",
    "a",
    "sid",
    "x-key",
    "role",
    "pinned",
    "free",
];
const JINA_NAMES: [&str; 16] = [
    "q",
    "query",
    "Query",
    "url",
    "target_url",
    "targetUrl",
    "num",
    "count",
    "respondWith",
    "respond_with",
    "X-Respond-With",
    "returnFormat",
    "proxy_url",
    "proxyUrl",
    "x-proxy-url",
    "no_cache",
];

struct EveryVariable;

impl EnvSource for EveryVariable {
    fn get(&self, name: &str) -> Option<SecretString> {
        Some(SecretString::from(format!("https://{name}.example")))
    }
}

/// The values in each place of a request.
type Observed = BTreeMap<(&'static str, String), Vec<String>>;

/// What is sent for a caller's arguments; `None` when the definition or the call is refused.
fn sent(options: &Value, caller: &Value) -> Option<Observed> {
    let definition = json!({
        "name": "t", "type": "openapi", "parameters": {"type": "object", "properties": {"free": {}}},
        "options": options,
    });
    let definition: ToolDefinition = serde_json::from_value(definition).expect("a definition");
    let input = ToolInput {
        definition,
        revision: 1,
        updated_at: Default::default(),
        updated_by: "ada".to_owned(),
    };
    let snapshot = ProjectSnapshot::build(1, vec![input], Vec::new(), None);
    let tool = snapshot.tool("t").expect("the tool");
    let context = TemplateContext::new(&ProjectId::parse("demo").expect("a slug"), None);
    let merged = arguments::merge(tool, caller.as_object()?, &context, Effort::Thorough).ok()?;
    let values = Values {
        envs: &EveryVariable,
        secrets: None,
    };
    let template: Box<dyn RequestTemplate> = match tool.definition.execution()? {
        Execution::Http(http) => Box::new(HttpTemplate::new(http).ok()?),
        Execution::Jina(jina) => Box::new(JinaTemplate::new(jina).ok()?),
        other => panic!("{other:?} is no request"),
    };
    let plan = plan(&*template, merged.arguments, &tool.envs, values).ok()?;
    Some(observed(&plan))
}

fn observed(plan: &RequestPlan) -> Observed {
    let hop = &plan.first;
    let url = match &hop.query_secret {
        Some(secret) => secret.add_to(&hop.url),
        None => hop.url.clone(),
    };
    let mut found = Observed::new();
    let mut add = |place, name: &str, value: &str| {
        let values = found.entry((place, name.to_owned())).or_default();
        values.push(value.to_owned());
    };
    add("path", "", url.path());
    for (name, value) in url.query_pairs() {
        add("query", &name, &value);
    }
    for (name, value) in &hop.headers {
        let value = value.to_str().expect("text");
        if name == header::COOKIE {
            for (name, value) in value.split("; ").filter_map(|pair| pair.split_once('=')) {
                add("cookie", name, value);
            }
        } else {
            add("header", name.as_str(), value);
        }
    }
    let is_form = hop
        .headers
        .get(header::CONTENT_TYPE)
        .is_some_and(|value| value == FORM);
    match &hop.body {
        None => {}
        Some(body) if is_form => {
            for (name, value) in url::form_urlencoded::parse(body) {
                add("body", &name, &value);
            }
        }
        Some(body) => match serde_json::from_slice(body).expect("JSON") {
            Value::Object(members) => members
                .iter()
                .for_each(|(name, value)| add("body", name, &value.to_string())),
            other => add("body", "", &other.to_string()),
        },
    }
    found
}

const FORM: &str = "application/x-www-form-urlencoded";

prop_compose! {
    fn credential()(
        scheme in select(vec!["none", "bearer", "header", "query", "cookie"]),
        name in select(&NAMES[..]),
    ) -> Option<Value> {
        match scheme {
            "none" => None,
            "bearer" => Some(json!({"env": "KEY"})),
            _ => Some(json!({"scheme": scheme, "name": name, "env": "KEY"})),
        }
    }
}

prop_compose! {
    /// A tool with a pinned argument, one that is free, and perhaps a credential and a constant header.
    fn http_tool()(
        method in select(vec!["GET", "POST"]),
        exact in any::<bool>(),
        form in any::<bool>(),
        pinned_at in select(vec!["path", "query", "header", "cookie", "body", "rest"]),
        pinned_name in select(&NAMES[..]),
        pinned_value in prop_oneof![Just(json!("p")), Just(json!({"key": "p"})), Just(json!(["p", "r"]))],
        free_at in select(vec!["query", "header", "cookie", "body", "rest"]),
        free_name in select(&NAMES[..]),
        style in select(vec!["form", "deepObject"]),
        from_environment in any::<bool>(),
        credential in credential(),
        constant in proptest::option::of(select(&NAMES[..])),
    ) -> Value {
        let mut http = json!({"base_url": "https://a.example", "method": method, "headers": {}});
        if let Some(name) = constant {
            http["headers"][name] = json!("constant");
        }
        if let Some(credential) = credential {
            http["auth"] = credential;
        }
        let mut argument = "pinned";
        let places = [(pinned_at, pinned_name, "pinned"), (free_at, free_name, "free")];
        if exact {
            let mut parameters = Vec::new();
            let mut properties = json!({});
            let mut encoding = json!({});
            for (at, name, argument) in places {
                match at {
                    "path" => {
                        http["path"] = json!(format!("/{{{name}}}"));
                        parameters.push(json!({"name": name, "in": "path", "argument": argument}));
                    }
                    "query" => {
                        parameters.push(json!({"name": name, "in": at, "argument": argument, "style": style}));
                    }
                    "header" | "cookie" => parameters.push(json!({"name": name, "in": at, "argument": argument})),
                    _ => {
                        properties[name] = json!(argument);
                        encoding[name] = json!({"explode": true});
                    }
                }
            }
            http["request"] = json!({ "parameters": parameters });
            if properties != json!({}) {
                http["request"]["body"] = json!({ "properties": properties });
                if form {
                    http["request"]["body"]["content_type"] = json!(FORM);
                    http["request"]["body"]["encoding"] = encoding;
                }
            }
        } else {
            if form && method == "POST" {
                http["headers"]["Content-Type"] = json!(FORM);
            }
            for (at, name, mapped) in places {
                match at {
                    "path" => http["path"] = json!(format!("/{{{mapped}}}")),
                    "query" | "header" => http[at][name] = json!(mapped),
                    "body" if method == "POST" => http["body"][name] = json!(mapped),
                    _ if mapped == "pinned" => argument = name,
                    _ => {}
                }
            }
        }
        let mut options = json!({ "http": http });
        if from_environment {
            options["envs"][argument] = json!("PINNED");
        } else {
            options["args"]["fixed"][argument] = pinned_value;
        }
        options
    }
}

prop_compose! {
    fn jina_tool()(
        mode in select(vec!["search", "reader"]),
        method in select(vec!["GET", "POST"]),
        pinned in proptest::collection::btree_set(select(&JINA_NAMES[..]), 1..3),
        from_environment in any::<bool>(),
        constant in proptest::option::of(select(vec!["X-Respond-With", "x-return-format", "X-Proxy-Url"])),
    ) -> Value {
        let mut options = json!({"jina": {"mode": mode, "method": method}});
        if let Some(header) = constant {
            options["jina"]["headers"] = json!({header: "constant"});
        }
        for name in pinned {
            if from_environment {
                options["envs"][name] = json!("PINNED");
            } else {
                options["args"]["fixed"][name] = json!("https://pinned.example");
            }
        }
        options
    }
}

fn arguments(names: &'static [&'static str]) -> impl Strategy<Value = Value> {
    let value = prop_oneof![
        Just(json!("https://mine.example")),
        Just(json!(["mine"])),
        select(names).prop_map(|name| json!({name: "mine"})),
        select(names).prop_map(|name| json!({"a": {name: "mine"}})),
    ];
    proptest::collection::btree_map(select(names), value, 0..4).prop_map(|arguments| json!(arguments))
}

/// What Jina takes a name for, in the test's own words.
fn jina_meaning(name: &str) -> String {
    let letters: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let lower = letters.to_ascii_lowercase();
    let bare = if name.to_ascii_lowercase().starts_with("x-") {
        &lower[1..]
    } else {
        &lower[..]
    };
    match bare {
        "query" => "q",
        "count" => "num",
        "targeturl" => "url",
        "returnformat" => "respondwith",
        other => other,
    }
    .to_owned()
}

/// The values of each thing that Jina would understand, wherever they are.
fn by_meaning(observed: &Observed) -> BTreeMap<String, Vec<String>> {
    let mut meanings: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for ((place, name), values) in observed {
        let name = if *place == "path" {
            "the path".to_owned()
        } else {
            jina_meaning(name)
        };
        meanings.entry(name).or_default().extend(values.iter().cloned());
    }
    meanings
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_caller_changes_what_an_http_tool_fixes(options in http_tool(), caller in arguments(&NAMES)) {
        if let (Some(fixed), Some(sent)) = (sent(&options, &json!({})), sent(&options, &caller)) {
            for (place, values) in &fixed {
                prop_assert_eq!(sent.get(place), Some(values), "{:?} of {}", place, options);
            }
        }
    }

    #[test]
    fn no_caller_changes_what_a_jina_tool_fixes(options in jina_tool(), caller in arguments(&JINA_NAMES)) {
        // Without its subject there is no request: what the caller gives for it is in the plainest one, unless it is pinned.
        let plain = json!({"q": "https://plain.example", "url": "https://plain.example"});
        let free = json!({});
        let base = sent(&options, &free).map(|fixed| (fixed, true));
        let base = base.or_else(|| sent(&options, &plain).map(|fixed| (fixed, false)));
        if let (Some((fixed, whole)), Some(sent)) = (base, sent(&options, &caller)) {
            let sent = by_meaning(&sent);
            for (meaning, values) in by_meaning(&fixed) {
                if whole || !matches!(meaning.as_str(), "q" | "url" | "the path") {
                    prop_assert_eq!(sent.get(&meaning), Some(&values), "{} of {}", meaning, options);
                }
            }
        }
    }
}

/// Uploads refuse it; one that was stored before they did is not executed.
#[test]
fn two_parameters_in_one_place_are_refused() {
    for (at, one, other) in [
        ("header", "key", "Key"),
        ("query", "key", "key"),
        ("cookie", "key", "key"),
    ] {
        let options = json!({"args": {"fixed": {"pinned": "p"}}, "http": {"base_url": "https://a.example", "request": {
            "parameters": [{"name": one, "in": at, "argument": "pinned"}, {"name": other, "in": at, "argument": "free"}]}}});
        assert_eq!(sent(&options, &json!({})), None, "{at}");
    }
}

/// The properties say nothing of what is refused, so this shows that tools and calls of every kind are accepted.
#[test]
fn every_form_and_layer_is_among_what_is_accepted() {
    for (options, caller) in [
        (
            json!({"args": {"fixed": {"pinned": "p"}}, "http": {"base_url": "https://a.example"}}),
            json!({"role": "mine"}),
        ),
        (
            json!({"envs": {"pinned": "P"}, "http": {"base_url": "https://a.example", "method": "POST", "body": {"a": "pinned", "b": "free"}}}),
            json!({"free": "mine"}),
        ),
        (
            json!({"args": {"fixed": {"pinned": "p"}}, "http": {"base_url": "https://a.example", "auth": {"scheme": "query", "name": "key", "env": "K"},
                "request": {"parameters": [{"name": "sid", "in": "cookie", "argument": "pinned"}, {"name": "a", "in": "query", "argument": "free"}]}}}),
            json!({"free": {"role": "mine"}}),
        ),
        (
            json!({"args": {"fixed": {"query": "p"}}, "jina": {"mode": "search", "headers": {"X-Respond-With": "text"}}}),
            json!({"q": "mine", "num": 3}),
        ),
    ] {
        let fixed = sent(&options, &json!({})).expect("a request");
        let more = sent(&options, &caller).expect("a request");
        assert!(more.len() > fixed.len(), "{options}: {more:?}");
    }
}
