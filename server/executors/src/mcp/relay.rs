//! The other end of the proxy, inside of a sandbox: programs know proxies by a port, and the sandbox has only a socket.

use std::ffi::OsString;
use std::io;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::thread;

/// The port of the sandbox's own loopback.
pub(super) const PORT: u16 = 8118;

/// Runs a command whose way out is a proxy that listens at a socket.
///
/// # Errors
/// When the port is taken or the command cannot be started.
pub fn run_behind(socket: PathBuf, command: &[OsString]) -> io::Result<ExitStatus> {
    let [program, args @ ..] = command else {
        return Err(io::Error::other("no command"));
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, PORT))?;
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let socket = socket.clone();
            thread::spawn(move || {
                // The program sees the end of the connection.
                let _failed = relay(&stream, &socket);
                let _closed = stream.shutdown(Shutdown::Both);
            });
        }
    });
    Command::new(program).args(args).status()
}

/// Passes on what comes from both ends until both have ended.
fn relay(program: &TcpStream, socket: &Path) -> io::Result<()> {
    let proxy = UnixStream::connect(socket)?;
    let (mut program_reads, mut proxy_writes) = (program.try_clone()?, proxy.try_clone()?);
    let up = thread::spawn(move || {
        let copied = io::copy(&mut program_reads, &mut proxy_writes);
        let _closed = proxy_writes.shutdown(Shutdown::Write);
        copied
    });
    let copied = io::copy(&mut &proxy, &mut &*program);
    let _closed = program.shutdown(Shutdown::Write);
    let _ended = up.join();
    copied.map(drop)
}
