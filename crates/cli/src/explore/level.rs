//! Explores one level: searches its states, analyses and checks the graph, and writes its files.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use indicatif::{HumanCount, ProgressBar};
use rhae_engine::{Action, Frame, Game, LevelIndex, Outcome, Rng, StateOf};
use rhae_explore::{
    Chances, Components, EnvironmentLevel, Explorable, Graph, GraphWarning, NativeLevel, Policy,
    StopReason, actions_along, check_graph, count_shortest_wins, exact_chance, explore, first_win,
    has_all_shortest_wins, path_to, win_within,
};
use rhae_games::Visitor;
use rhae_pyhost::Games;
use rhae_report::{GraphMetadata, GraphView, graph_picture};
use rhae_validate::{ATTEMPT_FACTOR, DEFAULT_BASELINE, NativeSubject, Subject};

use super::Plan;
use super::output_files::OutputFiles;
use super::report::{self, LevelReport, Probability, ShortestWin, Terminals, Within};

/// Explores one level of a native game when [`rhae_games::visit`] calls it with the game's type.
pub(super) struct ExploreLevel<'a> {
    pub(super) plan: &'a Plan,
    pub(super) games: &'a Games,
    pub(super) index: LevelIndex,
    pub(super) files: &'a OutputFiles,
}

/// The results of one level.
pub(super) struct ExploredLevel {
    pub(super) report: LevelReport,
    /// The graph as SVG, if `--picture` was given.
    pub(super) picture: Option<String>,
    /// The result of writing the files. It is separate because the report is printed even if
    /// writing failed.
    pub(super) written: Result<()>,
}

impl Visitor for ExploreLevel<'_> {
    type Output = Result<ExploredLevel>;

    fn visit<G: Game>(self) -> Result<ExploredLevel> {
        let Self {
            plan,
            games,
            index,
            files,
        } = self;
        let level = NativeLevel::<G>::new(plan.seed, index);
        let subject = NativeSubject::<G>::new(plan.seed, Vec::new());
        let frames = |actions: &[Action]| Ok(frames::<G>(&level, actions));
        explore_level(
            &level,
            &LevelContext {
                plan,
                games,
                index,
                files,
                subject: &subject,
                identity: "hash-126",
                frames: &frames,
            },
        )
    }
}

/// Explores one level of a hosted game.
pub(super) fn explore_hosted(
    plan: &Plan,
    games: &Games,
    index: LevelIndex,
    files: &OutputFiles,
    subject: &dyn Subject,
) -> Result<ExploredLevel> {
    let enter = || {
        let play = subject.enter(plan.seed, index.0)?;
        play.with_context(|| {
            format!(
                "level {index} is unreachable: no win of the levels before it is stored or was found within {} s (--seconds) and {} states (--nodes); \
                 put a recording of a win into the game's folder",
                plan.time_limit.as_secs_f64(),
                plan.search.limits.nodes
            )
        })
    };
    let bar = spinner(plan);
    bar.set_message(format!(
        "level {index}: searching for wins of the levels before it"
    ));
    bar.enable_steady_tick(Duration::from_millis(100));
    let first = enter();
    bar.finish_and_clear();
    let level = EnvironmentLevel::new(first?, plan.identity)?;
    ensure!(
        level.lists_clicks() || plan.search.all_clicks,
        "`{}` does not list where clicks may matter (`sys_click` tags or `_get_valid_actions`); use --all-clicks",
        subject.info().id
    );
    let frames = |actions: &[Action]| {
        let mut play = enter()?;
        let mut frames = vec![play.observation().settled().clone()];
        for &action in actions {
            frames.push(play.act(action)?.settled().clone());
        }
        Ok(frames)
    };
    explore_level(
        &level,
        &LevelContext {
            plan,
            games,
            index,
            files,
            subject,
            identity: level.identity_name(),
            frames: &frames,
        },
    )
}

