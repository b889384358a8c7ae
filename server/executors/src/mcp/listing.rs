//! Reading the tools of a server, page by page.

use std::collections::{HashMap, HashSet};

use rmcp::RoleClient;
use rmcp::model::{ClientRequest, ListToolsRequest, PaginatedRequestParams, ServerResult};
use rmcp::service::Peer;
use serde_json::Value;
use toolgate_api::ErrorCode;
use toolgate_core::mcp_import::{McpListing, fingerprint};

use super::error;
use crate::failure::Failure;

/// Pages of one list.
const MAX_PAGES: usize = 200;
/// Tools of one list.
const MAX_TOOLS: usize = 5_000;

/// What a server lists, and the digest of each tool by its name.
pub(super) struct Listed {
    pub(super) listing: McpListing,
    pub(super) fingerprints: HashMap<String, String>,
}

/// Reads all pages.
///
/// # Errors
/// Why the tools could not be listed; `upstream_invalid` when the pages have no end.
pub(super) async fn list(peer: &Peer<RoleClient>) -> Result<Listed, Failure> {
    let invalid = |what: String| Failure::new(ErrorCode::UpstreamInvalid, what);
    let mut tools: Vec<Value> = Vec::new();
    let mut cursors = HashSet::new();
    let mut cursor: Option<String> = None;
    for _ in 0..MAX_PAGES {
        // The first page is asked for without any cursor: there are servers that refuse null.
        let params = cursor
            .take()
            .map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
        let request = ClientRequest::ListToolsRequest(ListToolsRequest {
            params,
            ..ListToolsRequest::default()
        });
        let answer = peer
            .send_request(request)
            .await
            .map_err(|error| error::of_request(&error))?;
        // A page with a tool that rmcp cannot read is read as it came, so that only that tool is lost.
        let page = match answer {
            ServerResult::ListToolsResult(page) => serde_json::to_value(page),
            other => serde_json::to_value(other),
        };
        let mut page =
            page.map_err(|_| invalid("the MCP server's list of tools cannot be read".to_owned()))?;
        match page.get_mut("tools").map(Value::take) {
            Some(Value::Array(more)) => tools.extend(more),
            _ => {
                return Err(invalid(
                    "the MCP server answered with no list of tools".to_owned(),
                ));
            }
        }
        if tools.len() > MAX_TOOLS {
            return Err(invalid(format!(
                "the MCP server lists more than {MAX_TOOLS} tools"
            )));
        }
        match page.get("nextCursor").and_then(Value::as_str) {
            // An empty cursor is a cursor.
            Some(next) if cursors.insert(next.to_owned()) => cursor = Some(next.to_owned()),
            Some(_) => {
                return Err(invalid(
                    "the MCP server's list of tools has no end: a cursor came twice".to_owned(),
                ));
            }
            None => return Ok(listed(peer, tools)),
        }
    }
    Err(invalid(format!(
        "the MCP server's list of tools has more than {MAX_PAGES} pages"
    )))
}

fn listed(peer: &Peer<RoleClient>, tools: Vec<Value>) -> Listed {
    let named = peer.peer_info().and_then(|info| info.server_info.clone());
    let (title, version) = named.map_or_else(Default::default, |server| (server.name, server.version));
    let fingerprints = tools
        .iter()
        .rev()
        .filter_map(|tool| Some((tool.get("name")?.as_str()?.to_owned(), fingerprint(tool))))
        .collect();
    Listed {
        listing: McpListing {
            title,
            version,
            tools,
        },
        fingerprints,
    }
}
