//! Names that an argument chooses: an exploded object is sent under the names of its members, which must be no other
//! argument's.

use std::collections::HashMap;

use serde_json::Value;

use super::MappingError;
use super::places::{TakenNames, folded};
use super::style::{self, Pairs, Rule};
use crate::definition::model::request::{ParameterStyle, RequestParameter};

/// One parameter, or one property of a form, that is about to be sent.
pub(super) struct Sent<'a> {
    pub(super) name: &'a str,
    pub(super) argument: &'a str,
    pub(super) value: &'a Value,
    /// `None`: it is sent under its own name, whatever it is.
    pub(super) rule: Option<Rule>,
}

impl<'a> Sent<'a> {
    /// A parameter with its value.
    pub(super) fn parameter(parameter: &'a RequestParameter, value: &'a Value) -> Self {
        Self {
            name: &parameter.name,
            argument: parameter.argument(),
            value,
            rule: parameter
                .content_type
                .is_none()
                .then(|| super::request::rule(parameter)),
        }
    }

    /// The names it is sent under, if it chooses them.
    fn chosen(&self) -> Option<Vec<String>> {
        let rule = self.rule?;
        let is_deep = rule.style == ParameterStyle::DeepObject;
        match self.value {
            Value::Object(members) if rule.explode && !is_deep => {
                let sent = members.iter().filter(|(_, member)| !member.is_null());
                Some(sent.map(|(name, _)| name.clone()).collect())
            }
            Value::Object(_) | Value::Array(_) if is_deep => {
                let mut names = Names::default();
                style::pairs(&mut names, self.name, self.value, rule);
                Some(names.0)
            }
            _ => None,
        }
    }
}

/// Checks that no chosen name is that of the credential or of anything else that is sent.
///
/// # Errors
/// The argument that aims at the name of another.
pub(super) fn distinct(sent: &[Sent<'_>], credential: Option<&str>) -> Result<(), MappingError> {
    let chosen: Vec<_> = sent.iter().map(Sent::chosen).collect();
    if chosen.iter().all(Option::is_none) {
        return Ok(());
    }
    let mut taken = TakenNames::default();
    credential.into_iter().for_each(|name| taken.insert(name));
    for (sent, chosen) in sent.iter().zip(&chosen) {
        if chosen.is_none() && !style::is_undefined(sent.value) {
            taken.insert(sent.name);
        }
    }
    let mut seen: HashMap<String, usize> = HashMap::new();
    for (at, names) in chosen.iter().enumerate() {
        for name in names.iter().flatten() {
            let earlier = seen.insert(folded(name), at).filter(|other| *other != at);
            let beside = taken.find(name).or_else(|| Some(sent[earlier?].name));
            if let Some(beside) = beside {
                return Err(MappingError::argument(
                    sent[at].argument,
                    format!("its member {name:?} would be sent beside {beside:?}, which is sent already"),
                ));
            }
        }
    }
    Ok(())
}

/// Takes names and no values.
#[derive(Default)]
struct Names(Vec<String>);

impl Pairs for Names {
    fn name(&mut self, name: &str) {
        self.0.push(name.to_owned());
    }

    fn value(&mut self, _text: &str) {}

    fn delimiter(&mut self, _delimiter: char) {}
}
