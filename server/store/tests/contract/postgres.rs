//! A PostgreSQL server for the tests of this process, from the binaries that Debian installs.
//!
//! Other crates use it with `#[path]`; it needs sqlx and tokio.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use sqlx::{Connection, PgConnection};

/// A database name no other test in this process uses, not created yet.
pub(crate) async fn new_database() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let folder = &server().folder;
    let name = format!("test_{}", NEXT.fetch_add(1, Ordering::Relaxed));
    let mut admin = PgConnection::connect(&format!("postgres://toolgate@localhost/postgres?host={folder}"))
        .await
        .expect("an administrator's connection");
    sqlx::raw_sql(sqlx::AssertSqlSafe(format!("CREATE DATABASE {name}")))
        .execute(&mut admin)
        .await
        .expect("a new database");
    format!("postgres://toolgate@localhost/{name}?host={folder}")
}

struct Server {
    folder: String,
    /// Its standard input ends with this process, and with that the server and its files.
    _keeper: Child,
}

/// Starts a server, says where, and takes it away again when standard input ends. Sorting differs from plain bytes on
/// purpose, because that is how servers are set up.
const KEEPER: &str = r#"
set -eu
dir=$(mktemp -d /tmp/toolgate-pg.XXXXXX)
trap 'rm -rf "$dir"' EXIT
"$0/initdb" -D "$dir/data" -U toolgate -A trust -E UTF8 --locale-provider=icu --icu-locale=en-US --no-sync >"$dir/log" 2>&1 ||
    { cat "$dir/log" >&2; exit 1; }
"$0/pg_ctl" -D "$dir/data" -l "$dir/log" -s -w \
    -o "-k $dir -c listen_addresses= -c fsync=off -c synchronous_commit=off -c max_connections=300" start >&2 </dev/null ||
    { cat "$dir/log" >&2; exit 1; }
echo "$dir"
cat >/dev/null
"$0/pg_ctl" -D "$dir/data" -s -m immediate stop >/dev/null 2>&1
"#;

fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        let binaries = binaries();
        // PostgreSQL refuses to run as root.
        let is_root = std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
        let mut command = if is_root {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=postgres", "--regid=postgres", "--init-groups", "sh"]);
            command
        } else {
            Command::new("sh")
        };
        let mut keeper = command
            .args(["-c", KEEPER, &binaries])
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("starting sh for PostgreSQL");
        let mut folder = String::new();
        let output = keeper.stdout.take().expect("a pipe");
        BufReader::new(output)
            .read_line(&mut folder)
            .expect("the folder of PostgreSQL");
        let folder = folder.trim().to_owned();
        assert!(!folder.is_empty(), "PostgreSQL did not start; its log is above");
        Server {
            folder,
            _keeper: keeper,
        }
    })
}

/// The newest installed PostgreSQL, where Debian puts it, or on `PATH`.
fn binaries() -> String {
    let debian = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten();
    let mut versions: Vec<_> = debian
        .map(|entry| entry.path().join("bin"))
        .filter(|bin| bin.join("initdb").exists())
        .collect();
    versions.sort();
    let on_path = || {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).find(|folder| folder.join("initdb").exists())
    };
    versions
        .pop()
        .or_else(on_path)
        .expect("these tests need the PostgreSQL server binaries (Debian: apt-get install postgresql)")
        .display()
        .to_string()
}
