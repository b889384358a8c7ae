//! Searching the guides of the product.

use serde::Deserialize;
use toolgate_api::help::HelpSections;

use crate::extract::{Query, check_lengths};
use crate::gateway::Problem;
use crate::help;

/// What to look for.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct HelpQuery {
    /// Words that a section must have, in any order; without any, every guide is listed.
    #[param(max_length = 200)]
    q: Option<String>,
}

/// Search the guides
///
/// The sections of the product's guides that have all words, those with the words in the heading first. The guides are pages
/// under `/help`, and come with the server.
#[utoipa::path(get, path = "/help/search", tag = "operations", params(HelpQuery), security(()),
    responses((status = 200, description = "The sections", body = HelpSections)))]
pub async fn search_help(Query(query): Query<HelpQuery>) -> Result<axum::Json<HelpSections>, Problem> {
    check_lengths(&[("q", &query.q, 200)])?;
    let items = help::search(query.q.as_deref().unwrap_or_default());
    Ok(axum::Json(HelpSections { items }))
}
