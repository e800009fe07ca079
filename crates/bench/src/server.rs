//! The cost of an action on the server, optionally compared with the official server.
//!
//! The server runs in a separate process, so that its CPU time excludes that of the clients, which
//! run in this process. Commits are durable, as in production.

mod load;
mod peer;
mod process;
mod visitors;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

use self::load::{LoadResult, Target};
pub use self::peer::python as peer_python;
use self::process::Process;
use crate::BenchError;

/// The numbers of concurrent clients, measured one after the other.
const CLIENTS: [usize; 3] = [1, 8, 64];
/// The number of concurrent visitors in browsers.
const VISITORS: usize = 200;
/// Actions per second of each visitor, which is about as fast as a person presses keys.
const VISITOR_ACTIONS_PER_S: u32 = 8;
/// The target for the 99th percentile of a visitor's latency, in milliseconds. A person hardly
/// notices shorter delays.
const VISITOR_TARGET_MS: f64 = 250.0;

/// What to measure.
pub struct ServerOptions {
    /// The program `rhae`, which is started with `serve`.
    pub program: PathBuf,
    /// The duration of each measurement.
    pub time: Duration,
    /// The interpreter of the official server ([`peer_python`]), to measure that server as well.
    pub peer: Option<PathBuf>,
}

/// The results of all measurements.
#[derive(Serialize)]
pub struct ServerBench {
    pub software: &'static str,
    pub server: Vec<Measurement>,
    /// Visitors with cookies who play at a constant rate.
    pub visitors: Measurement,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer: Option<Vec<Measurement>>,
    /// Actions per CPU second as a multiple of the peer's, at the largest number of clients.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
}

/// The results of one measurement.
#[derive(Serialize)]
pub struct Measurement {
    pub clients: usize,
    pub actions: u64,
    pub actions_per_s: f64,
    /// `None` if the system does not report the CPU time of processes.
    pub actions_per_cpu_s: Option<f64>,
    /// The mean over sampled responses; `None` for visitors, whose responses are not sampled.
    pub frames_per_action: Option<f64>,
    /// All commits over the lifetime of the server, divided by the measured actions; `None` for the
    /// peer, which stores nothing.
    pub commits_per_action: Option<f64>,
    pub p50_ms: f64,
    pub p90_ms: f64,
    pub p99_ms: f64,
    pub max_ms: f64,
}

impl ServerBench {
    /// Measures `rhae serve` with 1, 8 and 64 clients and with 200 visitors, then the official server
    /// if `options` ask for it.
    ///
    /// # Errors
    ///
    /// Returns an error if a server does not start or sends an unexpected response.
    pub fn measure(options: &ServerOptions) -> Result<Self, BenchError> {
        let time = options.time;
        let server = CLIENTS
            .iter()
            .map(|&clients| measure_rhae(&options.program, clients, time))
            .collect::<Result<Vec<_>, _>>()?;
        let visitors = measure_visitors(&options.program, time)?;
        let peer = options.peer.as_deref().map(|python| {
            CLIENTS
                .iter()
                .map(|&clients| peer::measure(python, clients, time))
                .collect::<Result<Vec<_>, _>>()
        });
        let peer = peer.transpose()?;
        let efficiency = |rows: &[Measurement]| rows.last().and_then(|last| last.actions_per_cpu_s);
        let ratio = peer
            .as_deref()
            .and_then(|peer| Some(efficiency(&server)? / efficiency(peer)?));
        Ok(Self {
            software: rhae_protocol::SOFTWARE,
            server,
            visitors,
            peer,
            ratio,
        })
    }
}

impl fmt::Display for ServerBench {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_table(out, "rhae", &self.server)?;
        write_table(out, "visitors", std::slice::from_ref(&self.visitors))?;
        let (p99, target) = (self.visitors.p99_ms, VISITOR_TARGET_MS);
        let verdict = if p99 < target { "met" } else { "missed" };
        writeln!(
            out,
            "{:<10} {VISITOR_ACTIONS_PER_S} actions per second each, no errors; p99 target of {target} ms {verdict}",
            ""
        )?;
        if let Some(peer) = &self.peer {
            write_table(out, "official", peer)?;
        }
        if let Some(ratio) = self.ratio {
            writeln!(
                out,
                "\nat {} clients: {ratio:.0} times the official server's actions per CPU second",
                CLIENTS[2]
            )?;
        }
        Ok(())
    }
}

