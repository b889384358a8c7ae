//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use clap::{Parser, Subcommand};
use secrecy::ExposeSecret;
use serde_json::json;
use tokio::net::TcpListener;
use toolgate_api::Diagnostic;
use toolgate_api::audit::AuditAction;
use toolgate_core::counted::counted;
use toolgate_core::definition::{self, ExecutorKind, ExecutorSet, TextFormat, UploadContext};
use toolgate_core::ids::ProjectId;
use toolgate_store::Store;

use crate::clock::SystemClock;
use crate::config::{AllowedEnv, Config, ServeArgs};
use crate::export_cli::{self, ExportArgs};
use crate::gateway::observe;
use crate::gateway::recorded::offline;
use crate::mcp::stdio;
use crate::secrets::keyring::new_key;
use crate::secrets::rotate::rotate;
use crate::serve;
use crate::shutdown::Shutdown;
use crate::telemetry::{Metrics, logs};
use crate::{openapi, router, start};

/// One door between AI agents and the tools they may use.
///
/// Exit codes: 0 done, 1 failed, 2 wrong usage or a definition with faults, 3 the record is not what was written.
#[derive(Parser)]
#[command(name = "toolgate", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve the API and the dashboard.
    Serve(ServeArgs),
    /// Bring the database up to this version and stop.
    Migrate(ServeArgs),
    /// Print the OpenAPI document.
    Openapi,
    /// Check a file of definitions, without a server; `-` reads standard input.
    Validate {
        /// A YAML or JSON file.
        file: PathBuf,
        /// The project that the definitions are meant for.
        #[arg(long, default_value = "project")]
        project: String,
        #[command(flatten)]
        serve: ServeArgs,
    },
    /// Manage the keys that sign access tokens.
    Keys {
        #[command(subcommand)]
        command: KeysCommand,
    },
    /// Manage the encryption of secrets.
    Secrets {
        #[command(subcommand)]
        command: SecretsCommand,
    },
    /// Connect clients of the Model Context Protocol.
    Mcp {
        #[command(subcommand)]
        command: McpCommand,
    },
    /// Check the record, and take it out.
    Audit {
        #[command(subcommand)]
        command: AuditCommand,
    },
}

#[derive(Subcommand)]
enum SecretsCommand {
    /// Print a new key for TOOLGATE_SECRETS_KEY; it is kept nowhere.
    NewKey,
    /// Encrypt everything again with the first configured key. It may run while servers do, and again after it was
    /// cut off.
    ///
    /// Exit codes: 0 everything is under the first key, 1 something could not be read and stays as it is, 2 no key is
    /// configured.
    Rotate(Box<ServeArgs>),
}

#[derive(Subcommand)]
enum KeysCommand {
    /// Sign with a new key from now on; tokens signed before stay valid until they expire.
    Rotate(ServeArgs),
}

#[derive(Subcommand)]
enum McpCommand {
    /// Bridge a client that only starts processes to a server: messages by standard input and output.
    Stdio(stdio::StdioArgs),
    /// Run a command whose way to the network is a proxy at a socket. The server starts processes in sandboxes with it.
    #[command(hide = true)]
    Relay {
        /// The socket.
        socket: PathBuf,
        /// The command and its arguments.
        #[arg(last = true, required = true)]
        command: Vec<OsString>,
    },
}

#[derive(Subcommand)]
enum AuditCommand {
    /// Verify that no entry of the record was changed or removed since it was written.
    ///
    /// Reads the whole record from the database; a server may run meanwhile. Exit code 3 when an entry is wrong; the
    /// first one of each chain is named.
    Verify {
        /// Print a report of every chain as JSON.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        serve: ServeArgs,
    },
    /// Write the record of a project to standard output, oldest first.
    ///
    /// Reads the database; a server may run meanwhile. Unlike an export over the API it is not on the record itself.
    Export(ExportArgs),
}

/// After how many tasks a runtime on one core looks for what other threads have ended: SQLite's above all, for which a
/// whole batch of calls waits.
const LOOK_OUT: u32 = 4;

