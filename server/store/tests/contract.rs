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

#[path = "contract/claims.rs"]
mod claims;
#[path = "contract/definitions.rs"]
mod definitions;
#[path = "contract/directory.rs"]
mod directory;
#[path = "contract/instances.rs"]
mod instances;
#[path = "contract/opening.rs"]
mod opening;
#[path = "contract/postgres.rs"]
mod postgres_server;
#[path = "contract/projects.rs"]
mod projects;
#[path = "contract/records.rs"]
mod records;
#[path = "contract/writer.rs"]
mod writer;
