//! Arguments that a definition does not map: where the short form sends them, and which of them it cannot send.

use std::collections::HashSet;

use super::places::{Place, TakenNames, sends_rest_in_query};
use crate::definition::model::{HttpBody, HttpOptions};
use crate::definition::path_parameters;

/// Where arguments without a place of their own are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rest {
    /// In the query, each under its name.
    Query,
    /// As properties of the body.
    Body,
    /// Nowhere: the definition names everything that is sent.
    Nowhere,
}

/// What a definition says about the arguments that it does not map.
#[derive(Debug)]
pub struct Unmapped {
    mapped: HashSet<String>,
    rest: Rest,
    /// Names that are taken where the rest is sent, exactly and by what looks like them.
    exact: HashSet<String>,
    taken: TakenNames,
}

impl Unmapped {
    /// Of a definition. `pinned` are the names of fixed and environment arguments, as far as they are known.
    #[must_use]
    pub fn new<'n>(http: &HttpOptions, pinned: impl Iterator<Item = &'n String>) -> Self {
        let mapped = mapped(http);
        let rest = match (&http.request, &http.body) {
            (Some(_), _) | (None, Some(_)) => Rest::Nowhere,
            (None, None) if sends_rest_in_query(http) => Rest::Query,
            (None, None) => Rest::Body,
        };
        let mut exact: HashSet<String> = pinned.filter(|name| !mapped.contains(*name)).cloned().collect();
        if rest == Rest::Query {
            let credential = http.auth.as_deref().and_then(Place::of_credential);
            exact.extend(credential.and_then(Place::in_query).map(str::to_owned));
            exact.extend(http.query.keys().cloned());
        }
        let mut taken = TakenNames::default();
        exact.iter().for_each(|name| taken.insert(name));
        Self {
            mapped,
            rest,
            exact,
            taken,
        }
    }

    /// Where they are sent.
    #[must_use]
    pub fn rest(&self) -> Rest {
        self.rest
    }

    /// Whether the definition maps an argument.
    #[must_use]
    pub fn maps(&self, argument: &str) -> bool {
        self.mapped.contains(argument)
    }

    /// Why an argument cannot be sent, as the end of a sentence about it; `None` when it can.
    ///
    /// A name that the definition declares must differ from those that are taken, and any other must not even look like
    /// one of them to a server.
    #[must_use]
    pub fn refusal(&self, argument: &str, declared: bool) -> Option<String> {
        if self.maps(argument) {
            return None;
        }
        if self.rest == Rest::Nowhere {
            return Some("has no place in the request".to_owned());
        }
        let owner = if declared {
            self.exact.get(argument).map(String::as_str)
        } else {
            self.taken.find(argument)
        };
        owner.map(|owner| format!("would be sent beside {owner:?}, which the definition sets"))
    }
}

/// The arguments that a definition maps.
fn mapped(http: &HttpOptions) -> HashSet<String> {
    let mut mapped = HashSet::new();
    if let Some(request) = &http.request {
        mapped.extend(
            request
                .parameters
                .iter()
                .map(|parameter| parameter.argument().to_owned()),
        );
        if let Some(body) = &request.body {
            mapped.extend(body.argument.iter().chain(body.properties.values()).cloned());
        }
        return mapped;
    }
    let in_path = path_parameters(&http.path).unwrap_or_default();
    mapped.extend(in_path.into_iter().map(str::to_owned));
    mapped.extend(http.query.values().chain(http.header.values()).cloned());
    match &http.body {
        Some(HttpBody::Argument(name)) => {
            mapped.insert(name.clone());
        }
        Some(HttpBody::Fields(fields)) => mapped.extend(fields.values().cloned()),
        None => {}
    }
    mapped
}
