//! What an exploration found, as JSON and as text.

use std::fmt::Write as _;

use indicatif::HumanBytes;
use rhae_explore::Chance;
use serde::Serialize;

use crate::output::counted;

/// One level.
#[derive(Serialize)]
pub(super) struct LevelReport {
    pub(super) software: &'static str,
    pub(super) game_id: String,
    pub(super) level: u8,
    pub(super) seed: u64,
    pub(super) nodes: usize,
    pub(super) edges: usize,
    pub(super) complete: bool,
    /// The limit that stopped the search.
    pub(super) stopped_by: Option<&'static str>,
    /// How states are told apart: `packed` (exactly) or `hash-126`.
    pub(super) identity: &'static str,
    /// `listed` or `all`, or `none` if the level has no clicks.
    pub(super) clicks: &'static str,
    /// States that were seen but not looked into.
    pub(super) frontier: usize,
    /// The share of edges that lead to a state that was known already.
    pub(super) merge_density: f64,
    pub(super) max_depth: usize,
    pub(super) layers: Vec<usize>,
    pub(super) terminals: Terminals,
    pub(super) sccs: Components,
    /// Of a graph that is not complete, those that are certain.
    pub(super) dead_ends: usize,
    /// A shortest way into one.
    pub(super) first_dead_end: Option<Vec<String>>,
    pub(super) shortest_win: Option<ShortestWin>,
    pub(super) p_win: Probability,
    pub(super) p_win_within: Within,
    pub(super) p_win_blind: Option<Probability>,
    pub(super) p_win_within_blind: Option<Within>,
    /// Random actions that were compared with the graph.
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

#[derive(Serialize)]
pub(super) struct Components {
    pub(super) count: usize,
    /// Those of more than one state.
    pub(super) cyclic: usize,
    pub(super) largest: usize,
    /// The sizes of the largest twenty.
    pub(super) sizes: Vec<usize>,
    /// States with an action that changes nothing.
    pub(super) self_loops: usize,
}

#[derive(Serialize)]
pub(super) struct ShortestWin {
    pub(super) length: usize,
    /// How many lines of actions are as short, and whether there are no more.
    pub(super) count: u128,
    pub(super) all_counted: bool,
    pub(super) actions: Vec<String>,
}

/// Bounds that differ by no more than this share of themselves are one number.
const CLOSE: f64 = 1e-6;

fn are_close(lower: f64, upper: f64) -> bool {
    upper - lower <= CLOSE * upper
}

#[derive(Clone, Serialize)]
pub(super) struct Probability {
    pub(super) lower: f64,
    pub(super) upper: f64,
    pub(super) fraction: Option<String>,
    pub(super) one_in: Option<f64>,
}

impl Probability {
    pub(super) fn new(chance: Chance, fraction: Option<(String, String)>) -> Self {
        // Fractions of many digits tell nobody anything.
        let fraction = fraction.map(|(above, below)| {
            if below == "1" {
                above
            } else {
                format!("{above}/{below}")
            }
        });
        let fraction = fraction.filter(|text| text.len() <= 400);
        // Of bounds that are far apart, nothing between them means anything.
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
            _ if self.lower == 1.0 => "1: nobody can fail for ever".to_owned(),
            Some(one_in) => format!("{}{exact} (1 in {})", share(self.lower), number(one_in)),
            _ => format!("between {} and {}", share(self.lower), share(self.upper)),
        }
    }
}

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

/// A chance for people: six digits that count.
fn share(value: f64) -> String {
    match value {
        0.0 | 1.0 => value.to_string(),
        0.001.. => format!("{value:.6}"),
        _ => format!("{value:.6e}"),
    }
}

/// A number for people: whole where it is large.
fn number(value: f64) -> String {
    if value < 100.0 {
        format!("{value:.3}")
    } else {
        format!("{value:.0}")
    }
}

/// Names and values for a page and for the terminal.
pub(super) fn facts(report: &LevelReport) -> Vec<(&'static str, String)> {
    let complete = match report.stopped_by {
        None => "complete".to_owned(),
        Some(limit) => format!(
            "not complete: stopped by {limit}, {} not looked into",
            counted(report.frontier as u64, "state")
        ),
    };
    let at_least = if report.complete { "" } else { "at least " };
    let seen = if report.complete { "" } else { " seen" };
    let cycles = match report.sccs.cyclic {
        0 if report.sccs.self_loops == 0 => format!("none{seen}"),
        0 => format!("none{seen} but actions that change nothing"),
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
            ", {:.1} % of them to known states",
            100.0 * report.merge_density
        ),
    };
    let shortest = match &report.shortest_win {
        None if report.complete => "none: the level cannot be won".to_owned(),
        None => "not found".to_owned(),
        Some(win) => {
            let at_least = if win.all_counted { "" } else { "at least " };
            format!(
                "{}; lines as short: {at_least}{}",
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
            "ends",
            format!(
                "wins {}, losses {}",
                report.terminals.wins, report.terminals.losses
            ),
        ),
        ("cycles", cycles),
        ("dead ends", format!("{at_least}{}", report.dead_ends)),
        ("shortest win", shortest),
        ("chance to win", report.p_win.text()),
    ];
    let within = format!(
        "within {}: {}",
        counted(report.p_win_within.actions.into(), "action"),
        report.p_win_within.text()
    );
    facts.push(("in time", within));
    if report.clicks == "all"
        && let (Some(blind), Some(within)) = (&report.p_win_blind, &report.p_win_within_blind)
    {
        facts.push((
            "blind clicks",
            format!(
                "{}; within {} actions {}",
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
        format!("{:.digits$} states a second, {memory}", report.states_per_s),
    ));
    facts
}

/// One level for the terminal.
pub(super) fn text(report: &LevelReport) -> String {
    let mut text = format!(
        "{} level {}, seed {}\n",
        report.game_id, report.level, report.seed
    );
    for (name, value) in facts(report) {
        let _ = writeln!(text, "  {name:<14} {value}");
    }
    if let Some(win) = &report.shortest_win {
        let _ = writeln!(text, "  {:<14} {}", "actions", win.actions.join(" "));
    }
    for warning in &report.warnings {
        let _ = writeln!(text, "  warning: {warning}");
    }
    text
}

/// Many levels for the terminal: how the effective state space grows.
pub(super) fn table(reports: &[LevelReport]) -> String {
    let mut text = reports.first().map_or_else(String::new, |first| {
        format!("{}, seed {}\n\n", first.game_id, first.seed)
    });
    text.push_str(
        "level      states       edges  depth  shortest  dead ends  chance to win        within the budget     complete\n",
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
