//! What a program may publish and read on the bus, from what its key may do in its project.
//!
//! Every subject here has the project's id in it, or is in the operator's list of subjects. The streams of commands and reports
//! are shared by all projects, so Toolgate makes the consumer of a worker, and the worker may neither list, read nor make
//! streams and consumers. A denied subject is stronger than an allowed one.

use serde::Serialize;
use toolgate_api::keys::KeyOnBus;
use toolgate_api::settings::BusEntrance;
use toolgate_core::definition::queue::{Queue, SubjectRules};
use toolgate_core::ids::{KeyId, ProjectId};
use toolgate_executors::bus::{Consumer, VERSION};

use crate::gateway::server_snapshot::ProjectState;

/// Messages by which a program may answer one request, as many as an answer may have.
const ANSWERS: u32 = 10_000;
/// How long it may answer: longer than any tool may take.
const ANSWER_WITHIN_NS: u64 = 330_000_000_000;

/// Subjects that are allowed and denied.
#[derive(Debug, Default, Serialize)]
pub(super) struct Subjects {
    allow: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    deny: Vec<String>,
}

/// Answers to the inboxes of requests that a program has got.
#[derive(Debug, Serialize)]
struct Responses {
    max: u32,
    ttl: u64,
}

/// The permissions of a user, as NATS writes them.
#[derive(Debug, Serialize)]
pub(super) struct Permissions {
    #[serde(rename = "pub")]
    publish: Subjects,
    #[serde(rename = "sub")]
    subscribe: Subjects,
    #[serde(rename = "resp", skip_serializing_if = "Option::is_none")]
    responses: Option<Responses>,
}

/// The consumers that a key's programs read by: of its workers, and of the persistent queues of the project's services.
pub(super) fn consumers(may: &KeyOnBus, project: &ProjectState) -> Vec<Consumer> {
    let id = &project.row.id;
    let queues = project.snapshot.services().filter_map(|(service, _)| {
        let requests = service.request_queue.as_deref().filter(|_| may.services)?;
        Queue::parse(requests).ok().filter(|queue| queue.persistent)
    });
    let of_services = queues.map(|queue| Consumer::of_queue(id, &queue));
    let of_workers = may.workers.iter().map(|target| Consumer::of_worker(id, target));
    of_services.chain(of_workers).collect()
}

impl Permissions {
    /// Those of a key that opens something: NATS takes an empty list for everything.
    pub(super) fn of(key: KeyId, may: &KeyOnBus, project: &ProjectState, rules: &SubjectRules) -> Self {
        let id = &project.row.id;
        let mut permissions = Self::inbox(key);
        if may.services {
            permissions.services(id, may.calls, rules);
        }
        if may.calls {
            let entrance = project.settings.bus_entrance.clone().unwrap_or_default();
            permissions.calls(id, &entrance);
        }
        for target in &may.workers {
            permissions.may_publish([format!("cg.{VERSION}.{id}.*.evt.tool.{target}.report")]);
        }
        if !may.workers.is_empty() {
            permissions.cards(id);
        }
        for consumer in consumers(may, project) {
            permissions.consumer(&consumer);
        }
        if may.services || !may.workers.is_empty() {
            permissions.announces(id);
        }
        permissions
    }

    /// The inbox of the key's own programs.
    fn inbox(key: KeyId) -> Self {
        Self {
            publish: Subjects::default(),
            subscribe: Subjects {
                allow: vec![format!("_INBOX.{key}.>")],
                deny: Vec::new(),
            },
            responses: None,
        }
    }

    fn calls(&mut self, id: &ProjectId, entrance: &BusEntrance) {
        self.may_publish([format!("tg.{id}.tool.invoke"), format!("tg.{id}.tool.invoke.mcp")]);
        self.may_read([format!("tg.{id}.tool.result"), format!("tg.{id}.tool.result.>")]);
        for target in &entrance.targets {
            self.may_publish([format!("cg.{VERSION}.{id}.*.cmd.tool.{target}.>")]);
            self.may_read([format!("cg.{VERSION}.{id}.*.evt.tool.{target}.report")]);
        }
        self.may_read([format!("cg.{VERSION}.{id}.*.cmd.agent.*.wakeup")]);
        self.cards(id);
    }

    /// The operator's subjects of the project, but those of Toolgate and of UTP.
    fn services(&mut self, id: &ProjectId, calls: bool, rules: &SubjectRules) {
        let subjects = rules.of(id).into_iter();
        let own: Vec<String> = subjects.filter(|subject| !subject.starts_with("cg.")).collect();
        self.may_publish(own.clone());
        self.may_read(own);
        let results = [format!("tg.{id}.tool.result"), format!("tg.{id}.tool.result.>")];
        let requests = [format!("tg.{id}.tool.invoke"), format!("tg.{id}.tool.invoke.>")];
        self.publish.deny.extend(results.clone());
        self.subscribe.deny.extend(requests.clone());
        if !calls {
            self.publish.deny.extend(requests);
            self.subscribe.deny.extend(results);
        }
        let dead = format!("tg.{id}.dead-letters");
        self.publish
            .deny
            .extend([dead.clone(), format!("tg.{id}.tool-descriptors.discover")]);
        self.subscribe
            .deny
            .extend([dead, format!("tg.{id}.tool-descriptors")]);
        self.responses = Some(Responses {
            max: ANSWERS,
            ttl: ANSWER_WITHIN_NS,
        });
    }

    /// What a consumer delivers, and acknowledgements of it.
    fn consumer(
        &mut self,
        Consumer {
            stream,
            name,
            deliver,
            ..
        }: &Consumer,
    ) {
        self.may_publish([
            format!("$JS.API.CONSUMER.INFO.{stream}.{name}"),
            format!("$JS.ACK.{stream}.{name}.>"),
        ]);
        self.may_read([deliver.clone()]);
    }

    /// The cards of the project, all of them: NATS has no permissions for single keys of a bucket.
    fn cards(&mut self, id: &ProjectId) {
        let stream = format!("KV_cards_{id}");
        self.may_publish([
            format!("$KV.cards_{id}.>"),
            format!("$JS.API.STREAM.INFO.{stream}"),
            format!("$JS.API.STREAM.MSG.GET.{stream}"),
            format!("$JS.API.DIRECT.GET.{stream}"),
            format!("$JS.API.DIRECT.GET.{stream}.>"),
        ]);
    }

    fn announces(&mut self, id: &ProjectId) {
        self.may_publish([
            format!("tg.{id}.tool-descriptors"),
            format!("tg.{id}.tool-descriptors.heartbeat"),
        ]);
        self.may_read([format!("tg.{id}.tool-descriptors.discover")]);
    }

    fn may_publish(&mut self, subjects: impl IntoIterator<Item = String>) {
        self.publish.allow.extend(subjects);
    }

    fn may_read(&mut self, subjects: impl IntoIterator<Item = String>) {
        self.subscribe.allow.extend(subjects);
    }
}