/// What [`explore_level`] needs in addition to the states of a level.
struct LevelContext<'a> {
    plan: &'a Plan,
    games: &'a Games,
    index: LevelIndex,
    files: &'a OutputFiles,
    subject: &'a dyn Subject,
    /// How states are identified if they do not pack into 126 bits, as named in the report.
    identity: &'static str,
    /// Returns the settled frame of the start and those after each action.
    frames: &'a dyn Fn(&[Action]) -> Result<Vec<Frame>>,
}

fn explore_level<E: Explorable<Error: std::error::Error + Sync + 'static>>(
    level: &E,
    context: &LevelContext<'_>,
) -> Result<ExploredLevel> {
    let &LevelContext {
        plan,
        games,
        index,
        files,
        subject,
        identity,
        frames,
    } = context;
    let bar = spinner(plan);
    let started = Instant::now();
    let graph = explore(level, &plan.search, |progress| {
        bar.set_message(format!(
            "level {index}: {} states, depth {}",
            HumanCount(progress.nodes as u64),
            progress.depth
        ));
        bar.tick();
        started.elapsed() < plan.time_limit && !plan.is_interrupted()
    })?;
    let seconds = started.elapsed().as_secs_f64();
    bar.set_message(format!(
        "level {index}: {} states, analysing",
        HumanCount(graph.nodes() as u64)
    ));
    bar.tick();
    let components = Components::of(&graph);
    let baseline = subject
        .info()
        .baselines
        .get(index.get())
        .map_or(DEFAULT_BASELINE, |baseline| baseline.actions);
    let within = plan.within.unwrap_or(ATTEMPT_FACTOR * baseline);
    let deadline = Instant::now() + plan.time_limit;
    let chances = Chances::of(
        &graph,
        &components,
        Policy::Valid,
        plan.search.limits.bytes / 2,
    );
    let win = first_win(&graph);
    let path = win.map_or_else(Vec::new, |win| path_to(&graph, win));
    let win_actions = actions_along(level, &graph, &path)?;
    let mut dead = chances.dead_ends(&graph);
    let first_dead_end = dead
        .next()
        .map(|node| {
            actions_along(level, &graph, &path_to(&graph, node)).map(|actions| texts(&actions))
        })
        .transpose()?;
    let dead_ends = usize::from(first_dead_end.is_some()) + dead.count();
    let (wins, losses) = graph.terminals();
    let sizes = components.sizes();
    let p_win = Probability::new(
        chances.at(0),
        exact_chance(&graph, &components, Policy::Valid),
    );
    let picture = if files.wants_picture() {
        let frames = frames(&win_actions)?;
        let is_dead =
            |node: u32| chances.at(node).high == 0 && graph.outcome(node) == Outcome::Continue;
        Some(graph_picture(&GraphView {
            graph: &graph,
            is_dead: &is_dead,
            shortest_win: &path,
            frames: &frames,
        })?)
    } else {
        None
    };
    drop(chances);
    let p_win_within = chance_within(&graph, Policy::Valid, within, deadline);
    // In a level without clicks, the policies `Blind` and `Valid` choose the same actions, so the
    // probabilities of `Valid` are reported for both.
    let clicks = if !graph.has_clicks() {
        "none"
    } else if plan.search.all_clicks {
        "all"
    } else {
        "listed"
    };
    let mut blind = (clicks == "all").then(|| {
        let chances = Chances::of(
            &graph,
            &components,
            Policy::Blind,
            plan.search.limits.bytes / 2,
        );
        let exact = exact_chance(&graph, &components, Policy::Blind);
        (
            Probability::new(chances.at(0), exact),
            chance_within(&graph, Policy::Blind, within, deadline),
        )
    });
    let in_time = || Instant::now() < deadline && !plan.is_interrupted();
    let checked = check_graph(
        level,
        &graph,
        plan.checks,
        &mut Rng::new(plan.seed, u64::from(index.0)),
        in_time,
    )?;
    let mut warnings: Vec<String> = checked.warnings.iter().map(warning).collect();
    if graph.stop() == Some(StopReason::Depth) && plan.search.limits.depth == 0 {
        warnings.push("--depth 0 explores only the start state".to_owned());
    }
    if clicks == "none" {
        blind = Some((p_win.clone(), p_win_within.clone()));
    }
    let (p_win_blind, p_win_within_blind) = blind.unzip();
    let report = LevelReport {
        software: rhae_protocol::SOFTWARE,
        game_id: subject.info().id.to_string(),
        level: index.0 + 1,
        seed: plan.seed,
        nodes: graph.nodes(),
        edges: graph.edges(),
        complete: graph.is_complete(),
        stopped_by: graph.stop().map(|stop| {
            if stop == StopReason::Time && plan.is_interrupted() {
                "interrupt"
            } else {
                stop.name()
            }
        }),
        identity: if graph.is_packed() {
            "packed"
        } else {
            identity
        },
        clicks,
        frontier: (graph.expanded() as u32..graph.nodes() as u32)
            .filter(|&node| graph.is_frontier(node))
            .count(),
        merge_density: if graph.edges() == 0 {
            0.0
        } else {
            1.0 - (graph.nodes() - 1) as f64 / graph.edges() as f64
        },
        max_depth: graph.depth(),
        layers: (0..=graph.depth())
            .map(|depth| graph.layer(depth).len())
            .collect(),
        terminals: Terminals { wins, losses },
        sccs: report::Components {
            count: components.count(),
            cyclic: sizes.len(),
            largest: sizes.first().copied().unwrap_or(1),
            sizes: sizes.iter().take(20).copied().collect(),
            self_loops: (0..graph.expanded() as u32)
                .filter(|&node| graph.targets(node).contains(&node))
                .count(),
        },
        dead_ends,
        first_dead_end,
        shortest_win: win.map(|win| ShortestWin {
            length: win_actions.len(),
            count: count_shortest_wins(&graph, win),
            all_counted: has_all_shortest_wins(&graph, win),
            actions: texts(&win_actions),
        }),
        p_win,
        p_win_within,
        p_win_blind,
        p_win_within_blind,
        checked_actions: checked.actions,
        seconds,
        states_per_s: graph.nodes() as f64 / seconds.max(1e-9),
        peak_bytes: graph.peak_bytes(),
        warnings,
    };
    bar.finish_and_clear();
    let metadata = GraphMetadata {
        game_id: subject.info().id.as_str(),
        level: index.0 + 1,
        seed: plan.seed,
    };
    let graph_written = files.write_graph(&metadata, level, &graph);
    let recording_written = files.write_recording(games, subject, plan.seed, index, &win_actions);
    Ok(ExploredLevel {
        report,
        picture,
        written: graph_written.and(recording_written),
    })
}

