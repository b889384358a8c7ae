//! The document of a project with tools of every shape and name, read by the generators and frameworks that people use.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value, json};

use super::api::{self, Checked};
use super::count::{self, Tally};
use crate::client::Client;
use crate::sh::Sh;
use crate::{install, paths};

/// The project of these tools.
const PROJECT: &str = "shapes";

/// Installs the framework whose clients are tried.
pub(super) fn fetch() -> Result<()> {
    langchain().map(drop)
}

fn langchain() -> Result<PathBuf> {
    install::python("langchain", &api::checks().join("langchain.txt"))
}

/// Every tool is an operation to each of them, without a warning.
pub(super) fn generators(checked: &Checked) -> Result<Tally> {
    let tools = upload(&checked.admin()?)?.to_string();
    let document = checked
        .admin()?
        .get(&format!("/projects/{PROJECT}/openapi.json?group=*"))?;
    let folder = api::fresh(&paths::tools().join("shapes-document"))?;
    let file = folder.join("openapi.json");
    fs::write(&file, serde_json::to_string_pretty(&document)?).context("cannot write the document")?;
    let informed = |sh: Sh| sh.env("TOOLGATE_TOOLS", &tools).env("TOOLGATE_DOCUMENT", &file);
    Ok(super::all(&[
        ("strict lint (redocly)", &|| {
            api::lint_of(&file, "redocly-tools.yaml")
        }),
        ("openapi-ts", &|| {
            let script = api::typescript_client("shapes", "shapes.mts", &file)?;
            Ok(count::node(&informed(node_test(&script)?).tee()?))
        }),
        ("orval", &|| {
            let script = orval_client(&file)?;
            Ok(count::node(&informed(node_test(&script)?).tee()?))
        }),
        ("openapi-python-client", &|| {
            let (python, folder) = api::python_client("toolgate_shapes", &file)?;
            let run = Sh::new(python)
                .arg(api::checks().join("shapes.py"))
                .env("PYTHONPATH", folder)
                .env("PYTHONDONTWRITEBYTECODE", "1");
            Ok(count::tap(&informed(run).tee()?))
        }),
        ("LangChain", &|| {
            let bin = langchain()?;
            let run = Sh::new(bin.join("python"))
                .arg(api::checks().join("frameworks.py"))
                .env("PYTHONDONTWRITEBYTECODE", "1");
            Ok(count::tap(&informed(run).tee()?))
        }),
    ]))
}

/// Makes the project; how many tools it has.
fn upload(admin: &Client) -> Result<usize> {
    let file = fs::read_to_string(api::checks().join("shapes.json")).context("cannot read shapes.json")?;
    let shapes: Map<String, Value> = serde_json::from_str(&file).context("shapes.json is not JSON")?;
    admin.post("/projects", &json!({ "id": PROJECT }))?;
    let mut tools = Map::new();
    for (name, shape) in &shapes {
        let mut tool = json!({ "type": "openapi", "description": format!("The shape {name}."),
            "options": { "http": { "base_url": "https://api.example.com", "path": "/", "method": "POST" } } });
        for (key, value) in shape.as_object().context("a shape is an object")? {
            tool[key] = value.clone();
        }
        tools.insert(name.clone(), tool);
    }
    let mut count = store(admin, &tools)?;
    for (number, file) in descriptions()?.iter().enumerate() {
        count += store(admin, &imported(admin, file, number)?)?;
    }
    Ok(count)
}

fn store(admin: &Client, tools: &Map<String, Value>) -> Result<usize> {
    if tools.is_empty() {
        return Ok(0);
    }
    let stored = admin.post(&format!("/projects/{PROJECT}/tools"), &json!({ "tool": tools }))?;
    let items = stored["items"].as_array().map_or(0, Vec::len);
    ensure!(
        items == tools.len(),
        "{items} of {} tools were stored",
        tools.len()
    );
    Ok(items)
}

/// Public descriptions of APIs that show what the format can express.
fn descriptions() -> Result<Vec<PathBuf>> {
    let package =
        install::node_packages("api-checks", &api::checks())?.join("node_modules/@readme/oas-examples");
    let mut files = Vec::new();
    for folder in ["3.0/json", "3.1/json"] {
        let entries = fs::read_dir(package.join(folder)).context("the descriptions are missing")?;
        for entry in entries {
            files.push(entry?.path());
        }
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    ensure!(files.len() > 20, "only {} descriptions were found", files.len());
    Ok(files)
}

/// The tools of a description; their names end with its number, because several have the same.
fn imported(admin: &Client, file: &Path, number: usize) -> Result<Map<String, Value>> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let description: Value =
        serde_json::from_str(&text).with_context(|| format!("{} is not JSON", file.display()))?;
    let path = format!("/projects/{PROJECT}/imports?base_url=https%3A%2F%2Fapi.example.com&definitions=true");
    let preview = admin.post(&path, &description)?;
    let operations = preview["operations"]
        .as_array()
        .context("the preview has no operations")?;
    let mut tools = Map::new();
    for operation in operations {
        let Some(definition) = operation["definition"].as_object() else {
            continue;
        };
        let mut definition = definition.clone();
        let name = definition.remove("name").context("a definition has a name")?;
        definition.insert("enabled".to_owned(), json!(true));
        let name = format!("{}-{number}", name.as_str().unwrap_or_default());
        tools.insert(name, Value::Object(definition));
    }
    Ok(tools)
}

fn node_test(script: &Path) -> Result<Sh> {
    let node = install::node()?.join("node");
    Ok(Sh::new(node).args(["--test", "--test-reporter=tap"]).arg(script))
}

/// Generates and compiles a client with orval and its test; returns the compiled test.
fn orval_client(document: &Path) -> Result<PathBuf> {
    let folder = api::typescript_folder("orval", &["orval.mts", "orval.config.cjs"])?;
    api::node_tool("orval")?
        .args(["--config", "./orval.config.cjs"])
        .env("TOOLGATE_DOCUMENT", document)
        .folder(&folder)
        .run()?;
    api::compiled(&folder, "orval.mts")
}
