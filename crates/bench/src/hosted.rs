//! The speed of a search of a hosted game, compared with a bare loop in Python.
//!
//! The Python module `rhae._search_bench` searches the same level in one process without messages:
//! it copies, acts and hashes. The ratio shows what the processes, the messages and the graph cost.

use std::fmt;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use rhae_engine::Catalog;
use rhae_explore::{EnvironmentLevel, Identity, Limits, SearchOptions, explore};
use rhae_protocol::SOFTWARE;
use rhae_report::plain;
use serde::{Deserialize, Serialize};

use crate::{BenchError, median};

/// What to measure.
pub struct HostedOptions {
    /// The hosted game, whose first level is searched.
    pub game: String,
    /// The Python interpreter of the bare loop, with the package `rhae`. It should be the one that
    /// hosts the game.
    pub python: PathBuf,
    /// The number of processes of the search.
    pub jobs: usize,
    /// The maximum number of states.
    pub nodes: usize,
    /// How often the loop and the search are measured, alternately.
    pub rounds: u32,
}

/// The speed of the search and of the bare loop.
#[derive(Serialize)]
pub struct HostedBench {
    pub software: &'static str,
    pub game_id: String,
    /// The number of sprites in the first level.
    pub sprites: u64,
    /// The time of one copy of the game, in milliseconds.
    pub clone_ms: f64,
    /// The number of states and edges that the search found.
    pub nodes: usize,
    pub edges: usize,
    /// Whether the bare loop found as many states and edges.
    pub same_size: bool,
    pub processes: usize,
    /// States per second of the search with all processes together; the median of all rounds.
    pub states_per_s: f64,
    /// States per second of the bare loop in one process; the median of all rounds.
    pub bare_states_per_s: f64,
    /// The speed of the search per process, divided by that of the bare loop.
    pub ratio_per_process: f64,
}

/// The results of `rhae._search_bench`.
#[derive(Deserialize)]
struct BareLoop {
    sprites: u64,
    clone_ms: f64,
    states: usize,
    edges: usize,
    states_per_s: f64,
}

impl HostedBench {
    /// Measures the loop and the search.
    ///
    /// # Errors
    ///
    /// Fails if the game has no Python source or cannot be searched, or if the interpreter fails.
    pub fn measure(games: &dyn Catalog, options: &HostedOptions) -> Result<Self, BenchError> {
        let info = games.find(&options.game)?;
        let source = games.source(info.id.as_str())?;
        let (Some(source), Some(class_name)) = (source, &info.class_name) else {
            let id = &info.id;
            return Err(BenchError::Process(format!(
                "`{id}` is not a hosted game with a Python source"
            )));
        };
        let (mut loops, mut speeds, mut size) = (Vec::new(), Vec::new(), (0, 0));
        for _ in 0..options.rounds.max(1) {
            loops.push(bare_loop(options, &source, class_name)?);
            let play = games.open(info.id.as_str(), 0)?;
            let level = EnvironmentLevel::new(play, Identity::FrameAndHidden)?;
            let search = SearchOptions {
                limits: Limits {
                    nodes: options.nodes,
                    ..Limits::default()
                },
                threads: options.jobs,
                ..SearchOptions::default()
            };
            let started = Instant::now();
            let graph = explore(&level, &search, |_| true)?;
            speeds.push(graph.nodes() as f64 / started.elapsed().as_secs_f64());
            size = (graph.nodes(), graph.edges());
        }
        let states_per_s = median(speeds);
        let bare_states_per_s = median(loops.iter().map(|bare| bare.states_per_s));
        Ok(Self {
            software: SOFTWARE,
            game_id: info.id.to_string(),
            sprites: loops.first().map_or(0, |bare| bare.sprites),
            clone_ms: median(loops.iter().map(|bare| bare.clone_ms)),
            nodes: size.0,
            edges: size.1,
            same_size: loops.iter().all(|bare| (bare.states, bare.edges) == size),
            processes: options.jobs,
            states_per_s,
            bare_states_per_s,
            ratio_per_process: states_per_s / options.jobs as f64 / bare_states_per_s,
        })
    }
}

impl fmt::Display for HostedBench {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            game_id,
            sprites,
            clone_ms,
            nodes,
            edges,
            processes,
            ..
        } = self;
        writeln!(
            out,
            "{game_id} level 1: {nodes} states, {edges} edges, {sprites} sprites, {clone_ms:.2} ms per copy"
        )?;
        let same = if self.same_size {
            "the same size"
        } else {
            "another size"
        };
        writeln!(
            out,
            "bare loop in Python    {:>8.0} states per second, {same}",
            self.bare_states_per_s
        )?;
        writeln!(
            out,
            "search, {processes:>2} processes   {:>8.0} states per second, {:.2} of the bare loop per process",
            self.states_per_s, self.ratio_per_process
        )
    }
}

/// Runs `rhae._search_bench` on the source of a game.
fn bare_loop(
    options: &HostedOptions,
    source: &str,
    class_name: &str,
) -> Result<BareLoop, BenchError> {
    let python = options.python.display();
    let failed = || BenchError::io(format!("cannot run `{python}`"));
    let mut child = Command::new(&options.python)
        .args(["-P", "-m", "rhae._search_bench", class_name])
        .arg(options.nodes.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed())?;
    if let Some(mut input) = child.stdin.take() {
        // If the interpreter ended early, its exit status and standard error tell more.
        let _ = input.write_all(source.as_bytes());
    }
    let output = child.wait_with_output().map_err(failed())?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let last = stderr.lines().rfind(|line| !line.trim().is_empty());
        return Err(BenchError::Process(format!(
            "`{python} -m rhae._search_bench` failed: {}",
            plain(last.unwrap_or("it printed no error"))
        )));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| {
        BenchError::Process(format!("`rhae._search_bench` did not print JSON: {error}"))
    })
}
