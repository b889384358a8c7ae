//! The stages about the API: its document, clients generated from it, and the server behind it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::json;
use tempfile::TempDir;

use super::code::build_server;
use super::count::{self, Tally};
use super::shapes;
use crate::client::{Body, Client};
use crate::server::{Server, Start, free_port};
use crate::sh::Sh;
use crate::{install, openapi, paths, up};

const USERNAME: &str = "admin";
/// Only for servers that live as long as one stage.
const PASSWORD: &str = "a password for the checks";

/// A server on an empty database, which its own tools may call.
pub(super) struct Checked {
    server: Server,
    _folder: TempDir,
}

impl Checked {
    /// `reachable` are further addresses that its tools may call.
    pub(super) fn start(reachable: &[&str]) -> Result<Self> {
        let binary = build_server()?;
        let folder = tempfile::Builder::new().prefix("toolgate-checks-").tempdir()?;
        let listen = format!("127.0.0.1:{}", free_port()?);
        let address = format!("http://{listen}");
        let database_url = format!("sqlite:{}", folder.path().join("toolgate.db").display());
        let allowed = [&[address.as_str()], reachable].concat().join(",");
        let envs = [
            ("TOOLGATE_ADMIN_USERNAME", USERNAME),
            ("TOOLGATE_ADMIN_PASSWORD", PASSWORD),
            ("TOOLGATE_EGRESS_ALLOW", allowed.as_str()),
            ("TOOLGATE_LOG", "warn"),
            // Protects nothing: the database goes with the folder.
            (
                "TOOLGATE_SECRETS_KEY",
                "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
            ),
        ];
        let start = Start {
            binary: &binary,
            listen: &listen,
            database_url: &database_url,
            envs: &envs,
            watched: false,
        };
        Ok(Self {
            server: Server::start(&start)?,
            _folder: folder,
        })
    }

    /// Where it listens.
    pub(super) fn address(&self) -> &str {
        self.server.address()
    }

    /// A client for one who may do everything.
    pub(super) fn admin(&self) -> Result<Client> {
        Client::new(self.address()).sign_in(USERNAME, PASSWORD)
    }

    /// Stops it.
    pub(super) fn stop(self) -> Result<()> {
        self.server.stop()
    }
}

/// Installs what the checks of the API are made with.
pub(super) fn fetch() -> Result<()> {
    install::python("python", &checks().join("requirements.txt"))?;
    install::node_packages("api-checks", &checks())?;
    Ok(())
}

/// `cargo xtask up --bus --once`, with the binary that is there already.
pub(super) fn up() -> Result<Tally> {
    let binary = build_server()?;
    let folder = tempfile::Builder::new().prefix("toolgate-up-").tempdir()?;
    let (server, password, bus) = up::set_up(&binary, folder.path(), 0, (false, true))?;
    ensure!(!password.is_empty(), "the password is empty");
    server.stop()?;
    let bus = bus.context("there is no bus")?;
    Ok(Tally::PASSED
        + super::all(&[("the Python kit on that bus", &|| {
            bus.test_kit().map(|()| Tally::PASSED)
        })]))
}

/// The committed document is the one that the server prints, and it passes the lint.
pub(super) fn document() -> Result<Tally> {
    let binary = build_server()?;
    let committed = fs::read_to_string(openapi::file()).context("cannot read openapi/openapi.json")?;
    Ok(super::all(&[
        ("the committed document is current", &|| {
            ensure!(
                openapi::print(&binary)? == committed,
                "openapi/openapi.json is not current: run `cargo xtask openapi`"
            );
            Ok(Tally::PASSED)
        }),
        ("strict lint (redocly)", &lint),
    ]))
}

fn lint() -> Result<Tally> {
    lint_of(&openapi::file(), "redocly.yaml")
}

pub(super) fn lint_of(document: &Path, config: &str) -> Result<Tally> {
    let lint = node_tool("redocly")?
        .args(["lint", "--format=stylish", "--max-problems=1000", "--config"])
        .arg(checks().join(config))
        .arg(document)
        .env("REDOCLY_TELEMETRY", "off")
        .env("REDOCLY_SUPPRESS_UPDATE_NOTICE", "true");
    Ok(count::tool(&lint.tee()?))
}

