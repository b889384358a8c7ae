//! Which pages a browser loads together. It starts with the frame and the pages of `start`; a bundle is loaded when the
//! first of its pages is opened. `page_table.rs` says which page is in which bundle.

use leptos::prelude::*;
use leptos::wasm_split::wasm_split;

use crate::api::ApiError;
use crate::components::{deferred, is_first_page};
use crate::features::access_requests::AccessRequestsPage;
use crate::features::accounts::{AccountCallbackPage, AccountProvidersPage, AccountsPage};
use crate::features::alerts::{AlertsPage, ServerAlertsPage};
use crate::features::authorize::AuthorizePage;
use crate::features::bus_programs::{
    BusProgramPage, BusProgramsPage, DeadLettersPage, NewServicePage, ServiceDefinitionPage,
};
use crate::features::connect::ConnectPage;
use crate::features::connections::ConnectionsPage;
use crate::features::groups::GroupsPage;
use crate::features::guides::GuidesPage;
use crate::features::health::HealthPage;
use crate::features::imports::{ImportPage, ImportsPage, NewImportPage, QuarantinePage};
use crate::features::keys::KeysPage;
use crate::features::limits::LimitsPage;
use crate::features::mcp_servers::{McpServerPage, McpServersPage};
use crate::features::new_tool::NewToolPage;
use crate::features::overview::OverviewPage;
use crate::features::permissions::PermissionsPage;
use crate::features::policy_tests::PolicyTestsPage;
use crate::features::profile::ProfilePage;
use crate::features::projects::{ProjectsPage, StartPage};
use crate::features::records::{RecordsPage, ServerRecordsPage};
use crate::features::secrets::SecretsPage;
use crate::features::sessions::SessionsPage;
use crate::features::settings::SettingsPage;
use crate::features::simulator::SimulatorPage;
use crate::features::states::StatesPage;
use crate::features::tools::{ToolPage, ToolsPage};
use crate::features::upload::UploadPage;
use crate::features::usage::UsagePage;
use crate::features::users::UsersPage;
use crate::language::t;
use crate::lazy::{Loading, lazy};
use crate::page_table::page_table;
use crate::routes::PageKind;

/// Makes a page of a bundle.
type Make = fn(PageKind) -> AnyView;

/// Where a page comes from.
enum Source {
    /// It is here from the start.
    Start(AnyView),
    /// It comes with a bundle, which has a name and a loader.
    Bundle(&'static str, fn() -> Loading<Make>),
}

macro_rules! bundles {
    (
        start { $(
            $(#[$_start_doc:meta])*
            $start:ident = $_start_path:literal, $_start_title:literal, $_start_symbol:ident, $_start_heading:ident,
                $_start_need:ident $(($_start_permission:ident))? => $start_view:ident;
        )* }
        $($bundle:ident { $(
            $(#[$_doc:meta])*
            $kind:ident = $_path:literal, $_title:literal, $_symbol:ident, $_heading:ident,
                $_need:ident $(($_permission:ident))? => $view:ident;
        )* })*
    ) => {
        fn source(kind: PageKind) -> Source {
            match kind {
                $(PageKind::$start => Source::Start(view! { <$start_view /> }.into_any()),)*
                $($(PageKind::$kind)|* => Source::Bundle(stringify!($bundle), || Box::pin($bundle())),)*
            }
        }

        $(
            #[wasm_split($bundle, wasm_split_path = leptos::wasm_split, fallible)]
            fn $bundle() -> Result<Make, ApiError> {
                Ok(|kind| match kind {
                    $(PageKind::$kind => view! { <$view /> }.into_any(),)*
                    _ => ().into_any(),
                })
            }
        )*
    };
}

page_table!(bundles);

/// What has been loaded, by the name of the bundle, shared through the context.
#[derive(Clone, Copy)]
pub(crate) struct PageBundles(StoredValue<Vec<(&'static str, Make)>>);

impl PageBundles {
    /// Shares them with everything below the caller.
    pub(crate) fn provide() {
        provide_context(Self(StoredValue::new(Vec::new())));
    }

    fn get(self, name: &str) -> Option<Make> {
        self.0.with_value(|all| {
            let found = all.iter().find(|(bundle, _)| *bundle == name);
            found.map(|(_, make)| *make)
        })
    }

    fn keep(self, name: &'static str, make: Make) {
        if self.get(name).is_none() {
            self.0.update_value(|all| all.push((name, make)));
        }
    }
}

/// The page of a kind, as soon as it is there.
pub(crate) fn page_of(kind: PageKind) -> AnyView {
    let (name, load) = match source(kind) {
        Source::Start(page) => return page,
        Source::Bundle(name, load) => (name, load),
    };
    let bundles = expect_context::<PageBundles>();
    if let Some(make) = bundles.get(name) {
        // The page before this one goes at once; this one is made when that was seen.
        return deferred(t("the page"), move || make(kind));
    }
    // A browser that opens the dashboard here is fetching the bundle already. Later, asking for all its files takes a while,
    // which is after the answer to what was pressed.
    lazy(
        Some(t("the page")),
        is_first_page(),
        move || {
            Box::pin(async move {
                let make = load().await?;
                bundles.keep(name, make);
                Ok(make)
            })
        },
        move |make| make(kind),
    )
}
