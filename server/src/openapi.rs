//! The API document: what the routes do not say themselves.

use toolgate_api::audit::{AuditFormat, AuditOrder};
use toolgate_api::states::StateGraphFormat;
use toolgate_api::tools::{ToolFileFormat, ToolSort, ToolView};
use toolgate_api::{ErrorCode, Problem};
use toolgate_core::tool_changes::MAX_TOOLS;
use utoipa::OpenApi;
use utoipa::openapi::path::Operation;
use utoipa::openapi::schema::{AdditionalProperties, ArrayItems, Schema};
use utoipa::openapi::security::{
    ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme,
};
use utoipa::openapi::{Content, Ref, RefOr, Response};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Toolgate",
        description = "One door between AI agents and the tools they may use.\n\nErrors are RFC 9457 problems with a stable `code`; \
                       `errors` names every single fault with its place. Lists are paged with opaque cursors. Changes need `If-Match`. \
                       Times are RFC 3339 in UTC.",
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
        contact(name = "Toolgate")
    ),
    servers((url = "/", description = "This server")),
    tags(
        (name = "auth", description = "Signing in and out, and the keys that sign tokens."),
        (name = "projects", description = "Tenants. Nothing crosses from one to another."),
        (name = "users", description = "People who sign in with a password."),
        (name = "keys", description = "Service keys of agents and machines."),
        (name = "permissions", description = "Who holds which role and groups."),
        (name = "tools", description = "Definitions of tools and their history."),
        (name = "imports", description = "Descriptions of APIs whose operations are tools, and what newer ones change."),
        (name = "guides", description = "How tools are used, for agents and for people."),
        (name = "mcp-servers", description = "Servers of the Model Context Protocol whose tools are tools of the project."),
        (name = "accounts", description = "Persons' own accounts at services that tools call, and where they are connected."),
        (name = "groups", description = "Groups of tools: what is declared about them, and when they are open."),
        (name = "states", description = "Workflow states, and the graph that tools make of them."),
        (name = "calls", description = "What is available, and calling it."),
        (name = "sessions", description = "Workflow runs whose state the server keeps."),
        (name = "agents", description = "Questions to an agent, with the tools it may use."),
        (name = "limits", description = "How much may be called, and how much is left."),
        (name = "secrets", description = "Values that definitions use and no operation returns."),
        (name = "settings", description = "What a project sets for itself."),
        (name = "policy", description = "Why decisions are as they are, and what a project expects of them."),
        (name = "audit", description = "The record of every decision and call."),
        (name = "alerts", description = "Suspicious patterns, and whether they were seen."),
        (name = "usage", description = "How often what was asked for."),
        (name = "operations", description = "For operators and their probes.")
    ),
    // What is used in queries alone is not found by itself.
    components(schemas(
        Problem,
        AuditOrder,
        AuditFormat,
        StateGraphFormat,
        ToolSort,
        ToolView,
        ToolFileFormat
    ))
)]
struct Base;

/// The document before the routes are added.
#[must_use]
pub fn base() -> utoipa::openapi::OpenApi {
    Base::openapi()
}

/// The finished document as JSON text, ending with a newline.
#[must_use]
pub fn render(mut document: utoipa::openapi::OpenApi) -> String {
    complete(&mut document);
    document
        .to_pretty_json()
        .map(|text| text + "\n")
        .unwrap_or_default()
}

/// Adds what holds for every operation: security, and the problems it may answer with.
fn complete(document: &mut utoipa::openapi::OpenApi) {
    let components = document.components.get_or_insert_default();
    components.add_security_scheme(
        "bearer",
        SecurityScheme::Http(
            HttpBuilder::new()
                .scheme(HttpAuthScheme::Bearer)
                .description(Some("An access token from `/auth/login`, a token of a configured issuer, or a service key (`tgk_...`)."))
                .build(),
        ),
    );
    components.add_security_scheme(
        "session",
        SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::with_description(
            "toolgate",
            "The browser's session cookie; only from the same origin.",
        ))),
    );
    for &status in STATUSES {
        components
            .responses
            .insert(format!("Problem{status}"), RefOr::T(problem(status)));
    }
    bound_group_names(components);
    bound_targets(components);
    bound_selection(components);
    document.security = Some(vec![
        SecurityRequirement::new::<_, [&str; 0], &str>("bearer", []),
        SecurityRequirement::new::<_, [&str; 0], &str>("session", []),
    ]);
    for (path, item) in &mut document.paths.paths {
        let operations = [
            (false, &mut item.get),
            (true, &mut item.put),
            (false, &mut item.post),
            (true, &mut item.delete),
            (true, &mut item.patch),
        ];
        for (conditional, operation) in operations {
            if let Some(operation) = operation {
                add_problems(path, conditional, operation);
            }
        }
    }
}

