//! The keys a tool takes because of its type or its service. They are written beside the common keys or under
//! `config`.

use std::collections::HashMap;

use serde_json::{Map, Value};
use toolgate_api::tool_types::{Field, FieldValue, Need};

use super::fields;
use super::kinds::{KINDS, Kind, TOOL_KEYS};
use super::model::ServiceDefinition;
use super::node::{Cursor, Data};
use super::report::{Report, Spot, shown};

/// What is known of the service a tool refers to.
#[derive(Debug)]
pub(super) enum Service {
    /// It refers to none.
    None,
    /// It is defined here or in the project.
    Known(ServiceDefinition),
    /// It does not exist or is faulty; that is reported already.
    Faulty,
}

/// Reads the configuration and reports every key of the tool that is not known.
pub(super) fn read(
    tool: &Cursor<'_>,
    kind: Option<&'static Kind>,
    service: &Service,
    report: &mut Report,
) -> Map<String, Value> {
    let mut reader = Reader {
        kind,
        service,
        config: Map::new(),
        found: HashMap::new(),
        report,
    };
    for (key, spot, value) in tool.entries() {
        if !TOOL_KEYS.contains(&key) {
            reader.key(key, &spot, &value, "a tool", &TOOL_KEYS);
        }
    }
    if let Some(config) = tool.get("config")
        && fields::map(&config, "config", reader.report)
    {
        for (key, spot, value) in config.entries() {
            reader.key(key, &spot, &value, "config", &[]);
        }
    }
    reader.missing(tool);
    reader.config
}

struct Reader<'r> {
    kind: Option<&'static Kind>,
    service: &'r Service,
    config: Map<String, Value>,
    /// The canonical key to the spelling that was used.
    found: HashMap<String, String>,
    report: &'r mut Report,
}

impl Reader<'_> {
    /// The keys of the type.
    fn own(&self) -> impl Iterator<Item = &'static Field> + use<> {
        self.kind.into_iter().flat_map(Kind::config)
    }

    fn key(&mut self, key: &str, spot: &Spot, value: &Cursor<'_>, place: &str, common: &[&str]) {
        let rule = self.own().find(|rule| rule.is(key));
        let canonical = rule.map_or(key, |rule| rule.name).to_owned();
        let parameter = match self.service {
            Service::Known(service) => service.config_params.iter().any(|param| param.name == key),
            Service::None | Service::Faulty => false,
        };
        if rule.is_none() && !parameter {
            self.unknown(key, spot, place, common);
            return;
        }
        if let Some(first) = self.found.insert(canonical.clone(), key.to_owned()) {
            self.report.error(
                spot,
                format!("{first:?} and {key:?} set the same thing"),
                "keep one of them",
            );
            return;
        }
        let read = match rule.map(|rule| rule.value) {
            Some(FieldValue::Text) => fields::word(value, key, 1_000, self.report).map(Value::String),
            Some(FieldValue::Integer(least, most)) => {
                fields::integer(value, key, least, most, self.report).map(Value::from)
            }
            None if matches!(value.node.data, Data::Null) => {
                self.report.error(
                    &value.spot,
                    format!("{key:?} must have a value"),
                    "leave it out if it has none",
                );
                None
            }
            Some(_) | None => Some(value.node.to_value()),
        };
        if let Some(read) = read {
            self.config.insert(canonical, read);
        }
    }

    fn unknown(&mut self, key: &str, spot: &Spot, place: &str, common: &[&str]) {
        // Without a usable type or service the known keys cannot be determined.
        let of_any_kind = || {
            KINDS
                .iter()
                .flat_map(|kind| kind.config())
                .any(|rule| rule.is(key))
        };
        if matches!(self.service, Service::Faulty) || self.kind.is_none() && of_any_kind() {
            return;
        }
        if of_any_kind() {
            let kinds = KINDS.iter().filter(|kind| kind.config().any(|rule| rule.is(key)));
            let message = match self.kind {
                Some(kind) => format!("a tool of type {} takes no {}", kind.name(), shown(key)),
                None => format!("unknown key {}", shown(key)),
            };
            let kinds: Vec<&str> = kinds.map(|kind| kind.name()).collect();
            self.report
                .error(spot, message, format!("it belongs to type {}", kinds.join(", ")));
            return;
        }
        let mut known: Vec<&str> = common.to_vec();
        known.extend(self.own().map(|rule| rule.name));
        if let Service::Known(service) = self.service {
            known.extend(service.config_params.iter().map(|param| param.name.as_str()));
        }
        fields::unknown_key(key, spot, &known, place, self.report);
    }

    fn missing(&mut self, tool: &Cursor<'_>) {
        for rule in self.own() {
            if self.found.contains_key(rule.name) {
                continue;
            }
            match rule.need {
                Need::Optional => {}
                Need::Advised(otherwise) => {
                    self.report.warning(
                        &tool.spot,
                        format!("no {:?}: {otherwise}", rule.name),
                        format!("write {}: <name>", rule.name),
                    );
                }
                Need::Required => {
                    let message = format!("the tool has no {:?}", rule.name);
                    self.report
                        .error(&tool.spot, message, format!("write {}: <value>", rule.name));
                }
            }
        }
        if let Service::Known(service) = self.service {
            for param in service.config_params.iter().filter(|param| param.required) {
                if !self.found.contains_key(&param.name) {
                    self.report.error(
                        &tool.spot,
                        format!(
                            "the service {} requires {:?}",
                            shown(service.id.as_str()),
                            param.name
                        ),
                        format!("write {}: <value>", param.name),
                    );
                }
            }
        }
    }
}
