//! What helps a client whose call was refused: what is open now, and what leads to the tool.

use std::fmt::Write;

use toolgate_api::ErrorCode;
use uuid::Uuid;

use super::turn::{Placed, Turn};
use crate::gateway::{Gateway, load, sessions};

/// Names that a sentence lists.
const LISTED: usize = 20;

/// How a client of this protocol gets the session that a project requires.
pub(super) const SESSION: &str =
    "MCP clients get a session by `initialize`, or name one in the address: `?session=ID`.";

/// The way on; `None` when there is nothing to say that the refusal does not.
pub(super) async fn way_on(
    gateway: &Gateway,
    turn: &Turn,
    name: &str,
    session: Option<Uuid>,
    code: ErrorCode,
) -> Option<String> {
    if code == ErrorCode::SessionRequired {
        return Some(SESSION.to_owned());
    }
    if !matches!(
        code,
        ErrorCode::ToolNotInState
            | ErrorCode::ToolNotFound
            | ErrorCode::ToolNotInGroups
            | ErrorCode::GroupClosed
    ) {
        return None;
    }
    let (project, requester) = (&turn.entry.project, turn.entry.requester());
    let (mut group, mut state) = (turn.asked.group.clone(), turn.state(session));
    let mut context = turn.asked.context.clone();
    if let Some(id) = session {
        let entered = sessions::enter(gateway, project, &requester, id, group, context.as_ref()).await;
        let entered = entered.ok()?.ok()?;
        (group, context) = (entered.groups, entered.context);
        state = Some(entered.row.state);
    }
    let snapshot = &project.snapshot;
    let evaluation = load::evaluation(
        project,
        gateway.clock.now(),
        requester.principal,
        context.as_ref(),
    );
    let available = snapshot.resolve(requester.granted, group.as_deref(), state.as_deref(), &evaluation);
    let available = available.ok()?;
    let names = snapshot.listed_names();

    let open: Vec<&str> = available
        .tools()
        .take(LISTED + 1)
        .map(|tool| names.listed(tool.name()))
        .collect();
    let mut text = if open.is_empty() {
        format!("No tool is open in the state {:?}.", available.state)
    } else {
        let more = if open.len() > LISTED { ", ..." } else { "" };
        let open = &open[..open.len().min(LISTED)];
        format!("Open now: {}{more}.", open.join(", "))
    };
    if code == ErrorCode::ToolNotInState
        && let Some(wanted) = snapshot.tool(name)
    {
        let leading = available.tools().filter_map(|tool| {
            let to = tool.definition.state.as_deref()?;
            wanted.open_in(to).then(|| (names.listed(tool.name()), to))
        });
        for (tool, to) in leading.take(LISTED) {
            let _infallible = write!(text, " After {tool} the state is {to:?}, where it is open.");
        }
        if matches!(turn.placed, Placed::Alone) {
            text.push_str(
                " Requests without a session stay in their state: create a session and name it in the address, \
                 `?session=ID`.",
            );
        }
    }
    Some(text)
}
