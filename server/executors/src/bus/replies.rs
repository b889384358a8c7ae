//! The calls that wait for messages, and how messages find them.
//!
//! A message counts for a call if it comes on the response queue of the call's service with the call's id in the header
//! `id`, or to the inbox of the call's own request. Ids are random, so that nothing else on the bus can guess one.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use async_nats::{Client, Message, StatusCode, SubscribeError};
use futures_util::StreamExt;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::kept_answers::KeptAnswers;
use super::worker::headers::TOOL_CALL_ID;
use crate::failure::Failure;

/// The header that says which request a message of a tool service answers; for workers it is [`TOOL_CALL_ID`].
pub(super) const ID: &str = "id";
/// Messages that may wait for a call to read them; more than that is no answer any more.
const WAITING: usize = 1024;

/// The calls that wait.
pub(super) struct Replies {
    client: Client,
    /// What the subject of a request's inbox begins with.
    inbox: String,
    calls: Mutex<HashMap<String, Call>>,
    queues: tokio::sync::Mutex<HashMap<String, Weak<Listening>>>,
    foreign: AtomicU64,
}

struct Call {
    /// The response queue that its answer may come on.
    queue: String,
    to: mpsc::Sender<Received>,
}

/// What arrived for a call.
pub(super) enum Received {
    /// A message.
    Message(Message),
    /// The bus says that there is no subscriber for the request.
    NoSubscriber,
}

/// A subscription; it ends when this is dropped.
pub(super) struct Listening(JoinHandle<()>);

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Replies {
    /// Listens to the inbox of this process until the bus is dropped.
    pub(super) async fn start(client: &Client) -> Result<Arc<Self>, SubscribeError> {
        let inbox = client.new_inbox();
        let mut messages = client.subscribe(format!("{inbox}.*")).await?;
        let replies = Arc::new(Self {
            client: client.clone(),
            inbox,
            calls: Mutex::default(),
            queues: tokio::sync::Mutex::default(),
            foreign: AtomicU64::new(0),
        });
        let weak = Arc::downgrade(&replies);
        tokio::spawn(async move {
            while let Some(message) = messages.next().await {
                let Some(replies) = weak.upgrade() else { return };
                replies.came_to_inbox(message);
            }
        });
        Ok(replies)
    }

    /// Listens to a response queue as long as what is returned lives.
    pub(super) async fn listen(self: &Arc<Self>, subject: &str) -> Result<Arc<Listening>, SubscribeError> {
        let mut queues = self.queues.lock().await;
        if let Some(listening) = queues.get(subject).and_then(Weak::upgrade) {
            return Ok(listening);
        }
        let mut messages = self.client.subscribe(subject.to_owned()).await?;
        let weak = Arc::downgrade(self);
        let listening = Arc::new(Listening(tokio::spawn(async move {
            while let Some(message) = messages.next().await {
                let Some(replies) = weak.upgrade() else { return };
                replies.came_on_queue(message);
            }
        })));
        queues.retain(|_, listening| listening.strong_count() > 0);
        queues.insert(subject.to_owned(), Arc::downgrade(&listening));
        Ok(listening)
    }

    /// Listens to a response queue whose messages a stream keeps, as long as what is returned lives.
    pub(super) async fn listen_kept(self: &Arc<Self>, subject: &str) -> Result<Arc<Listening>, Failure> {
        let mut queues = self.queues.lock().await;
        let name = format!("persistent://{subject}");
        if let Some(listening) = queues.get(&name).and_then(Weak::upgrade) {
            return Ok(listening);
        }
        let answers = KeptAnswers::of(&self.client, subject).await?;
        let weak = Arc::downgrade(self);
        let listening = Arc::new(Listening(tokio::spawn(answers.read(move |message| {
            let replies = weak.upgrade();
            if let Some(replies) = &replies {
                replies.came_on_queue(message);
            }
            replies.is_some()
        }))));
        queues.retain(|_, listening| listening.strong_count() > 0);
        queues.insert(name, Arc::downgrade(&listening));
        Ok(listening)
    }

    /// Begins to wait for the messages of a call, whose answer may come on this response queue.
    pub(super) fn wait(self: &Arc<Self>, id: &str, queue: &str) -> Waiting {
        let (to, messages) = mpsc::channel(WAITING);
        let call = Call {
            queue: queue.to_owned(),
            to,
        };
        self.calls().insert(id.to_owned(), call);
        Waiting {
            replies: Arc::clone(self),
            inbox: format!("{}.{id}", self.inbox),
            id: id.to_owned(),
            messages,
        }
    }

    /// Messages that belonged to no call.
    pub(super) fn foreign(&self) -> u64 {
        self.foreign.load(Ordering::Relaxed)
    }

    fn calls(&self) -> MutexGuard<'_, HashMap<String, Call>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn came_to_inbox(&self, message: Message) {
        let id = message
            .subject
            .strip_prefix(self.inbox.as_str())
            .and_then(|rest| rest.strip_prefix('.'))
            .map(str::to_owned);
        let contradicts = header_id(&message).is_some_and(|named| Some(named) != id.as_deref());
        match id {
            Some(id) if !contradicts => self.hand_on(&id, message, |_| true),
            _ => self.ignore(),
        }
    }

    fn came_on_queue(&self, message: Message) {
        let subject = message.subject.to_string();
        match header_id(&message).map(str::to_owned) {
            Some(id) => self.hand_on(&id, message, |call| call.queue == subject),
            None => self.ignore(),
        }
    }

    fn hand_on(&self, id: &str, message: Message, may_answer: impl Fn(&Call) -> bool) {
        let received = if message.status == Some(StatusCode::NO_RESPONDERS) {
            Received::NoSubscriber
        } else {
            Received::Message(message)
        };
        let mut calls = self.calls();
        match calls.get(id) {
            Some(call) if may_answer(call) => {
                if call.to.try_send(received).is_err() {
                    calls.remove(id);
                }
            }
            _ => {
                drop(calls);
                self.ignore();
            }
        }
    }

    fn ignore(&self) {
        self.foreign.fetch_add(1, Ordering::Relaxed);
    }
}

fn header_id(message: &Message) -> Option<&str> {
    let headers = message.headers.as_ref()?;
    let id = headers.get(ID).or_else(|| headers.get(TOOL_CALL_ID))?;
    Some(id.as_str())
}

/// A call that waits for its messages, as long as this lives.
pub(super) struct Waiting {
    replies: Arc<Replies>,
    /// The subject of its own inbox.
    pub(super) inbox: String,
    id: String,
    messages: mpsc::Receiver<Received>,
}

impl Waiting {
    /// The next message; `None` when they came faster than they were read.
    pub(super) async fn next(&mut self) -> Option<Received> {
        self.messages.recv().await
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.replies.calls().remove(&self.id);
    }
}
