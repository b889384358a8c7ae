//! The limits of a project, and how many servers share them.

use chrono::{DateTime, Utc};
use toolgate_api::limits::ProjectLimits;
use toolgate_core::ids::ProjectUid;

use crate::Store;
use crate::codec::micros;
use crate::db::{Db, both};
use crate::documents::Kind;
use crate::error::Result;
use crate::rows::Replacement;

impl Store {
    /// Replaces the limits of a project; their new revision.
    ///
    /// # Errors
    /// [`crate::StoreError::VersionConflict`] when they are not at the expected revision;
    /// [`crate::StoreError::NotFound`] when the project does not exist.
    pub async fn put_limits(
        &self,
        project: ProjectUid,
        replacement: &Replacement<'_, ProjectLimits>,
        at: DateTime<Utc>,
    ) -> Result<i64> {
        self.put_document(project, Kind::Limits, replacement, at).await
    }

    /// How many servers of this database have a heartbeat since a time and have not ended.
    pub async fn living_servers(&self, alive_after: DateTime<Utc>) -> Result<u32> {
        // A SQLite file has one server at a time.
        if let Db::Lite(_) = self.db() {
            return Ok(1);
        }
        let count: i64 = both!(self, |pool| {
            sqlx::query_scalar("SELECT COUNT(*) FROM chains WHERE ended_at IS NULL AND heartbeat_at >= $1")
                .bind(micros(alive_after))
                .fetch_one(pool)
                .await?
        })
        .await?;
        Ok(u32::try_from(count).unwrap_or(u32::MAX))
    }
}
