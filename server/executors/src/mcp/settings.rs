//! What the operator allows of MCP servers that are processes.

use std::path::PathBuf;

/// What the server's configuration says of stdio servers.
#[derive(Debug, Clone)]
pub struct StdioSettings {
    /// The commands that may be started, exactly as definitions write them.
    pub commands: Vec<String>,
    /// Whether they run in bubblewrap. Without it they run as this process's user.
    pub sandbox: bool,
    /// Whether those that ask for it get the network: in the sandbox, what the egress lists permit.
    pub network: bool,
    /// The program that brings the way out into a sandbox: that of Toolgate.
    pub relay: PathBuf,
    /// Folders that they may read, beside those of the system's programs.
    pub readable: Vec<PathBuf>,
    /// MiB of memory that one may use, where there is a cgroup to bound it.
    pub memory_mib: u64,
    /// Processes and threads that one may have, where there is a cgroup to bound it.
    pub processes: u64,
    /// Servers that serve one session or principal each, at the same time, of all projects together.
    pub instances: u32,
}

impl Default for StdioSettings {
    fn default() -> Self {
        Self {
            commands: Vec::new(),
            sandbox: true,
            network: false,
            // Where the program cannot be found, starting a server that needs it fails with the reason.
            relay: std::env::current_exe().unwrap_or_default(),
            readable: Vec::new(),
            memory_mib: 1024,
            processes: 256,
            instances: 64,
        }
    }
}
