//! What the server decides about executing.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use secrecy::SecretString;

use crate::egress::EgressPolicy;
use crate::mcp::StdioSettings;
use crate::redact::Secrets;

/// Where environment values come from. The server decides which names exist: a definition can name anything, and gets
/// only what the configuration offers to tools.
pub trait EnvSource: Send + Sync {
    /// The value of a variable, when it exists and tools may use it.
    fn get(&self, name: &str) -> Option<SecretString>;
}

/// The secrets of the project that a call is in.
pub trait SecretSource: Send + Sync {
    /// The value of a secret; `None` when there is no such secret or it cannot be read.
    fn get(&self, name: &str) -> Option<SecretString>;

    /// All of them, as they are recognised in texts: a caller may send one that the tool does not use.
    fn known(&self) -> Option<Arc<Secrets>> {
        None
    }
}

impl fmt::Debug for dyn SecretSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretSource")
    }
}

/// Limits and destinations of everything that is executed.
#[derive(Clone)]
pub struct ExecutorConfig {
    /// Which destinations may be reached.
    pub egress: EgressPolicy,
    /// Environment values that tools may use.
    pub envs: Arc<dyn EnvSource>,
    /// The most bytes an answer may have, before and after decompression.
    pub max_response_bytes: usize,
    /// How long a call may take when its definition does not say.
    pub default_timeout: Duration,
    /// The longest a definition may ask for.
    pub max_timeout: Duration,
    /// Calls of one tool that may run at the same time.
    pub max_concurrent_per_tool: usize,
    /// Calls that may run at the same time.
    pub max_concurrent: usize,
    /// Answers that may be streamed at the same time.
    pub max_streams: usize,
    /// What the operator allows of MCP servers that are processes.
    pub mcp_stdio: StdioSettings,
}

impl ExecutorConfig {
    /// The documented defaults with the given destinations and environment.
    #[must_use]
    pub fn new(egress: EgressPolicy, envs: Arc<dyn EnvSource>) -> Self {
        Self {
            egress,
            envs,
            max_response_bytes: 10 * 1024 * 1024,
            default_timeout: Duration::from_secs(30),
            max_timeout: Duration::from_secs(300),
            max_concurrent_per_tool: 64,
            max_concurrent: 1024,
            max_streams: 256,
            mcp_stdio: StdioSettings::default(),
        }
    }
}

impl fmt::Debug for ExecutorConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecutorConfig")
            .field("egress", &self.egress)
            .field("max_response_bytes", &self.max_response_bytes)
            .field("default_timeout", &self.default_timeout)
            .field("max_timeout", &self.max_timeout)
            .field("max_concurrent_per_tool", &self.max_concurrent_per_tool)
            .field("max_concurrent", &self.max_concurrent)
            .field("max_streams", &self.max_streams)
            .finish_non_exhaustive()
    }
}