/// Clients in two languages, generated from the document, do the main job on a real server; and clients generated from what
/// the server says of a project's tools call them.
pub(super) fn clients() -> Result<Tally> {
    let checked = Checked::start(&[])?;
    let address = checked.address();
    let on_server = |sh: Sh| {
        sh.env("TOOLGATE_ADDRESS", address)
            .env("TOOLGATE_USERNAME", USERNAME)
            .env("TOOLGATE_PASSWORD", PASSWORD)
    };
    let tally = super::all(&[
        ("TypeScript", &|| {
            let script = typescript_client("client", "client.mts", &openapi::file())?;
            let node = install::node()?.join("node");
            let run = Sh::new(node).args(["--test", "--test-reporter=tap"]).arg(script);
            Ok(count::node(&on_server(run).tee()?))
        }),
        ("Python", &|| {
            let (python, folder) = python_client("toolgate_client", &openapi::file())?;
            let run = Sh::new(python)
                .arg(checks().join("client.py"))
                .env("PYTHONPATH", folder);
            Ok(count::tap(
                &on_server(run).env("PYTHONDONTWRITEBYTECODE", "1").tee()?,
            ))
        }),
        ("tools as an API", &|| tools_as_an_api(&checked)),
        ("tools of every shape", &|| shapes::generators(&checked)),
        // The last: what the others have done is counted.
        ("metrics", &|| {
            let bin = install::python("python", &checks().join("requirements.txt"))?;
            let run = Sh::new(bin.join("python")).arg(checks().join("metrics.py"));
            Ok(count::tap(
                &on_server(run).env("PYTHONDONTWRITEBYTECODE", "1").tee()?,
            ))
        }),
    ]);
    checked.stop()?;
    Ok(tally)
}

/// The project of the tools that the generated clients call.
const TOOLS: &str = "tools";

/// Makes a project with tools, takes the document of those that an agent may call, lints it, and calls them with clients
/// that are generated from it.
fn tools_as_an_api(checked: &Checked) -> Result<Tally> {
    let address = checked.address();
    let key = project_of_tools(checked)?;
    let agent = Client::new(address).with_token(&key);
    let document = agent.get(&format!("/projects/{TOOLS}/openapi.json?group=operations"))?;
    let folder = fresh(&paths::tools().join("tools-document"))?;
    let file = folder.join("openapi.json");
    fs::write(&file, serde_json::to_string_pretty(&document)?).context("cannot write the document")?;
    let on_server = |sh: Sh| {
        sh.env("TOOLGATE_ADDRESS", address)
            .env("TOOLGATE_AGENT_KEY", &key)
    };
    Ok(super::all(&[
        ("strict lint (redocly)", &|| lint_of(&file, "redocly-tools.yaml")),
        ("TypeScript", &|| {
            let script = typescript_client("tools", "tools.mts", &file)?;
            let node = install::node()?.join("node");
            let run = Sh::new(node).args(["--test", "--test-reporter=tap"]).arg(script);
            Ok(count::node(&on_server(run).tee()?))
        }),
        ("Python", &|| {
            let (python, folder) = python_client("toolgate_tools", &file)?;
            let run = Sh::new(python)
                .arg(checks().join("tools.py"))
                .env("PYTHONPATH", folder)
                .env("PYTHONDONTWRITEBYTECODE", "1");
            Ok(count::tap(&on_server(run).tee()?))
        }),
    ]))
}

/// Tools that ask the server itself, and the key of an agent that may call them.
fn project_of_tools(checked: &Checked) -> Result<String> {
    let address = checked.address();
    let admin = checked.admin()?;
    admin.post("/projects", &json!({ "id": TOOLS }))?;
    let agent = json!({ "name": "agent", "role": "agent", "groups": ["operations"] });
    let key = admin.post(&format!("/projects/{TOOLS}/keys"), &agent)?["secret"]
        .as_str()
        .context("the key has no secret")?
        .to_owned();
    let secret = json!({ "value": key });
    admin.send(
        "PUT",
        &format!("/projects/{TOOLS}/secrets/AGENT_KEY"),
        &Body::Json(&secret),
    )?;
    let http = |path: &str| json!({ "base_url": address, "path": path });
    let ask = json!({ "base_url": address, "path": format!("/projects/{TOOLS}/resolve"), "method": "POST",
        "body": "question", "auth": { "env": "secret:AGENT_KEY" } });
    let question = json!({ "type": "object", "properties": { "question": { "$ref": "#/$defs/Question" } },
        "required": ["question"], "$defs": { "Question": { "type": "object",
        "properties": { "group": { "type": "array", "items": { "type": "string" } } }, "required": ["group"] } } });
    let nothing = json!({ "type": "object", "properties": {} });
    for (name, parameters, http, state) in [
        ("is-ready", &nothing, http("/readyz"), Some("checked")),
        ("needs-a-credential", &nothing, http("/auth/me"), None),
        ("what-is-available", &question, ask, None),
    ] {
        let mut tool = json!({ "name": name, "type": "openapi", "description": format!("The tool {name}."),
            "group": ["operations"], "parameters": parameters, "options": { "http": http } });
        if let Some(state) = state {
            tool["state"] = json!(state);
        }
        admin.post(&format!("/projects/{TOOLS}/tools"), &tool)?;
    }
    Ok(key)
}

