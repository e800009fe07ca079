//! `rhae bench server`: what an action costs a server, beside the official one.
//!
//! The server is a process of its own, and so are its clients (this process), so that the CPU time of the server is its own. Durability
//! is on, as always.

mod load;
mod peer;
mod process;
mod visitors;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;

use crate::output;
use load::{Load, Target};
use process::Process;

/// How many clients play at once, one after the other.
const CLIENTS: [usize; 3] = [1, 8, 64];
/// Visitors in browsers, and how fast they play: a person presses keys no faster than this.
const VISITORS: usize = 200;
const VISITOR_ACTIONS_PER_S: u32 = 8;
/// The slowest percentile is not to be slower than what a person notices as waiting.
const VISITOR_GOAL_MS: f64 = 250.0;

/// Measure what an action costs the server: CPU time, commits, latency; with --peer also the official server.
#[derive(Args)]
pub(crate) struct ServerArgs {
    /// Seconds of load for each number of clients
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=60))]
    seconds: u64,
    /// Measure the official server as well, with a small game of the same number of frames
    #[arg(long)]
    peer: bool,
    /// The Python that has the package arc-agi [default: the one that `cargo xtask test` makes, in target/python]
    #[arg(long, requires = "peer")]
    python: Option<PathBuf>,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct ServerBench {
    software: &'static str,
    server: Vec<Figures>,
    /// Visitors with cookies, each with a steady number of actions a second.
    visitors: Figures,
    #[serde(skip_serializing_if = "Option::is_none")]
    peer: Option<Vec<Figures>>,
    /// Actions per CPU second as a multiple of the peer's, at the most clients.
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio: Option<f64>,
}

/// What so many clients saw.
#[derive(Serialize)]
struct Figures {
    clients: usize,
    actions: u64,
    actions_per_s: f64,
    /// Absent where the system does not tell the CPU time of a process.
    actions_per_cpu_s: Option<f64>,
    /// Absent where answers are not looked at.
    frames_per_action: Option<f64>,
    /// Of the server's whole life; absent for the peer, which stores nothing.
    commits_per_action: Option<f64>,
    p50_ms: f64,
    p90_ms: f64,
    p99_ms: f64,
    max_ms: f64,
}

