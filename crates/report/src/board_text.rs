//! Leaderboards as plain text for a terminal.

use std::fmt::Write as _;

use rhae_protocol::{
    BoardChange, BoardCheck, BoardId, BoardRow, BoardView, RowComparison, VerificationState,
};

use crate::plain;

/// Formats the list of boards, one line each.
pub fn boards_text(boards: &[BoardId]) -> String {
    boards.iter().map(|board| format!("{board}\n")).collect()
}

/// Formats a board with its rows, what their states do not prove, and the published results.
pub fn board_text(view: &BoardView) -> String {
    let mut text = format!(
        "{}: {} ({}{})\nset {} ({}, {} {}), {}, {}\n",
        view.board,
        plain(&view.title),
        view.kind.name(),
        if view.closed { ", closed" } else { "" },
        plain(&view.set),
        view.visibility.name(),
        view.item_count(),
        view.items(),
        view.method,
        rules(view),
    );
    if view.provisional_baselines {
        text.push_str("The baselines are provisional: no people have played these environments.\n");
    }
    let parts = if view.tasks.is_some() {
        "tests"
    } else {
        "levels"
    };
    let _ = writeln!(
        text,
        "\n{:>4} {:>7}  {:24} {:>7} {:>17} {:>9} {:>11}  {:10}  flags",
        "rank", "range", "system", "score %", "95 % interval", parts, "cost USD", "state"
    );
    for row in &view.rows {
        text.push_str(&row_line(row));
    }
    let mut states: Vec<_> = view.rows.iter().map(|row| row.state).collect();
    states.sort_unstable();
    states.dedup();
    text.push('\n');
    for state in states {
        let _ = writeln!(
            text,
            "{} does not prove: {}",
            state.name(),
            view.proofs(state).1
        );
    }
    for row in &view.rows {
        if let Some(rescored) = &row.rescored {
            let (old, new) = (rescored.old, rescored.new);
            let (release, note) = (plain(&rescored.release), plain(&rescored.note));
            let _ = writeln!(
                text,
                "{}: corrected in {release}: {old:.2} % before, {new:.2} % now: {note}",
                row.entry
            );
        }
    }
    for row in view.rows.iter().filter(|row| row.failure.is_some()) {
        let failure = row.failure.as_deref().unwrap_or_default();
        let _ = writeln!(text, "{}: not accepted: {}", row.entry, plain(failure));
    }
    for one in view
        .registrations
        .iter()
        .filter(|one| one.plays < one.announced)
    {
        let state = if one.abandoned {
            "abandoned"
        } else {
            "registered"
        };
        let (name, plays, announced) = (plain(&one.name), one.plays, one.announced);
        let _ = writeln!(
            text,
            "{}: {state}: {name}, {plays} of {announced} plays",
            one.registration
        );
    }
    text.push_str(&references(view));
    text
}

/// Formats the published results.
fn references(view: &BoardView) -> String {
    let mut text = String::new();
    if !view.references.is_empty() {
        text.push_str("\nPublished results on other sets, not ranked:\n");
    }
    for result in &view.references {
        let _ = writeln!(
            text,
            "{:>36} {:>7.2}  {} ({})",
            result.system, result.score, result.set, result.source
        );
    }
    text
}

fn row_line(row: &BoardRow) -> String {
    let (rank, range) = row.rank.map_or_else(Default::default, |rank| {
        let range = rank.best.zip(rank.worst);
        let range = range.map(|(best, worst)| format!("{best}-{worst}"));
        (rank.rank.to_string(), range.unwrap_or_default())
    });
    let name: String = plain(&format!("{} {}", row.name, row.version))
        .chars()
        .take(24)
        .collect();
    let (score, interval, levels) = row.score.map_or_else(Default::default, |score| {
        let [low, high] = score.interval;
        let played = if score.played < score.environments {
            format!("{} of {}", score.played, score.environments)
        } else {
            format!("{:.1}/{}", score.levels_completed, score.levels)
        };
        (
            format!("{:.2}", score.mean),
            format!("{low:.2} to {high:.2}"),
            played,
        )
    });
    let cost = row
        .cost
        .usd
        .map_or_else(|| "unknown".to_owned(), |usd| format!("{usd:.4}"));
    let flags: Vec<&str> = row.flags.iter().map(|flag| flag.flag.name()).collect();
    let line = format!(
        "{rank:>4} {range:>7}  {name:24} {score:>7} {interval:>17} {levels:>9} {cost:>11}  {:10}  {}",
        row.state.name(),
        flags.join(", ")
    );
    line.trim_end().to_owned() + "\n"
}