/// Runs the command line.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    // On one core, threads would only take turns with each other.
    let mut builder = match std::thread::available_parallelism() {
        Ok(cores) if cores.get() == 1 => {
            let mut builder = tokio::runtime::Builder::new_current_thread();
            builder.global_queue_interval(LOOK_OUT);
            builder
        }
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    let runtime = match builder.enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("error: the runtime cannot start: {error}");
            return ExitCode::FAILURE;
        }
    };
    match runtime.block_on(run(cli.command)) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Serve(args) => run_server(load(&args)?).await?,
        Command::Migrate(args) => {
            let config = load(&args)?;
            let store = Store::open(config.database_url.expose_secret())
                .await
                .context("opening the database")?;
            println!("the {} database is up to date", store.backend_name());
            store.close().await;
        }
        Command::Openapi => print!("{}", openapi::render(router::routes().into_openapi())),
        Command::Validate { file, project, serve } => return validate(&file, &project, &load(&serve)?),
        Command::Keys {
            command: KeysCommand::Rotate(args),
        } => {
            let config = load(&args)?;
            let store = Store::open(config.database_url.expose_secret())
                .await
                .context("opening the database")?;
            let keyring = start::keyring(&config)?;
            let rotation = start::rotate_signing_key(&store, &keyring, &SystemClock);
            let what = json!({"change": "signing_key_rotated"});
            let kid = offline(&store, &SystemClock, AuditAction::Access, what, rotation).await?;
            store.close().await;
            println!("new access tokens are signed with key {kid}; running servers follow within a second");
        }
        Command::Secrets {
            command: SecretsCommand::NewKey,
        } => println!("{}", new_key()?.expose_secret()),
        Command::Secrets {
            command: SecretsCommand::Rotate(args),
        } => return rotate_secrets(&load(&args)?).await,
        Command::Mcp {
            command: McpCommand::Stdio(args),
        } => stdio::run(args).await?,
        Command::Mcp {
            command: McpCommand::Relay { socket, command },
        } => {
            let status = toolgate_executors::run_behind(socket, &command)?;
            let code = status.code().and_then(|code| u8::try_from(code).ok());
            return Ok(code.map_or(ExitCode::FAILURE, ExitCode::from));
        }
        Command::Audit {
            command: AuditCommand::Verify { json, serve },
        } => return verify_audit(&load(&serve)?, json).await,
        Command::Audit {
            command: AuditCommand::Export(args),
        } => {
            let config = load(&args.serve)?;
            let store = Store::open(config.database_url.expose_secret())
                .await
                .context("opening the database")?;
            export_cli::export(&store, &args, std::io::BufWriter::new(std::io::stdout().lock())).await?;
            store.close().await;
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn verify_audit(config: &Config, json: bool) -> anyhow::Result<ExitCode> {
    let store = Store::open(config.database_url.expose_secret())
        .await
        .context("opening the database")?;
    let reports = store.verify_chains().await.context("reading the record")?;
    store.close().await;
    if json {
        println!("{}", serde_json::to_string_pretty(&reports)?);
    } else {
        for report in &reports {
            println!("{report}");
        }
        let entries: u64 = reports.iter().map(|report| report.entries).sum();
        println!("{entries} entries in {} chains were verified", reports.len());
    }
    Ok(if reports.iter().all(|report| report.fault.is_none()) {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(3)
    })
}

fn load(args: &ServeArgs) -> anyhow::Result<Config> {
    // A variable that is no UTF-8 is none of ours.
    let text =
        |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    let variables = std::env::vars_os().filter_map(text);
    Ok(Config::load(args, variables, |path| {
        std::fs::read_to_string(path)
    })?)
}

async fn run_server(config: Config) -> anyhow::Result<()> {
    let _logs = logs::init(&config.log, &config.telemetry)?;
    for warning in &config.warnings {
        tracing::warn!("{warning}");
    }
    for line in config.summary().lines() {
        tracing::info!("{line}");
    }
    serve::allow_files(&config.limits);
    let listener = TcpListener::bind(config.listen)
        .await
        .with_context(|| format!("listening on {}", config.listen))?;
    let address = listener
        .local_addr()
        .context("reading the address that is listened on")?;
    let shutdown = Shutdown::on_signals();
    let limits = config.limits.clone();
    let config = Config {
        listen: address,
        ..config
    };
    let metrics = Metrics::install().context("setting up metrics")?;
    let _upkeep = metrics.spawn_upkeep();
    let started = start::start(config, Arc::new(SystemClock), shutdown.clone(), metrics).await?;
    if let Some(admin) = &started.first_admin {
        println!("created the first administrator");
        println!("  user name: {}", admin.username);
        if let Some(password) = &admin.generated_password {
            println!("  password:  {}   (shown this once)", password.expose_secret());
        }
    }
    started.spawn_background();
    let router = router::router(started.app.clone());
    println!("listening on http://{address}");
    let gateway = &started.app.gateway;
    let clients = Arc::clone(&started.app.clients);
    let drained = serve::serve(listener, router, &limits, clients, shutdown).await;
    if let Err(error) = observe::flush(gateway).await {
        tracing::warn!(
            cause = format!("{error:#}"),
            "the last usage counts could not be written"
        );
    }
    gateway.records.shutdown(gateway.clock.now()).await;
    gateway.store.close().await;
    tracing::info!(aborted = drained.aborted, "stopped");
    Ok(())
}

async fn rotate_secrets(config: &Config) -> anyhow::Result<ExitCode> {
    let keyring = start::keyring(config)?;
    if keyring.first_id().is_none() {
        eprintln!("error: no key is configured: set TOOLGATE_SECRETS_KEY");
        return Ok(ExitCode::from(2));
    }
    let store = Store::open(config.database_url.expose_secret())
        .await
        .context("opening the database")?;
    let what = json!({"change": "secrets_rotated"});
    let rotation = rotate(&store, &keyring);
    let done = offline(&store, &SystemClock, AuditAction::Secret, what, rotation).await?;
    store.close().await;
    println!(
        "encrypted with the first key: {}, {}, {}, {}",
        counted(done.secrets, "secret"),
        counted(done.accounts, "connected account"),
        counted(done.signing_keys, "signing key"),
        counted(done.second_factors, "second factor"),
    );
    for what in &done.unreadable {
        eprintln!("error: {what}");
    }
    Ok(if done.unreadable.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn validate(file: &std::path::Path, project: &str, config: &Config) -> anyhow::Result<ExitCode> {
    let text = if file.as_os_str() == "-" {
        let mut text = Vec::new();
        std::io::Read::read_to_end(&mut std::io::stdin(), &mut text).context("reading standard input")?;
        text
    } else {
        std::fs::read(file).with_context(|| format!("reading {}", file.display()))?
    };
    let json = file
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    let project = ProjectId::parse(project).context("--project")?;
    let env = AllowedEnv::from_config(config);
    let bus = config.nats.bus();
    let bus = bus.map_err(|(setting, problem)| anyhow::anyhow!("{setting}: {problem}"))?;
    let subjects = bus.map(|bus| bus.subjects);
    let context = UploadContext {
        project: &project,
        env_allowed: &|name| env.allows(name),
        existing_services: &|_| None,
        executes: match &subjects {
            Some(_) => ExecutorSet::BUILT_IN
                .with(ExecutorKind::Service)
                .with(ExecutorKind::Bus),
            None => ExecutorSet::BUILT_IN,
        },
        subjects: subjects.as_ref(),
    };
    let format = if json { TextFormat::Json } else { TextFormat::Yaml };
    match definition::parse_upload(&text, format, &context) {
        Ok(upload) => {
            show(file, &upload.warnings);
            println!(
                "valid: {}, {}",
                counted(upload.tools.len(), "tool"),
                counted(upload.services.len(), "service"),
            );
            Ok(ExitCode::SUCCESS)
        }
        Err(faults) => {
            show(file, &faults);
            Ok(ExitCode::from(2))
        }
    }
}

fn show(file: &std::path::Path, diagnostics: &[Diagnostic]) {
    for diagnostic in diagnostics {
        let place = match (diagnostic.line, diagnostic.column) {
            (Some(line), Some(column)) => format!("{}:{line}:{column}", file.display()),
            _ => file.display().to_string(),
        };
        let kind = if diagnostic.is_error() { "error" } else { "warning" };
        eprintln!("{place}: {kind}: {}", diagnostic.message);
        if let Some(hint) = &diagnostic.hint {
            eprintln!("    {hint}");
        }
    }
}
