//! The command line with which the process of a server is started.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::cgroup::Cgroup;
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
/// Where the relay of a process with the network is in the sandbox.
const RELAY: &str = "/run/toolgate/relay";
/// Where the socket of its proxy is.
const PROXY: &str = "/run/toolgate/proxy";
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

/// The program and the arguments that start a command; `proxy` is the socket of its way out.
pub(super) fn command_line(
    settings: &StdioSettings,
    proxy: Option<&Path>,
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
        line.extend(cgroup.entrances().map(PathBuf::into_os_string));
        line.push("--".into());
    }
    if settings.sandbox {
        line.push(BUBBLEWRAP.into());
        line.extend(sandbox(settings, proxy));
        line.push("--".into());
        if proxy.is_some() {
            line.extend([RELAY, "mcp", "relay", PROXY, "--"].map(OsString::from));
        }
    }
    line.push(command.into());
    line.extend(args.iter().map(OsString::from));
    let program = line.remove(0);
    (program, line)
}

/// The options of bubblewrap: no privileges, no network but a proxy, no files but programs, an end with
/// this process.
fn sandbox(settings: &StdioSettings, proxy: Option<&Path>) -> Vec<OsString> {
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
    if let Some(proxy) = proxy {
        add(&["--ro-bind", &settings.relay.to_string_lossy(), RELAY]);
        add(&["--bind", &proxy.to_string_lossy(), PROXY]);
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
