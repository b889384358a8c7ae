//! The command-line flags of settings. Secrets have none: every process of the machine can read a command line.

use std::path::PathBuf;

use clap::Args;
use figment::value::Value;

use super::model::LogFormat;

/// The flags that set something; each wins over its variable and over the file.
#[derive(Debug, Clone, Default, Args)]
pub struct ServeArgs {
    /// Configuration file (YAML) [env: TOOLGATE_CONFIG]
    #[arg(long, value_name = "PATH")]
    pub config: Option<PathBuf>,
    /// Address and port to listen on [env: TOOLGATE_LISTEN] [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<String>,
    /// How clients reach the server from outside [env: TOOLGATE_PUBLIC_URL]
    #[arg(long, value_name = "URL")]
    pub public_url: Option<String>,
    /// A further host to answer for; may be repeated [env: TOOLGATE_ALLOWED_HOSTS]
    #[arg(long = "allowed-host", value_name = "HOST", value_delimiter = ',')]
    pub allowed_hosts: Vec<String>,
    /// Database without a password in it [env: TOOLGATE_DATABASE_URL] [default: sqlite:toolgate.db]
    #[arg(long, value_name = "URL")]
    pub database_url: Option<String>,
    /// Name of the first administrator [env: TOOLGATE_ADMIN_USERNAME] [default: admin]
    #[arg(long, value_name = "NAME")]
    pub admin_username: Option<String>,
    /// Where tools may connect to, scheme://host[:port]; may be repeated [env: TOOLGATE_EGRESS_ALLOW]
    #[arg(long, value_name = "ORIGIN", value_delimiter = ',')]
    pub egress_allow: Vec<String>,
    /// An environment variable that definitions may use; may be repeated [env: TOOLGATE_TOOL_ENV]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub tool_env: Vec<String>,
    /// Which log lines, for example info,toolgate=debug [env: TOOLGATE_LOG] [default: info]
    #[arg(long, value_name = "FILTER")]
    pub log: Option<String>,
    /// How log lines look [env: TOOLGATE_LOG_FORMAT] [default: text]
    #[arg(long, value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,
}

impl ServeArgs {
    /// What the flags set: path of the setting, the flag, the value.
    pub(super) fn values(&self) -> Vec<(&'static str, &'static str, Value)> {
        let text = |value: &Option<String>| value.as_deref().map(Value::from);
        let list = |values: &[String]| {
            (!values.is_empty())
                .then(|| Value::from(values.iter().map(|v| Value::from(v.trim())).collect::<Vec<_>>()))
        };
        let format = self.log_format.map(|format| match format {
            LogFormat::Text => Value::from("text"),
            LogFormat::Json => Value::from("json"),
        });
        [
            ("listen", "--listen", text(&self.listen)),
            ("public_url", "--public-url", text(&self.public_url)),
            ("allowed_hosts", "--allowed-host", list(&self.allowed_hosts)),
            ("database_url", "--database-url", text(&self.database_url)),
            ("admin.username", "--admin-username", text(&self.admin_username)),
            ("egress_allow", "--egress-allow", list(&self.egress_allow)),
            ("tool_env", "--tool-env", list(&self.tool_env)),
            ("log.filter", "--log", text(&self.log)),
            ("log.format", "--log-format", format),
        ]
        .into_iter()
        .filter_map(|(path, flag, value)| Some((path, flag, value?)))
        .collect()
    }
}
