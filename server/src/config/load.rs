//! Puts the sources together.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use super::args::ServeArgs;
use super::check;
use super::env::AllowedEnv;
use super::error::{ConfigError, Fault};
use super::model::Config;
use super::sources::{Sources, file_path};
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
        let mut sources = Sources::defaults();
        if let Some(path) = file_path(args, &process) {
            sources.add_file(&path, read_file(&path));
        }
        sources.add_variables(&process);
        sources.add_flags(args);

        let mut config: Self = serde_json::from_value(sources.whole()).map_err(|error| {
            let (source, problem) = ("configuration".to_owned(), error.to_string());
            sources.faults.push(Fault {
                source,
                key: None,
                problem,
            });
            ConfigError {
                faults: std::mem::take(&mut sources.faults),
            }
        })?;
        check::check(&config, &mut sources);
        if !sources.faults.is_empty() {
            return Err(ConfigError {
                faults: sources.faults,
            });
        }
        config.telemetry.otlp_by_environment = OTLP_VARIABLES
            .iter()
            .any(|name| process.get(*name).is_some_and(|value| !value.is_empty()));
        config.env = AllowedEnv::capture(&config.tool_env, &process);
        config.shown = summary::shown(&config, &sources);
        config.warnings = sources.warnings;
        Ok(config)
    }
}
