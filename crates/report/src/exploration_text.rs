//! The results of an exploration as text: a list of facts for one level, a table for several.

use std::fmt::Write as _;

use rhae_protocol::{ExploredLevel, SearchedClicks, ShortestWinForm, WinProbability, WinWithin};

use crate::counted;

/// Returns the results as names and values, for the page and for the terminal.
pub fn exploration_facts(level: &ExploredLevel) -> Vec<(&'static str, String)> {
    let complete = match &level.stopped_by {
        None => "complete".to_owned(),
        Some(limit) => format!(
            "incomplete: stopped by {limit}, {} not expanded",
            counted(level.frontier as u64, "state")
        ),
    };
    let at_least = if level.complete { "" } else { "at least " };
    let known = match level.edges {
        0 => String::new(),
        _ => format!(
            ", {:.1} % of them lead to known states",
            100.0 * level.merge_density
        ),
    };
    let terminals = level.terminals;
    let mut facts = vec![
        ("states", format!("{} ({complete})", level.nodes)),
        ("edges", format!("{}{known}", level.edges)),
        ("depth", level.max_depth.to_string()),
        (
            "terminal states",
            format!("wins {}, losses {}", terminals.wins, terminals.losses),
        ),
        ("cycles", cycles_text(level)),
        ("dead ends", format!("{at_least}{}", level.dead_ends)),
        (
            "shortest win",
            shortest_text(
                level.shortest_win.as_ref(),
                level.complete && level.clicks != SearchedClicks::Representative,
            ),
        ),
        ("win probability", eventually_text(&level.p_win)),
    ];
    if level.clicks == SearchedClicks::Representative {
        facts.insert(
            2,
            (
                "clicks",
                "one cell per sprite and area of one colour; --all-clicks tries all".to_owned(),
            ),
        );
    }
    let within = format!(
        "{}: {}",
        counted(level.p_win_within.actions.into(), "action"),
        within_text(&level.p_win_within)
    );
    facts.push(("win within", within));
    if level.clicks == SearchedClicks::All
        && let (Some(blind), Some(within)) = (&level.p_win_blind, &level.p_win_within_blind)
    {
        facts.push((
            "blind clicks",
            format!(
                "{}; within {} actions: {}",
                eventually_text(blind),
                within.actions,
                within_text(within)
            ),
        ));
    }
    facts.push((
        "checked by",
        counted(level.checked_actions.into(), "random action"),
    ));
    let digits = if level.states_per_s < 100.0 { 1 } else { 0 };
    let memory = bytes_text(level.peak_bytes);
    facts.push((
        "speed",
        format!(
            "{:.digits$} states per second, {memory}",
            level.states_per_s
        ),
    ));
    facts
}

fn cycles_text(level: &ExploredLevel) -> String {
    let found = if level.complete { "" } else { " found" };
    match level.sccs.cyclic {
        0 if level.sccs.self_loops == 0 => format!("none{found}"),
        0 => format!("none{found} except actions that change nothing"),
        1 => format!(
            "in one strongly connected component of {} states",
            level.sccs.largest
        ),
        count => format!(
            "in {count} strongly connected components, the largest of {} states",
            level.sccs.largest
        ),
    }
}

fn shortest_text(win: Option<&ShortestWinForm>, complete: bool) -> String {
    match win {
        None if complete => "none: the level cannot be won".to_owned(),
        None => "not found".to_owned(),
        Some(win) => {
            let at_least = if win.all_counted { "" } else { "at least " };
            format!(
                "{}; wins of this length: {at_least}{}",
                counted(win.length as u64, "action"),
                win.count
            )
        }
    }
}

/// Formats the results of one level for the terminal.
pub fn exploration_text(level: &ExploredLevel) -> String {
    let mut text = format!(
        "{} level {}, seed {}\n",
        level.game_id, level.level, level.seed
    );
    for (name, value) in exploration_facts(level) {
        let _ = writeln!(text, "  {name:<15} {value}");
    }
    if let Some(win) = &level.shortest_win {
        let _ = writeln!(text, "  {:<15} {}", "actions", win.actions.join(" "));
    }
    for warning in &level.warnings {
        let _ = writeln!(text, "  warning: {warning}");
    }
    text
}

