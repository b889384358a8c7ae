//! The authorization endpoint: where a client sends the user.
//!
//! The session cookie is not sent with a request that another site has caused (`SameSite=Strict`), so this endpoint cannot
//! know the user. It checks what it can and leads to a page of the dashboard, which lets the user sign in and asks.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use url::form_urlencoded::{self, Serializer};

use super::metadata::require_enabled;
use crate::gateway::Gateway;
use crate::gateway::connections::{AuthorizationRequest, Checked, Fault, check_registered};
use crate::web;

/// The page of the dashboard that asks the user.
const PAGE: &str = "/ui/authorize";

/// Leads to the page that asks, back to the client with an error, or to nowhere when the client is not to be trusted.
pub(super) async fn authorize(State(gateway): State<Arc<Gateway>>, uri: Uri) -> Response {
    if let Err(problem) = require_enabled(&gateway) {
        return problem.into_response();
    }
    let query = uri.query().unwrap_or_default();
    let checked = async {
        let request = AuthorizationRequest::read(query)?;
        check_registered(&gateway, &request).await
    };
    let checked: Result<Option<Checked>, Fault> = checked.await;
    match checked {
        Err(fault) => web::error_page(
            StatusCode::BAD_REQUEST,
            "The client cannot be connected",
            &fault.description,
        ),
        Ok(Some(Checked::Redirect(to))) => see_other(&to),
        Ok(Some(Checked::Valid(_)) | None) => {
            // Written again, so that nothing in it can end the address of the page early.
            let mut again = Serializer::new(String::new());
            again.extend_pairs(form_urlencoded::parse(query.as_bytes()));
            see_other(&format!("{PAGE}?{}", again.finish()))
        }
    }
}

fn see_other(to: &str) -> Response {
    match HeaderValue::from_str(to) {
        Ok(to) => (StatusCode::SEE_OTHER, [(header::LOCATION, to)]).into_response(),
        Err(_) => web::error_page(
            StatusCode::BAD_REQUEST,
            "The client cannot be connected",
            "The client's address cannot be written in a header.",
        ),
    }
}
