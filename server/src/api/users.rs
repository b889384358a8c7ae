//! Users: people who sign in with a password. For system administrators, but for one's own password.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use toolgate_api::auth::LoginResponse;
use toolgate_api::users::{
    ChangePassword, CreateUser, CreatedUser, PasswordWasReset, ResetPassword, UpdateUser, User, UserPage,
};
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::ids::UserId;
use toolgate_core::principal::PrincipalRef;
use toolgate_store::rows::UserRow;
use uuid::Uuid;

use super::auth::{place, signed_in};
use super::permissions::GuardQuery;
use super::precondition::{IfMatch, etag, unchanged};
use super::projects::SearchQuery;
use crate::auth::authenticator::Credential;
use crate::extract::{Caller, Json, Path, Query, SystemAdmin};
use crate::gateway::sign_ins::verify_password;
use crate::gateway::users::{self, check_display_name, check_password, check_username, refuse};
use crate::gateway::{Gateway, Problem, cursor, second_factor};

/// Create a user
///
/// For system administrators. Without a password one is made; it is in this answer and nowhere else. A new user
/// belongs to no project until it is granted a place there.
#[utoipa::path(post, path = "/users", tag = "users", request_body = CreateUser,
    responses((status = 201, description = "Created", body = CreatedUser,
        headers(("ETag" = String, description = "For `If-Match`"), ("Location" = String, description = "Where it is")))))]
pub async fn create_user(
    State(gateway): State<Arc<Gateway>>,
    admin: SystemAdmin,
    Json(request): Json<CreateUser>,
) -> Result<Response, Problem> {
    refuse([
        check_username(&request.username),
        check_display_name(request.display_name.as_deref()),
        check_password(
            &gateway,
            request.password.as_deref(),
            &[Some(&request.username), request.display_name.as_deref()],
            "/password",
        )
        .await?,
    ])?;
    let password = users::new_password(&gateway, request.password).await?;
    let display_name = request.display_name.map(|name| name.trim().to_owned());
    let row = UserRow {
        id: UserId(gateway.clock.new_id()),
        username: request.username,
        display_name: display_name.filter(|name| !name.is_empty()),
        password_hash: password.hash.clone(),
        token_generation: 0,
        system_admin: request.system_admin,
        disabled_at: None,
        second_factor_at: None,
        second_factor_required: false,
        identity: None,
        created_at: gateway.clock.now(),
        revision: 0,
    };
    let (id, system_admin) = (row.id, row.system_admin);
    let stored = Box::pin(users::create(&gateway, admin.caller.actor(), row)).await?;
    tracing::info!(user = %id, by = %admin.user, system_admin, "user created");
    let headers = [
        (header::ETAG, etag(&tag(&stored))),
        (header::LOCATION, super::header_value(&format!("/users/{id}"))),
    ];
    let body = CreatedUser {
        generated_password: password.shown(),
        user: wire(&stored),
    };
    Ok((StatusCode::CREATED, headers, axum::Json(body)).into_response())
}

/// List users
///
/// For system administrators. By user name, disabled ones included.
#[utoipa::path(get, path = "/users", tag = "users", params(SearchQuery),
    responses((status = 200, description = "A page", body = UserPage)))]
pub async fn list_users(
    admin: SystemAdmin,
    Query(query): Query<SearchQuery>,
) -> Result<axum::Json<UserPage>, Problem> {
    let (after, limit) = query.parse()?;
    let directory = &admin.caller.server_snapshot.directory;
    let mut rows: Vec<&UserRow> = directory
        .users()
        .map(AsRef::as_ref)
        .filter(|user: &&UserRow| {
            query.finds(&[&user.username, user.display_name.as_deref().unwrap_or_default()])
        })
        .filter(|user| {
            after
                .as_deref()
                .is_none_or(|after| user.username.as_str() > after)
        })
        .collect();
    rows.sort_by(|a, b| a.username.cmp(&b.username));
    let (rows, next_cursor) = cursor::page(rows, limit, |user| user.username.clone());
    Ok(axum::Json(UserPage {
        items: rows.into_iter().map(wire).collect(),
        next_cursor,
    }))
}

/// Get a user
///
/// For system administrators.
#[utoipa::path(get, path = "/users/{user_id}", tag = "users", params(UserPath),
    responses((status = 200, description = "The user", body = User, headers(("ETag" = String, description = "For `If-Match`"))),
        (status = 304, description = "Not modified")))]
pub async fn get_user(
    headers: HeaderMap,
    admin: SystemAdmin,
    Path(id): Path<Uuid>,
) -> Result<Response, Problem> {
    let user = users::find(&admin.caller.server_snapshot, UserId(id))?;
    let tag = tag(&user);
    if unchanged(&headers, &tag) {
        return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, etag(&tag))]).into_response());
    }
    Ok(([(header::ETAG, etag(&tag))], axum::Json(wire(&user))).into_response())
}

/// Change a user
///
/// For system administrators. Disabling ends all sign-ins of the user within a second. The last system administrator who
/// can sign in stays one. Disabling is never held up; policy tests of projects that fail then are named in its record.
/// Letting a user in again is refused when that breaks one, unless it is meant to.
#[utoipa::path(patch, path = "/users/{user_id}", tag = "users", params(UserPath, super::IfMatchHeader, GuardQuery), request_body = UpdateUser,
    responses((status = 200, description = "Changed", body = User, headers(("ETag" = String, description = "For `If-Match`")))))]
