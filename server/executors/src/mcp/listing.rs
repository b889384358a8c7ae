//! Reading the lists of a server, page by page.

use std::collections::{HashMap, HashSet};

use rmcp::RoleClient;
use rmcp::model::{ClientRequest, ListToolsRequest, PaginatedRequestParams};
use rmcp::service::Peer;
use serde_json::Value;
use tokio::time::Instant;
use toolgate_api::ErrorCode;
use toolgate_core::mcp_import::{McpListing, fingerprint};

use super::{error, raw};
use crate::failure::Failure;

/// Pages of one list.
const MAX_PAGES: usize = 200;
/// Items of one list.
const MAX_ITEMS: usize = 5_000;

/// What a server lists, and the digest of each tool by its name.
pub(super) struct Listed {
    pub(super) at: Instant,
    pub(super) listing: McpListing,
    pub(super) fingerprints: HashMap<String, String>,
}

/// Reads all tools.
///
/// # Errors
/// As [`pages`].
pub(super) async fn list(peer: &Peer<RoleClient>) -> Result<Listed, Failure> {
    let request = |params| {
        ClientRequest::ListToolsRequest(ListToolsRequest {
            params,
            ..ListToolsRequest::default()
        })
    };
    Ok(listed(peer, pages(peer, "tools", request).await?))
}

/// Reads all pages of a list; `key` is the member that has the items, as people call them, too.
///
/// # Errors
/// Why they could not be listed; `upstream_invalid` when the pages have no end.
pub(super) async fn pages(
    peer: &Peer<RoleClient>,
    key: &str,
    request: impl Fn(Option<PaginatedRequestParams>) -> ClientRequest,
) -> Result<Vec<Value>, Failure> {
    let invalid = |what: String| Failure::new(ErrorCode::UpstreamInvalid, what);
    let mut items: Vec<Value> = Vec::new();
    let mut cursors = HashSet::new();
    let mut cursor: Option<String> = None;
    for _ in 0..MAX_PAGES {
        // The first page is asked for without any cursor: there are servers that refuse null.
        let params = cursor
            .take()
            .map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
        let answer = peer
            .send_request(request(params))
            .await
            .map_err(|error| error::of_request(&error))?;
        // A page with an item that rmcp cannot read is read as it came, so that only that item is lost.
        let mut page = raw::value(answer)
            .map_err(|_| invalid(format!("the MCP server's list of {key} cannot be read")))?;
        match page.get_mut(key).map(Value::take) {
            Some(Value::Array(more)) if key == "tools" => items.extend(more.into_iter().map(raw::tool)),
            Some(Value::Array(more)) => items.extend(more),
            _ => {
                return Err(invalid(format!("the MCP server answered with no list of {key}")));
            }
        }
        if items.len() > MAX_ITEMS {
            return Err(invalid(format!(
                "the MCP server lists more than {MAX_ITEMS} {key}"
            )));
        }
        match page.get("nextCursor").and_then(Value::as_str) {
            // An empty cursor is a cursor.
            Some(next) if cursors.insert(next.to_owned()) => cursor = Some(next.to_owned()),
            Some(_) => {
                return Err(invalid(format!(
                    "the MCP server's list of {key} has no end: a cursor came twice"
                )));
            }
            None => return Ok(items),
        }
    }
    Err(invalid(format!(
        "the MCP server's list of {key} has more than {MAX_PAGES} pages"
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
        at: Instant::now(),
        listing: McpListing {
            title,
            version,
            tools,
        },
        fingerprints,
    }
}
