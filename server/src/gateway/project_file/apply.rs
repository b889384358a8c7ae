//! Applying a file: each changed part by the use case that changes it otherwise.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use toolgate_api::guides::GuideDefinition;
use toolgate_api::policy_tests::PolicyTest;
use toolgate_api::project_file::{FilePart, FileSection, ProjectFile};
use toolgate_core::definition::Upload;
use toolgate_store::LabelContent;

use super::check::Checked;
use super::{changes, holder};
use crate::gateway::accounts::providers;
use crate::gateway::change_record::Changer;
use crate::gateway::entry::Entry;
use crate::gateway::labels::{self, Kind};
use crate::gateway::mcp_servers::change::{self, Change, Changes};
use crate::gateway::publish::{self, Author};
use crate::gateway::{Gateway, Problem, access, egress, guides, limits, policy_tests, settings};

/// Writes the parts that change, in their order.
pub(super) async fn apply(
    gateway: &Arc<Gateway>,
    entry: &Entry,
    checked: Checked,
    parts: &[FilePart],
    ignore_policy_tests: bool,
) -> Result<(), Problem> {
    let to = Target {
        gateway,
        entry,
        file: &checked.file,
        changed: parts
            .iter()
            .filter(|part| changes(part))
            .map(|part| (part.section, part.name.as_str()))
            .collect(),
        ignore_policy_tests,
    };
    Box::pin(to.egress()).await?;
    Box::pin(to.account_providers()).await?;
    Box::pin(to.mcp_servers()).await?;
    Box::pin(to.labels()).await?;
    Box::pin(to.definitions(checked.upload)).await?;
    Box::pin(to.guides()).await?;
    Box::pin(to.documents()).await?;
    Box::pin(to.grants()).await?;
    Box::pin(to.policy_tests()).await
}

/// Where a file is applied.
struct Target<'a> {
    gateway: &'a Arc<Gateway>,
    entry: &'a Entry,
    file: &'a ProjectFile,
    changed: HashSet<(FileSection, &'a str)>,
    ignore_policy_tests: bool,
}

impl Target<'_> {
    fn has(&self, section: FileSection, name: &str) -> bool {
        self.changed.contains(&(section, name))
    }

    async fn egress(&self) -> Result<(), Problem> {
        let Some(list) = self
            .file
            .egress
            .as_ref()
            .filter(|_| self.has(FileSection::Egress, ""))
        else {
            return Ok(());
        };
        let actor = self.entry.caller.actor();
        egress::replace(self.gateway, actor, &self.entry.project, list, None).await?;
        Ok(())
    }

    async fn account_providers(&self) -> Result<(), Problem> {
        let (project, requester) = (&self.entry.project.row.id, self.entry.requester());
        for (name, provider) in &self.file.account_providers {
            if self.has(FileSection::AccountProviders, name) {
                let provider = Some(provider.clone());
                providers::change(self.gateway, project, &requester, name, provider, |_| Ok(())).await?;
            }
        }
        Ok(())
    }

    async fn mcp_servers(&self) -> Result<(), Problem> {
        let servers = self.file.mcp_servers.iter();
        let changes: Changes = servers
            .filter(|(name, _)| self.has(FileSection::McpServers, name))
            .map(|(name, server)| (name.clone(), Change::Put(server.clone())))
            .collect();
        if changes.is_empty() {
            return Ok(());
        }
        let project = &self.entry.project.row.id;
        change::apply(
            self.gateway,
            project,
            &self.entry.requester(),
            &changes,
            |_, _| Ok(()),
        )
        .await
    }

    async fn labels(&self) -> Result<(), Problem> {
        let actor = labels::Actor {
            requester: self.entry.requester(),
            project: &self.entry.project,
            ignore_policy_tests: self.ignore_policy_tests,
        };
        for (name, group) in &self.file.groups {
            if self.has(FileSection::Groups, name) {
                let content = LabelContent {
                    description: group.description.clone(),
                    condition: group.condition.clone(),
                };
                labels::declare(self.gateway, &actor, Kind::Group, name, &content, |_, _| Ok(())).await?;
            }
        }
        for (name, state) in &self.file.states {
            if self.has(FileSection::States, name) {
                let content = LabelContent {
                    description: state.description.clone(),
                    condition: None,
                };
                labels::declare(self.gateway, &actor, Kind::State, name, &content, |_, _| Ok(())).await?;
            }
        }
        Ok(())
    }

    async fn definitions(&self, upload: Upload) -> Result<(), Problem> {
        let is_definition =
            |section: &FileSection| matches!(section, FileSection::Tools | FileSection::ToolServices);
        if !self.changed.iter().any(|(section, _)| is_definition(section)) {
            return Ok(());
        }
        let by = Changer {
            requester: self.entry.requester(),
            author: Author {
                name: &self.entry.caller.identity.principal.name,
                note: Some("imported with a project file".to_owned()),
                ignore_policy_tests: self.ignore_policy_tests,
            },
        };
        let project = &self.entry.project.row.id;
        publish::upload(self.gateway, project, &by, "import_project", upload, false).await?;
        Ok(())
    }

    async fn guides(&self) -> Result<(), Problem> {
        let guides = self.file.guides.iter();
        let changed: BTreeMap<String, GuideDefinition> = guides
            .filter(|(id, _)| self.has(FileSection::Guides, id))
            .map(|(id, guide)| (id.clone(), guide.clone()))
            .collect();
        if changed.is_empty() {
            return Ok(());
        }
        let project = &self.entry.project.row.id;
        guides::upload(self.gateway, project, &self.entry.requester(), changed).await?;
        Ok(())
    }

    async fn documents(&self) -> Result<(), Problem> {
        let (project, requester) = (&self.entry.project, self.entry.requester());
        if let Some(settings) = self
            .file
            .settings
            .as_ref()
            .filter(|_| self.has(FileSection::Settings, ""))
        {
            settings::replace(self.gateway, project, settings, None, &requester).await?;
        }
        if let Some(limits) = self
            .file
            .limits
            .as_ref()
            .filter(|_| self.has(FileSection::Limits, ""))
        {
            limits::replace(self.gateway, project, limits, None, &requester).await?;
        }
        Ok(())
    }

    async fn grants(&self) -> Result<(), Problem> {
        let server_snapshot = &self.entry.caller.server_snapshot;
        for grant in &self.file.grants {
            if !self.has(FileSection::Grants, grant.holder()) {
                continue;
            }
            let Some(principal) = holder(self.gateway, server_snapshot, self.file, grant.holder()) else {
                continue;
            };
            let (actor, project) = (self.entry.caller.actor(), &self.entry.project);
            let ignore = self.ignore_policy_tests;
            access::put(
                self.gateway,
                actor,
                project,
                &principal,
                grant.terms(),
                |_| Ok(()),
                ignore,
            )
            .await?;
        }
        Ok(())
    }

    async fn policy_tests(&self) -> Result<(), Problem> {
        let tests = self.file.policy_tests.iter();
        let changed: Vec<PolicyTest> = tests
            .filter(|test| self.has(FileSection::PolicyTests, &test.name))
            .cloned()
            .collect();
        if changed.is_empty() {
            return Ok(());
        }
        let project = &self.entry.project.row.id;
        policy_tests::upload(self.gateway, project, &self.entry.requester(), changed, false).await?;
        Ok(())
    }
}
