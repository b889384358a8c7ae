//! What the terms of a grant must look like.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use toolgate_api::permissions::GrantTerms;
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::definition::names::label_fault;
use toolgate_core::policy::grants::stands;

use crate::gateway::Problem;

/// Groups of one grant at most.
const MAX_GROUPS: usize = 1000;

/// Fails with every fault: bad names, groups that are named twice, too many of them.
pub fn check_terms(terms: &GrantTerms) -> Result<(), Problem> {
    let mut faults = Vec::new();
    let mut seen = HashSet::new();
    for (at, granted) in terms.groups.iter().enumerate().take(MAX_GROUPS) {
        let fault = label_fault(&granted.group).or_else(|| {
            let again = !seen.insert(granted.group.as_str());
            again.then(|| "this group is named twice".to_owned())
        });
        faults.extend(fault.map(|fault| Diagnostic::error(fault).at_pointer(format!("/groups/{at}/group"))));
    }
    if terms.groups.len() > MAX_GROUPS {
        faults.push(Diagnostic::error("at most 1000 groups").at_pointer("/groups"));
    }
    refuse(faults)
}

/// Fails for what has ended already, unless it is already stored with that end: a new grant that gives nothing is a
/// mistake.
pub(super) fn check_ends(
    terms: &GrantTerms,
    current: Option<&GrantTerms>,
    now: DateTime<Utc>,
) -> Result<(), Problem> {
    let past = "lies in the past";
    let mut faults = Vec::new();
    let as_before = current.is_some_and(|current| current.expires_at == terms.expires_at);
    if !stands(terms.expires_at, now) && !as_before {
        faults.push(Diagnostic::error(past).at_pointer("/expires_at"));
    }
    for (at, granted) in terms.groups.iter().enumerate() {
        let as_before = || current.is_some_and(|current| current.groups.contains(granted));
        if !stands(granted.expires_at, now) && !as_before() {
            faults.push(Diagnostic::error(past).at_pointer(format!("/groups/{at}/expires_at")));
        }
    }
    refuse(faults)
}

fn refuse(faults: Vec<Diagnostic>) -> Result<(), Problem> {
    if faults.is_empty() {
        return Ok(());
    }
    Err(Problem::new(ErrorCode::InvalidRequest, "The grant cannot be made like this.").errors(faults))
}
