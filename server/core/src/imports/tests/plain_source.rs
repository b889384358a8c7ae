//! A source that is no description of an API: a list of tools in memory. It yields the same operations, and goes through the
//! same preview, selection, merge and quarantine.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use serde_json::{Value, json};
use toolgate_api::imports::DescriptionFormat;
use toolgate_api::quarantine::MergeSide;

use crate::definition::{ToolDefinition, UploadContext};
use crate::ids::ProjectId;
use crate::imports::{
    ImportedTool, Kept, Named, Operation, Place, Preview, SecurityNeed, Selection, Verdict, approved, assign,
    compare, plan,
};

/// How the tools are called by their source.
const CALL: &str = "tools/call";

/// A tool as the source has it.
struct Listed {
    name: &'static str,
    tags: &'static [&'static str],
    description: &'static str,
    parameters: Value,
}

fn search(description: &'static str, parameters: &Value) -> Listed {
    Listed {
        name: "search docs",
        tags: &["read"],
        description,
        parameters: json!({"type": "object", "properties": parameters}),
    }
}

fn delete() -> Listed {
    Listed {
        name: "delete",
        tags: &["write"],
        description: "Deletes a document",
        parameters: json!({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}),
    }
}

/// One that breaks the rules of definitions.
fn broken() -> Listed {
    Listed {
        name: "broken",
        tags: &[],
        description: "Has a schema that is none",
        parameters: json!({"type": "text"}),
    }
}

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