/// Says how long the names in lists of requested groups may be; the derive can say that of texts only, not of items.
fn bound_group_names(components: &mut utoipa::openapi::Components) {
    for (name, property) in [
        ("CreateKey", "groups"),
        ("ConsentDecision", "groups"),
        ("LimitConnection", "groups"),
        ("ResolveRequest", "group"),
        ("CallRequest", "group"),
        ("ExplainRequest", "group"),
        ("RecommendationRequest", "group"),
        ("PolicyTest", "group"),
        ("CreateSession", "group"),
        ("AgentRequest", "group"),
        ("ToolChange", "add_groups"),
        ("ToolChange", "remove_groups"),
        ("ToolChange", "add_states"),
        ("ToolChange", "remove_states"),
    ] {
        let Some(RefOr::T(Schema::Object(object))) = components.schemas.get_mut(name) else {
            continue;
        };
        let Some(RefOr::T(Schema::Array(array))) = object.properties.get_mut(property) else {
            continue;
        };
        if let ArrayItems::RefOrSchema(items) = &mut array.items
            && let RefOr::T(Schema::Object(item)) = items.as_mut()
        {
            item.max_length = Some(128);
            if property != "group" {
                item.min_length = Some(1);
                item.pattern = Some(
                    r"^[^\s\x00-\x1f\x7f-\x9f]([^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f])?$".to_owned(),
                );
            }
        }
    }
}

/// Says what the targets of workers must be, which the derive cannot say of items.
fn bound_targets(components: &mut utoipa::openapi::Components) {
    if let Some(RefOr::T(Schema::Object(object))) = components.schemas.get_mut("KeyOnBus")
        && let Some(RefOr::T(Schema::Array(array))) = object.properties.get_mut("workers")
        && let ArrayItems::RefOrSchema(items) = &mut array.items
        && let RefOr::T(Schema::Object(item)) = items.as_mut()
    {
        (item.min_length, item.max_length) = (Some(1), Some(64));
        item.pattern = Some("^[A-Za-z0-9_-]+$".to_owned());
    }
}

/// Says what the derive cannot say of the variants of an enum: that nothing is allowed beside them, and how many
/// names there may be.
fn bound_selection(components: &mut utoipa::openapi::Components) {
    let Some(RefOr::T(Schema::OneOf(selection))) = components.schemas.get_mut("ToolSelection") else {
        return;
    };
    for variant in &mut selection.items {
        let RefOr::T(Schema::Object(variant)) = variant else {
            continue;
        };
        variant.additional_properties = Some(Box::new(AdditionalProperties::FreeForm(false)));
        if let Some(RefOr::T(Schema::Array(names))) = variant.properties.get_mut("names") {
            names.min_items = Some(1);
            names.max_items = Some(MAX_TOOLS);
            if let ArrayItems::RefOrSchema(items) = &mut names.items
                && let RefOr::T(Schema::Object(name)) = items.as_mut()
            {
                name.min_length = Some(1);
                name.max_length = Some(128);
                name.pattern = Some("^[A-Za-z0-9._-]+$".to_owned());
            }
        }
    }
}

/// The statuses of problems that are documented.
const STATUSES: &[u16] = &[
    400, 401, 403, 404, 406, 408, 409, 410, 412, 413, 415, 421, 422, 428, 429, 500, 502, 503, 504,
];

