//! What a client asks for besides its messages: groups, session and search, by the address or a header.
//!
//! Everything works by the address alone, because many hosts send no headers of their own.

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};
use toolgate_api::ErrorCode;
use toolgate_api::calls::ResolveRequest;
use url::form_urlencoded::{self, Serializer};

use crate::api::requested_tools;
use crate::extract::check_query;
use crate::gateway::{Problem, bounds};

/// The requested groups, separated by commas; empty asks for nothing.
const GROUPS: HeaderName = HeaderName::from_static("toolgate-groups");

/// What the address and the headers ask for.
#[derive(Debug)]
pub(super) struct EndpointQuery {
    /// Groups, state, session and context, as REST takes them.
    pub(super) request: ResolveRequest,
    /// Whether tools are searched for instead of listed; the project's setting counts when it is not said.
    pub(super) search: Option<bool>,
}

/// Reads the address and the headers.
///
/// # Errors
/// 400 for what is not understood.
pub(super) fn read(parts: &Parts) -> Result<EndpointQuery, Problem> {
    check_query(parts)?;
    let mut search = None;
    let mut others = Serializer::new(String::new());
    for (name, value) in form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes()) {
        match (&*name, &*value) {
            ("search", "true") => search = Some(true),
            ("search", "false") => search = Some(false),
            ("search", _) => return Err(malformed("`search` must be `true` or `false`")),
            ("session", id) => {
                others.append_pair("session_id", id);
            }
            _ => {
                others.append_pair(&name, &value);
            }
        }
    }
    let mut request = requested_tools::read(&others.finish())?;
    if let Some(groups) = header(&parts.headers)? {
        if request.group.is_some() {
            return Err(malformed(
                "groups are named by the address and by `Toolgate-Groups`; name them in one place",
            ));
        }
        request.group = Some(groups);
        bounds::check(
            request.group.as_deref(),
            request.state.as_deref(),
            request.session_id,
            request.context.as_ref(),
        )?;
    }
    Ok(EndpointQuery { request, search })
}

/// The groups of the header; `None` without one.
fn header(headers: &HeaderMap) -> Result<Option<Vec<String>>, Problem> {
    let mut groups = None::<Vec<String>>;
    for value in headers.get_all(GROUPS) {
        let text = std::str::from_utf8(value.as_bytes())
            .map_err(|_| malformed("`Toolgate-Groups` must be UTF-8 text"))?;
        let groups = groups.get_or_insert_default();
        if text.trim().is_empty() {
            continue;
        }
        for name in text.split(',').map(str::trim) {
            if name.is_empty() {
                return Err(malformed("`Toolgate-Groups` has an empty name between commas"));
            }
            groups.push(name.to_owned());
        }
    }
    Ok(groups)
}

fn malformed(why: &str) -> Problem {
    Problem::new(
        ErrorCode::MalformedRequest,
        format!("The request is not valid: {why}."),
    )
}

#[cfg(test)]
mod tests {
    use axum::http::Request;
    use rstest::rstest;

    use super::*;

    fn asked(query: &str, headers: &[&str]) -> Result<EndpointQuery, Problem> {
        let mut request = Request::builder().uri(format!("/projects/demo/mcp{query}"));
        for groups in headers {
            request = request.header("toolgate-groups", *groups);
        }
        read(&request.body(()).unwrap().into_parts().0)
    }

    #[rstest]
    #[case("", &[], None)]
    #[case("?group=", &[], Some(vec![]))]
    #[case("?group=a&group=b", &[], Some(vec!["a", "b"]))]
    #[case("", &[""], Some(vec![]))]
    #[case("", &["a, b"], Some(vec!["a", "b"]))]
    #[case("", &["a", "b"], Some(vec!["a", "b"]))]
    #[case("?search=true", &["*"], Some(vec!["*"]))]
    fn absent_and_empty_groups_stay_different(
        #[case] query: &str,
        #[case] headers: &[&str],
        #[case] expected: Option<Vec<&str>>,
    ) {
        let groups = asked(query, headers).unwrap().request.group;
        let expected = expected.map(|names| names.into_iter().map(str::to_owned).collect());
        assert_eq!(groups, expected);
    }

    #[rstest]
    #[case("?group=a", &["b"])]
    #[case("?search=yes", &[])]
    #[case("?session=7", &[])]
    #[case("?grup=a", &[])]
    #[case("?state=a&session=0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11", &[])]
    #[case("", &["a,,b"])]
    fn what_is_not_meant_is_refused(#[case] query: &str, #[case] headers: &[&str]) {
        assert_eq!(
            asked(query, headers).unwrap_err().code(),
            ErrorCode::MalformedRequest
        );
    }
}
