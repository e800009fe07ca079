//! `rhae run --on`: a run that worker processes or a cluster play.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use rhae_harness::{
    Coordinator, LeasePolicy, LocatedRun, Progress, RayRequest, Results, RunPreview, SlurmRequest,
    WorkerCommand, address_towards_ray, new_run_id, recorded_results, run_local_workers,
    run_ray_workers,
};
use rhae_server::WorkEndpoint;

use crate::hosted_games::HostedGamesArgs;
use crate::output::plain;

/// The file with the token of the coordinator, in the run folder.
const TOKEN: &str = "work-token";
/// The folder for the files of plays in progress, in the run folder.
const SCRATCH: &str = ".workers";
/// The maximum number of workers on one machine.
const MAX_WORKERS: usize = 1024;

/// Flags that describe where a run takes place, and not what is played. Those with `true` have a
/// value.
const OWN_FLAGS: [(&str, bool); 4] = [
    ("--on", true),
    ("--workers", true),
    ("--out", true),
    ("--json", false),
];
/// The default number of shards of a Slurm array.
const SLURM_SHARDS: u32 = 16;

/// Where workers run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    /// Processes on this machine.
    Local(usize),
    /// Tasks of a Slurm array, in a partition if one is named.
    Slurm(Option<String>),
    /// Tasks on a Ray cluster with this address.
    Ray(Option<String>),
}

impl FromStr for Engine {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let local = || {
            let count = text.strip_prefix("local:")?.parse().ok()?;
            (1..=MAX_WORKERS)
                .contains(&count)
                .then_some(Self::Local(count))
        };
        // Returns what follows the colon in `NAME[:OPTION]`.
        let option = |name: &str| {
            let rest = text.strip_prefix(name)?;
            match rest.strip_prefix(':') {
                None => rest.is_empty().then_some(None),
                Some("") => None,
                Some(option) => Some(Some(option.to_owned())),
            }
        };
        let engine = local().or_else(|| option("slurm").map(Self::Slurm));
        let engine = engine.or_else(|| option("ray").map(Self::Ray));
        engine.ok_or_else(|| {
            format!(
                "expected `local:N` with N from 1 to {MAX_WORKERS}, such as local:2, `slurm[:PARTITION]` or `ray[:ADDRESS]`"
            )
        })
    }
}

/// Executes a run as a Slurm array and returns its results, or `None` if the user interrupts the
/// waiting. `preview` describes the run.
pub(crate) fn execute_on_slurm(
    partition: Option<&str>,
    workers: Option<u32>,
    preview: &RunPreview,
    hosted: &HostedGamesArgs,
    interrupt: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
) -> Result<Option<Results>> {
    let plays = preview.config.games.len() * preview.config.repeat as usize;
    let shards = workers.unwrap_or(SLURM_SHARDS);
    let request = SlurmRequest {
        partition: partition.map(str::to_owned),
        shards: shards.min(u32::try_from(plays).unwrap_or(u32::MAX)),
        command: command_without_place()?,
        out: PathBuf::from(&preview.folder),
        plays,
    };
    let run = request.submit()?;
    eprintln!(
        "submitted: array {}, and job {} that merges its shards; logs are in {}",
        run.array,
        run.merge,
        run.folder.display()
    );
    if !run.wait(interrupt, progress)? {
        eprintln!(
            "the jobs continue, and the result will be in {}; `scancel {} {}` cancels them",
            preview.folder, run.array, run.merge
        );
        return Ok(None);
    }
    let folder = Path::new(&preview.folder);
    let results = recorded_results(folder, &hosted.games_dir, |dirs| hosted.games_in(dirs))?;
    Ok(Some(results))
}

