//! Pages that a browser loads when the first of their family is opened, so that it starts with less.

use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos::wasm_split::{SplitLoaderError, wasm_split};

use crate::api::ApiError;
use crate::components::{ProblemPanel, Skeleton, after_paint, deferred, is_first_page};
use crate::features::alerts::AlertsPage;
use crate::features::connect::ConnectPage;
use crate::features::groups::GroupsPage;
use crate::features::health::HealthPage;
use crate::features::imports::{ImportPage, ImportsPage, NewImportPage, QuarantinePage};
use crate::features::keys::KeysPage;
use crate::features::limits::LimitsPage;
use crate::features::permissions::PermissionsPage;
use crate::features::policy_tests::PolicyTestsPage;
use crate::features::records::RecordsPage;
use crate::features::secrets::SecretsPage;
use crate::features::sessions::SessionsPage;
use crate::features::settings::SettingsPage;
use crate::features::simulator::SimulatorPage;
use crate::features::states::StatesPage;
use crate::features::tools::{ToolPage, ToolsPage};
use crate::features::upload::UploadPage;
use crate::features::users::UsersPage;
use crate::reactive::part;
use crate::routes::{Kind, Section};

/// Makes a page of a family.
type Make = fn(Kind) -> AnyView;

/// Which pages come together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    /// What tools are.
    Tools,
    /// Bringing definitions in.
    Intake,
    /// What was imported, and what of it waits.
    Imports,
    /// Their groups and states.
    Model,
    /// Who may call them, and why.
    Access,
    /// What happens, and what it takes to run.
    Run,
}

impl Family {
    const fn of(kind: Kind) -> Self {
        match kind {
            Kind::Tool | Kind::In(Section::Tools) => Self::Tools,
            Kind::NewImport | Kind::In(Section::Upload) => Self::Intake,
            Kind::Import | Kind::In(Section::Imports | Section::Quarantine) => Self::Imports,
            Kind::In(Section::Groups | Section::States) => Self::Model,
            Kind::Users
            | Kind::In(Section::Permissions | Section::Keys | Section::Simulator | Section::PolicyTests) => {
                Self::Access
            }
            _ => Self::Run,
        }
    }

    async fn load(self) -> Result<Make, ApiError> {
        match self {
            Self::Tools => tools_pages().await,
            Self::Intake => intake_pages().await,
            Self::Imports => imports_pages().await,
            Self::Model => model_pages().await,
            Self::Access => access_pages().await,
            Self::Run => run_pages().await,
        }
    }
}

/// What has been loaded, shared through the context.
#[derive(Clone, Copy)]
pub(crate) struct Families([RwSignal<Option<Make>>; 6]);

impl Families {
    /// Shares them with everything below the caller.
    pub(crate) fn provide() {
        provide_context(Self([(); 6].map(|()| RwSignal::new(None))));
    }

    const fn of(self, family: Family) -> RwSignal<Option<Make>> {
        self.0[family as usize]
    }
}

/// The page of a kind, as soon as its family is there.
pub(crate) fn page_of_family(kind: Kind) -> AnyView {
    let family = Family::of(kind);
    let loaded = expect_context::<Families>().of(family);
    let error = RwSignal::new(None);
    let load = move || {
        error.set(None);
        spawn_local(async move {
            match family.load().await {
                Ok(make) => loaded.set(Some(make)),
                Err(failed) => {
                    error.try_set(Some(failed));
                }
            }
        });
    };
    if let Some(make) = loaded.get_untracked() {
        // The page before this one goes at once; this one is made when that was seen.
        return deferred("the page", move || make(kind));
    }
    // A browser that opens the dashboard here is fetching the family already. Later, asking for all its files takes a while,
    // which is after the answer to what was pressed.
    if is_first_page() {
        load();
    } else {
        after_paint(load);
    }
    part(move || match (loaded.get(), error.get()) {
        (Some(make), _) => make(kind),
        (None, Some(error)) => view! { <ProblemPanel error on_retry=move |()| load() /> }.into_any(),
        (None, None) => view! { <Skeleton what="the page" /> }.into_any(),
    })
}

#[wasm_split(tools_pages, wasm_split_path = leptos::wasm_split, fallible)]
fn tools_pages() -> Result<Make, ApiError> {
    Ok(|kind| match kind {
        Kind::Tool => view! { <ToolPage /> }.into_any(),
        Kind::In(Section::Tools) => view! { <ToolsPage /> }.into_any(),
        _ => ().into_any(),
    })
}

#[wasm_split(intake_pages, wasm_split_path = leptos::wasm_split, fallible)]
fn intake_pages() -> Result<Make, ApiError> {
    Ok(|kind| match kind {
        Kind::In(Section::Upload) => view! { <UploadPage /> }.into_any(),
        Kind::NewImport => view! { <NewImportPage /> }.into_any(),
        _ => ().into_any(),
    })
}

#[wasm_split(imports_pages, wasm_split_path = leptos::wasm_split, fallible)]
fn imports_pages() -> Result<Make, ApiError> {
    Ok(|kind| match kind {
        Kind::Import => view! { <ImportPage /> }.into_any(),
        Kind::In(Section::Imports) => view! { <ImportsPage /> }.into_any(),
        Kind::In(Section::Quarantine) => view! { <QuarantinePage /> }.into_any(),
        _ => ().into_any(),
    })
}

#[wasm_split(model_pages, wasm_split_path = leptos::wasm_split, fallible)]
fn model_pages() -> Result<Make, ApiError> {
    Ok(|kind| match kind {
        Kind::In(Section::Groups) => view! { <GroupsPage /> }.into_any(),
        Kind::In(Section::States) => view! { <StatesPage /> }.into_any(),
        _ => ().into_any(),
    })
}

#[wasm_split(access_pages, wasm_split_path = leptos::wasm_split, fallible)]
fn access_pages() -> Result<Make, ApiError> {
    Ok(|kind| match kind {
        Kind::In(Section::Permissions) => view! { <PermissionsPage /> }.into_any(),
        Kind::In(Section::Keys) => view! { <KeysPage /> }.into_any(),
        Kind::In(Section::Simulator) => view! { <SimulatorPage /> }.into_any(),
        Kind::In(Section::PolicyTests) => view! { <PolicyTestsPage /> }.into_any(),
        Kind::Users => view! { <UsersPage /> }.into_any(),
        _ => ().into_any(),
    })
}

#[wasm_split(run_pages, wasm_split_path = leptos::wasm_split, fallible)]
fn run_pages() -> Result<Make, ApiError> {
    Ok(|kind| match kind {
        Kind::In(Section::Sessions) => view! { <SessionsPage /> }.into_any(),
        Kind::In(Section::Records) => view! { <RecordsPage /> }.into_any(),
        Kind::In(Section::Alerts) => view! { <AlertsPage /> }.into_any(),
        Kind::In(Section::Limits) => view! { <LimitsPage /> }.into_any(),
        Kind::In(Section::Secrets) => view! { <SecretsPage /> }.into_any(),
        Kind::In(Section::Settings) => view! { <SettingsPage /> }.into_any(),
        Kind::In(Section::Connect) => view! { <ConnectPage /> }.into_any(),
        Kind::Health => view! { <HealthPage /> }.into_any(),
        _ => ().into_any(),
    })
}

impl From<SplitLoaderError> for ApiError {
    fn from(_: SplitLoaderError) -> Self {
        Self::NotLoaded
    }
}