/// Operations with these ids.
pub(super) fn operations(ids: &[&'static str]) -> Vec<Operation> {
    let source: Vec<Listed> = ids.iter().map(|&name| Listed { name, ..delete() }).collect();
    preview(&source, "").operations
}

/// What the source would become.
fn preview(source: &[Listed], prefix: &str) -> Preview {
    let named: Vec<_> = source
        .iter()
        .map(|tool| Named {
            id: Some(tool.name),
            method: CALL,
            path: tool.name,
        })
        .collect();
    let names = assign(&named, prefix).into_iter().zip(assign(&named, ""));
    let operation = |((at, tool), (name, plain_name)): ((usize, &Listed), (String, String))| {
        let mut notes = Vec::new();
        let definition = json!({
            "name": name, "description": tool.description, "parameters": tool.parameters, "target_subject": "cmd.tool.docs",
        });
        Operation {
            method: CALL.to_owned(),
            path: tool.name.to_owned(),
            pointer: format!("/tools/{at}"),
            operation_id: Some(tool.name.to_owned()),
            tags: tool.tags.iter().map(|&tag| tag.to_owned()).collect(),
            summary: Some(tool.description.to_owned()),
            deprecated: false,
            name,
            plain_name,
            tool: with_context(|context| ImportedTool::new(&definition, context, &mut notes)),
            notes,
            security: vec![vec![SecurityNeed {
                scheme: "token".to_owned(),
                what: "a token".to_owned(),
                scopes: Vec::new(),
                supported: true,
            }]],
        }
    };
    Preview {
        title: "Docs".to_owned(),
        version: "1".to_owned(),
        // Wire formats know descriptions of APIs only, so far.
        format: DescriptionFormat::Openapi31,
        operations: source.iter().enumerate().zip(names).map(operation).collect(),
        hosts: BTreeSet::new(),
        problems: Vec::new(),
        warnings: Vec::new(),
        service: None,
    }
}

/// The tools of a project that no other import has.
struct Tools(HashMap<String, ToolDefinition>);

impl Place for Tools {
    fn tool(&self, name: &str) -> Option<&ToolDefinition> {
        self.0.get(name)
    }

    fn is_elsewhere(&self, _name: &str) -> bool {
        false
    }
}

/// Imports everything, enables the tools, and says what is kept.
fn import(source: &[Listed]) -> (Tools, Vec<Kept<'static>>) {
    let found = preview(source, "docs_").operations;
    let mut tools = Tools(HashMap::new());
    let mut kept = Vec::new();
    for planned in plan(&[], &found, |_| true, &tools, false) {
        let (Verdict::New(base), Some(at)) = (planned.verdict, planned.found) else {
            panic!("all of them are new")
        };
        kept.push(Kept {
            method: found[at].method.clone(),
            path: found[at].path.clone(),
            tool: base.name.clone(),
            base: Cow::Owned((*base).clone()),
        });
        let mut tool = *base;
        tool.enabled = true;
        tools.0.insert(tool.name.to_string(), tool);
    }
    (tools, kept)
}

#[test]
fn it_is_previewed_with_what_is_refused() {
    let found = preview(&[search("Finds documents", &json!({})), broken()], "docs_").operations;
    let tool = found[0].tool.as_ref().expect("a tool").definition();
    assert_eq!(
        (tool.name.as_str(), tool.description.as_str()),
        ("docs_search_docs", "Finds documents")
    );
    assert_eq!(found[0].plain_name, "search_docs");
    assert_eq!(
        found[1].tool.as_ref().expect_err("refused"),
        "unknown type \"text\""
    );
}

#[test]
fn operations_are_selected_by_tag_name_and_path() {
    let found = preview(&[search("Finds documents", &json!({})), delete()], "docs_").operations;
    let of = |text: &str| vec![text.to_owned()];
    for (selection, expected) in [
        (
            Selection {
                tags: of("read"),
                ..Selection::default()
            },
            [true, false],
        ),
        (
            Selection {
                operations: of("docs_delete"),
                ..Selection::default()
            },
            [false, true],
        ),
        (
            Selection {
                paths: of("search*"),
                methods: of("TOOLS/CALL"),
                ..Selection::default()
            },
            [true, false],
        ),
    ] {
        let chosen: Vec<bool> = found
            .iter()
            .map(|operation| selection.includes(operation))
            .collect();
        assert_eq!(chosen, expected, "{selection:?}");
    }
}

#[test]
fn what_changes_waits_and_is_joined_with_what_was_edited() {
    let (mut tools, kept) = import(&[
        search(
            "Finds documents",
            &json!({"q": {"type": "string"}, "top": {"type": "integer"}}),
        ),
        delete(),
    ]);
    let ours = tools.0.get_mut("docs_search_docs").expect("a tool");
    ours.group = Some(vec!["docs".to_owned()]);
    ours.description = "Finds our documents".to_owned();
    let ours = ours.clone();

    // Another tool, and an argument less; the other tool is gone.
    let newer = [
        search("Finds documents", &json!({"q": {"type": "string"}})),
        Listed {
            name: "new",
            ..delete()
        },
    ];
    let found = preview(&newer, "docs_").operations;
    let planned = plan(&kept, &found, |_| true, &tools, false);
    let [changed, new, gone] = planned.as_slice() else {
        panic!("{planned:?}")
    };
    assert!(matches!(new.verdict, Verdict::New(_)));
    assert_eq!((gone.kept, &gone.verdict), (Some(1), &Verdict::Gone));
    let Verdict::Changed(theirs) = &changed.verdict else {
        panic!("{changed:?}")
    };
    let change = with_context(|context| compare(&kept[0].base, &ours, theirs, context));
    let upstream: Vec<_> = change
        .upstream
        .iter()
        .map(|change| (change.pointer.as_str(), change.breaking))
        .collect();
    assert_eq!(upstream, [("/parameters/properties/top", true)]);
    assert_eq!(change.conflicts, []);
    let merged = approved(&kept[0].base, &ours, theirs, |_| None).expect("no conflict");
    assert_eq!(merged["group"], json!(["docs"]));
    assert_eq!(merged["description"], "Finds our documents");
    assert_eq!(
        merged["parameters"]["properties"],
        json!({"q": {"type": "string"}})
    );
}

#[test]
fn what_both_changed_needs_a_decision() {
    let (mut tools, kept) = import(&[search("Finds documents", &json!({}))]);
    let ours = tools.0.get_mut("docs_search_docs").expect("a tool");
    ours.description = "Finds our documents".to_owned();
    let ours = ours.clone();
    let found = preview(&[search("Finds pages", &json!({}))], "docs_").operations;
    let planned = plan(&kept, &found, |_| true, &tools, false);
    let Verdict::Changed(theirs) = &planned[0].verdict else {
        panic!("{planned:?}")
    };
    assert_eq!(
        approved(&kept[0].base, &ours, theirs, |_| None),
        Err(vec!["/description".to_owned()])
    );
    for (side, expected) in [
        (MergeSide::Ours, "Finds our documents"),
        (MergeSide::Theirs, "Finds pages"),
    ] {
        let decided = approved(&kept[0].base, &ours, theirs, |_| Some(side)).expect("decided");
        assert_eq!(decided["description"], expected);
    }
}
