//! The table of contents: every route, and the API document that falls out of it.

use std::sync::OnceLock;

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use toolgate_api::ErrorCode;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::{
    access_requests, accounts, agent_requests, alerts, artifacts, audit, auth, bus_programs, bus_tokens,
    calls, cards, connections, dead_letters, definitions, drafts, egress, explain, groups, guides, health,
    help, imports, keys, limits, mcp_clients, mcp_servers, notifications, permissions, policy_tests, profile,
    project_file, projects, quarantine, recommendations, saved_views, second_factor, secrets, sessions,
    settings, states, status, tool_api, tool_changes, tool_services, tool_types, tools, tools_edit,
    tools_revisions, upstreams, usage, usage_series, users,
};
use crate::gateway::Problem;
use crate::state::App;
use crate::{mcp, middleware, oauth, openapi, single_sign_on, web};

/// What `/docs` may load: its own files, and the inline styles that its pages set.
const DOCS_CSP: &str =
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'";

/// Every operation of the API. A route that is not here does not exist, neither in the server nor in the document.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(openapi::base())
        .routes(routes!(auth::login))
        .routes(routes!(auth::logout))
        .routes(routes!(auth::list_sign_in_ways))
        .routes(routes!(auth::get_me))
        .routes(routes!(auth::get_jwks))
        .routes(routes!(users::change_password))
        .routes(routes!(profile::list_sign_ins))
        .routes(routes!(profile::end_sign_in))
        .routes(routes!(profile::end_other_sign_ins))
        .routes(routes!(profile::get_preferences, profile::replace_preferences))
        .routes(routes!(second_factor::begin_second_factor))
        .routes(routes!(second_factor::confirm_second_factor))
        .routes(routes!(second_factor::replace_recovery_codes))
        .routes(routes!(second_factor::remove_second_factor))
        .routes(routes!(users::list_users, users::create_user))
        .routes(routes!(users::get_user, users::update_user, users::delete_user))
        .routes(routes!(users::reset_user_password))
        .routes(routes!(users::remove_user_second_factor))
        .routes(routes!(projects::list_projects, projects::create_project))
        .routes(routes!(
            projects::get_project,
            projects::rename_project,
            projects::delete_project
        ))
        .routes(routes!(project_file::export_project))
        .routes(routes!(project_file::import_project))
        .routes(routes!(settings::get_settings, settings::replace_settings))
        .routes(routes!(egress::get_egress, egress::replace_egress))
        .routes(routes!(limits::get_limits, limits::replace_limits))
        .routes(routes!(limits::get_limit_usage))
        .routes(routes!(secrets::list_secrets))
        .routes(routes!(
            secrets::get_secret,
            secrets::set_secret,
            secrets::delete_secret
        ))
        .routes(routes!(keys::list_keys, keys::create_key))
        .routes(routes!(keys::get_key, keys::revoke_key))
        .routes(routes!(keys::rotate_key))
        .routes(routes!(connections::get_consent, connections::give_consent))
        .routes(routes!(connections::list_connections))
        .routes(routes!(
            connections::get_connection,
            connections::limit_connection,
            connections::revoke_connection
        ))
        .routes(routes!(accounts::list_account_providers))
        .routes(routes!(
            accounts::get_account_provider,
            accounts::put_account_provider,
            accounts::delete_account_provider
        ))
        .routes(routes!(accounts::list_accounts))
        .routes(routes!(accounts::set_personal_key, accounts::disconnect_account))
        .routes(routes!(accounts::connect_account))
        .routes(routes!(accounts::complete_account))
        .routes(routes!(accounts::list_connected_accounts))
        .routes(routes!(accounts::revoke_connected_account))
        .routes(routes!(permissions::list_permissions))
        .routes(routes!(permissions::list_permission_candidates))
        .routes(routes!(permissions::list_unused_grants))
        .routes(routes!(
            permissions::get_permission,
            permissions::put_permission,
            permissions::delete_permission
        ))
        .routes(routes!(
            access_requests::list_access_requests,
            access_requests::ask_for_access
        ))
        .routes(routes!(access_requests::decide_access_request))
        .routes(routes!(tools::list_tools, tools_edit::upload_tools))
        .routes(routes!(tools::get_tool_uses))
        .routes(routes!(tool_changes::change_tools))
        .routes(routes!(definitions::check_definitions))
        .routes(routes!(drafts::draft_definition))
        .routes(routes!(drafts::test_definition))
        .routes(routes!(tool_types::list_tool_types))
        .routes(routes!(
            tools::get_tool,
            tools_edit::replace_tool,
            tools_edit::delete_tool
        ))
        .routes(routes!(tool_services::list_tool_services))
        .routes(routes!(
            tool_services::get_tool_service,
            tool_services::put_tool_service,
            tool_services::delete_tool_service
        ))
        .routes(routes!(bus_programs::list_bus_programs))
        .routes(routes!(bus_programs::get_bus_program))
        .routes(routes!(bus_programs::decide_announced_descriptor))
        .routes(routes!(guides::list_guides, guides::upload_guides))
        .routes(routes!(
            guides::get_guide,
            guides::put_guide,
            guides::delete_guide
        ))
        .routes(routes!(mcp_clients::list_mcp_clients))
        .routes(routes!(imports::list_imports, imports::preview_import))
        .routes(routes!(
            imports::get_import,
            imports::put_import,
            imports::delete_import
        ))
        .routes(routes!(imports::list_import_operations))
        .routes(routes!(imports::refresh_import))
        .routes(routes!(
            mcp_servers::list_mcp_servers,
            mcp_servers::add_mcp_servers
        ))
        .routes(routes!(
            mcp_servers::get_mcp_server,
            mcp_servers::put_mcp_server,
            mcp_servers::delete_mcp_server
        ))
        .routes(routes!(mcp_servers::approve_mcp_server))
        .routes(routes!(mcp_servers::test_mcp_server))
        .routes(routes!(mcp_servers::refresh_mcp_server))
        .routes(routes!(mcp_servers::get_mcp_server_log))
        .routes(routes!(quarantine::list_quarantine))
        .routes(routes!(quarantine::get_quarantined_change))
        .routes(routes!(quarantine::approve_change))
        .routes(routes!(quarantine::reject_change))
        .routes(routes!(quarantine::decide_changes))
        .routes(routes!(tools_revisions::list_tool_revisions))
        .routes(routes!(tools_revisions::get_tool_revision))
        .routes(routes!(tools_revisions::diff_tool_revisions))
        .routes(routes!(tools_revisions::restore_tool_revision))
        .routes(routes!(groups::list_groups))
        .routes(routes!(
            groups::get_group,
            groups::put_group,
            groups::delete_group
        ))
        .routes(routes!(groups::rename_group))
        .routes(routes!(states::list_states))
        .routes(routes!(states::get_state_graph))
        .routes(routes!(
            states::get_state,
            states::put_state,
            states::delete_state
        ))
        .routes(routes!(states::rename_state))
        .routes(routes!(calls::resolve_tools))
        .routes(routes!(recommendations::recommend_tools))
        .routes(routes!(explain::explain_tools))
        .routes(routes!(
            policy_tests::list_policy_tests,
            policy_tests::upload_policy_tests
        ))
        .routes(routes!(
            policy_tests::get_policy_test,
            policy_tests::replace_policy_test,
            policy_tests::delete_policy_test
        ))
        .routes(routes!(policy_tests::run_policy_tests))
        .routes(routes!(calls::call_tool))
        .routes(routes!(calls::get_call, calls::cancel_call))
        .routes(routes!(bus_tokens::issue_bus_token))
        .routes(routes!(cards::create_card))
        .routes(routes!(cards::get_card))
        .routes(routes!(dead_letters::list_dead_letters))
        .routes(routes!(dead_letters::drop_dead_letter))
        .routes(routes!(dead_letters::retry_dead_letter))
        .routes(routes!(artifacts::get_artifact))
        .routes(routes!(tool_api::get_tool_api))
        .routes(routes!(tool_api::invoke_tool))
        .routes(routes!(sessions::list_sessions, sessions::create_session))
        .routes(routes!(sessions::count_sessions))
        .routes(routes!(sessions::get_session, sessions::end_session))
        .routes(routes!(sessions::list_session_tools))
        .routes(routes!(sessions::list_session_transitions))
        .routes(routes!(agent_requests::create_agent_request))
        .routes(routes!(audit::list_audit_records))
        .routes(routes!(audit::list_server_audit_records))
        .routes(routes!(audit::export_audit_records))
        .routes(routes!(audit::stream_audit_records))
        .routes(routes!(audit::get_audit_integrity))
        .routes(routes!(audit::get_audit_record))
        .routes(routes!(usage::get_usage))
        .routes(routes!(usage_series::get_usage_series))
        .routes(routes!(saved_views::list_saved_views, saved_views::save_view))
        .routes(routes!(saved_views::delete_saved_view))
        .routes(routes!(upstreams::list_upstreams))
        .routes(routes!(alerts::list_alerts))
        .routes(routes!(alerts::acknowledge_alert))
        .routes(routes!(alerts::list_server_alerts))
        .routes(routes!(alerts::acknowledge_server_alert))
        .routes(routes!(notifications::list_notifications))
        .routes(routes!(notifications::list_all_notifications))
        .routes(routes!(notifications::read_server_notifications))
        .routes(routes!(notifications::read_notifications))
        .routes(routes!(help::search_help))
        .routes(routes!(health::get_health))
        .routes(routes!(health::get_readiness))
        .routes(routes!(health::get_metrics))
        .routes(routes!(status::get_status))
}