pub async fn update_user(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    admin: SystemAdmin,
    Path(id): Path<Uuid>,
    Query(query): Query<GuardQuery>,
    Json(request): Json<UpdateUser>,
) -> Result<Response, Problem> {
    let precondition = IfMatch::required(&headers)?;
    refuse([check_display_name(request.display_name.as_deref())])?;
    let matches = |user: &UserRow| precondition.check(&tag(user));
    let user = Box::pin(users::update(
        &gateway,
        admin.caller.actor(),
        UserId(id),
        request,
        query.ignore_policy_tests,
        matches,
    ))
    .await?;
    Ok(([(header::ETAG, etag(&tag(&user)))], axum::Json(wire(&user))).into_response())
}

/// Delete a user
///
/// For system administrators. The user's grants go too; records that name the user stay. The last system administrator and
/// the last owner of a project stay.
#[utoipa::path(delete, path = "/users/{user_id}", tag = "users", params(UserPath, super::IfMatchHeader),
    responses((status = 204, description = "Deleted")))]
pub async fn delete_user(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    admin: SystemAdmin,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    let precondition = IfMatch::required(&headers)?;
    let matches = |user: &UserRow| precondition.check(&tag(user));
    Box::pin(users::delete(&gateway, admin.caller.actor(), UserId(id), matches)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Reset a user's password
///
/// For system administrators. Without a password one is made; it is in this answer and nowhere else. All sign-ins of the
/// user end within a second.
#[utoipa::path(post, path = "/users/{user_id}/password", tag = "users", params(UserPath), request_body = ResetPassword,
    responses((status = 200, description = "Replaced", body = PasswordWasReset)))]
pub async fn reset_user_password(
    State(gateway): State<Arc<Gateway>>,
    admin: SystemAdmin,
    Path(id): Path<Uuid>,
    Json(request): Json<ResetPassword>,
) -> Result<axum::Json<PasswordWasReset>, Problem> {
    let user = users::find(&admin.caller.server_snapshot, UserId(id))?;
    refuse([check_password(&gateway, request.password.as_deref(), &names(&user), "/password").await?])?;
    let password = users::new_password(&gateway, request.password).await?;
    Box::pin(users::set_password(
        &gateway,
        admin.caller.actor(),
        &user,
        password.hash.clone(),
    ))
    .await?;
    Ok(axum::Json(PasswordWasReset {
        generated_password: password.shown(),
    }))
}

/// Remove the second factor of a user
///
/// For system administrators: for a user who has lost the authenticator and the recovery codes. One who has to have a second
/// factor sets it up at the next sign-in.
#[utoipa::path(delete, path = "/users/{user_id}/second-factor", tag = "users", params(UserPath),
    responses((status = 204, description = "Removed")))]
pub async fn remove_user_second_factor(
    State(gateway): State<Arc<Gateway>>,
    admin: SystemAdmin,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    let user = users::find(&admin.caller.server_snapshot, UserId(id))?;
    Box::pin(second_factor::remove(&gateway, admin.caller.actor(), &user)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Change one's own password
///
/// For users who are signed in. All their sign-ins end within a second; the answer is a new one, as after signing in.
#[utoipa::path(post, path = "/auth/password", tag = "auth", request_body = ChangePassword,
    responses((status = 200, description = "Changed, and signed in again", body = LoginResponse)))]
pub async fn change_password(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    headers: HeaderMap,
    Json(request): Json<ChangePassword>,
) -> Result<Response, Problem> {
    let Credential::User { user, .. } = &caller.identity.credential else {
        return Err(Problem::new(
            ErrorCode::InvalidRequest,
            "Only users have a password; the secret of a key is replaced by rotating the key.",
        ));
    };
    refuse([check_password(&gateway, Some(&request.new), &names(user), "/new").await?])?;
    let given = request.current.into();
    let verified = verify_password(&gateway, caller.origin.address, &user.username, Some(user), given).await;
    if !verified? {
        refuse([Some(
            Diagnostic::error("this is not the password until now").at_pointer("/current"),
        )])?;
    }
    let password = users::new_password(&gateway, Some(request.new)).await?;
    Box::pin(users::set_password(&gateway, caller.actor(), user, password.hash)).await?;
    signed_in(&gateway, user.id, place(caller.origin.address, &headers)).await
}

/// The user in the path.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes the parameter; the extractor reads it")]
pub struct UserPath {
    /// The user's id.
    user_id: Uuid,
}

/// What a user is called.
fn names(user: &UserRow) -> [Option<&str>; 2] {
    [Some(&user.username), user.display_name.as_deref()]
}

fn tag(user: &UserRow) -> String {
    format!("r{}", user.revision)
}

fn wire(user: &UserRow) -> User {
    User {
        id: user.id.0,
        principal: PrincipalRef::user(user.id).to_string(),
        username: user.username.clone(),
        display_name: user.display_name.clone(),
        system_admin: user.system_admin,
        second_factor_at: user.second_factor_at,
        second_factor_required: user.second_factor_required,
        signs_in_at: user.identity.as_ref().map(|identity| identity.issuer.clone()),
        disabled_at: user.disabled_at,
        created_at: user.created_at,
    }
}