pub(crate) fn run(args: &ServerArgs) -> Result<ExitCode> {
    // Found before anything is measured, so that nobody waits for an error.
    let python = if args.peer {
        Some(peer::python(args.python.as_deref())?)
    } else {
        None
    };
    let time = Duration::from_secs(args.seconds);
    let server = CLIENTS
        .iter()
        .map(|&clients| own(clients, time))
        .collect::<Result<Vec<_>>>()?;
    let visitors = visiting(time)?;
    let peer = python.map(|python| {
        CLIENTS
            .iter()
            .map(|&clients| peer::measure(&python, clients, time))
            .collect()
    });
    let peer: Option<Vec<Figures>> = peer.transpose()?;
    let cost = |figures: &[Figures]| figures.last().and_then(|last| last.actions_per_cpu_s);
    let ratio = peer
        .as_deref()
        .and_then(|peer| Some(cost(&server)? / cost(peer)?));
    let bench = ServerBench {
        software: rhae_protocol::SOFTWARE,
        server,
        visitors,
        peer,
        ratio,
    };
    if args.json {
        output::print_json(&bench)?;
    } else {
        show(&bench)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Measures `rhae serve` with a database of its own.
fn own(clients: usize, time: Duration) -> Result<Figures> {
    served(clients, &[], |process| {
        clients_on(process, "kq19", clients, time)
    })
}

/// Measures visitors of a server with keys, who have cookies and keep to their limits.
fn visiting(time: Duration) -> Result<Figures> {
    served(
        VISITORS,
        &["--auth", "keys", "--visitors", "public"],
        |process| {
            let people = (0..VISITORS)
                .map(|number| visitors::Visitor::enter(process.address(), number))
                .collect::<Result<Vec<_>>>()?;
            under_load(process, people, |people| {
                visitors::play(people, time, VISITOR_ACTIONS_PER_S)
            })
        },
    )
}

/// Starts `rhae serve` with a database of its own for something that is measured, and ends it.
fn served(
    clients: usize,
    flags: &[&str],
    measure: impl FnOnce(&Process) -> Result<(Load, Option<Duration>)>,
) -> Result<Figures> {
    let folder = process::scratch_folder()?;
    let process = Process::rhae(&folder, flags)?;
    let (load, cpu) = measure(&process)?;
    let commits = process
        .stop()
        .context("the server did not stop as it should")?;
    std::fs::remove_dir_all(&folder)
        .with_context(|| format!("cannot remove `{}`", folder.display()))?;
    let mut figures = figures(clients, load, cpu);
    figures.commits_per_action = Some(commits as f64 / figures.actions.max(1) as f64);
    Ok(figures)
}

/// Lets so many clients play a game on a process, each as fast as it can.
fn clients_on(
    process: &Process,
    game: &'static str,
    clients: usize,
    time: Duration,
) -> Result<(Load, Option<Duration>)> {
    let target = Target {
        address: process.address().to_owned(),
        game,
    };
    under_load(process, load::enter(&target, clients)?, |players| {
        load::play(players, time)
    })
}

/// Lets players play on a process and gives what they did and the CPU time it took for that.
fn under_load<P>(
    process: &Process,
    players: Vec<P>,
    play: impl FnOnce(Vec<P>) -> Result<Load>,
) -> Result<(Load, Option<Duration>)> {
    let before = process.cpu_time();
    let load = play(players)?;
    let cpu = process
        .cpu_time()
        .zip(before)
        .map(|(after, before)| after.saturating_sub(before));
    Ok((load, cpu))
}

fn figures(clients: usize, mut load: Load, cpu: Option<Duration>) -> Figures {
    load.latencies.sort_unstable();
    let at = |share: f64| {
        let index = ((load.latencies.len() as f64 * share) as usize)
            .min(load.latencies.len().saturating_sub(1));
        load.latencies
            .get(index)
            .map_or(f64::NAN, |latency| latency.as_secs_f64() * 1e3)
    };
    Figures {
        clients,
        actions: load.actions,
        actions_per_s: load.actions as f64 / load.time.as_secs_f64(),
        actions_per_cpu_s: cpu
            .filter(|cpu| !cpu.is_zero())
            .map(|cpu| load.actions as f64 / cpu.as_secs_f64()),
        frames_per_action: (load.looked_at > 0).then(|| load.frames as f64 / load.looked_at as f64),
        commits_per_action: None,
        p50_ms: at(0.5),
        p90_ms: at(0.9),
        p99_ms: at(0.99),
        max_ms: at(1.0),
    }
}

fn show(bench: &ServerBench) -> Result<()> {
    let table = |name: &str, rows: &[Figures]| -> Result<()> {
        output::print(&format!(
            "{name:<10} clients  actions/s  actions/CPU s  frames/action  commits/action   p50 ms   p90 ms   p99 ms   max ms"
        ))?;
        for row in rows {
            let number = |value: Option<f64>, digits: usize| {
                value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
            };
            output::print(&format!(
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
            ))?;
        }
        Ok(())
    };
    table("rhae", &bench.server)?;
    table("visitors", std::slice::from_ref(&bench.visitors))?;
    let (slowest, goal) = (bench.visitors.p99_ms, VISITOR_GOAL_MS);
    let held = if slowest < goal { "held" } else { "missed" };
    output::print(&format!(
        "{:<10} {VISITOR_ACTIONS_PER_S} actions a second each, no error; the goal of {goal} ms for the slowest percentile is {held}",
        ""
    ))?;
    if let Some(peer) = &bench.peer {
        table("official", peer)?;
    }
    if let Some(ratio) = bench.ratio {
        output::print(&format!(
            "\nat {} clients: {ratio:.0} times the official server's actions per CPU second",
            CLIENTS[2]
        ))?;
    }
    Ok(())
}
