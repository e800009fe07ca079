//! A whole study: people arrive, play, and leave, while the simulated clock moves.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use rhae_protocol::StudySimulation;
use rhae_stats::median;
use rhae_study::Preset;

use crate::SimulationError;
use crate::alias::MAX_ENVIRONMENTS;
use crate::audit::{audit_actions, over_quota};
use crate::clock::{FIRST_SESSION_MS, Schedule, TICK_MS, Turn, arrival_ms};
use crate::host::{Host, Setup, database};
use crate::http::Http;
use crate::kills::Kills;
use crate::person::{MODEL, Person};
use crate::player::{Incidents, Player, Surroundings};
use crate::research::Researcher;
use crate::workers::{WORKERS, Workers, lock};

/// After this time without requests, every sitting has ended.
const AFTERWARDS_MS: u64 = 24 * 60 * 60 * 1000;
const MAX_PEOPLE: u32 = 100_000;
const MAX_SERVERS: u32 = 16;
/// A contact of this age in the log counts as the current one: the clock of no sitting has stopped.
const LOGGED_MS: u64 = 15_000;

/// The size and the seed of a simulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimulationOptions {
    /// The `rhae` program, of which every server is a process.
    pub program: PathBuf,
    /// The number of people who are invited.
    pub people: u32,
    pub environments: u32,
    pub seed: u64,
    /// A new SQLite file that is kept, or a PostgreSQL URL; `None` for a temporary file.
    pub database: Option<PathBuf>,
    /// The number of servers. Several need PostgreSQL.
    pub servers: u32,
    /// How often a server process is killed and started again.
    pub kills: u32,
}

/// Lets simulated people play a study through the REST API of server processes, under the preset of
/// the ARC-AGI-3 paper.
///
/// Equal options give equal results, apart from ids and the time that it takes.
///
/// # Errors
///
/// Returns [`SimulationError`] if the server cannot be started or does not respond as its
/// API promises.
pub fn simulate(options: &SimulationOptions) -> Result<StudySimulation, SimulationError> {
    check("people", options.people, MAX_PEOPLE)?;
    check("environments", options.environments, MAX_ENVIRONMENTS)?;
    check("servers", options.servers, MAX_SERVERS)?;
    let begun = Instant::now();
    let folder = tempfile::tempdir()?;
    let setup = Setup {
        program: options.program.clone(),
        db: database(options.database.as_deref(), folder.path(), options.servers)?,
        seed: options.seed,
        environments: options.environments,
        now_ms: FIRST_SESSION_MS,
    };
    let mut host = Host::start(setup, options.servers)?;
    let http = Http::new(host.addresses(), 2 * WORKERS);
    let researcher = Researcher::new(&http);
    researcher.open_study(options.seed, options.environments)?;
    let players: Vec<Mutex<Player>> = researcher
        .invite(options.people)?
        .iter()
        .zip(0..)
        .map(|(link, number)| {
            let person = Person::new(options.seed, number);
            let arrival_ms = arrival_ms(options.seed, number);
            Mutex::new(Player::new(options.seed, person, link, arrival_ms))
        })
        .collect();
    let mut kills = Kills::new(options);
    run(&mut host, &http, &players, &mut kills)?;
    let players = players.into_iter();
    let players: Vec<Player> = players
        .map(|player| player.into_inner().unwrap_or_else(PoisonError::into_inner))
        .collect();
    let simulation = report(options, &host, &researcher, &players)?;
    host.stop()?;
    Ok(StudySimulation {
        kills: kills.executed,
        wall_seconds: begun.elapsed().as_secs_f64(),
        ..simulation
    })
}

const fn check(field: &'static str, found: u32, max: u32) -> Result<(), SimulationError> {
    if found >= 1 && found <= max {
        return Ok(());
    }
    Err(SimulationError::Size { field, found, max })
}

/// Lets all people take their turns until all have left.
fn run(
    host: &mut Host,
    http: &Http,
    players: &[Mutex<Player>],
    kills: &mut Kills,
) -> Result<(), SimulationError> {
    let researcher = Researcher::new(http);
    let mut schedule = Schedule::default();
    for (index, player) in players.iter().enumerate() {
        if let Some((at_ms, turn)) = lock(player).next_turn() {
            schedule.add(at_ms, turn, index);
        }
    }
    let mut now_ms = FIRST_SESSION_MS;
    std::thread::scope(|scope| {
        let workers = Workers::start(scope, http, players);
        while let Some((tick_ms, turns)) = schedule.pop() {
            now_ms = tick_ms;
            host.settle_at(now_ms)?;
            let playing = with_turn(&turns, Turn::Play);
            let killed = match playing.is_empty() {
                true => None,
                false => kills.due(now_ms),
            };
            let around = Surroundings { http, now_ms };
            match killed {
                None => workers.play(now_ms, &playing)?,
                Some(server) => {
                    play_and_kill(&workers, around, (players, &playing), host, server)?;
                }
            }
            for index in with_turn(&turns, Turn::Command) {
                lock(&players[index]).act(around, &researcher)?;
            }
            for &(_, index) in &turns {
                if let Some((at_ms, turn)) = lock(&players[index]).next_turn() {
                    schedule.add(at_ms.max(now_ms + TICK_MS), turn, index);
                }
            }
        }
        Ok::<_, SimulationError>(())
    })?;
    host.settle_at(now_ms + AFTERWARDS_MS)
}