/// Generates and compiles a TypeScript client with its test; returns the compiled test.
pub(super) fn typescript_client(name: &str, script: &str, document: &Path) -> Result<PathBuf> {
    let folder = typescript_folder(name, &[script, "openapi-ts.config.mjs"])?;
    node_tool("openapi-ts")?
        .args(["--no-log-file", "--silent"])
        .env("TOOLGATE_DOCUMENT", document)
        .folder(&folder)
        .run()?;
    compiled(&folder, script)
}

/// A new folder for a client and its test, with these files.
pub(super) fn typescript_folder(name: &str, files: &[&str]) -> Result<PathBuf> {
    let folder = fresh(&install::node_packages("api-checks", &checks())?.join(name))?;
    for name in files.iter().chain(&["tsconfig.json"]) {
        fs::copy(checks().join(name), folder.join(name)).with_context(|| format!("cannot copy {name}"))?;
    }
    // Generated files are modules, and so is what they are compiled to.
    fs::write(folder.join("package.json"), "{\"type\": \"module\"}\n")?;
    Ok(folder)
}

/// Compiles a client with its test; returns the compiled test.
pub(super) fn compiled(folder: &Path, script: &str) -> Result<PathBuf> {
    node_tool("tsc")?
        .args(["--project", "tsconfig.json"])
        .folder(folder)
        .run()?;
    Ok(folder.join("out").join(Path::new(script).with_extension("mjs")))
}

/// Generates a Python client; returns the interpreter and the folder with the package.
pub(super) fn python_client(package: &str, document: &Path) -> Result<(PathBuf, PathBuf)> {
    let bin = install::python("python", &checks().join("requirements.txt"))?;
    let folder = fresh(&paths::tools().join("python-client").join(package))?;
    Sh::new(bin.join("openapi-python-client"))
        .args([
            "generate",
            "--meta",
            "none",
            "--overwrite",
            "--fail-on-warning",
            "--config",
        ])
        .arg(checks().join("openapi-python-client.yaml"))
        .arg("--path")
        .arg(document)
        .arg("--output-path")
        .arg(folder.join(package))
        .env("PATH", install::path_with(&bin))
        .run()?;
    Ok((bin.join("python"), folder))
}

/// Requests made up from the document, good and bad; the answers must be ones it promises.
pub(super) fn schemathesis() -> Result<Tally> {
    let bin = install::python("python", &checks().join("requirements.txt"))?;
    let checked = Checked::start(&[])?;
    let admin = checked.admin()?;
    for project in ["checked", "disposable"] {
        admin.post("/projects", &json!({ "id": project }))?;
    }
    // The first has the name that the document's examples use, so that they reach it.
    for name in ["web-search", "disposable"] {
        let tool = format!(
            "name: {name}\ntype: openapi\ndescription: Ask whether the server is ready.\nparameters: {{type: object, \
             properties: {{}}}}\noptions: {{http: {{base_url: \"{}\", path: /readyz}}}}\n",
            checked.address()
        );
        admin.send("POST", "/projects/checked/tools", &Body::Yaml(&tool))?;
    }
    let folder = fresh(&paths::tools().join("schemathesis"))?;
    let run = Sh::new(bin.join("schemathesis"))
        .arg("--config-file")
        .arg(checks().join("schemathesis.toml"))
        .args(["--no-color", "run"])
        .arg(openapi::file())
        .arg("--url")
        .arg(checked.address())
        .arg("--header")
        .arg(format!(
            "Authorization: Bearer {}",
            admin.token().unwrap_or_default()
        ))
        .env("SCHEMATHESIS_HOOKS", checks().join("schemathesis_hooks.py"))
        .folder(folder);
    let outcome = run.tee_as("schemathesis run openapi/openapi.json")?;
    // A thread of its own that stops takes the operations after it along, and its exit code does not say so.
    let tally = if outcome.text.contains("Exception in thread") {
        Tally::FAILED
    } else {
        count::tool(&outcome)
    };
    if tally.failed > 0 {
        println!("the server said:\n{}", checked.server.log());
    }
    checked.stop()?;
    Ok(tally)
}

/// The folder with the checks' own files.
pub(super) fn checks() -> PathBuf {
    paths::root().join("openapi/tests")
}

/// A program that comes as a Node package.
pub(super) fn node_tool(name: &str) -> Result<Sh> {
    let packages = install::node_packages("api-checks", &checks())?;
    let bin = install::node()?;
    Ok(Sh::new(bin.join("node")).arg(packages.join("node_modules/.bin").join(name)))
}

/// The folder, empty.
pub(super) fn fresh(folder: &Path) -> Result<PathBuf> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    Ok(folder.to_owned())
}
