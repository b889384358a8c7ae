//! Every page of the dashboard, once. A new page is a row here and the folder of `features/` with its component.
//!
//! `$read!` gets the rows by bundle. A bundle is what a browser loads together when the first of its pages is opened; the
//! pages of `start` come with the first load. The order is that of the sidebar. A row is
//!
//! ```text
//! Kind = path below `/ui/`, title, icon, heading in the sidebar, what it takes => component
//! ```
//!
//! In paths `{project}` and `{subject}` match any one part; of two paths that fit an address, the first counts. The
//! dashboard reads the table in `routes.rs` and `page_bundle.rs`, the packager (`server/xtask/src/pages.rs`) for the
//! manifest of pages.

/// The table.
macro_rules! page_table {
    ($read:ident) => {
        $read! {
            start {
                /// Decides where to start: the only project, or the list.
                Start = "", "Start", Overview, Unlisted, Anyone => StartPage;
                /// All projects.
                Projects = "projects", "Projects", Group, Server, Anyone => ProjectsPage;
                /// What happens in the project.
                Overview = "projects/{project}/overview", "Overview", Overview, Build, In(Use) => OverviewPage;
            }
            tools_pages {
                /// The tools.
                Tools = "projects/{project}/tools", "Tools", Tool, Build, In(Use) => ToolsPage;
            }
            new_tool_pages {
                /// A tool from what is pasted.
                NewTool = "projects/{project}/new-tool", "New tool", Plus, Build, In(EditDefinitions) => NewToolPage;
            }
            tool_pages {
                /// One tool.
                Tool = "projects/{project}/tools/{subject}", "Tool", Tool, Unlisted, Anyone => ToolPage;
            }
            upload_pages {
                /// Uploading definitions.
                Upload = "projects/{project}/upload", "Upload", Upload, Build, In(EditDefinitions) => UploadPage;
            }
            intake_pages {
                /// Importing a description.
                NewImport = "projects/{project}/imports/new", "New import", Import, Unlisted, In(ReadDefinitions) => NewImportPage;
            }
            guides_pages {
                /// How tools are used.
                Guides = "projects/{project}/guides", "Guides", Book, Build, In(Use) => GuidesPage;
            }
            imports_pages {
                /// Descriptions of APIs whose operations are tools.
                Imports = "projects/{project}/imports", "Imports", Import, Build, In(ReadDefinitions) => ImportsPage;
                /// One import.
                Import = "projects/{project}/imports/{subject}", "Import", Import, Unlisted, In(ReadDefinitions) => ImportPage;
            }
            quarantine_pages {
                /// Changes of descriptions that wait for a decision.
                Quarantine = "projects/{project}/quarantine", "Quarantine", Pause, Build, In(ReadDefinitions) => QuarantinePage;
            }
            upstream_pages {
                /// MCP servers whose tools are tools of the project.
                McpServers = "projects/{project}/mcp-servers", "MCP servers", Server, Build, In(ReadDefinitions) => McpServersPage;
            }
            bus_pages {
                /// Tool services and workers on the message bus.
                BusPrograms = "projects/{project}/services", "Services", Plug, Build, In(ReadDefinitions) => BusProgramsPage;
                /// Messages of the bus that could not be handled.
                DeadLetters = "projects/{project}/dead-letters", "Dead letters", Alert, Unlisted, In(ReadDefinitions) => DeadLettersPage;
                /// One service or worker.
                BusProgram = "projects/{project}/services/{subject}", "Service", Plug, Unlisted, In(ReadDefinitions) => BusProgramPage;
            }
            mcp_server_pages {
                /// One MCP server.
                McpServer = "projects/{project}/mcp-servers/{subject}", "MCP server", Server, Unlisted, In(ReadDefinitions) => McpServerPage;
            }
            group_pages {
                /// Groups, and which tools are in them.
                Groups = "projects/{project}/groups", "Groups", Group, Build, In(Use) => GroupsPage;
            }
            state_pages {
                /// States, and which tools lead from one to another.
                States = "projects/{project}/states", "States", State, Build, In(ReadDefinitions) => StatesPage;
            }
            access_pages {
                /// Who holds what.
                Permissions = "projects/{project}/permissions", "Permissions", Shield, Access, In(ReadAccess) => PermissionsPage;
                /// The keys of agents.
                Keys = "projects/{project}/keys", "Keys", Key, Access, In(ManageKeys) => KeysPage;
                /// The clients that users have let in.
                Connections = "projects/{project}/connections", "Connections", Plug, Access, In(Use) => ConnectionsPage;
                /// The users of this server.
                Users = "users", "Users", Person, Server, SystemAdmin => UsersPage;
            }
            decision_pages {
                /// What a caller would see, and why.
                Simulator = "projects/{project}/simulator", "Simulator", Play, Access, In(Use) => SimulatorPage;
                /// Stored expectations.
                PolicyTests = "projects/{project}/policy-tests", "Policy tests", Check, Access, In(ReadDefinitions) => PolicyTestsPage;
            }
            authorize_pages {
                /// Whether a client is let in.
                Authorize = "authorize", "Connect a client", Plug, Unlisted, Anyone => AuthorizePage;
            }
            run_pages {
                /// Workflow runs.
                Sessions = "projects/{project}/sessions", "Sessions", Session, Run, In(Use) => SessionsPage;
                /// The record of every decision and call.
                Records = "projects/{project}/records", "Records", Record, Run, In(ReadAudit) => RecordsPage;
                /// How often what was asked for.
                Usage = "projects/{project}/usage", "Usage", Gauge, Run, In(ReadDefinitions) => UsagePage;
                /// Suspicious patterns.
                Alerts = "projects/{project}/alerts", "Alerts", Bell, Run, In(ReadAudit) => AlertsPage;
                /// Suspicious patterns that belong to no project.
                ServerAlerts = "server-alerts", "Server alerts", Bell, Server, SystemAdmin => ServerAlertsPage;
                /// The record of what concerns no single project.
                ServerRecords = "server-record", "Server record", Record, Server, SystemAdmin => ServerRecordsPage;
                /// The state of this server.
                Health = "health", "Health", Gauge, Server, SystemAdmin => HealthPage;
            }
            settings_pages {
                /// Rates and concurrency.
                Limits = "projects/{project}/limits", "Limits", Gauge, Run, In(ReadDefinitions) => LimitsPage;
                /// Values that definitions use and that cannot be read.
                Secrets = "projects/{project}/secrets", "Secrets", Lock, Project, In(ManageSecrets) => SecretsPage;
                /// The project's own settings.
                Settings = "projects/{project}/settings", "Settings", Settings, Project, In(ReadDefinitions) => SettingsPage;
            }
            connect_pages {
                /// The user's own account, sign-ins and preferences.
                Profile = "profile", "Your profile", Person, Unlisted, Anyone => ProfilePage;
                /// How agents and programs connect.
                Connect = "projects/{project}/connect", "Connect", Plug, Project, In(Use) => ConnectPage;
            }
            account_pages {
                /// What was asked for after refusals.
                AccessRequests = "projects/{project}/access-requests", "Access requests", Bell, Access, In(Use) => AccessRequestsPage;
                /// One's own accounts at services that tools call.
                Accounts = "projects/{project}/accounts", "Accounts", Person, Access, In(Use) => AccountsPage;
                /// The services at which persons have accounts, and who has connected one.
                AccountProviders = "projects/{project}/account-providers", "Account providers", Person, Unlisted, In(ReadDefinitions) => AccountProvidersPage;
                /// Where a service sends a person back to who connects an account.
                AccountCallback = "accounts/callback", "Connecting your account", Person, Unlisted, Anyone => AccountCallbackPage;
            }
            service_pages {
                /// A tool service from a form.
                NewService = "projects/{project}/new-service", "New tool service", Plus, Unlisted, In(EditDefinitions) => NewServicePage;
                /// The definition of one tool service.
                ServiceDefinition = "projects/{project}/services/{subject}/definition", "Tool service", Plug, Unlisted, In(ReadDefinitions) => ServiceDefinitionPage;
            }
        }
    };
}

pub(crate) use page_table;
