//! The settings of a project.

use chrono::{DateTime, Utc};
use toolgate_api::settings::ProjectSettings;
use toolgate_core::ids::ProjectUid;

use crate::Store;
use crate::documents::Kind;
use crate::error::Result;
use crate::rows::Replacement;

impl Store {
    /// Replaces the settings of a project; their new revision.
    ///
    /// # Errors
    /// [`crate::StoreError::VersionConflict`] when they are not at the expected revision;
    /// [`crate::StoreError::NotFound`] when the project does not exist.
    pub async fn put_settings(
        &self,
        project: ProjectUid,
        replacement: &Replacement<'_, ProjectSettings>,
        at: DateTime<Utc>,
    ) -> Result<i64> {
        self.put_document(project, Kind::Settings, replacement, at).await
    }
}
