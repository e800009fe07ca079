//! The results of an exploration as JSON and as text.

use std::fmt::Write as _;

use indicatif::HumanBytes;
use rhae_explore::Chance;
use serde::Serialize;

use crate::output::counted;

/// The results of one level, in the form that `--json` prints (docs/explore.md).
#[derive(Serialize)]
pub(super) struct LevelReport {
    pub(super) software: &'static str,
    pub(super) game_id: String,
    pub(super) level: u8,
    pub(super) seed: u64,
    pub(super) nodes: usize,
    pub(super) edges: usize,
    pub(super) complete: bool,
    /// The limit that stopped the search, or `interrupt`; `None` if the graph is complete.
    pub(super) stopped_by: Option<&'static str>,
    /// How states are identified: `packed` (exactly) or `hash-126`; for hosted games `frame`,
    /// `frame-and-hidden` or `deep`.
    pub(super) identity: &'static str,
    /// The clicks that were searched: `listed` or `all`, or `none` if the level has no clicks.
    pub(super) clicks: &'static str,
    /// The number of states that were not expanded.
    pub(super) frontier: usize,
    /// The share of edges that lead to an already known state.
    pub(super) merge_density: f64,
    pub(super) max_depth: usize,
    pub(super) layers: Vec<usize>,
    pub(super) terminals: Terminals,
    pub(super) sccs: Components,
    /// The number of states that are not terminal and from which no win is reachable. In an
    /// incomplete graph, only states for which this is proved are counted.
    pub(super) dead_ends: usize,
    /// A shortest sequence of actions that leads to a dead end.
    pub(super) first_dead_end: Option<Vec<String>>,
    pub(super) shortest_win: Option<ShortestWin>,
    pub(super) p_win: Probability,
    pub(super) p_win_within: Within,
    pub(super) p_win_blind: Option<Probability>,
    pub(super) p_win_within_blind: Option<Within>,
    /// The number of random actions that were compared with the graph.
    pub(super) checked_actions: u32,
    pub(super) seconds: f64,
    pub(super) states_per_s: f64,
    pub(super) peak_bytes: usize,
    pub(super) warnings: Vec<String>,
}

#[derive(Serialize)]
pub(super) struct Terminals {
    pub(super) wins: usize,
    pub(super) losses: usize,
}

/// Strongly connected components.
#[derive(Serialize)]
pub(super) struct Components {
    pub(super) count: usize,
    /// The number of components with more than one state.
    pub(super) cyclic: usize,
    pub(super) largest: usize,
    /// The sizes of the largest components with more than one state, at most twenty.
    pub(super) sizes: Vec<usize>,
    /// The number of states with an action that changes nothing.
    pub(super) self_loops: usize,
}

#[derive(Serialize)]
pub(super) struct ShortestWin {
    pub(super) length: usize,
    /// The number of action sequences of this length that win.
    pub(super) count: u128,
    /// Whether `count` is exact. Otherwise it is a lower bound.
    pub(super) all_counted: bool,
    pub(super) actions: Vec<String>,
}

/// Bounds whose relative difference is at most this are shown as one number.
const RELATIVE_TOLERANCE: f64 = 1e-6;

fn are_close(lower: f64, upper: f64) -> bool {
    upper - lower <= RELATIVE_TOLERANCE * upper
}

#[derive(Clone, Serialize)]
pub(super) struct Probability {
    pub(super) lower: f64,
    pub(super) upper: f64,
    /// The exact value as a fraction, if it is known and short enough to print.
    pub(super) fraction: Option<String>,
    /// The N of "1 in N"; `None` if the lower bound is 0 or the bounds are far apart.
    pub(super) one_in: Option<f64>,
}

impl Probability {
    pub(super) fn new(chance: Chance, fraction: Option<(String, String)>) -> Self {
        let fraction = fraction.map(|(numerator, denominator)| {
            if denominator == "1" {
                numerator
            } else {
                format!("{numerator}/{denominator}")
            }
        });
        // A fraction with hundreds of digits is of no use to a reader.
        let fraction = fraction.filter(|text| text.len() <= 400);
        // If the bounds are far apart, no single number represents them.
        let is_close = are_close(chance.lower(), chance.upper());
        let one_in = (chance.low > 0 && is_close).then(|| 1.0 / chance.middle());
        Self {
            lower: chance.lower(),
            upper: chance.upper(),
            fraction,
            one_in,
        }
    }

    fn text(&self) -> String {
        let fraction = self
            .fraction
            .as_ref()
            .filter(|text| text.len() <= 40 && text.contains('/'));
        let exact = fraction.map_or_else(String::new, |text| format!(" = {text}"));
        match self.one_in {
            _ if self.upper == 0.0 => "0: winning is impossible".to_owned(),
            _ if self.lower == 1.0 => "1: random play wins eventually".to_owned(),
            Some(one_in) => format!("{}{exact} (1 in {})", share(self.lower), number(one_in)),
            _ => format!("between {} and {}", share(self.lower), share(self.upper)),
        }
    }
}

/// The probability of a win within a number of actions.
#[derive(Clone, Serialize)]
pub(super) struct Within {
    pub(super) actions: u32,
    pub(super) lower: f64,
    pub(super) upper: f64,
    pub(super) one_in: Option<f64>,
}

impl Within {
    pub(super) fn new(actions: u32, chance: Chance) -> Self {
        let Probability {
            lower,
            upper,
            one_in,
            ..
        } = Probability::new(chance, None);
        Self {
            actions,
            lower,
            upper,
            one_in,
        }
    }