/// The whole application.
pub fn router(app: App) -> Router {
    let (api, _) = routes().split_for_parts();
    let api = api
        .merge(mcp::router())
        .merge(oauth::router())
        .merge(single_sign_on::router())
        .method_not_allowed_fallback(method_not_allowed)
        .fallback(not_found)
        .route("/openapi.json", get(|| async { json(document()) }))
        .merge(docs())
        .merge(crate::help::router())
        .merge(web::router());
    middleware::apply(api, &app).with_state(app)
}

/// The offline reference page.
fn docs() -> Router<App> {
    let page =
        utoipa_swagger_ui::SwaggerUi::new("/docs").config(utoipa_swagger_ui::Config::from("/openapi.json"));
    Router::<App>::from(page).layer(axum::middleware::map_response(|mut response: Response| async {
        response.headers_mut().insert(
            header::CONTENT_SECURITY_POLICY,
            HeaderValue::from_static(DOCS_CSP),
        );
        response
    }))
}

/// The API document, which is written when it is first asked for.
fn document() -> Bytes {
    static DOCUMENT: OnceLock<Bytes> = OnceLock::new();
    let written = || Bytes::from(openapi::render(routes().into_openapi()));
    DOCUMENT.get_or_init(written).clone()
}

fn json(text: Bytes) -> Response {
    (
        [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))],
        text,
    )
        .into_response()
}

async fn not_found(headers: HeaderMap, uri: Uri) -> Response {
    let path: String = uri.path().chars().take(200).collect();
    let detail = format!("There is nothing at {path}. /docs lists what there is.");
    refuse(&headers, ErrorCode::NotFound, "There is no such page", &detail)
}

pub(crate) async fn method_not_allowed(headers: HeaderMap) -> Response {
    let detail = "This path exists but not with this method; `Allow` lists those it has.";
    refuse(
        &headers,
        ErrorCode::MethodNotAllowed,
        "This is not a page",
        detail,
    )
}

/// For people as a page, for programs as a problem.
fn refuse(headers: &HeaderMap, code: ErrorCode, title: &str, detail: &str) -> Response {
    let error = Problem::new(code, detail.to_owned()).into_response();
    if web::wants_page(headers) {
        web::error_page(error.status(), title, detail)
    } else {
        error
    }
}
