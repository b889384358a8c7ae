//! Descriptions that are imported again.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::{Value, json};

use crate::definition::{ToolDefinition, UploadContext};
use crate::ids::ProjectId;
use crate::imports::{Kept, Operation, Place, Verdict, approved, compare, plan};
use crate::openapi_import::{ImportOptions, preview};

fn with_context<T>(work: impl FnOnce(&UploadContext<'_>) -> T) -> T {
    let project = ProjectId::parse("demo").expect("a slug");
    work(&UploadContext {
        project: &project,
        env_allowed: &|_| true,
        existing_services: &|_| None,
        executes: crate::definition::ExecutorSet::BUILT_IN,
        subjects: None,
    })
}

fn operations(paths: &Value) -> Vec<Operation> {
    let description = json!({"openapi": "3.1.0", "info": {"title": "Pets", "version": "1"},
        "servers": [{"url": "https://a.example"}], "paths": paths});
    with_context(|context| {
        preview(
            description.to_string().as_bytes(),
            &ImportOptions::default(),
            context,
        )
    })
    .expect("a description")
    .operations
}

fn pet(summary: &str) -> Value {
    json!({"operationId": "getPet", "summary": summary,
        "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}]})
}

/// The tools of a project.
#[derive(Default)]
struct Tools {
    here: HashMap<String, ToolDefinition>,
    elsewhere: Vec<&'static str>,
}

impl Place for Tools {
    fn tool(&self, name: &str) -> Option<&ToolDefinition> {
        self.here.get(name)
    }

    fn is_elsewhere(&self, name: &str) -> bool {
        self.elsewhere.contains(&name)
    }
}

impl Tools {
    /// Imports for the first time, and enables what comes of it.
    fn import(&mut self, found: &[Operation]) -> Vec<Kept<'static>> {
        let planned = plan(&[], found, |_| true, self, false);
        let mut kept = Vec::new();
        for (planned, operation) in planned.into_iter().zip(found) {
            let Verdict::New(base) = planned.verdict else {
                panic!("{:?}", planned.verdict)
            };
            assert!(!base.enabled, "a new tool is a draft");
            let mut tool = (*base).clone();
            tool.enabled = true;
            self.here.insert(tool.name.to_string(), tool);
            kept.push(Kept {
                method: operation.method.clone(),
                path: operation.path.clone(),
                tool: base.name.clone(),
                base: Cow::Owned(*base),
            });
        }
        kept
    }
}

fn verdicts(
    kept: &[Kept<'_>],
    found: &[Operation],
    tools: &Tools,
) -> Vec<(Option<usize>, Option<usize>, &'static str)> {
    let word = |verdict: &Verdict| match verdict {
        Verdict::New(_) => "new",
        Verdict::Adopted(_) => "adopted",
        Verdict::Taken(_) => "taken",
        Verdict::Refused(_) => "refused",
        Verdict::Unchanged(_) => "unchanged",
        Verdict::Changed(_) => "changed",
        Verdict::Deleted(_) => "deleted",
        Verdict::Gone => "gone",
    };
    plan(kept, found, |_| true, tools, false)
        .iter()
        .map(|planned| (planned.found, planned.kept, word(&planned.verdict)))
        .collect()
}

#[test]
fn the_same_description_changes_nothing() {
    let mut tools = Tools::default();
    let found = operations(&json!({"/pets/{id}": {"get": pet("Get a pet"), "delete": {}}}));
    let kept = tools.import(&found);
    assert_eq!(
        verdicts(&kept, &found, &tools),
        [(Some(0), Some(0), "unchanged"), (Some(1), Some(1), "unchanged")]
    );
}

#[test]
fn what_changed_upstream_waits_and_the_rest_is_reported() {
    let mut tools = Tools::default();
    let kept = tools.import(&operations(&json!({
        "/pets/{id}": {"get": pet("Get a pet"), "delete": {}}, "/owners": {"get": {}}, "/a": {"get": {}},
    })));
    tools.here.remove("get_a");
    let newer = operations(&json!({
        "/pets/{id}": {"get": pet("Get one pet"), "put": {"requestBody": {"required": true, "content": {"multipart/mixed": {}}}}},
        "/owners": {"get": {}}, "/owners/{id}": {"get": {}}, "/a": {"get": {"summary": "A"}},
    }));
    assert_eq!(
        verdicts(&kept, &newer, &tools),
        [
            (Some(0), Some(0), "changed"),
            (Some(1), None, "refused"),
            (Some(2), Some(2), "unchanged"),
            (Some(3), None, "new"),
            (Some(4), Some(3), "deleted"),
            (None, Some(1), "gone"),
        ]
    );
}

#[test]
fn an_operation_is_found_by_its_place_or_else_by_its_name() {
    let mut tools = Tools::default();
    let kept = tools.import(&operations(
        &json!({"/v1/pets/{id}": {"get": pet("Get a pet")}, "/owners": {"get": {"operationId": "owners"}}}),
    ));
    let moved = operations(
        &json!({"/v2/pets/{id}": {"get": pet("Get a pet")}, "/owners": {"get": {"operationId": "listOwners"}}}),
    );
    assert_eq!(
        verdicts(&kept, &moved, &tools),
        [(Some(0), Some(0), "changed"), (Some(1), Some(1), "unchanged")],
        "a tool keeps its name"
    );
    let swapped = operations(&json!({
        "/v1/pets/{id}": {"get": {"operationId": "old", "summary": "Get a pet",
            "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}]}},
        "/v2/pets/{id}": {"get": pet("Get a pet")}, "/owners": {"get": {"operationId": "owners"}},
    }));
    assert_eq!(
        verdicts(&kept, &swapped, &tools),
        [
            (Some(0), Some(0), "unchanged"),
            (Some(1), None, "taken"),
            (Some(2), Some(1), "unchanged")
        ]
    );
}

#[test]
fn a_name_that_is_taken_is_left_alone_unless_it_is_adopted() {
    let found = operations(&json!({"/pets/{id}": {"get": pet("Get a pet")}, "/owners": {"get": {}}}));
    let mut tools = Tools::default();
    tools.import(&found);
    tools.here.remove("get_owners");
    tools.elsewhere.push("get_owners");
    assert_eq!(
        verdicts(&[], &found, &tools),
        [(Some(0), None, "taken"), (Some(1), None, "taken")]
    );
    let adopting = plan(&[], &found, |_| true, &tools, true);
    assert!(matches!(adopting[0].verdict, Verdict::Adopted(_)));
    assert!(
        matches!(adopting[1].verdict, Verdict::Taken(_)),
        "never from another import"
    );
    let none = plan(&[], &found, |_| false, &tools, true);
    assert_eq!(none, [], "what is not chosen is left out");
}

#[test]
fn local_edits_are_kept() {
    let mut tools = Tools::default();
    let kept = tools.import(&operations(&json!({"/pets/{id}": {"get": pet("Get a pet")}})));
    let mine = tools.here.get_mut("getPet").expect("a tool");
    mine.group = Some(vec!["pets".to_owned()]);
    "Get the pet".clone_into(&mut mine.description);
    let mine = tools.here["getPet"].clone();

    // The same words upstream: there is nothing to decide.
    let agreed = operations(&json!({"/pets/{id}": {"get": pet("Get the pet")}}));
    assert_eq!(
        verdicts(&kept, &agreed, &tools),
        [(Some(0), Some(0), "unchanged")]
    );

    let mut newer = pet("Get a pet");
    newer["parameters"]
        .as_array_mut()
        .expect("a list")
        .push(json!({"name": "fields", "in": "query", "schema": {"type": "string"}}));
    let found = operations(&json!({"/pets/{id}": {"get": newer}}));
    let planned = plan(&kept, &found, |_| true, &tools, false);
    let Verdict::Changed(theirs) = &planned[0].verdict else {
        panic!("{planned:?}")
    };
    let change = with_context(|context| compare(&kept[0].base, &mine, theirs, context));
    let places: Vec<&str> = change
        .upstream
        .iter()
        .map(|change| change.pointer.as_str())
        .collect();
    assert_eq!(
        places,
        [
            "/parameters/properties/fields",
            "/options/http/request/parameters"
        ]
    );
    let places: Vec<&str> = change
        .local
        .iter()
        .map(|change| change.pointer.as_str())
        .collect();
    assert_eq!(places, ["/description", "/group"]);
    assert_eq!(change.conflicts, []);
    let diff = change.diff.expect("a difference");
    assert!(
        diff.contains("+    fields:") && !diff.contains("description"),
        "{diff}"
    );
    let merged = approved(&kept[0].base, &mine, theirs, |_| None).expect("no conflict");
    let merged: ToolDefinition = serde_json::from_value(merged).expect("a definition");
    assert_eq!(
        (merged.enabled, &merged.group, merged.description.as_str()),
        (true, &mine.group, "Get the pet")
    );
    assert_eq!(merged.parameters, theirs.parameters);

    let found = operations(&json!({"/pets/{id}": {"get": pet("Get this pet")}}));
    let planned = plan(&kept, &found, |_| true, &tools, false);
    let Verdict::Changed(theirs) = &planned[0].verdict else {
        panic!("{planned:?}")
    };
    assert_eq!(
        approved(&kept[0].base, &mine, theirs, |_| None),
        Err(vec!["/description".to_owned()])
    );
    let change = with_context(|context| compare(&kept[0].base, &mine, theirs, context));
    assert_eq!((change.conflicts.len(), change.diff), (1, None));
}