    fn text(&self) -> String {
        match self.one_in {
            _ if self.upper == 0.0 => "0".to_owned(),
            Some(one_in) => format!("{} (1 in {})", share(self.lower), number(one_in)),
            _ => format!("between {} and {}", share(self.lower), share(self.upper)),
        }
    }
}

/// Formats a probability with about six significant digits.
fn share(value: f64) -> String {
    match value {
        0.0 | 1.0 => value.to_string(),
        0.001.. => format!("{value:.6}"),
        _ => format!("{value:.6e}"),
    }
}

/// Formats a number with three decimals, or with none from 100 on.
fn number(value: f64) -> String {
    if value < 100.0 {
        format!("{value:.3}")
    } else {
        format!("{value:.0}")
    }
}

/// Returns the results as names and values, for the page and for the terminal.
pub(super) fn facts(report: &LevelReport) -> Vec<(&'static str, String)> {
    let complete = match report.stopped_by {
        None => "complete".to_owned(),
        Some(limit) => format!(
            "incomplete: stopped by {limit}, {} not expanded",
            counted(report.frontier as u64, "state")
        ),
    };
    let at_least = if report.complete { "" } else { "at least " };
    let found = if report.complete { "" } else { " found" };
    let cycles = match report.sccs.cyclic {
        0 if report.sccs.self_loops == 0 => format!("none{found}"),
        0 => format!("none{found} except actions that change nothing"),
        1 => format!(
            "in one strongly connected component of {} states",
            report.sccs.largest
        ),
        count => format!(
            "in {count} strongly connected components, the largest of {} states",
            report.sccs.largest
        ),
    };
    let known = match report.edges {
        0 => String::new(),
        _ => format!(
            ", {:.1} % of them lead to known states",
            100.0 * report.merge_density
        ),
    };
    let shortest = match &report.shortest_win {
        None if report.complete => "none: the level cannot be won".to_owned(),
        None => "not found".to_owned(),
        Some(win) => {
            let at_least = if win.all_counted { "" } else { "at least " };
            format!(
                "{}; wins of this length: {at_least}{}",
                counted(win.length as u64, "action"),
                win.count
            )
        }
    };
    let mut facts = vec![
        ("states", format!("{} ({complete})", report.nodes)),
        ("edges", format!("{}{known}", report.edges)),
        ("depth", report.max_depth.to_string()),
        (
            "terminal states",
            format!(
                "wins {}, losses {}",
                report.terminals.wins, report.terminals.losses
            ),
        ),
        ("cycles", cycles),
        ("dead ends", format!("{at_least}{}", report.dead_ends)),
        ("shortest win", shortest),
        ("win probability", report.p_win.text()),
    ];
    let within = format!(
        "{}: {}",
        counted(report.p_win_within.actions.into(), "action"),
        report.p_win_within.text()
    );
    facts.push(("win within", within));
    if report.clicks == "all"
        && let (Some(blind), Some(within)) = (&report.p_win_blind, &report.p_win_within_blind)
    {
        facts.push((
            "blind clicks",
            format!(
                "{}; within {} actions: {}",
                blind.text(),
                within.actions,
                within.text()
            ),
        ));
    }
    facts.push((
        "checked by",
        counted(report.checked_actions.into(), "random action"),
    ));
    let digits = if report.states_per_s < 100.0 { 1 } else { 0 };
    let memory = HumanBytes(report.peak_bytes as u64);
    facts.push((
        "speed",
        format!(
            "{:.digits$} states per second, {memory}",
            report.states_per_s
        ),
    ));
    facts
}

/// Formats the results of one level for the terminal.
pub(super) fn text(report: &LevelReport) -> String {
    let mut text = format!(
        "{} level {}, seed {}\n",
        report.game_id, report.level, report.seed
    );
    for (name, value) in facts(report) {
        let _ = writeln!(text, "  {name:<15} {value}");
    }
    if let Some(win) = &report.shortest_win {
        let _ = writeln!(text, "  {:<15} {}", "actions", win.actions.join(" "));
    }
    for warning in &report.warnings {
        let _ = writeln!(text, "  warning: {warning}");
    }
    text
}

/// Formats the results of several levels as a table, which shows how the state space grows.
pub(super) fn table(reports: &[LevelReport]) -> String {
    let mut text = reports.first().map_or_else(String::new, |first| {
        format!("{}, seed {}\n\n", first.game_id, first.seed)
    });
    text.push_str(
        "level      states       edges  depth  shortest  dead ends  win probability      within limit         complete\n",
    );
    for report in reports {
        let chance = |lower: f64, upper: f64| {
            let short = |value: f64| match value {
                0.0 | 1.0 => value.to_string(),
                0.001.. => format!("{value:.4}"),
                _ => format!("{value:.3e}"),
            };
            if are_close(lower, upper) {
                short(lower)
            } else {
                format!("{} to {}", short(lower), short(upper))
            }
        };
        let _ = writeln!(
            text,
            "{:>5} {:>11} {:>11} {:>6} {:>9} {:>10}  {:<19}  {:<19}  {}",
            report.level,
            report.nodes,
            report.edges,
            report.max_depth,
            report
                .shortest_win
                .as_ref()
                .map_or_else(|| "-".to_owned(), |win| win.length.to_string()),
            format!(
                "{}{}",
                if report.complete { "" } else { "≥ " },
                report.dead_ends
            ),
            chance(report.p_win.lower, report.p_win.upper),
            chance(report.p_win_within.lower, report.p_win_within.upper),
            report
                .stopped_by
                .map_or_else(|| "yes".to_owned(), |limit| format!("no: {limit}"))
        );
    }
    for report in reports {
        for warning in &report.warnings {
            let _ = writeln!(text, "warning, level {}: {warning}", report.level);
        }
    }
    text
}