/// Returns the command of this process without the flags that say where the run takes place.
fn command_without_place() -> Result<Vec<OsString>> {
    let mut command = vec![std::env::current_exe()?.into_os_string()];
    let mut arguments = std::env::args_os().skip(1);
    while let Some(argument) = arguments.next() {
        let text = argument.to_string_lossy();
        let name = text.split('=').next().unwrap_or_default();
        match OWN_FLAGS.iter().find(|(flag, _)| *flag == name) {
            Some((_, true)) if !text.contains('=') => drop(arguments.next()),
            Some(_) => {}
            None => command.push(argument),
        }
    }
    Ok(command)
}

/// Executes a run whose coordinator is this process. `workers` is the number of workers on a Ray
/// cluster.
pub(crate) fn execute(
    run: &LocatedRun,
    engine: &Engine,
    workers: Option<u32>,
    hosted: &HostedGamesArgs,
    interrupt: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
) -> Result<Results> {
    // Like other programs that use Ray.
    let environment = || {
        std::env::var("RAY_ADDRESS")
            .ok()
            .filter(|text| !text.is_empty())
    };
    let cluster = match engine {
        Engine::Ray(cluster) => cluster.clone().or_else(environment),
        Engine::Local(_) | Engine::Slurm(_) => None,
    };
    let address = match engine {
        Engine::Ray(_) => address_towards_ray(cluster.as_deref())?,
        Engine::Local(_) | Engine::Slurm(_) => Ipv4Addr::LOCALHOST.into(),
    };
    let folder = &run.spec.folder;
    let coordinator = Arc::new(Coordinator::open(run, LeasePolicy::default())?);
    let token = new_run_id()?;
    let token_file = folder.file(TOKEN);
    write_token(&token_file, &token)
        .with_context(|| format!("cannot write `{}`", token_file.display()))?;
    let shared = Arc::clone(&coordinator);
    let handler = move |path: &str, body: &[u8]| {
        let answer = shared.answer(path, body);
        (answer.status, answer.body)
    };
    let endpoint = WorkEndpoint::start(
        SocketAddr::new(address, 0),
        token.clone(),
        Arc::new(handler),
    )
    .with_context(|| format!("cannot listen at {address}"))?;
    let scratch = folder.file(SCRATCH);
    let program = std::env::current_exe()?.into_os_string();
    let played = match engine {
        Engine::Ray(_) => {
            let python = hosted.python.as_deref();
            let request = RayRequest {
                python: python.unwrap_or(Path::new("python3")).into(),
                address: cluster,
                workers,
                program,
                arguments: hosted.as_flags(),
                coordinator: endpoint.address(),
                token,
            };
            run_ray_workers(&coordinator, folder, &request, interrupt, progress)
        }
        Engine::Local(count) => {
            let command = WorkerCommand {
                program,
                arguments: arguments(&endpoint, &token_file, &scratch, hosted),
            };
            run_local_workers(&coordinator, &command, *count, interrupt, progress)
        }
        Engine::Slurm(_) => unreachable!("an array needs no coordinator"),
    };
    drop(endpoint);
    // Neither file has a use without this process.
    let _ = std::fs::remove_file(&token_file);
    let _ = std::fs::remove_dir_all(&scratch);
    for note in coordinator.notes() {
        eprintln!("note: {}", plain(&note));
    }
    // What was played is reported even if no worker can be started any more.
    let results = coordinator.conclude();
    played?;
    Ok(results?)
}

/// Returns the arguments of a worker. The token is in a file, because process lists show arguments.
fn arguments(
    endpoint: &WorkEndpoint,
    token_file: &Path,
    scratch: &Path,
    hosted: &HostedGamesArgs,
) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = vec![
        "work".into(),
        "--join".into(),
        format!("http://{}", endpoint.address()).into(),
        "--token-file".into(),
        token_file.into(),
        "--scratch".into(),
        scratch.into(),
        "--until-stdin-closes".into(),
    ];
    arguments.extend(hosted.as_flags());
    arguments
}

/// Writes a file that only this user can read.
fn write_token(path: &Path, token: &str) -> std::io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    writeln!(file, "{token}")
}