/// Formats the results of several levels as a table, which shows how the state space grows.
pub fn exploration_table(levels: &[ExploredLevel]) -> String {
    let mut text = levels.first().map_or_else(String::new, |first| {
        format!("{}, seed {}\n\n", first.game_id, first.seed)
    });
    text.push_str(
        "level      states       edges  depth  shortest  dead ends  win probability      within limit         complete\n",
    );
    for level in levels {
        let (p_win, within) = (&level.p_win, &level.p_win_within);
        let _ = writeln!(
            text,
            "{:>5} {:>11} {:>11} {:>6} {:>9} {:>10}  {:<19}  {:<19}  {}",
            level.level,
            level.nodes,
            level.edges,
            level.max_depth,
            level
                .shortest_win
                .as_ref()
                .map_or_else(|| "-".to_owned(), |win| win.length.to_string()),
            format!(
                "{}{}",
                if level.complete { "" } else { "≥ " },
                level.dead_ends
            ),
            bounds_text(p_win.lower, p_win.upper, p_win.one_in),
            bounds_text(within.lower, within.upper, within.one_in),
            level
                .stopped_by
                .as_ref()
                .map_or_else(|| "yes".to_owned(), |limit| format!("no: {limit}"))
        );
    }
    for level in levels {
        for warning in &level.warnings {
            let _ = writeln!(text, "warning, level {}: {warning}", level.level);
        }
    }
    text
}

fn eventually_text(p: &WinProbability) -> String {
    let fraction = p
        .fraction
        .as_ref()
        .filter(|text| text.len() <= 40 && text.contains('/'));
    let exact = fraction.map_or_else(String::new, |text| format!(" = {text}"));
    match p.one_in {
        _ if p.upper == 0.0 => "0: winning is impossible".to_owned(),
        _ if p.lower == 1.0 => "1: random play wins eventually".to_owned(),
        Some(one_in) => format!("{}{exact} (1 in {})", share(p.lower), number(one_in)),
        _ => format!("between {} and {}", share(p.lower), share(p.upper)),
    }
}

fn within_text(p: &WinWithin) -> String {
    match p.one_in {
        _ if p.upper == 0.0 => "0".to_owned(),
        Some(one_in) => format!("{} (1 in {})", share(p.lower), number(one_in)),
        _ => format!("between {} and {}", share(p.lower), share(p.upper)),
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

/// Formats a probability for the table: one number if its bounds are close, else both bounds.
fn bounds_text(lower: f64, upper: f64, one_in: Option<f64>) -> String {
    let short = |value: f64| match value {
        0.0 | 1.0 => value.to_string(),
        0.001.. => format!("{value:.4}"),
        _ => format!("{value:.3e}"),
    };
    if one_in.is_some() || upper == 0.0 {
        short(lower)
    } else {
        format!("{} to {}", short(lower), short(upper))
    }
}

/// Formats a number of bytes with a binary unit.
fn bytes_text(bytes: usize) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let (mut value, mut unit) = (bytes as f64 / 1024.0, 0);
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.2} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_shown_with_a_binary_unit() {
        assert_eq!(bytes_text(1023), "1023 B");
        assert_eq!(bytes_text(1536), "1.50 KiB");
        assert_eq!(bytes_text(3 << 30), "3.00 GiB");
    }

    #[test]
    fn bounds_that_are_close_are_shown_as_one_number() {
        assert_eq!(bounds_text(0.25, 0.250_000_01, Some(4.0)), "0.2500");
        assert_eq!(bounds_text(0.0, 0.5, None), "0 to 0.5000");
        assert_eq!(bounds_text(0.0, 0.0, None), "0");
    }
}
