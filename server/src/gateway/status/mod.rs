//! How the server is doing: one check for each thing that can fail, with how to mend it.
//!
//! To add a check, write a function that makes it, and put it into the list of those who shall see it.

mod clients;
mod configuration;
mod connections;
mod keys;
mod record;

use toolgate_api::status::{StatusCheck, StatusLevel, SystemStatus};

use super::world::{ProjectState, World};
use crate::state::App;

/// Checks of one answer.
const MOST: usize = 1000;

/// Everything, for the operators of the server.
pub async fn of_server(app: &App, world: &World) -> SystemStatus {
    let mut checks = vec![
        record::database(app).await,
        record::writer(app),
        record::completions(app),
        record::integrity(app),
        record::instances(app),
        clients::connections(app),
    ];
    checks.extend(keys::signing(app, world));
    checks.push(keys::secrets(app));
    checks.extend(world.projects().filter_map(|project| keys::secrets_of(project)));
    checks.extend(connections::upstreams(app, None));
    checks.extend(connections::probes(app, world.projects().map(AsRef::as_ref)));
    checks.extend(connections::messages(app, world.projects().map(AsRef::as_ref)).await);
    checks.push(connections::bus());
    checks.extend(configuration::checks(&app.config));
    summed_up(checks)
}

/// What concerns one project.
pub async fn of_project(app: &App, project: &ProjectState) -> SystemStatus {
    let mut checks = vec![
        record::database(app).await,
        record::writer(app),
        record::completions(app),
        record::integrity(app),
    ];
    checks.extend(keys::secrets_of(project));
    checks.extend(connections::upstreams(app, Some(project)));
    checks.extend(connections::probes(app, std::iter::once(project)));
    checks.extend(connections::messages(app, std::iter::once(project)).await);
    checks.push(connections::bus());
    summed_up(checks)
}

fn summed_up(mut checks: Vec<StatusCheck>) -> SystemStatus {
    checks.truncate(MOST);
    SystemStatus {
        status: checks
            .iter()
            .map(|check| check.status)
            .max()
            .unwrap_or(StatusLevel::Ok),
        checks,
    }
}

/// Something that is as it should be.
fn ok(id: impl Into<String>, title: &str, summary: impl Into<String>) -> StatusCheck {
    StatusCheck {
        id: id.into(),
        title: title.to_owned(),
        status: StatusLevel::Ok,
        summary: summary.into(),
        fix: None,
    }
}

impl Mend for StatusCheck {
    fn mend(self, status: StatusLevel, fix: &str) -> Self {
        Self {
            status,
            fix: Some(fix.to_owned()),
            ..self
        }
    }
}

/// Says that a check did not come out well.
trait Mend {
    /// How bad it is, and how to mend it.
    fn mend(self, status: StatusLevel, fix: &str) -> Self;
}
