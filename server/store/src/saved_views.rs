//! Views of the record that were kept under a name.

use toolgate_api::saved_views::SavedView;
use toolgate_core::ids::ProjectUid;
use uuid::Uuid;

use crate::Store;
use crate::codec::{micros, text, time};
use crate::db::{both, execute, writing};
use crate::error::Result;

/// The owner of the views that a project shares.
const SHARED: &str = "";

/// Id, owner, name, query, author and when it was kept.
type ViewColumns = (Uuid, String, String, String, String, i64);

impl Store {
    /// Keeps a view, in place of one of the same name and owner; `false` when its owner has so many others already.
    pub async fn save_view(&self, project: ProjectUid, view: &SavedView, most: i64) -> Result<bool> {
        let owner = if view.shared { SHARED } else { &view.author };
        writing!(self, |tx| {
            let (others,): (i64,) = sqlx::query_as(
                "SELECT COUNT(*) FROM saved_views WHERE project_uid = $1 AND owner = $2 AND name <> $3",
            )
            .bind(project.0)
            .bind(text(owner))
            .bind(text(&view.name))
            .fetch_one(&mut *tx)
            .await?;
            if others < most {
                execute!(
                    tx,
                    "INSERT INTO saved_views (project_uid, id, owner, name, query, author, created_at)
                     VALUES ($1, $2, $3, $4, $5, $6, $7)
                     ON CONFLICT (project_uid, owner, name) DO UPDATE SET
                         id = excluded.id, query = excluded.query, author = excluded.author,
                         created_at = excluded.created_at",
                    project.0,
                    view.id,
                    text(owner),
                    text(&view.name),
                    text(&view.query),
                    text(&view.author),
                    micros(view.created_at),
                );
            }
            others < most
        })
        .await
    }

    /// The views that a principal sees: its own and the shared ones, by name.
    pub async fn saved_views(&self, project: ProjectUid, principal: &str) -> Result<Vec<SavedView>> {
        let rows: Vec<ViewColumns> = both!(self, |pool| {
            sqlx::query_as(
                "SELECT id, owner, name, query, author, created_at FROM saved_views
                 WHERE project_uid = $1 AND owner IN ($2, $3) ORDER BY name, owner",
            )
            .bind(project.0)
            .bind(SHARED)
            .bind(text(principal))
            .fetch_all(pool)
            .await?
        })
        .await?;
        rows.into_iter()
            .map(|(id, owner, name, query, author, created_at)| {
                Ok(SavedView {
                    id,
                    name,
                    query,
                    shared: owner == SHARED,
                    author,
                    created_at: time(created_at)?,
                })
            })
            .collect()
    }

    /// Removes a view; `false` when it is not there.
    pub async fn delete_saved_view(&self, project: ProjectUid, id: Uuid) -> Result<bool> {
        writing!(self, |tx| {
            let removed = execute!(
                tx,
                "DELETE FROM saved_views WHERE project_uid = $1 AND id = $2",
                project.0,
                id,
            );
            removed > 0
        })
        .await
    }
}
