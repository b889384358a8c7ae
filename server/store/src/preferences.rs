//! How the dashboard looks for each user.

use chrono::{DateTime, Utc};
use toolgate_api::profile::Preferences;
use toolgate_core::ids::UserId;

use crate::Store;
use crate::codec::{from_json, micros, to_json};
use crate::db::{both, execute, writing};
use crate::error::Result;

impl Store {
    /// What a user prefers; `None` for one who has not said.
    pub async fn preferences(&self, user: UserId) -> Result<Option<Preferences>> {
        let found: Option<(String,)> = both!(self, |pool| {
            sqlx::query_as("SELECT preferences FROM user_preferences WHERE user_id = $1")
                .bind(user.0)
                .fetch_optional(pool)
                .await?
        })
        .await?;
        found
            .map(|(text,)| from_json(&text, || format!("the preferences of user {user}")))
            .transpose()
    }

    /// Replaces what a user prefers.
    pub async fn set_preferences(
        &self,
        user: UserId,
        preferences: &Preferences,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let written = to_json(preferences)?;
        writing!(self, |tx| {
            execute!(
                tx,
                "INSERT INTO user_preferences (user_id, preferences, updated_at) VALUES ($1, $2, $3)
                 ON CONFLICT (user_id) DO UPDATE
                     SET preferences = excluded.preferences, updated_at = excluded.updated_at",
                user.0,
                written.as_str(),
                micros(now),
            );
        })
        .await
    }
}
