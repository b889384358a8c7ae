//! The control groups that bound the memory and the processes of one server's process.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{fs, io};

use super::settings::StdioSettings;

/// Where the kernel shows its groups.
const MOUNT: &str = "/sys/fs/cgroup";
/// The group that this process moves into, where groups with processes may have no bounded ones below them (version 2).
const OWN: &str = "toolgate";

/// The groups of one process. They are removed with the value.
#[derive(Debug)]
pub(super) struct Cgroup {
    folders: Vec<PathBuf>,
}

impl Cgroup {
    /// Makes the groups.
    ///
    /// # Errors
    /// Why this process may not, for the operator.
    pub(super) fn new(settings: &StdioSettings) -> Result<Self, String> {
        static PARENTS: OnceLock<Result<Parents, String>> = OnceLock::new();
        let parents = PARENTS.get_or_init(|| {
            let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
            Parents::find(Path::new(MOUNT), &own)
        });
        parents.as_ref().map_err(Clone::clone)?.bound(settings)
    }

    /// The files that a process writes its id into to be in the groups.
    pub(super) fn entrances(&self) -> impl Iterator<Item = PathBuf> {
        self.folders.iter().map(|folder| folder.join("cgroup.procs"))
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        for folder in &self.folders {
            let _still_used = fs::remove_dir(folder);
        }
    }
}

/// The groups below which those of processes are made.
#[derive(Debug, PartialEq)]
enum Parents {
    /// One that bounds both (version 2).
    Unified(PathBuf),
    /// One for memory and one for processes (version 1).
    Separate { memory: PathBuf, pids: PathBuf },
}

impl Parents {
    /// Finds them, and prepares them where they need it; `own` says which groups this process is in (`/proc/self/cgroup`).
    fn find(mount: &Path, own: &str) -> Result<Self, String> {
        // Lines of `number:controllers:path`; version 2 names no controllers.
        let own_of = |controller: &str| {
            let lines = own
                .lines()
                .filter_map(|line| line.split_once(':')?.1.split_once(':'));
            let mut of_controller =
                lines.filter(|(names, _)| names.split(',').any(|name| name == controller));
            of_controller.next().map(|(_, path)| path)
        };
        // A container shows its own group as the top, and may name it as the machine does.
        let below = |top: &Path, path: Option<&str>| {
            let named = path.map(|path| top.join(path.trim_start_matches('/')));
            named
                .filter(|folder| folder.is_dir())
                .unwrap_or_else(|| top.to_owned())
        };
        if mount.join("cgroup.controllers").exists() {
            let parent = below(mount, own_of(""));
            hand_down(&parent).map_err(|error| {
                format!(
                    "the control group {} cannot be divided: {error}; run the server in a group of its own that it may change (systemd: Delegate=yes)",
                    parent.display()
                )
            })?;
            return Ok(Self::Unified(parent));
        }
        let [memory, pids] =
            ["memory", "pids"].map(|controller| (mount.join(controller), own_of(controller)));
        if !memory.0.is_dir() || !pids.0.is_dir() {
            return Err("this machine has no control groups for memory and processes".to_owned());
        }
        Ok(Self::Separate {
            memory: below(&memory.0, memory.1),
            pids: below(&pids.0, pids.1),
        })
    }

    fn bound(&self, settings: &StdioSettings) -> Result<Cgroup, String> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("toolgate-mcp-{}-{number}", std::process::id());
        let memory = (settings.memory_mib << 20).to_string();
        let processes = settings.processes.to_string();
        let limits = match self {
            Self::Unified(parent) => vec![(parent, vec![("memory.max", &memory), ("pids.max", &processes)])],
            Self::Separate { memory: parent, pids } => vec![
                (parent, vec![("memory.limit_in_bytes", &memory)]),
                (pids, vec![("pids.max", &processes)]),
            ],
        };
        let mut made = Cgroup { folders: Vec::new() };
        for (parent, files) in limits {
            let folder = parent.join(&name);
            let failed =
                |error: io::Error| format!("the control group {} cannot be made: {error}", folder.display());
            fs::create_dir(&folder).map_err(failed)?;
            made.folders.push(folder.clone());
            for (file, limit) in files {
                fs::write(folder.join(file), limit).map_err(failed)?;
            }
            // What is swapped is memory too. A machine without swap has no such file.
            let _no_swap = fs::write(folder.join("memory.swap.max"), "0");
        }
        Ok(made)
    }
}

/// Lets the groups below a group bound memory and processes. A group with processes may not; this process leaves it then.
fn hand_down(group: &Path) -> io::Result<()> {
    let enable = || fs::write(group.join("cgroup.subtree_control"), "+memory +pids");
    match enable() {
        Err(error) if error.kind() == ErrorKind::ResourceBusy => {
            let own = group.join(OWN);
            match fs::create_dir(&own) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
            fs::write(own.join("cgroup.procs"), std::process::id().to_string())?;
            enable()
        }
        enabled => enabled,
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn tree(folders: &[&str]) -> TempDir {
        let mount = TempDir::new().expect("a folder");
        for folder in folders {
            fs::create_dir_all(mount.path().join(folder)).expect("a folder");
        }
        mount
    }

    fn read(path: &Path) -> String {
        fs::read_to_string(path).expect("a file")
    }

    #[test]
    fn version_2_bounds_both_in_the_group_of_the_server() {
        let mount = tree(&["system.slice/toolgate.service"]);
        fs::write(mount.path().join("cgroup.controllers"), "memory pids").expect("written");
        let own = mount.path().join("system.slice/toolgate.service");
        let parents = Parents::find(mount.path(), "0::/system.slice/toolgate.service\n").expect("found");
        assert_eq!(parents, Parents::Unified(own.clone()));
        assert_eq!(read(&own.join("cgroup.subtree_control")), "+memory +pids");
        let settings = StdioSettings {
            memory_mib: 64,
            processes: 9,
            ..StdioSettings::default()
        };
        let made = parents.bound(&settings).expect("made");
        let folder = made.folders[0].clone();
        assert!(folder.starts_with(&own));
        assert_eq!(read(&folder.join("memory.max")), "67108864");
        assert_eq!(read(&folder.join("pids.max")), "9");
    }

    #[test]
    fn version_1_has_a_group_for_each() {
        let mount = tree(&["memory/box/7", "pids"]);
        let own = "8:pids:/elsewhere\n4:cpu,memory:/box/7\n0::/\n";
        let parents = Parents::find(mount.path(), own).expect("found");
        let expected = Parents::Separate {
            memory: mount.path().join("memory/box/7"),
            pids: mount.path().join("pids"),
        };
        assert_eq!(parents, expected);
    }

    #[test]
    fn a_machine_without_groups_says_so() {
        let mount = tree(&[]);
        let why = Parents::find(mount.path(), "0::/\n").expect_err("none");
        assert!(why.contains("no control groups"), "{why}");
        let mount = tree(&[]);
        fs::write(mount.path().join("cgroup.controllers"), "").expect("written");
        fs::create_dir(mount.path().join("cgroup.subtree_control")).expect("made");
        let why = Parents::find(mount.path(), "0::/gone\n").expect_err("refused");
        assert!(why.contains("Delegate=yes"), "{why}");
    }
}
