//! The MCP servers of a project.

use chrono::{DateTime, Utc};
use toolgate_api::mcp_servers::StoredMcpServer;
use toolgate_core::ids::ProjectUid;

use crate::Store;
use crate::documents::Kind;
use crate::error::Result;
use crate::rows::Replacement;

impl Store {
    /// Replaces the MCP servers of a project; the new revision of all of them.
    ///
    /// # Errors
    /// [`crate::StoreError::VersionConflict`] when they are not at the expected revision;
    /// [`crate::StoreError::NotFound`] when the project does not live.
    pub async fn put_mcp_servers(
        &self,
        project: ProjectUid,
        replacement: &Replacement<'_, Vec<StoredMcpServer>>,
        at: DateTime<Utc>,
    ) -> Result<i64> {
        self.put_document(project, Kind::McpServers, replacement, at)
            .await
    }
}
