//! What the store promises, tested on SQLite and on PostgreSQL by the same code.

#[path = "contract/backend.rs"]
mod backend;
#[path = "contract/examples.rs"]
mod examples;

/// Makes two tests of each function: one per database.
macro_rules! contract {
    ($($test:ident),* $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                super::$test($crate::backend::Backend::sqlite().await).await;
            })*
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                super::$test($crate::backend::Backend::postgres().await).await;
            })*
        }
    };
}

#[path = "contract/access_requests.rs"]
mod access_requests;
#[path = "contract/accounts.rs"]
mod accounts;
#[path = "contract/alerts.rs"]
mod alerts;
#[path = "contract/announcements.rs"]
mod announcements;
#[path = "contract/artifacts.rs"]
mod artifacts;
#[path = "contract/calls.rs"]
mod calls;
#[path = "contract/chains.rs"]
mod chains;
#[path = "contract/claims.rs"]
mod claims;
#[path = "contract/connections.rs"]
mod connections;
#[path = "contract/deferred.rs"]
mod deferred;
#[path = "contract/definitions.rs"]
mod definitions;
#[path = "contract/directory.rs"]
mod directory;
#[path = "contract/grants.rs"]
mod grants;
#[path = "contract/guides.rs"]
mod guides;
#[path = "contract/imports.rs"]
mod imports;
#[path = "contract/instances.rs"]
mod instances;
#[path = "contract/interleavings.rs"]
mod interleavings;
#[path = "contract/judged.rs"]
mod judged;
#[path = "contract/labels.rs"]
mod labels;
#[path = "contract/lost_answers.rs"]
mod lost_answers;
#[path = "contract/moves.rs"]
mod moves;
#[path = "contract/notices.rs"]
mod notices;
#[path = "contract/opening.rs"]
mod opening;
#[path = "contract/policy_tests.rs"]
mod policy_tests;
#[path = "contract/postgres.rs"]
mod postgres_server;
#[path = "contract/profiles.rs"]
mod profiles;
#[path = "contract/projects.rs"]
mod projects;
#[path = "contract/reading.rs"]
mod reading;
#[path = "contract/records.rs"]
mod records;
#[path = "contract/saved_views.rs"]
mod saved_views;
#[path = "contract/second_factors.rs"]
mod second_factors;
#[path = "contract/secrets.rs"]
mod secrets;
#[path = "contract/sessions.rs"]
mod sessions;
#[path = "contract/settings.rs"]
mod settings;
#[path = "contract/sign_ins.rs"]
mod sign_ins;
#[path = "contract/tail.rs"]
mod tail;
#[path = "contract/usage.rs"]
mod usage;
#[path = "contract/usage_series.rs"]
mod usage_series;
#[path = "contract/writer.rs"]
mod writer;
