//! A server that is a process, over its standard input and output.

use std::io;
use std::pin::Pin;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use secrecy::ExposeSecret;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;
use toolgate_api::ErrorCode;

use super::cgroup::Cgroup;
use super::log::Log;
use super::proxy::Proxy;
use super::settings::StdioSettings;
use super::target::{McpTarget, SharedTarget, fill};
use super::{relay, sandbox};
use crate::failure::Failure;
use crate::http::executor::Transport;
use crate::redact::Secrets;
use crate::values::Values;

/// How long a process has to end by itself after its input has ended.
const GRACE: Duration = Duration::from_secs(2);

/// A process that runs. It is ended with the value.
pub(super) struct Process {
    _end: oneshot::Sender<()>,
    ended: watch::Receiver<Option<String>>,
}

impl Process {
    /// How the process ended; waits a moment for it.
    pub(super) async fn ended(&self) -> Option<String> {
        let mut ended = self.ended.clone();
        let waited = timeout(GRACE, ended.wait_for(Option::is_some)).await;
        waited.ok()?.ok()?.clone()
    }
}

/// Why a command may not be started here, for its author and the operator; `None` when it may.
pub(super) fn unavailable(settings: &StdioSettings, command: &str) -> Option<String> {
    if !settings.commands.iter().any(|allowed| allowed == command) {
        return Some(format!(
            "the command {command:?} is not on the list of commands that this server may start: an operator adds it to mcp.stdio_commands (TOOLGATE_MCP_STDIO_COMMANDS)"
        ));
    }
    let missing = settings.sandbox.then(sandbox::missing).flatten();
    missing.map(str::to_owned)
}

/// The streams of a process.
pub(super) type Streams = (BoundedLines<ChildStdout>, ChildStdin);

/// Starts the process of a server.
///
/// # Errors
/// `tool_unavailable` when it may not or cannot be started.
pub(super) fn start(
    target: &McpTarget,
    settings: &StdioSettings,
    values: Values<'_>,
    log: &Arc<Log>,
    (transport, current): (&Arc<Transport>, &SharedTarget),
    max_bytes: usize,
) -> Result<(Process, Streams, Secrets), Failure> {
    let definition = &target.server.definition;
    let command = definition.command.as_deref().unwrap_or_default();
    if let Some(why) = unavailable(settings, command) {
        return Err(Failure::misconfigured(why));
    }
    let filled = fill(&definition.env, values)?;
    let cgroup = Cgroup::new(settings)
        .inspect_err(|why| {
            log.add(&format!("[memory and processes are not bounded: {why}]"));
        })
        .ok();
    let goes_out = definition.network && settings.network && settings.sandbox;
    let proxy = goes_out
        .then(|| Proxy::start(Arc::clone(transport), current.clone(), Arc::clone(log)))
        .transpose()
        .map_err(|error| Failure::misconfigured(format!("its way to the network cannot be made: {error}")))?;
    let socket = proxy.as_ref().map(Proxy::socket);
    let (program, args) = sandbox::command_line(
        settings,
        socket.as_deref(),
        cgroup.as_ref(),
        command,
        &definition.args,
    );
    let mut starting = Command::new(program);
    starting
        .args(args)
        .env_clear()
        .env("PATH", sandbox::PATH)
        .env("LANG", "C.UTF-8")
        .env(
            "HOME",
            if settings.sandbox {
                sandbox::HOME.into()
            } else {
                std::env::temp_dir()
            },
        )
        .envs(proxy.iter().flat_map(|_| by_proxy()))
        .envs(
            filled
                .values
                .iter()
                .map(|(name, value)| (name, value.expose_secret())),
        )
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    let mut child = starting.spawn().map_err(|error| {
        Failure::misconfigured(format!("the command {command:?} cannot be started: {error}"))
    })?;
    let taken = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(stdin), Some(stdout), Some(stderr)) = taken else {
        return Err(Failure::new(ErrorCode::Internal, "the process has no streams"));
    };
    let (end, ending) = oneshot::channel::<()>();
    let (tell, ended) = watch::channel(None);
    let (lines, secrets) = (Arc::clone(log), filled.secrets.clone());
    let following = tokio::spawn(async move { lines.follow(stderr, &secrets).await });
    let log = Arc::clone(log);
    // Waits for the process until its end, so that none stays behind.
    tokio::spawn(async move {
        let group = Group(child.id());
        let status = tokio::select! {
            status = child.wait() => status,
            _ = ending => match timeout(GRACE, child.wait()).await {
                Ok(status) => status,
                Err(_) => {
                    group.kill();
                    child.wait().await
                }
            }
        };
        // Its descendants, where no sandbox ends them with it.
        drop(group);
        let text = how(status);
        let _unasked = tell.send(Some(text.clone()));
        let _lines = timeout(GRACE, following).await;
        log.add(&format!("[{text}]"));
        drop((cgroup, proxy));
    });
    let process = Process { _end: end, ended };
    Ok((
        process,
        (BoundedLines::new(stdout, max_bytes), stdin),
        filled.secrets,
    ))
}

/// The variables by which programs find their proxy.
fn by_proxy() -> impl Iterator<Item = (&'static str, String)> {
    let names = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"];
    let address = format!("http://127.0.0.1:{}", relay::PORT);
    let named = names.into_iter().map(move |name| (name, address.clone()));
    // Node takes no notice of them otherwise.
    named.chain([("NODE_USE_ENV_PROXY", "1".to_owned())])
}

/// The processes of one server. They end with the value, also when this process stops.
struct Group(Option<u32>);

impl Group {
    fn kill(&self) {
        let id = self
            .0
            .and_then(|id| i32::try_from(id).ok())
            .and_then(rustix::process::Pid::from_raw);
        if let Some(id) = id {
            // An error says that nothing is left of it.
            let _gone = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

fn how(status: io::Result<ExitStatus>) -> String {
    match status {
        Ok(status) => format!("the process ended with {status}"),
        Err(error) => format!("the process is lost: {error}"),
    }
}

/// Fails when a line is longer than this.
pub(super) struct BoundedLines<R> {
    inner: R,
    line: usize,
    max_bytes: usize,
}

impl<R> BoundedLines<R> {
    fn new(inner: R, max_bytes: usize) -> Self {
        Self {
            inner,
            line: 0,
            max_bytes,
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for BoundedLines<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buffer))?;
        let new = &buffer.filled()[before..];
        self.line = match new.iter().rposition(|byte| *byte == b'\n') {
            Some(at) => new.len() - at - 1,
            None => self.line + new.len(),
        };
        if self.line > self.max_bytes {
            return Poll::Ready(Err(io::Error::other("a line is too long")));
        }
        Poll::Ready(Ok(()))
    }
}