fn add_problems(path: &str, conditional: bool, operation: &mut Operation) {
    let open = operation
        .security
        .as_ref()
        .is_some_and(|needs| needs.iter().all(|need| *need == SecurityRequirement::default()));
    let mut statuses = vec![400, 421, 429, 500, 503];
    if !open {
        statuses.extend([401, 403]);
    }
    // It asks for no credential of ours, but may ask for a token of its own.
    if path == "/metrics" {
        statuses.extend([401, 403]);
    }
    if path.contains('{') {
        statuses.extend([404, 406]);
    }
    // It takes a project in its query.
    if path == "/status" {
        statuses.push(404);
    }
    if operation.request_body.is_some() {
        statuses.extend([401, 403, 408, 409, 412, 413, 415, 422]);
    }
    if path.ends_with("/restore") || path == "/auth/logout" {
        statuses.extend([412, 422]);
    }
    if conditional {
        statuses.extend([412, 428]);
    }
    match operation.operation_id.as_deref() {
        // A description may have to be fetched.
        Some("preview_import" | "put_import" | "refresh_import") => {
            statuses.extend([409, 412, 422, 428, 502, 504]);
            // What is said about it is in the query, and long texts may not fit.
            operation
                .responses
                .responses
                .insert("431".to_owned(), RefOr::T(head_too_large()));
        }
        Some("approve_change" | "reject_change" | "decide_changes") => statuses.extend([409, 412, 422, 428]),
        Some("retry_dead_letter") => statuses.extend([409, 422]),
        Some("refresh_mcp_server") => statuses.extend([409, 422, 502, 504]),
        Some("decide_announced_descriptor") => statuses.extend([412, 422]),
        Some("approve_mcp_server") => statuses.extend([409, 412, 428]),
        // The service that a person signs in at is asked.
        Some("connect_account") => statuses.extend([422, 502, 504]),
        Some("complete_account") => statuses.extend([404, 422, 502, 504]),
        // The request of the client is one text of the query, with rules of its own.
        Some("get_consent") => statuses.push(422),
        _ => {}
    }
    // Some names cannot be taken: `default`, `*` and `undefined`.
    if path.ends_with("/rename") || path.ends_with("/groups/{group}") || path.ends_with("/states/{state}") {
        statuses.extend([412, 422, 428]);
    }
    // The last administrator stays, and so does what a policy test expects and what is in use.
    let in_use = ["/permissions/", "/secrets/", "/tool-services/"];
    if path.starts_with("/users/") || in_use.iter().any(|part| path.contains(part)) {
        statuses.push(409);
    }
    if [
        "/calls",
        "/definitions/test",
        "/invoke",
        "/openapi.json",
        "/resolve",
        "/agent-requests",
        "/sessions/{session_id}/tools",
    ]
    .iter()
    .any(|end| path.ends_with(end))
    {
        statuses.push(410);
    }
    if path.ends_with("/agent-requests") || path.ends_with("/invoke") {
        statuses.extend([502, 504]);
    }
    for status in statuses {
        operation
            .responses
            .responses
            .entry(status.to_string())
            .or_insert_with(|| RefOr::Ref(Ref::from_response_name(format!("Problem{status}"))));
    }
}

/// It is answered before the request is read, so it is no problem of ours.
fn head_too_large() -> Response {
    Response::new(
        "The address and the headers are larger than the server reads (`limits.max_header_bytes`); no body",
    )
}

fn problem(status: u16) -> Response {
    let codes: Vec<ErrorCode> = ErrorCode::ALL
        .iter()
        .copied()
        .filter(|code| code.status() == status)
        .collect();
    let names: Vec<String> = codes.iter().map(|code| format!("`{code}`")).collect();
    let description = if names.is_empty() {
        "A problem.".to_owned()
    } else {
        format!("A problem with the code {}.", names.join(" or "))
    };
    let example = codes.first().map(|code| {
        serde_json::json!({
            "type": format!("urn:toolgate:problem:{code}"),
            "title": code.title(),
            "status": status,
            "detail": "What happened, and how to correct it.",
            "code": code,
            "retryable": code.retryable(),
            "request_id": "0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11",
        })
    });
    let mut content = Content::new(Some(RefOr::Ref(Ref::from_schema_name("Problem"))));
    content.example = example;
    let mut response = Response::new(description);
    response
        .content
        .insert("application/problem+json".to_owned(), RefOr::T(content));
    response
}
