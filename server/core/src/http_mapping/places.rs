//! Who owns which place of a request. A place has one owner: the credential, then what the definition sets itself, then
//! the arguments that it maps. Whatever else aims at the place is refused, so that nothing is sent beside its value.

use std::collections::HashMap;
use std::fmt;

use crate::definition::model::request::ParameterLocation;
use crate::definition::model::{AuthScheme, HttpAuth, HttpOptions};

/// A place outside the path and the body.
#[derive(Debug, Clone, Copy)]
pub struct Place<'d> {
    kind: Kind,
    name: &'d str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Query,
    /// The whole query.
    Querystring,
    Header,
    Cookie,
}

/// What distinguishes places: their kind and name. Without a name it is any place of the kind.
type Key = (Kind, Option<String>);

/// What a definition puts into a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner<'d> {
    /// A key of `options.http`.
    Key(&'static str),
    /// An argument.
    Argument(&'d str),
}

/// One owner of one place.
struct Claim<'d> {
    place: Place<'d>,
    owner: Owner<'d>,
    /// Where `options.http` says so.
    pointer: String,
}

/// Two owners of one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Which place, and who the owners are.
    pub message: String,
    /// The weaker owner, as a JSON pointer from `options.http`.
    pub pointer: String,
}

impl<'d> Place<'d> {
    /// Where a credential is sent.
    #[must_use]
    pub fn of_credential(auth: &'d HttpAuth) -> Option<Self> {
        let kind = match auth.scheme {
            AuthScheme::Bearer | AuthScheme::Basic | AuthScheme::OAuth2 | AuthScheme::Account => {
                return Some(Self::header("Authorization"));
            }
            AuthScheme::Header => Kind::Header,
            AuthScheme::Query => Kind::Query,
            AuthScheme::Cookie => Kind::Cookie,
        };
        let name = auth.name.as_deref()?;
        Some(Self { kind, name })
    }

    /// Where a parameter of a request is sent; `None` for one of the path.
    #[must_use]
    pub fn of_parameter(location: ParameterLocation, name: &'d str) -> Option<Self> {
        let kind = match location {
            ParameterLocation::Path => return None,
            ParameterLocation::Query => Kind::Query,
            ParameterLocation::Querystring => Kind::Querystring,
            ParameterLocation::Header => Kind::Header,
            ParameterLocation::Cookie => Kind::Cookie,
        };
        Some(Self { kind, name })
    }

    fn header(name: &'d str) -> Self {
        Self {
            kind: Kind::Header,
            name,
        }
    }

    /// Its name, if it is a parameter of the query.
    pub(super) fn in_query(self) -> Option<&'d str> {
        (self.kind == Kind::Query).then_some(self.name)
    }

    /// Its name, if it is a cookie.
    pub(super) fn in_cookies(self) -> Option<&'d str> {
        (self.kind == Kind::Cookie).then_some(self.name)
    }

    /// Whether what is sent in one place is sent in the other too.
    #[must_use]
    pub fn overlaps(self, other: Self) -> bool {
        let wider = self.overlapping();
        self.key() == other.key() || wider.is_some_and(|key| key == other.key() || key == (other.kind, None))
    }

    /// The same for places that are the same: case does not matter in names of headers.
    fn key(self) -> Key {
        match self.kind {
            Kind::Header => (self.kind, Some(self.name.to_ascii_lowercase())),
            Kind::Querystring => (self.kind, None),
            Kind::Query | Kind::Cookie => (self.kind, Some(self.name.to_owned())),
        }
    }

    /// The keys of other places that this one has a part in.
    fn overlapping(self) -> Option<Key> {
        match self.kind {
            Kind::Query => Some((Kind::Querystring, None)),
            Kind::Querystring => Some((Kind::Query, None)),
            Kind::Cookie => Some((Kind::Header, Some("cookie".to_owned()))),
            Kind::Header if self.name.eq_ignore_ascii_case("cookie") => Some((Kind::Cookie, None)),
            Kind::Header => None,
        }
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::Query => write!(f, "the query parameter {:?}", self.name),
            Kind::Querystring => f.write_str("the query"),
            Kind::Header => write!(f, "the header {}", self.name),
            Kind::Cookie => write!(f, "the cookie {:?}", self.name),
        }
    }
}

impl fmt::Display for Owner<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => f.write_str(key),
            Self::Argument(name) => write!(f, "the argument {name:?}"),
        }
    }
}

impl Claim<'_> {
    /// Whether it is a parameter of a `request`.
    fn is_parameter(&self) -> bool {
        self.pointer.starts_with("/request/parameters/")
    }
}

/// Every place that a definition gives to two owners. Two parameters of one `request` are not looked at: its reader
/// compares those.
#[must_use]
pub fn conflicts(http: &HttpOptions) -> Vec<Conflict> {
    find(http, false)
}

/// The first place with two owners, two parameters of one `request` included: for definitions that were stored before their
/// reader compared those.
#[must_use]
pub fn first_conflict(http: &HttpOptions) -> Option<Conflict> {
    find(http, true).into_iter().next()
}

