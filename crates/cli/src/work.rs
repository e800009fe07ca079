//! `rhae work`: a worker of a command that distributes its work with `--on`.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::{Context, Result};
use clap::Args;
use rhae_harness::{ModelOptions, PlayExecutor, models_for_agent, new_run_id};
use rhae_protocol::{WorkJob, WorkKind};
use rhae_work_service::{Executor, WorkClient, work};

use crate::arc::task_executor;
use crate::explore::distributed::level_executor;
use crate::hosted_games::HostedGamesArgs;
use crate::interrupt::interrupt_flag;
use crate::models::ModelsArgs;
use crate::output;
use crate::validate::distributed::environment_executor;

/// Work for a command with --on that another process coordinates.
///
/// The commands are `rhae run`, `rhae arc eval`, `rhae validate` and `rhae explore`. The worker asks
/// the coordinator for units of work until there are no more. It must be the same build of rhae as the
/// coordinator, and reads the keys of providers from its own environment. SIGTERM, SIGINT and SIGUSR1
/// return the unit in progress.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae run --agent explorer --repeat 20 --out runs/explorer --on join:10.0.0.1:4000
  rhae work --join http://10.0.0.1:4000 --token-file runs/explorer/work-token")]
pub(crate) struct WorkArgs {
    /// Address of the coordinator
    #[arg(long, value_name = "URL")]
    join: String,
    /// File with the token of the coordinator
    #[arg(long, value_name = "FILE")]
    token_file: PathBuf,
    /// Name of the worker, which no other process may have [default: a random one]
    #[arg(long)]
    name: Option<String>,
    /// Folder for the files of units in progress [default: a folder for temporary files]
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    /// Stop when standard input closes, which happens when the parent process ends
    #[arg(long, hide = true)]
    until_stdin_closes: bool,
    #[command(flatten)]
    models: ModelsArgs,
    #[command(flatten)]
    hosted: HostedGamesArgs,
}

pub(crate) fn run(args: &WorkArgs) -> Result<ExitCode> {
    let token = std::fs::read_to_string(&args.token_file)
        .with_context(|| format!("cannot read the token `{}`", args.token_file.display()))?;
    let name = match &args.name {
        Some(name) => name.clone(),
        None => new_run_id()?,
    };
    let scratch = args.scratch.clone();
    let scratch = scratch.unwrap_or_else(|| std::env::temp_dir().join("rhae-work"));
    let scratch = scratch.join(&name);
    let interrupt = interrupt_flag()?;
    rhae_runs::interrupt_on_usr1(&interrupt)?;
    if args.until_stdin_closes {
        let interrupt = Arc::clone(&interrupt);
        std::thread::spawn(move || {
            // An error also means that the parent process has ended.
            let _ = std::io::stdin().lock().read_to_end(&mut Vec::new());
            interrupt.store(true, Ordering::Relaxed);
        });
    }
    let (client, job) = WorkClient::join(&args.join, token.trim(), &interrupt)?;
    let worker = Worker {
        args,
        client: &client,
        job: &job,
        name: &name,
        scratch: &scratch,
    };
    let worked = worker.run();
    // The folder is absent if there was nothing to do.
    let _ = std::fs::remove_dir_all(&scratch);
    let units = output::counted(worked?, "unit");
    output::print(&format!("{units} reported"))?;
    Ok(ExitCode::SUCCESS)
}

struct Worker<'a> {
    args: &'a WorkArgs,
    client: &'a Arc<WorkClient>,
    job: &'a WorkJob,
    name: &'a str,
    scratch: &'a Path,
}

impl Worker<'_> {
    fn run(&self) -> Result<u64> {
        let args = self.args;
        match &self.job.work {
            WorkKind::Play(config) => {
                let model = ModelOptions {
                    models: models_for_agent(config.agent.as_deref(), &args.models.models)?,
                    python: args.hosted.python_tool()?,
                    ..ModelOptions::default()
                };
                self.work(&PlayExecutor::open(
                    config.as_ref().clone(),
                    &args.hosted.games_dir,
                    model,
                    self.job.workers,
                    |folders| args.hosted.games_in(folders),
                )?)
            }
            WorkKind::Evaluation(work) => {
                let workers = self.job.workers;
                self.work(&task_executor(work, workers, &args.models, &args.hosted)?)
            }
            WorkKind::Validation(work) => self.work(&environment_executor(work, &args.hosted)?),
            WorkKind::Exploration(work) => self.work(&level_executor(work, &args.hosted)?),
        }
    }

    fn work<E: Executor>(&self, executor: &E) -> Result<u64> {
        let (name, scratch) = (self.name, self.scratch);
        Ok(work(self.client, self.job, executor, name, scratch)?)
    }
}
