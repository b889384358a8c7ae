//! Tools, their revisions, and uploads.

use toolgate_api::calls::{CallRequest, CallResponse};
use toolgate_api::tools::{RevisionDiff, Tool, ToolPage, ToolRevisionPage, UploadResult};

use super::client::{self, Body, Tagged};
use super::{ApiError, Method, in_project, page};

/// Which tools of a project to list. Empty texts mean all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ToolFilter {
    /// Part of the name or the description.
    pub(crate) q: String,
    /// In this group.
    pub(crate) group: String,
    /// Open in this state.
    pub(crate) state: String,
    /// Of this type.
    pub(crate) type_: String,
}

impl ToolFilter {
    /// Whether it lets everything through.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A page of the tools that a filter lets through.
pub(crate) async fn list_tools(
    project: &str,
    filter: &ToolFilter,
    cursor: Option<String>,
) -> Result<ToolPage, ApiError> {
    let mut query = page(cursor.as_deref());
    let parts = [
        ("q", &filter.q),
        ("group", &filter.group),
        ("state", &filter.state),
        ("type", &filter.type_),
    ];
    query.extend(
        parts
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| (*name, value.as_str())),
    );
    client::get(&in_project(project, &["tools"]), &query).await
}

/// One tool, as this person may see it.
pub(crate) async fn tool(project: &str, name: &str) -> Result<Tagged<Tool>, ApiError> {
    client::get_tagged(&in_project(project, &["tools", name]), &[]).await
}

/// The definition of a tool as YAML.
pub(crate) async fn tool_yaml(project: &str, name: &str) -> Result<Tagged<String>, ApiError> {
    client::get_text(&in_project(project, &["tools", name]), "application/yaml").await
}

/// Replaces a tool that is still at the tagged revision.
pub(crate) async fn put_tool(
    project: &str,
    name: &str,
    etag: &str,
    note: &str,
    yaml: String,
) -> Result<UploadResult, ApiError> {
    let query: &[(&str, &str)] = if note.is_empty() { &[] } else { &[("note", note)] };
    let path = in_project(project, &["tools", name]);
    client::send(Method::PUT, &path, query, Some(etag), Body::Yaml(yaml))
        .await
        .map(|tagged| tagged.value)
}

/// Deletes a tool.
pub(crate) async fn delete_tool(project: &str, name: &str, etag: &str) -> Result<(), ApiError> {
    let path = in_project(project, &["tools", name]);
    client::send_only(Method::DELETE, &path, &[], Some(etag), Body::None).await
}

/// Uploads definitions, or only asks for the verdict.
pub(crate) async fn upload(project: &str, yaml: String, dry_run: bool) -> Result<UploadResult, ApiError> {
    let query: &[(&str, &str)] = if dry_run { &[("dry_run", "true")] } else { &[] };
    let path = in_project(project, &["tools"]);
    client::send(Method::POST, &path, query, None, Body::Yaml(yaml))
        .await
        .map(|tagged| tagged.value)
}

/// A page of a tool's revisions, newest first.
pub(crate) async fn revisions(
    project: &str,
    name: &str,
    cursor: Option<String>,
) -> Result<ToolRevisionPage, ApiError> {
    let path = in_project(project, &["tools", name, "revisions"]);
    client::get(&path, &page(cursor.as_deref())).await
}

/// What changed between two revisions.
pub(crate) async fn diff(project: &str, name: &str, from: i64, to: i64) -> Result<RevisionDiff, ApiError> {
    let path = in_project(project, &["tools", name, "diff"]);
    client::get(&path, &[("from", &from.to_string()), ("to", &to.to_string())]).await
}

/// Makes an earlier revision the newest again.
pub(crate) async fn restore(
    project: &str,
    name: &str,
    revision: i64,
    etag: &str,
) -> Result<UploadResult, ApiError> {
    let path = in_project(project, &["tools", name, "revisions", &revision.to_string(), "restore"]);
    client::send(Method::POST, &path, &[], Some(etag), Body::None)
        .await
        .map(|tagged| tagged.value)
}

/// Calls a tool.
pub(crate) async fn call(project: &str, request: &CallRequest) -> Result<CallResponse, ApiError> {
    let path = in_project(project, &["calls"]);
    client::send(Method::POST, &path, &[], None, Body::json(request)?)
        .await
        .map(|tagged| tagged.value)
}
