//! Where the guide of each page is. The guides are pages of the server, under `/help`.

use crate::routes::PageKind;

/// The list of guides.
pub(crate) const CONTENTS: &str = "/help";

/// The guide that explains a page, and the section of it.
pub(crate) fn guide_of(page: PageKind) -> Option<&'static str> {
    Some(match page {
        PageKind::Tools | PageKind::Upload | PageKind::Tool => "/help/tools",
        PageKind::NewTool => "/help/http-tools",
        PageKind::NewImport | PageKind::Imports | PageKind::Import => "/help/openapi-import",
        PageKind::Quarantine => "/help/openapi-import#the-quarantine",
        PageKind::McpServers | PageKind::McpServer => "/help/mcp-servers",
        PageKind::BusPrograms | PageKind::BusProgram | PageKind::DeadLetters => "/help/tool-services",
        PageKind::NewService | PageKind::ServiceDefinition => "/help/tool-services#a-service-and-its-tools",
        PageKind::Groups | PageKind::States => "/help/groups-and-states",
        PageKind::Permissions | PageKind::Keys | PageKind::Users | PageKind::AccessRequests => {
            "/help/permissions"
        }
        PageKind::Connections | PageKind::Authorize => "/help/connections",
        PageKind::Simulator | PageKind::PolicyTests => "/help/explain-and-policy-tests",
        PageKind::Sessions => "/help/sessions",
        PageKind::Records | PageKind::ServerRecords => "/help/record",
        PageKind::Alerts | PageKind::ServerAlerts | PageKind::Settings => "/help/alerts",
        PageKind::Limits | PageKind::Secrets => "/help/limits-and-secrets",
        PageKind::Health => "/help/status",
        PageKind::Usage => "/help/metrics",
        PageKind::Connect => "/help/mcp",
        PageKind::Accounts | PageKind::AccountProviders => "/help/accounts",
        PageKind::Profile => "/help/profile",
        PageKind::Guides => "/help/mcp",
        PageKind::Projects => "/help/projects",
        PageKind::Start | PageKind::Overview | PageKind::AccountCallback => return None,
    })
}
