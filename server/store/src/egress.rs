//! The egress list of a project.

use chrono::{DateTime, Utc};
use toolgate_api::egress::ProjectEgress;
use toolgate_core::ids::ProjectUid;

use crate::Store;
use crate::documents::Kind;
use crate::error::Result;
use crate::rows::Replacement;

impl Store {
    /// Replaces the egress list of a project; its new revision.
    ///
    /// # Errors
    /// [`crate::StoreError::VersionConflict`] when it is not at the expected revision;
    /// [`crate::StoreError::NotFound`] when the project does not exist.
    pub async fn put_egress(
        &self,
        project: ProjectUid,
        replacement: &Replacement<'_, ProjectEgress>,
        at: DateTime<Utc>,
    ) -> Result<i64> {
        self.put_document(project, Kind::Egress, replacement, at).await
    }
}
