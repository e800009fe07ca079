//! One level: search, analysis, check, and what the files need of it.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use indicatif::{HumanCount, ProgressBar};
use rhae_engine::{Action, Frame, Game, LevelIndex, Outcome, Rng, StateOf};
use rhae_explore::{
    Chances, Components, Doubt, EnvironmentLevel, Explorable, Graph, NativeLevel, Policy, Stop,
    actions_along, check, count_shortest, explore, first_win, fraction, knows_all_shortest, way_to,
    win_within,
};
use rhae_games::Visitor;
use rhae_pyhost::Games;
use rhae_report::{DrawnGraph, GraphOf, graph_picture};
use rhae_validate::{ATTEMPT, NativeSubject, Subject, UNKNOWN_BASELINE};

use super::Plan;
use super::output_files::Files;
use super::report::{self, LevelReport, Probability, ShortestWin, Terminals, Within};

/// Explores one level of a native game.
pub(super) struct ExploreLevel<'a> {
    pub(super) plan: &'a Plan,
    pub(super) games: &'a Games,
    pub(super) index: LevelIndex,
    pub(super) files: &'a Files,
}

/// What came of it.
pub(super) struct Explored {
    pub(super) report: LevelReport,
    /// The picture, if one is asked for.
    pub(super) picture: Option<String>,
    /// Whether its files could be written; what was found is worth knowing all the same.
    pub(super) written: Result<()>,
}