/// Returns the budget, or the protocol of static tasks.
fn rules(view: &BoardView) -> String {
    match &view.tasks {
        None => format!("budget {}", view.budget),
        Some(tasks) => format!(
            "protocol {}, {} attempts, parser {}\nrevision {}",
            tasks.protocol.name(),
            tasks.attempts,
            tasks.parser.name(),
            plain(&tasks.revision),
        ),
    }
}

/// Formats what a command changed. `proofs` returns what a state proves and what it does not.
pub fn board_change_text(
    change: &BoardChange,
    proofs: impl Fn(VerificationState) -> (&'static str, &'static str),
) -> String {
    let mut text = format!("{}: {}\n", change.board, change.events.join(", "));
    if let (Some(entry), Some(state)) = (&change.entry, change.state) {
        let (proves, does_not_prove) = proofs(state);
        let _ = writeln!(text, "{entry} is {}: {proves}", state.name());
        let _ = writeln!(text, "It does not prove: {does_not_prove}");
    }
    for flag in &change.flags {
        let _ = writeln!(text, "flag {}: {}", flag.flag.name(), plain(&flag.evidence));
    }
    if let Some(failure) = &change.failure {
        let _ = writeln!(text, "not accepted: {}", plain(failure));
    }
    text
}

/// Formats the comparison of two rows of a board, whose set consists of `items`.
pub fn row_comparison_text(compared: &RowComparison, items: &str) -> String {
    let [low, high] = compared.interval;
    format!(
        "{} {:.2} %, {} {:.2} %: difference {:.2} points ({low:.2} to {high:.2})\np = {:.4} on {} {items}, of which {} differ\n",
        compared.a,
        compared.mean_a,
        compared.b,
        compared.mean_b,
        compared.difference,
        compared.p,
        compared.environments,
        compared.differing,
    )
}

/// Formats what a check found.
pub fn board_check_text(check: &BoardCheck) -> String {
    let mut text = format!(
        "{}: {} records, {} rows, {} plays or answers verified, {} releases\n",
        check.board, check.records, check.rows, check.replayed, check.releases
    );
    for finding in &check.findings {
        let _ = writeln!(text, "{}", plain(finding));
    }
    let count = check.findings.len();
    text.push_str(&match count {
        0 => "everything could be rebuilt\n".to_owned(),
        1 => "1 difference\n".to_owned(),
        _ => format!("{count} differences\n"),
    });
    text
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns a board with a ranked row and a claim.
    pub(crate) fn view() -> BoardView {
        let json = r#"{"board": "main", "title": "A board", "kind": "community", "set": "six",
            "set_sha256": "00", "visibility": "public", "environments": 6,
            "method": "docs-2026-04", "budget": "5x", "provisional_baselines": true,
            "closed": false, "records": 3, "head": "00", "registrations": [], "releases": [],
            "references": [], "rows": [
            {"entry": "a", "rank": {"rank": 1, "best": 1, "worst": 1, "chance_of_first": 1.0},
             "name": "<b>", "version": "1", "authors": [], "models": ["none"],
             "code_url": "https://example.org", "state": "replayed", "proves": "p",
             "does_not_prove": "d", "score": {"mean": 12.5, "interval": [2.0, 24.0],
             "levels_completed": 3.0, "levels": 48, "played": 6, "environments": 6, "repeats": 1},
             "cost": {"basis": "priced", "usd": 1.5, "on_frontier": true}, "flags": [],
             "exposure": "none", "registered": false, "date": "2026-11-18"},
            {"entry": "b", "name": "b", "version": "1", "authors": [], "models": ["none"],
             "code_url": "https://example.org", "state": "claimed", "proves": "p",
             "does_not_prove": "d", "cost": {"basis": "unknown", "on_frontier": false},
             "flags": [{"flag": "exposed", "evidence": "e"}], "exposure": "unknown",
             "registered": false, "date": "2026-11-18", "failure": "it does not replay"}]}"#;
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn rows_show_what_their_state_does_not_prove() {
        let text = board_text(&view());
        assert!(
            text.contains("12.50     2.00 to 24.00    3.0/48      1.5000  replayed"),
            "{text}"
        );
        assert!(text.contains("replayed does not prove: Who chose the actions"));
        assert!(text.contains("b: not accepted: it does not replay"));
        assert!(text.contains("The baselines are provisional"));
    }
}