/// Lets players take their actions while a server is killed and started again.
///
/// A killed server forgets the contacts that it has not written to the log. Whether an action reaches
/// it before or after that is a matter of chance, but the study must not depend on it. Therefore only
/// people whose last contact is in the log act during a kill, and all of them report their presence
/// before and after.
fn play_and_kill(
    workers: &Workers,
    around: Surroundings<'_>,
    (players, playing): (&[Mutex<Player>], &[usize]),
    host: &mut Host,
    server: usize,
) -> Result<(), SimulationError> {
    let now_ms = around.now_ms;
    let is_about_to_act = |index: &usize| lock(&players[*index]).is_about_to_act(now_ms);
    let (acting, mut others): (Vec<_>, Vec<_>) = playing.iter().copied().partition(is_about_to_act);
    for &index in &acting {
        lock(&players[index]).report_presence(around)?;
    }
    let logged = host.logged_contacts()?;
    let is_logged = |index: &usize| {
        let player = lock(&players[*index]);
        logged.iter().any(|(participant, at_ms)| {
            *participant == player.participant && at_ms + LOGGED_MS >= now_ms
        })
    };
    let (during_kill, first): (Vec<_>, Vec<_>) = acting.into_iter().partition(is_logged);
    others.extend(first);
    workers.play(now_ms, &others)?;
    let started = workers.begin(now_ms, &during_kill);
    let killed = host.kill(server);
    workers.finish(&started)?;
    killed?;
    for &index in &during_kill {
        lock(&players[index]).report_presence(around)?;
    }
    Ok(())
}

/// Returns the players who have a turn of this kind, in the order of their numbers.
fn with_turn(turns: &BTreeSet<(Turn, usize)>, turn: Turn) -> Vec<usize> {
    let turns = turns.iter().filter(|(kind, _)| *kind == turn);
    turns.map(|&(_, index)| index).collect()
}

/// Returns the median number of acknowledged actions per play.
fn median_actions(players: &[Player]) -> Option<f64> {
    let players = players.iter().filter(|player| !player.erased);
    let attempts = players.flat_map(|player| &player.attempts);
    let counts: Vec<u64> = attempts.map(|one| one.actions.len() as u64).collect();
    median(&counts)
}

/// Closes the study and collects its results.
fn report(
    options: &SimulationOptions,
    host: &Host,
    researcher: &Researcher<'_>,
    players: &[Player],
) -> Result<StudySimulation, SimulationError> {
    researcher.close_study()?;
    let protocol = Preset::Paper.protocol();
    let rule = protocol.attempt_rule;
    let results = researcher.results()?;
    let mut summaries = results.summaries.into_iter();
    let summary = summaries
        .find(|one| one.attempt_rule == rule && one.exclusions)
        .ok_or_else(|| SimulationError::Unexpected {
            path: "results".to_owned(),
            reason: "the summary of the study's rule is missing".to_owned(),
        })?;
    let sittings = researcher.sittings()?;
    let store = host.store();
    let audit = host.block_on(audit_actions(store.as_ref(), &sittings, players))?;
    let mut incidents = Incidents::default();
    for player in players {
        incidents += player.incidents;
    }
    Ok(StudySimulation {
        model: MODEL.to_owned(),
        seed: options.seed,
        servers: options.servers,
        kills: 0,
        invited: options.people,
        pool: options.environments,
        summary,
        actions: audit.actions,
        median_actions: median_actions(players),
        lost_actions: audit.lost,
        doubled_actions: audit.doubled,
        wrong_responses: incidents.wrong_responses,
        over_quota: over_quota(&sittings, protocol.target),
        double_clicks: incidents.double_clicks,
        lost_responses: incidents.lost_responses,
        reloads: incidents.reloads,
        crashes: incidents.crashes,
        pauses: incidents.pauses,
        erased: players.iter().filter(|player| player.erased).count(),
        findings: researcher.verification()?.findings,
        wall_seconds: 0.0,
    })
}