fn find(http: &HttpOptions, among_parameters: bool) -> Vec<Conflict> {
    let claims = claims(http);
    let mut owners: HashMap<Key, usize> = HashMap::new();
    let mut conflicts = Vec::new();
    for (at, weaker) in claims.iter().enumerate() {
        let place = weaker.place;
        let same_place = owners.get(&place.key());
        let stronger = same_place.or_else(|| owners.get(&place.overlapping()?));
        let is_reported = |other: usize| {
            let is_mixture =
                claims[other].place.kind != place.kind && matches!(place.kind, Kind::Header | Kind::Cookie);
            !among_parameters && claims[other].is_parameter() && weaker.is_parameter() && !is_mixture
        };
        if let Some(&stronger) = stronger.filter(|&&other| !is_reported(other)) {
            conflicts.push(Conflict {
                message: format!(
                    "{place} has two owners: {} and {}",
                    claims[stronger].owner, weaker.owner
                ),
                pointer: weaker.pointer.clone(),
            });
        }
        owners.entry(place.key()).or_insert(at);
        owners.entry((place.kind, None)).or_insert(at);
    }
    conflicts
}

/// What a definition sends where, the strongest owners first.
fn claims(http: &HttpOptions) -> Vec<Claim<'_>> {
    let mut claims = Vec::new();
    let mut claim = |place, owner, pointer: String| {
        claims.push(Claim {
            place,
            owner,
            pointer,
        });
    };
    if let Some(place) = http.auth.as_deref().and_then(Place::of_credential) {
        claim(place, Owner::Key("auth"), "/auth".to_owned());
    }
    let says_type = http
        .headers
        .keys()
        .any(|name| name.eq_ignore_ascii_case("content-type"));
    let has_typed_body = match &http.request {
        Some(request) => request.body.is_some(),
        // A constant header may say how the short form writes the body.
        None => sends_body(http) && !says_type,
    };
    if has_typed_body {
        let body = if http.request.is_some() {
            "/request/body"
        } else {
            ""
        };
        claim(
            Place::header("Content-Type"),
            Owner::Key("the body"),
            body.to_owned(),
        );
    }
    for name in http.headers.keys() {
        claim(
            Place::header(name),
            Owner::Key("headers"),
            format!("/headers/{}", step(name)),
        );
    }
    if http
        .result
        .as_ref()
        .is_some_and(|result| !result.accept.is_empty())
    {
        claim(
            Place::header("Accept"),
            Owner::Key("result.accept"),
            "/result/accept".to_owned(),
        );
    }
    if let Some(name) = http
        .retry
        .as_ref()
        .and_then(|retry| retry.idempotency_header.as_deref())
    {
        let owner = Owner::Key("retry.idempotency_header");
        claim(Place::header(name), owner, "/retry/idempotency_header".to_owned());
    }
    for (at, parameter) in http
        .request
        .iter()
        .flat_map(|request| request.parameters.iter().enumerate())
    {
        if let Some(place) = Place::of_parameter(parameter.location, &parameter.name) {
            let owner = Owner::Argument(parameter.argument());
            claim(place, owner, format!("/request/parameters/{at}"));
        }
    }
    for (key, kind, mapping) in [
        ("query", Kind::Query, &http.query),
        ("header", Kind::Header, &http.header),
    ] {
        for (name, argument) in mapping {
            claim(
                Place { kind, name },
                Owner::Argument(argument),
                format!("/{key}/{}", step(name)),
            );
        }
    }
    claims
}

/// Whether the short form sends a body.
#[must_use]
pub fn sends_body(http: &HttpOptions) -> bool {
    http.request.is_none() && (http.body.is_some() || !sends_rest_in_query(http))
}

/// Whether the method has no body of its own, so that the short form sends what it does not map in the query.
pub(super) fn sends_rest_in_query(http: &HttpOptions) -> bool {
    let method = http.method.as_deref().unwrap_or("GET");
    ["GET", "HEAD", "DELETE"]
        .iter()
        .any(|other| other.eq_ignore_ascii_case(method))
}

/// Names that are taken, found by any name that a server may take for one of them: frameworks differ in whether case
/// matters, read `a.b` as `a_b`, and `a[]` as more of `a`.
#[derive(Debug, Default)]
pub(super) struct TakenNames(HashMap<String, String>);

impl TakenNames {
    /// Takes a name.
    pub(super) fn insert(&mut self, name: &str) {
        self.0.entry(folded(name)).or_insert_with(|| name.to_owned());
    }

    /// The taken name that a server may take this one for.
    pub(super) fn find(&self, name: &str) -> Option<&str> {
        /// Brackets that are looked at: enough for every name that people write.
        const BRACKETS: usize = 8;
        let name = folded(name);
        let beginnings = name.match_indices('[').take(BRACKETS).map(|(at, _)| &name[..at]);
        let found = self
            .0
            .get(&name)
            .or_else(|| beginnings.filter_map(|part| self.0.get(part)).next());
        found.map(String::as_str)
    }
}

/// The same for names that servers may take for one.
pub(super) fn folded(name: &str) -> String {
    name.trim()
        .chars()
        .map(|c| {
            if matches!(c, '.' | ' ') {
                '_'
            } else {
                c.to_ascii_lowercase()
            }
        })
        .collect()
}

fn step(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
