//! The stage about MCP clients: the official Python and TypeScript clients, the inspector and the conformance suite use a
//! project as their server.

use anyhow::{Context, Result};
use serde_json::json;

use super::api::{Checked, checks};
use super::code::build_server;
use super::count::{self, Tally};
use crate::client::Client;
use crate::install;
use crate::server::free_port;
use crate::sh::Sh;

/// The Node that the conformance suite needs: it uses `fs.globSync`.
const SUITE_NODE: (u32, u32) = (22, 0);
/// The project.
const PROJECT: &str = "mcp";

/// Installs the clients, the suite and the servers.
pub(super) fn fetch() -> Result<()> {
    let folder = checks().join("mcp");
    install::python("mcp", &folder.join("requirements.txt"))?;
    install::node_packages("mcp-checks", &folder)?;
    install::node_since(SUITE_NODE)?;
    Ok(())
}

/// Lists, calls and follows a workflow in every mode of the client, over HTTP and over a process; and lets the conformance
/// suite of the protocol check the server, and the client that servers behind a project meet. Public servers behind a project are called
/// by their tools' names.
pub(super) fn run() -> Result<Tally> {
    // Where the server that the conformance suite expects will listen.
    let upstream = format!("http://127.0.0.1:{}", free_port()?);
    let checked = Checked::start(&[&upstream])?;
    let key = project(&checked)?;
    let folder = checks().join("mcp");
    let tally = super::all(&[
        ("Python client", &|| {
            let bin = install::python("mcp", &folder.join("requirements.txt"))?;
            let run = Sh::new(bin.join("python"))
                .arg(folder.join("interop.py"))
                .env("TOOLGATE_ADDRESS", checked.address())
                .env("TOOLGATE_AGENT_KEY", &key)
                .env("TOOLGATE_BINARY", build_server()?)
                .env("PYTHONDONTWRITEBYTECODE", "1");
            Ok(count::tap(&run.tee()?))
        }),
        ("TypeScript clients and inspector", &|| {
            let packages = install::node_packages("mcp-checks", &folder)?;
            let run = Sh::new(install::node_since(SUITE_NODE)?.join("node"))
                .arg(folder.join("interop.mjs"))
                .env("TOOLGATE_ADDRESS", checked.address())
                .env("TOOLGATE_AGENT_KEY", &key)
                .env("PACKAGES", packages);
            Ok(count::tap(&run.tee()?))
        }),
        ("conformance suite", &|| {
            let packages = install::node_packages("mcp-checks", &folder)?;
            let url = format!("{}/projects/{PROJECT}/mcp?group=operations", checked.address());
            let run = Sh::new(install::node_since(SUITE_NODE)?.join("node"))
                .arg(folder.join("conformance.mjs"))
                .env("TOOLGATE_URL", url)
                .env("TOOLGATE_TOKEN", checked.admin()?.token().context("no token")?)
                .env("UPSTREAM_URL", format!("{upstream}/mcp"))
                .env("TOOLGATE_AGENT_KEY", &key)
                .env("PACKAGES", packages);
            Ok(count::tap(&run.tee()?))
        }),
        ("conformance suite, client side", &|| {
            let packages = install::node_packages("mcp-checks", &folder)?;
            let run = Sh::new(install::node_since(SUITE_NODE)?.join("node"))
                .arg(folder.join("conformance-client.mjs"))
                .env("TOOLGATE_BINARY", build_server()?)
                .env("PACKAGES", packages);
            Ok(count::tap(&run.tee()?))
        }),
        ("public servers", &|| {
            install::bubblewrap()?;
            let packages = install::node_packages("mcp-checks", &folder)?;
            let bin = install::python("mcp", &folder.join("requirements.txt"))?;
            let run = Sh::new(bin.join("python"))
                .arg(folder.join("upstreams.py"))
                .env("TOOLGATE_BINARY", build_server()?)
                .env("PACKAGES", packages)
                .env("NODE", install::node_since(SUITE_NODE)?.join("node"))
                .env("PYTHONDONTWRITEBYTECODE", "1");
            Ok(count::tap(&run.tee()?))
        }),
    ]);
    checked.stop()?;
    Ok(tally)
}

/// A project whose tool `begin` opens `finish`, with a guide, and the key of an agent.
fn project(checked: &Checked) -> Result<String> {
    let admin: Client = checked.admin()?;
    admin.post("/projects", &json!({ "id": PROJECT }))?;
    let agent = json!({ "name": "agent", "role": "agent", "groups": ["operations"] });
    let key = admin.post(&format!("/projects/{PROJECT}/keys"), &agent)?["secret"]
        .as_str()
        .context("the key has no secret")?
        .to_owned();
    for (name, more) in [
        (
            "is-ready",
            json!({ "output_schema": { "type": "object", "properties": { "status": { "type": "string" } } } }),
        ),
        (
            "begin",
            json!({ "state": "begun", "available_in_states": ["undefined"] }),
        ),
        (
            "finish",
            json!({ "state": "finished", "available_in_states": ["begun"] }),
        ),
    ] {
        let mut tool = json!({ "name": name, "type": "openapi", "group": ["operations"],
            "description": format!("{name}: says whether the server is ready."),
            "parameters": { "type": "object", "properties": {}, "additionalProperties": false },
            "options": { "http": { "base_url": checked.address(), "path": "/readyz" } } });
        if let (Some(tool), Some(more)) = (tool.as_object_mut(), more.as_object()) {
            tool.extend(more.clone());
        }
        admin.post(&format!("/projects/{PROJECT}/tools"), &tool)?;
    }
    let guide = json!({ "summary": "How to operate the server", "group": "operations",
        "text": "# Operating\n\nCall `is-ready` first." });
    admin.post(
        &format!("/projects/{PROJECT}/guides"),
        &json!({ "guide": { "operating": guide } }),
    )?;
    Ok(key)
}
