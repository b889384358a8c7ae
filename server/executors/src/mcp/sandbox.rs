//! The command line with which the process of a server is started, and the cgroup that bounds it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::settings::StdioSettings;

/// The program that makes the sandbox.
const BUBBLEWRAP: &str = "bwrap";
/// Where programs are looked for.
pub(super) const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// The home folder in the sandbox: memory, which goes with the process.
pub(super) const HOME: &str = "/tmp/home";
/// Folders that programs need to run. They are read only.
const SYSTEM: [&str; 14] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/ssl",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/etc/group",
];
/// What processes with the network need beside them.
const NETWORK: [&str; 2] = ["/etc/resolv.conf", "/etc/hosts"];
/// Bytes that a process may write to its home.
const HOME_BYTES: &str = "268435456";

/// Why the sandbox cannot be used; `None` when it can. It is tried once.
pub(super) fn missing() -> Option<&'static str> {
    static TRIED: OnceLock<Option<&'static str>> = OnceLock::new();
    *TRIED.get_or_init(|| {
        let tried = std::process::Command::new(BUBBLEWRAP)
            .args(["--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "true"])
            .output();
        match tried {
            Err(_) => Some(
                "bubblewrap (bwrap) is not installed on this server: install it, or set mcp.stdio_sandbox to false to run the commands as the server's own user",
            ),
            Ok(tried) if !tried.status.success() => Some(
                "bubblewrap (bwrap) cannot make a sandbox here, because user namespaces are not allowed: allow them, or set mcp.stdio_sandbox to false to run the commands as the server's own user",
            ),
            Ok(_) => None,
        }
    })
}

/// The program and the arguments that start a command.
pub(super) fn command_line(
    settings: &StdioSettings,
    network: bool,
    cgroup: Option<&Cgroup>,
    command: &str,
    args: &[String],
) -> (OsString, Vec<OsString>) {
    let mut line: Vec<OsString> = Vec::new();
    if let Some(cgroup) = cgroup {
        // The shell enters the groups before anything else runs, so that no process is outside of them.
        let enter =
            "while [ \"$1\" != -- ]; do echo $$ > \"$1\" || exit 125; shift; done; shift; exec \"$@\"";
        line.extend(["/bin/sh", "-c", enter, "sh"].map(OsString::from));
        line.extend(
            cgroup
                .folders
                .iter()
                .map(|folder| folder.join("cgroup.procs").into_os_string()),
        );
        line.push("--".into());
    }
    if settings.sandbox {
        line.push(BUBBLEWRAP.into());
        line.extend(sandbox(settings, network));
        line.push("--".into());
    }
    line.push(command.into());
    line.extend(args.iter().map(OsString::from));
    let program = line.remove(0);
    (program, line)
}

/// The options of bubblewrap: no privileges, no network, no files but programs, an end with this process.
fn sandbox(settings: &StdioSettings, network: bool) -> Vec<OsString> {
    let mut options: Vec<OsString> = Vec::new();
    let mut add = |more: &[&str]| options.extend(more.iter().map(OsString::from));
    add(&[
        "--unshare-all",
        "--die-with-parent",
        "--new-session",
        "--cap-drop",
        "ALL",
    ]);
    add(&["--uid", "65534", "--gid", "65534", "--hostname", "mcp"]);
    if network {
        add(&["--share-net"]);
        for path in NETWORK {
            add(&["--ro-bind-try", path, path]);
        }
    }
    for path in SYSTEM {
        match std::fs::read_link(path) {
            Ok(to) if path.matches('/').count() == 1 => {
                add(&["--symlink"]);
                options_of(&to, path, &mut add);
            }
            _ => add(&["--ro-bind-try", path, path]),
        }
    }
    add(&[
        "--proc", "/proc", "--dev", "/dev", "--size", HOME_BYTES, "--tmpfs", "/tmp", "--dir", HOME,
        "--chdir", HOME,
    ]);
    for path in &settings.readable {
        let path = path.to_string_lossy();
        add(&["--ro-bind", &path, &path]);
    }
    options
}

fn options_of(to: &Path, path: &str, add: &mut impl FnMut(&[&str])) {
    add(&[&to.to_string_lossy(), path]);
}

/// The groups of one process, which bound its memory and its processes. They are removed with the value.
#[derive(Debug)]
pub(super) struct Cgroup {
    folders: Vec<PathBuf>,
}

impl Cgroup {
    /// Makes the groups; `None` where this process may not.
    pub(super) fn new(settings: &StdioSettings) -> Option<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let name = format!(
            "toolgate-mcp-{}-{}",
            std::process::id(),
            NUMBER.fetch_add(1, Ordering::Relaxed)
        );
        let memory = (settings.memory_mib << 20).to_string();
        let processes = settings.processes.to_string();
        let root = Path::new("/sys/fs/cgroup");
        let own = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let mut made = Self { folders: Vec::new() };
        if root.join("cgroup.controllers").exists() {
            let unified = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
            made.add(
                &root.join(unified),
                &name,
                &[("memory.max", &memory), ("pids.max", &processes)],
            )?;
        } else {
            made.add(&root.join("memory"), &name, &[("memory.limit_in_bytes", &memory)])?;
            made.add(&root.join("pids"), &name, &[("pids.max", &processes)])?;
        }
        Some(made)
    }

    fn add(&mut self, parent: &Path, name: &str, limits: &[(&str, &str)]) -> Option<()> {
        let folder = parent.join(name);
        std::fs::create_dir(&folder).ok()?;
        self.folders.push(folder.clone());
        for (file, limit) in limits {
            std::fs::write(folder.join(file), limit).ok()?;
        }
        Some(())
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        for folder in &self.folders {
            let _still_used = std::fs::remove_dir(folder);
        }
    }
}
