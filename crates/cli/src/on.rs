//! `--on`: work that worker processes, a cluster or joining workers execute.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use rhae_runs::new_run_id;
use rhae_server::WorkEndpoint;
use rhae_work_service::{
    Coordinator, CoordinatorOptions, RayRequest, SlurmWorkers, WorkerCommand, Workload,
    address_towards, run_local_workers, run_ray_workers, run_slurm_workers, slurm,
};

use crate::output::plain;

/// The file with the token of the coordinator.
const TOKEN: &str = "work-token";
/// The folder for the files of units in progress.
const SCRATCH: &str = ".workers";
/// The maximum number of workers on one machine.
const MAX_WORKERS: usize = 1024;
/// The default number of tasks of a Slurm array.
pub(crate) const SLURM_TASKS: u32 = 16;
/// The interval at which a coordinator without own workers is checked.
const WATCH_INTERVAL: Duration = Duration::from_millis(50);

/// Flags that describe where work takes place, and not what is done. Those with `true` have a value.
const OWN_FLAGS: [(&str, bool); 4] = [
    ("--on", true),
    ("--workers", true),
    ("--out", true),
    ("--json", false),
];

/// The flags of commands whose work can be distributed.
#[derive(Args, Clone, Debug)]
pub(crate) struct OnArgs {
    /// Work elsewhere: `local:N` starts N worker processes on this machine, `ray[:ADDRESS]` on a Ray
    /// cluster, `slurm[:PARTITION]` as an array; `join[:IP:PORT]` waits for `rhae work --join`
    /// (docs/clusters.md)
    #[arg(long, value_name = "ENGINE")]
    pub(crate) on: Option<Engine>,
    /// Number of workers on a cluster [default: the number of CPUs of a Ray cluster, 16 on Slurm]
    #[arg(long, value_name = "N", requires = "on", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) workers: Option<u32>,
}

/// Where workers run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    /// Processes on this machine.
    Local(usize),
    /// Tasks of a Slurm array, in a partition if one is named.
    Slurm(Option<String>),
    /// Tasks on a Ray cluster with this address.
    Ray(Option<String>),
    /// Workers that the user starts. The coordinator listens at this address.
    Join(SocketAddr),
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
        let join = || match option("join")? {
            None => Some(Self::Join((Ipv4Addr::LOCALHOST, 0).into())),
            Some(address) => address.to_socket_addrs().ok()?.next().map(Self::Join),
        };
        let engine = local().or_else(|| option("slurm").map(Self::Slurm));
        let engine = engine.or_else(|| option("ray").map(Self::Ray));
        engine.or_else(join).ok_or_else(|| {
            format!(
                "expected `local:N` with N from 1 to {MAX_WORKERS}, such as local:2, `slurm[:PARTITION]`, `ray[:ADDRESS]` or `join[:IP:PORT]`"
            )
        })
    }
}

/// Where the work of a coordinator takes place.
pub(crate) struct Place<'a> {
    pub(crate) engine: &'a Engine,
    /// The number of workers on a cluster, if it is given.
    pub(crate) workers: Option<u32>,
    /// A folder for the token and the files of units in progress.
    pub(crate) folder: &'a Path,
    /// Further arguments of workers.
    pub(crate) arguments: Vec<OsString>,
    /// The Python interpreter that has the package `ray`.
    pub(crate) python: Option<&'a Path>,
}

impl Place<'_> {
    /// Returns the number of workers that share a rate limit, as far as it is known.
    fn worker_count(&self) -> u32 {
        match self.engine {
            Engine::Local(count) => u32::try_from(*count).unwrap_or(u32::MAX),
            Engine::Slurm(_) => self.workers.unwrap_or(SLURM_TASKS),
            Engine::Ray(_) | Engine::Join(_) => self.workers.unwrap_or(1),
        }
    }

    /// Returns how the coordinator leases units. A cluster can remove machines whose workers have ended.
    pub(crate) fn coordinator_options(&self) -> CoordinatorOptions {
        CoordinatorOptions {
            workers: self.worker_count(),
            releases_idle_workers: matches!(self.engine, Engine::Ray(_) | Engine::Slurm(_)),
            ..CoordinatorOptions::default()
        }
    }

    /// Returns the address at which the coordinator listens, and that of the Ray cluster.
    fn address(&self) -> Result<(SocketAddr, Option<String>)> {
        let towards = |head: Option<&str>| anyhow::Ok(SocketAddr::new(address_towards(head)?, 0));
        Ok(match self.engine {
            Engine::Local(_) => ((Ipv4Addr::LOCALHOST, 0).into(), None),
            Engine::Join(address) => (*address, None),
            Engine::Slurm(_) => (towards(Some(&slurm::controller()?))?, None),
            Engine::Ray(cluster) => {
                // Like other programs that use Ray.
                let environment = || {
                    std::env::var("RAY_ADDRESS")
                        .ok()
                        .filter(|text| !text.is_empty())
                };
                let cluster = cluster.clone().or_else(environment);
                (towards(cluster.as_deref())?, cluster)
            }
        })
    }
}

/// Returns a folder for the token and the files of workers of work that leaves no folder. Slurm's nodes
/// share the current folder.
pub(crate) fn temporary_folder(engine: &Engine) -> Result<tempfile::TempDir> {
    let folder = match engine {
        Engine::Slurm(_) => tempfile::Builder::new()
            .prefix(".rhae-work-")
            .tempdir_in("."),
        Engine::Local(_) | Engine::Ray(_) | Engine::Join(_) => tempfile::tempdir(),
    };
    folder.context("cannot create a folder for the workers")
}