fn write_table(out: &mut fmt::Formatter<'_>, name: &str, rows: &[Measurement]) -> fmt::Result {
    writeln!(
        out,
        "{name:<10} clients  actions/s  actions/CPU s  frames/action  commits/action   p50 ms   p90 ms   p99 ms   max ms"
    )?;
    for row in rows {
        let number = |value: Option<f64>, digits: usize| {
            value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
        };
        writeln!(
            out,
            "{:<10} {:>7} {:>10.0} {:>14} {:>14} {:>15} {:>8.2} {:>8.2} {:>8.2} {:>8.2}",
            "",
            row.clients,
            row.actions_per_s,
            number(row.actions_per_cpu_s, 0),
            number(row.frames_per_action, 2),
            number(row.commits_per_action, 3),
            row.p50_ms,
            row.p90_ms,
            row.p99_ms,
            row.max_ms
        )?;
    }
    Ok(())
}

/// Measures `rhae serve` with clients that play as fast as they can.
fn measure_rhae(program: &Path, clients: usize, time: Duration) -> Result<Measurement, BenchError> {
    with_server(program, clients, &[], |process| {
        run_clients(process, "kq19", clients, time)
    })
}

/// Measures `rhae serve --auth keys` with visitors who have cookies and stay within their rate
/// limits.
fn measure_visitors(program: &Path, time: Duration) -> Result<Measurement, BenchError> {
    with_server(
        program,
        VISITORS,
        &["--auth", "keys", "--visitors", "public"],
        |process| {
            let people = (0..VISITORS)
                .map(|number| visitors::Visitor::connect(process.address(), number))
                .collect::<Result<Vec<_>, BenchError>>()?;
            measure_load(process, people, |people| {
                visitors::play(people, time, VISITOR_ACTIONS_PER_S)
            })
        },
    )
}

/// Starts `rhae serve` with a new database, runs a measurement and stops the server.
fn with_server(
    program: &Path,
    clients: usize,
    flags: &[&str],
    measure: impl FnOnce(&Process) -> Result<(LoadResult, Option<Duration>), BenchError>,
) -> Result<Measurement, BenchError> {
    let folder = process::scratch_folder()?;
    let process = Process::start_rhae(program, &folder, flags)?;
    let (load, cpu) = measure(&process)?;
    let commits = process.stop()?;
    std::fs::remove_dir_all(&folder).map_err(BenchError::io(format!(
        "cannot remove `{}`",
        folder.display()
    )))?;
    let mut measurement = summarize(clients, load, cpu);
    measurement.commits_per_action = Some(commits as f64 / measurement.actions.max(1) as f64);
    Ok(measurement)
}

/// Lets a number of clients play a game on a server, each as fast as it can.
fn run_clients(
    process: &Process,
    game: &'static str,
    clients: usize,
    time: Duration,
) -> Result<(LoadResult, Option<Duration>), BenchError> {
    let target = Target {
        address: process.address().to_owned(),
        game,
    };
    measure_load(process, load::connect(&target, clients)?, |clients| {
        load::play(clients, time)
    })
}

/// Lets clients play on a server. Returns their measurements and the CPU time that the server used
/// in that time, or `None` if the system does not report it.
fn measure_load<C>(
    process: &Process,
    clients: Vec<C>,
    play: impl FnOnce(Vec<C>) -> Result<LoadResult, BenchError>,
) -> Result<(LoadResult, Option<Duration>), BenchError> {
    let before = process.cpu_time();
    let load = play(clients)?;
    let cpu = process
        .cpu_time()
        .zip(before)
        .map(|(after, before)| after.saturating_sub(before));
    Ok((load, cpu))
}

fn summarize(clients: usize, mut load: LoadResult, cpu: Option<Duration>) -> Measurement {
    load.latencies.sort_unstable();
    let at = |share: f64| {
        let index = ((load.latencies.len() as f64 * share) as usize)
            .min(load.latencies.len().saturating_sub(1));
        load.latencies
            .get(index)
            .map_or(f64::NAN, |latency| latency.as_secs_f64() * 1e3)
    };
    Measurement {
        clients,
        actions: load.actions,
        actions_per_s: load.actions as f64 / load.time.as_secs_f64(),
        actions_per_cpu_s: cpu
            .filter(|cpu| !cpu.is_zero())
            .map(|cpu| load.actions as f64 / cpu.as_secs_f64()),
        frames_per_action: (load.sampled > 0).then(|| load.frames as f64 / load.sampled as f64),
        commits_per_action: None,
        p50_ms: at(0.5),
        p90_ms: at(0.9),
        p99_ms: at(0.99),
        max_ms: at(1.0),
    }
}
