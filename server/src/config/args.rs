//! The command-line flags of settings. Secrets have none: every process of the machine can read a command line.

use std::path::PathBuf;

use clap::Args;

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
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "json"])]
    pub log_format: Option<String>,
}

impl ServeArgs {
    /// What was given: path of the setting, the flag, the text.
    pub(super) fn given(&self) -> impl Iterator<Item = (&'static str, &'static str, String)> {
        [
            ("listen", "--listen", self.listen.as_slice()),
            ("public_url", "--public-url", self.public_url.as_slice()),
            ("allowed_hosts", "--allowed-host", &self.allowed_hosts),
            ("database_url", "--database-url", self.database_url.as_slice()),
            (
                "admin.username",
                "--admin-username",
                self.admin_username.as_slice(),
            ),
            ("egress_allow", "--egress-allow", &self.egress_allow),
            ("tool_env", "--tool-env", &self.tool_env),
            ("log.filter", "--log", self.log.as_slice()),
            ("log.format", "--log-format", self.log_format.as_slice()),
        ]
        .into_iter()
        .filter(|(.., texts)| !texts.is_empty())
        .map(|(path, flag, texts)| (path, flag, texts.join(",")))
    }
}
