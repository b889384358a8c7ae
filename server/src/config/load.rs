//! Puts the sources together.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use figment::Figment;
use figment::error::{Actual, Kind};

use super::args::ServeArgs;
use super::check;
use super::env::AllowedEnv;
use super::error::{ConfigError, Fault};
use super::keys::Key;
use super::model::Config;
use super::sources::{self, Layer};
use super::summary;

/// Variables of OpenTelemetry, either of which says where traces are sent to.
const OTLP_VARIABLES: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
];

impl Config {
    /// Loads the configuration. Everything from outside comes in as an argument: the flags, the process's variables,
    /// and how a file is read.
    ///
    /// # Errors
    /// Every fault that was found, each with its source and key.
    pub fn load(
        args: &ServeArgs,
        variables: impl IntoIterator<Item = (String, String)>,
        read_file: impl FnOnce(&Path) -> io::Result<String>,
    ) -> Result<Self, ConfigError> {
        let process: BTreeMap<String, String> = variables.into_iter().collect();
        let (mut faults, mut warnings) = (Vec::new(), Vec::new());

        let mut figment = Figment::from(Layer::defaults());
        if let Some(path) = sources::file_path(args, &process) {
            match read(&path, read_file) {
                Ok(layer) => figment = figment.merge(layer),
                Err(found) => faults.extend(found),
            }
        }
        for layer in sources::variables(&process, &mut faults, &mut warnings) {
            figment = figment.merge(layer);
        }
        for layer in sources::flags(args) {
            figment = figment.merge(layer);
        }

        let mut config = match figment.extract::<Self>() {
            Ok(config) => config,
            Err(errors) => {
                faults.extend(errors.into_iter().map(|error| fault(&error)));
                return Err(ConfigError { faults });
            }
        };
        check::check(&config, &figment, &mut faults, &mut warnings);
        if !faults.is_empty() {
            return Err(ConfigError { faults });
        }
        config.telemetry.otlp_by_environment = OTLP_VARIABLES
            .iter()
            .any(|name| process.get(*name).is_some_and(|value| !value.is_empty()));
        config.env = AllowedEnv::capture(&config.tool_env, &process);
        config.shown = summary::shown(&config, &figment);
        config.warnings = warnings;
        Ok(config)
    }
}

fn read(path: &Path, read_file: impl FnOnce(&Path) -> io::Result<String>) -> Result<Layer, Vec<Fault>> {
    let text = read_file(path).map_err(|error| {
        let problem = format!("it cannot be read: {error}");
        vec![Fault {
            source: sources::file_source(path),
            key: None,
            problem,
        }]
    })?;
    Layer::of_file(path, &text)
}

/// Says what does not fit, without showing secrets.
fn fault(error: &figment::Error) -> Fault {
    let source = error
        .metadata
        .as_ref()
        .map_or("configuration", |metadata| metadata.name.as_ref())
        .to_owned();
    let path = error.path.join(".");
    let secret = Key::of_path(&path).is_some_and(Key::is_secret);
    let problem = match &error.kind {
        Kind::InvalidType(
            Actual::Unsigned(_) | Actual::Signed(_) | Actual::Float(_) | Actual::Bool(_),
            expected,
        ) if secret || expected.contains("string") => "expected a text: write it in quotes".to_owned(),
        Kind::InvalidType(_, expected) | Kind::InvalidValue(_, expected) if secret => {
            format!("expected {expected}")
        }
        Kind::InvalidType(actual, expected) | Kind::InvalidValue(actual, expected) => {
            format!("found {actual}, expected {expected}")
        }
        Kind::UnknownField(name, known) => {
            format!("unknown key {name:?}{}", sources::suggestion(name, known))
        }
        Kind::UnknownVariant(name, known) => format!("{name:?} is none of {}", known.join(", ")),
        Kind::MissingField(name) => format!("{name:?} is missing"),
        _ if secret => "the value cannot be used".to_owned(),
        kind => kind.to_string(),
    };
    let hint = match path.as_str() {
        "listen" => "; write an address and a port, such as 127.0.0.1:8080",
        "public_url" => "; write a URL such as https://tools.example.com",
        _ => "",
    };
    Fault {
        source,
        key: (!path.is_empty()).then_some(path),
        problem: problem + hint,
    }
}