/// Returns folders as absolute paths, because workers may start elsewhere.
pub(crate) fn absolute(folders: &[PathBuf]) -> Result<Vec<String>> {
    let absolute = |folder: &PathBuf| {
        let path = folder
            .canonicalize()
            .with_context(|| format!("cannot find `{}`", folder.display()))?;
        let text = path.into_os_string().into_string();
        text.map_err(|path| anyhow::anyhow!("`{}` is not a UTF-8 path", path.display()))
    };
    folders.iter().map(absolute).collect()
}

/// Returns the command of this process without the flags that say where the work takes place.
pub(crate) fn command_without_place() -> Result<Vec<OsString>> {
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

/// Executes the units of a coordinator, which is this process. Returns when the work is over or
/// interrupted, or no workers can be started any more.
pub(crate) fn distribute<W: Workload + 'static>(
    coordinator: &Arc<Coordinator<W>>,
    place: &Place<'_>,
    interrupt: &AtomicBool,
    progress: &mut dyn FnMut(),
) -> Result<()> {
    let (address, cluster) = place.address()?;
    let token_file = place.folder.join(TOKEN);
    let token = match place.engine {
        // Workers that have joined continue after the coordinator was killed.
        Engine::Join(_) => read_token(&token_file),
        _ => None,
    };
    let token = token.map_or_else(new_run_id, Ok)?;
    write_token(&token_file, &token)
        .with_context(|| format!("cannot write `{}`", token_file.display()))?;
    let shared = Arc::clone(coordinator);
    let handler = move |path: &str, body: &[u8]| {
        let answer = shared.answer(path, body);
        (answer.status, answer.body)
    };
    let endpoint = WorkEndpoint::start(address, token.clone(), Arc::new(handler))
        .with_context(|| format!("cannot listen at {address}"))?;
    let scratch = place.folder.join(SCRATCH);
    let worked = start_workers(
        coordinator,
        place,
        &Started {
            endpoint: &endpoint,
            cluster,
            token,
            token_file: &token_file,
            scratch: &scratch,
        },
        interrupt,
        progress,
    );
    drop(endpoint);
    // Neither file has a use without this process.
    let _ = std::fs::remove_file(&token_file);
    let _ = std::fs::remove_dir_all(&scratch);
    for note in coordinator.notes() {
        eprintln!("note: {}", plain(&note));
    }
    worked
}

/// A coordinator that listens.
struct Started<'a> {
    endpoint: &'a WorkEndpoint,
    /// The address of the Ray cluster.
    cluster: Option<String>,
    token: String,
    token_file: &'a Path,
    scratch: &'a Path,
}

fn start_workers<W: Workload>(
    coordinator: &Coordinator<W>,
    place: &Place<'_>,
    started: &Started<'_>,
    interrupt: &AtomicBool,
    progress: &mut dyn FnMut(),
) -> Result<()> {
    let program = std::env::current_exe()?.into_os_string();
    let address = started.endpoint.address();
    match place.engine {
        Engine::Ray(_) => {
            let request = RayRequest {
                python: place.python.unwrap_or(Path::new("python3")).into(),
                address: started.cluster.clone(),
                workers: place.workers,
                program,
                arguments: place.arguments.clone(),
                coordinator: address,
                token: started.token.clone(),
            };
            run_ray_workers(coordinator, place.folder, &request, interrupt, progress)?;
        }
        Engine::Local(count) => {
            let mut arguments = worker_arguments(address, started.token_file)?;
            arguments.extend(["--scratch".into(), started.scratch.into()]);
            arguments.push("--until-stdin-closes".into());
            arguments.extend(place.arguments.iter().cloned());
            let command = WorkerCommand { program, arguments };
            run_local_workers(coordinator, &command, *count, interrupt, progress)?;
        }
        Engine::Slurm(partition) => {
            let mut arguments = worker_arguments(address, started.token_file)?;
            arguments.extend(place.arguments.iter().cloned());
            let request = SlurmWorkers {
                partition: partition.clone(),
                workers: place.workers.unwrap_or(SLURM_TASKS),
                command: WorkerCommand { program, arguments },
                folder: place.folder.to_owned(),
            };
            let notify = |array: &str| eprintln!("submitted: array {array}");
            run_slurm_workers(coordinator, &request, interrupt, &notify, progress)?;
        }
        Engine::Join(_) => {
            eprintln!(
                "waiting for workers: rhae work --join http://{address} --token-file {}",
                plain(&started.token_file.display().to_string())
            );
            while !coordinator.is_over() && !interrupt.load(Ordering::Relaxed) {
                progress();
                std::thread::sleep(WATCH_INTERVAL);
            }
            // Workers ask once more, and then end.
            std::thread::sleep(WATCH_INTERVAL * 10);
            coordinator.end_all_workers()?;
        }
    }
    Ok(())
}

/// Returns the arguments of a worker. The token is in a file, because process lists show arguments.
fn worker_arguments(address: SocketAddr, token_file: &Path) -> Result<Vec<OsString>> {
    let token_file = std::path::absolute(token_file)?;
    Ok(vec![
        "work".into(),
        "--join".into(),
        format!("http://{address}").into(),
        "--token-file".into(),
        token_file.into(),
    ])
}

fn read_token(path: &Path) -> Option<String> {
    let token = std::fs::read_to_string(path).ok()?;
    Some(token.trim().to_owned()).filter(|token| !token.is_empty())
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