impl Visitor for ExploreLevel<'_> {
    type Output = Result<Explored>;

    fn visit<G: Game>(self) -> Result<Explored> {
        let Self {
            plan,
            games,
            index,
            files,
        } = self;
        let level = NativeLevel::<G>::new(plan.seed, index);
        let subject = NativeSubject::<G>::new(plan.seed, Vec::new());
        let frames = |line: &[Action]| Ok(frames::<G>(&level, line));
        explored(
            &level,
            &About {
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

/// Explores one level of an environment that can only be played.
pub(super) fn explore_hosted(
    plan: &Plan,
    games: &Games,
    index: LevelIndex,
    files: &Files,
    subject: &dyn Subject,
) -> Result<Explored> {
    let enter = || {
        let play = subject.enter(plan.seed, index.0)?;
        play.with_context(|| {
            format!(
                "level {index} cannot be come to: no win of the levels before is stored or was found within {} s (--seconds) and {} states (--nodes); \
                 put a recording of one into the game's folder",
                plan.patience.as_secs_f64(),
                plan.search.limits.nodes
            )
        })
    };
    let bar = spinner(plan);
    bar.set_message(format!("level {index}: looking for a way to it"));
    bar.enable_steady_tick(Duration::from_millis(100));
    let first = enter();
    bar.finish_and_clear();
    let level = EnvironmentLevel::new(first?, plan.identity)?;
    ensure!(
        level.lists_clicks() || plan.search.all_clicks,
        "`{}` does not list which clicks may matter (`sys_click` tags, or `_get_valid_actions`); use --all-clicks",
        subject.info().id
    );
    let frames = |line: &[Action]| {
        let mut play = enter()?;
        let mut frames = vec![play.observation().settled().clone()];
        for &action in line {
            frames.push(play.act(action)?.settled().clone());
        }
        Ok(frames)
    };
    explored(
        &level,
        &About {
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

/// What is known of a level beside its states.
struct About<'a> {
    plan: &'a Plan,
    games: &'a Games,
    index: LevelIndex,
    files: &'a Files,
    subject: &'a dyn Subject,
    /// What tells states apart where they do not pack.
    identity: &'static str,
    /// The settled frames along a line, the first one included.
    frames: &'a dyn Fn(&[Action]) -> Result<Vec<Frame>>,
}

fn explored<E: Explorable<Error: std::error::Error + Sync + 'static>>(
    level: &E,
    about: &About<'_>,
) -> Result<Explored> {
    let &About {
        plan,
        games,
        index,
        files,
        subject,
        identity,
        frames,
    } = about;
    let bar = spinner(plan);
    let begun = Instant::now();
    let graph = explore(level, &plan.search, |progress| {
        bar.set_message(format!(
            "level {index}: {} states, depth {}",
            HumanCount(progress.nodes as u64),
            progress.depth
        ));
        bar.tick();
        begun.elapsed() < plan.patience && !plan.is_interrupted()
    })?;
    let seconds = begun.elapsed().as_secs_f64();
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
        .map_or(UNKNOWN_BASELINE, |baseline| baseline.actions);
    let within = plan.within.unwrap_or(ATTEMPT * baseline);
    let deadline = Instant::now() + plan.patience;
    let chances = Chances::of(
        &graph,
        &components,
        Policy::Valid,
        plan.search.limits.bytes / 2,
    );
    let win = first_win(&graph);
    let way = win.map_or_else(Vec::new, |win| way_to(&graph, win));
    let line = actions_along(level, &graph, &way)?;
    let mut dead = chances.dead_ends(&graph);
    let first_dead_end = dead
        .next()
        .map(|node| actions_along(level, &graph, &way_to(&graph, node)).map(|line| texts(&line)))
        .transpose()?;
    let dead_ends = usize::from(first_dead_end.is_some()) + dead.count();
    let (wins, losses) = graph.terminals();
    let sizes = components.sizes();
    let p_win = Probability::new(chances.at(0), fraction(&graph, &components, Policy::Valid));
    let picture = if files.wants_picture() {
        let frames = frames(&line)?;
        let is_dead =
            |node: u32| chances.at(node).high == 0 && graph.outcome(node) == Outcome::Going;
        Some(graph_picture(&DrawnGraph {
            graph: &graph,
            is_dead: &is_dead,
            way: &way,
            frames: &frames,
        })?)
    } else {
        None
    };
    drop(chances);
    let p_win_within = chance_within(&graph, Policy::Valid, within, deadline);
    // A level without clicks is played blindly as it is played uniformly.
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
        let exact = fraction(&graph, &components, Policy::Blind);
        (
            Probability::new(chances.at(0), exact),
            chance_within(&graph, Policy::Blind, within, deadline),
        )
    });
    let in_time = || Instant::now() < deadline && !plan.is_interrupted();
    let checked = check(
        level,
        &graph,
        plan.checks,
        &mut Rng::new(plan.seed, u64::from(index.0)),
        in_time,
    )?;
    let mut warnings: Vec<String> = checked.doubts.iter().map(warning).collect();
    if graph.stop() == Some(Stop::Depth) && plan.search.limits.depth == 0 {
        warnings.push("a depth of 0 shows the start alone".to_owned());
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
            if stop == Stop::Time && plan.is_interrupted() {
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
            length: line.len(),
            count: count_shortest(&graph, win),
            all_counted: knows_all_shortest(&graph, win),
            actions: texts(&line),
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
    let of = GraphOf {
        game_id: subject.info().id.as_str(),
        level: index.0 + 1,
        seed: plan.seed,
    };
    let graph_written = files.write_graph(&of, level, &graph);
    let recording_written = files.write_recording(games, subject, plan.seed, index, &line);
    Ok(Explored {
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

fn texts(line: &[Action]) -> Vec<String> {
    line.iter().map(Action::to_string).collect()
}

fn warning(doubt: &Doubt) -> String {
    let line = |actions: &[Action]| texts(actions).join(" ");
    match doubt {
        Doubt::SameKey { actions } => {
            format!(
                "two states look the same but behave differently, so the graph is wrong; shown by: {}",
                line(actions)
            )
        }
        Doubt::UnlistedClick { actions } => {
            format!(
                "a click that the environment does not list changes the state; use --all-clicks; shown by: {}",
                line(actions)
            )
        }
    }
}

/// The settled frames along a line, the first one included.
fn frames<G: Game>(level: &NativeLevel<G>, line: &[Action]) -> Vec<Frame> {
    let mut state: StateOf<G> = level.start();
    let mut frames = vec![level.drawn(&state)];
    for &action in line {
        let Ok(_) = level.step(&mut state, action);
        frames.push(level.drawn(&state));
    }
    frames
}