fn spinner(plan: &Plan) -> ProgressBar {
    if plan.quiet || !std::io::stderr().is_terminal() {
        ProgressBar::hidden()
    } else {
        ProgressBar::new_spinner()
    }
}

fn chance_within(graph: &Graph, policy: Policy, actions: u32, deadline: Instant) -> Within {
    Within::new(
        actions,
        win_within(graph, policy, actions, |_| {
            deadline.saturating_duration_since(Instant::now()) > Duration::ZERO
        }),
    )
}

fn texts(actions: &[Action]) -> Vec<String> {
    actions.iter().map(Action::to_string).collect()
}

fn warning(warning: &GraphWarning) -> String {
    let joined = |actions: &[Action]| texts(actions).join(" ");
    match warning {
        GraphWarning::KeyCollision { actions } => {
            format!(
                "two states with equal keys behave differently, so the graph is wrong; actions that show it: {}",
                joined(actions)
            )
        }
        GraphWarning::UnlistedClick { actions } => {
            format!(
                "a click that the environment does not list changes the state; use --all-clicks; actions that show it: {}",
                joined(actions)
            )
        }
    }
}

/// Returns the settled frame of the start and those after each action.
fn frames<G: Game>(level: &NativeLevel<G>, actions: &[Action]) -> Vec<Frame> {
    let mut state: StateOf<G> = level.start();
    let mut frames = vec![level.render(&state)];
    for &action in actions {
        let Ok(_) = level.step(&mut state, action);
        frames.push(level.render(&state));
    }
    frames
}
