//! The transport of a process: one message on each line.

use std::io;
use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, Split};
use tokio::sync::Mutex;

use super::raw::Waiting;

/// The lines of a process, and where lines to it are written. The reader fails at a line that is too long.
pub(super) struct LineTransport<R, W> {
    lines: Split<BufReader<R>>,
    /// `None` when it is closed.
    writer: Arc<Mutex<Option<W>>>,
    waiting: Waiting,
}

impl<R: AsyncRead + Unpin, W> LineTransport<R, W> {
    pub(super) fn new(reader: R, writer: W) -> Self {
        Self {
            lines: BufReader::new(reader).split(b'\n'),
            writer: Arc::new(Mutex::new(Some(writer))),
            waiting: Waiting::default(),
        }
    }
}

impl<R, W> Transport<RoleClient> for LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let writer = Arc::clone(&self.writer);
        self.waiting.sends(&item);
        async move {
            let mut line = serde_json::to_vec(&item)?;
            line.push(b'\n');
            let mut writer = writer.lock().await;
            let Some(writer) = writer.as_mut() else {
                return Err(io::ErrorKind::NotConnected.into());
            };
            writer.write_all(&line).await?;
            writer.flush().await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let line = self.lines.next_segment().await.ok()??;
            let line = line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            match self.waiting.receives(line) {
                Some(message) => return Some(message),
                None => tracing::debug!("a line of an MCP server is no JSON-RPC message"),
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.writer.lock().await.take();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage};
    use serde_json::{Value, json};
    use tokio::io::AsyncReadExt;

    use super::super::raw;
    use super::*;

    #[tokio::test]
    async fn lines_are_messages_and_others_are_left_out() {
        let (ours, mut process) = tokio::io::duplex(4096);
        let (reader, writer) = tokio::io::split(ours);
        let mut transport = LineTransport::new(reader, writer);
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "a"}});
        let call: ClientJsonRpcMessage = serde_json::from_value(call).expect("a request");
        transport.send(call).await.expect("it is sent");
        let mut sent = vec![0; 256];
        let count = process.read(&mut sent).await.expect("a line");
        assert!(sent[..count].ends_with(b"\n"), "{sent:?}");
        let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {"content": [], "new": 1.50}});
        let lines = format!("Listening\n\n{{\"a\":\r\n\u{feff}\n{answer}\r\n");
        process.write_all(lines.as_bytes()).await.expect("written");
        let Some(JsonRpcMessage::Response(received)) = transport.receive().await else {
            panic!("a response")
        };
        let result: Value = raw::value(received.result).expect("JSON");
        assert_eq!(result, answer["result"]);
        transport.close().await.expect("closed");
        drop(transport);
        assert_eq!(process.read(&mut sent).await.expect("the end"), 0);
    }
}
