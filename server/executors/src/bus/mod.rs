//! Tools behind a message bus (NATS).
//!
//! A process has one [`Bus`]: a connection that reconnects by itself, and the calls that wait for answers (`replies`). A tool
//! service (`service`) gets an envelope (`envelope`) on its request queue and answers on its response queue, or to the inbox
//! of the request; its messages become one result (`answer`); persistent response queues are read by `kept_answers`. A worker (`worker`) gets a command that points at a card with its
//! arguments, and reports with a card that has its result. What programs say of themselves is read by `announcements`, and what waits
//! for them is counted by `queues`. Servers of the bus that ask who may connect are heard by `callout`.

mod announcements;
mod answer;
mod callout;
mod config;
mod connection;
mod dead_letters;
mod entrance;
mod envelope;
mod kept_answers;
mod known;
mod queues;
mod replies;
mod service;
mod worker;

pub use announcements::BusAnnouncement;
pub use callout::Consumer;
pub use config::{BusAuth, BusConfig, BusTls};
pub use connection::{Bus, BusError, BusReport};
pub use dead_letters::{Dead, KeptDead};
pub use entrance::{ACK_WAIT, MOST_DELIVERIES, VERSION};
pub use service::ServiceExecutor;
pub use worker::{
    CARDS_KEPT, CallContent, LARGEST_CARD, LargeCards, LargePart, WorkerExecutor, WorkerReport, artifact_of,
    in_place_of, is_call_content, is_result_content,
};
