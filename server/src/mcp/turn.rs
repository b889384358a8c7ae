//! One request of a client, with everything that deciding about it needs.

use std::sync::{Arc, Mutex, PoisonError};

use secrecy::SecretString;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use toolgate_api::audit::AuditAction;
use toolgate_api::calls::ResolveRequest;
use toolgate_core::policy::groups::{GroupSet, requested};
use toolgate_core::session::{effective_groups, place};
use toolgate_store::rows::SessionRow;
use tracing::Span;
use uuid::Uuid;

use super::asking::ClientAsker;
use super::session;
use crate::gateway::available::{self, Available, Question};
use crate::gateway::call::KeyText;
use crate::gateway::entry::Entry;
use crate::gateway::load;
use crate::gateway::{Gateway, Problem};

/// The session that a request is made in.
#[derive(Clone)]
pub(super) enum Placed {
    /// None: the state is `undefined`, or as the address says.
    Alone,
    /// The one that the address names.
    Named(Box<SessionRow>),
    /// The client's own, by the id that it was given.
    Own {
        /// The id.
        id: Uuid,
        /// What is stored of it, if anything is.
        row: Option<Box<SessionRow>>,
    },
}

/// A request of a client.
pub(super) struct Turn {
    /// Who, in which project.
    pub(super) entry: Arc<Entry>,
    /// The groups, state and context that it asks for.
    pub(super) asked: ResolveRequest,
    /// The session.
    pub(super) placed: Placed,
    /// Whether tools are searched for instead of listed.
    pub(super) search: bool,
    /// Whether the revision has no sessions, and lists must not depend on other requests.
    pub(super) modern: bool,
    /// Whether the client takes events before the answer.
    pub(super) takes_events: bool,
    /// The key that makes a repeated call harmless.
    pub(super) key: Option<KeyText>,
    /// Cancelled when the client says so in another request, or goes away: it ends the call.
    pub(super) cancelled: CancellationToken,
    /// The credential, to look at again while notifications are sent.
    pub(super) credential: Option<SecretString>,
    /// Puts questions of upstreams to the client.
    pub(super) asker: Option<Arc<ClientAsker>>,
    /// The request in the traces.
    pub(super) span: Span,
    /// The result with what the protocol's types do not know of it.
    pub(super) kept: Mutex<Option<Value>>,
}

impl Turn {
    /// The session to use, stored now if the project requires one or `stores` says that the request uses it.
    ///
    /// # Errors
    /// When it cannot be stored.
    pub(super) async fn session(
        &self,
        gateway: &Arc<Gateway>,
        stores: bool,
    ) -> Result<Option<Uuid>, Problem> {
        match &self.placed {
            Placed::Alone => Ok(None),
            Placed::Named(row) => Ok(Some(row.id.0)),
            Placed::Own { id, row: Some(_) } => Ok(Some(*id)),
            Placed::Own { id, row: None } => {
                if stores || place::is_required(&self.entry.project.settings) {
                    session::store(gateway, self, *id).await?;
                    Ok(Some(*id))
                } else {
                    Ok(None)
                }
            }
        }
    }

    /// The same request, for a stream that lives on by itself.
    pub(super) fn as_of_stream(&self) -> Self {
        Self {
            entry: Arc::clone(&self.entry),
            asked: self.asked.clone(),
            placed: self.placed.clone(),
            search: self.search,
            modern: self.modern,
            takes_events: self.takes_events,
            key: None,
            cancelled: self.cancelled.clone(),
            credential: None,
            asker: None,
            span: self.span.clone(),
            kept: Mutex::default(),
        }
    }

    /// The groups that the request asks for, if the caller holds them all; in a session those of the session.
    pub(super) fn groups(&self) -> Option<GroupSet> {
        let asked = self.asked.group.clone();
        let granted = self.entry.requester().granted;
        let row = match &self.placed {
            Placed::Named(row) | Placed::Own { row: Some(row), .. } => Some(row),
            _ => None,
        };
        let groups = match row {
            Some(row) => effective_groups(granted, row.groups.as_deref(), asked).ok()?,
            // A session is stored with the groups that are asked for.
            None => asked,
        };
        let groups = requested(groups.as_deref());
        granted.missing(&groups).is_empty().then_some(groups)
    }

    /// The state to ask for beside no session. Before a client's own session is stored, it is in the state that it would
    /// begin in.
    pub(super) fn state(&self, session: Option<Uuid>) -> Option<String> {
        if session.is_some() {
            return None;
        }
        match self.placed {
            Placed::Own { .. } => {
                let begun = place::begin(&self.entry.project.settings, self.asked.state.as_deref());
                begun.ok().or_else(|| self.asked.state.clone())
            }
            _ => self.asked.state.clone(),
        }
    }

    /// Whether a call of a tool would be allowed outside a session: only then a session is worth storing for it.
    pub(super) fn would_allow(&self, gateway: &Gateway, tool: &str) -> bool {
        let (project, requester) = (&self.entry.project, self.entry.requester());
        let context = self.asked.context.as_ref();
        let evaluation = load::evaluation(project, gateway.clock.now(), requester.principal, context);
        let (group, state) = (self.asked.group.as_deref(), self.state(None));
        let decision = project
            .snapshot
            .decide(requester.granted, group, state.as_deref(), tool, &evaluation);
        decision.is_allowed()
    }

    /// Whether a list shows what is closed in the state of the session, too: revisions without sessions let no request
    /// change what another one lists.
    pub(super) fn lists_closed(&self) -> bool {
        self.modern && matches!(self.placed, Placed::Named(_)) || self.takes_session_argument()
    }

    /// Whether calls may name their session among the arguments, because the request has none.
    pub(super) fn takes_session_argument(&self) -> bool {
        self.entry.project.settings.mcp_session_argument && matches!(self.placed, Placed::Alone)
    }

    /// A question about what is available to it.
    pub(super) fn question<'a>(
        &'a self,
        action: AuditAction,
        session_id: Option<Uuid>,
        state: Option<&'a str>,
    ) -> Question<'a> {
        Question {
            action,
            group: self.asked.group.clone(),
            state,
            session_id,
            context: self.asked.context.as_ref(),
            arguments: None,
            offers: None,
        }
    }

    /// Keeps what of the result the protocol's types do not know: it is added to the answer.
    pub(super) fn keep(&self, result: Value) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        *kept = Some(result);
    }

    /// Asks what is available, and records that it was asked.
    ///
    /// # Errors
    /// As the same question by REST.
    pub(super) async fn available(&self, gateway: &Arc<Gateway>) -> Result<Available, Problem> {
        let session_id = self.session(gateway, false).await?;
        let state = self.state(session_id);
        let question = self.question(AuditAction::Resolve, session_id, state.as_deref());
        let requester = self.entry.requester();
        let (available, opening) = available::ask(gateway, &self.entry.project, &requester, question).await?;
        available::answered(gateway, opening).await?;
        Ok(available)
    }
}
