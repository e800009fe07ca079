//! Plots of several runs by level: a heat map of scores, and actions against the baseline.

use rhae_protocol::{AnalysedEnvironment, AnalysedLevel, AnalysedRun};

use crate::plot::{axis_end, ticks};
use crate::run_marks::{Plot, shortened};

const LEFT: f64 = 116.0;
const RIGHT: f64 = 704.0;

pub(crate) fn labels(runs: &[AnalysedRun]) -> Vec<String> {
    runs.iter().map(|run| run.label.clone()).collect()
}

/// Returns the ids of all environments in the order of their first occurrence.
fn ids(runs: &[AnalysedRun]) -> Vec<&str> {
    let mut ids: Vec<&str> = Vec::new();
    for environment in runs.iter().flat_map(|run| &run.environments) {
        if !ids.contains(&environment.id.as_str()) {
            ids.push(&environment.id);
        }
    }
    ids
}

fn find<'a>(run: &'a AnalysedRun, id: &str) -> Option<&'a AnalysedEnvironment> {
    run.environments.iter().find(|one| one.id == id)
}

pub(crate) fn max_levels(runs: &[AnalysedRun]) -> usize {
    let all = runs.iter().flat_map(|run| &run.environments);
    all.map(|one| one.levels.len()).max().unwrap_or(0)
}

/// Draws a heat map: one row for each environment and run, one field for each level, the darker the
/// higher the level's mean score.
pub fn level_heat_map(runs: &[AnalysedRun]) -> String {
    const ROW: f64 = 22.0;
    let mut plot = Plot::new();
    let top = plot.legend(&labels(runs)) + 18.0;
    let columns = max_levels(runs).max(1);
    let field = ((RIGHT - LEFT - 26.0) / columns as f64).min(72.0);
    let start = LEFT + 26.0;
    plot.text("quiet end", start - 20.0, top - 8.0, "level");
    for column in 0..columns {
        let x = start + field * (column as f64 + 0.5);
        plot.text("quiet mid", x, top - 8.0, &(column + 1).to_string());
    }
    let mut y = top;
    for id in ids(runs) {
        plot.text("", 0.0, y + ROW / 2.0 + 4.0, &shortened(id, 16));
        for (index, run) in runs.iter().enumerate() {
            let Some(environment) = find(run, id) else {
                continue;
            };
            plot.mark(index, LEFT + 8.0, y + ROW / 2.0, true, &run.label);
            for (number, level) in environment.levels.iter().enumerate() {
                let at = [
                    start + field * number as f64 + 1.0,
                    y + 1.0,
                    field - 2.0,
                    ROW - 2.0,
                ];
                let reached = !level.attempts.is_empty() || level.completed > 0;
                let opacity = 0.6 * (level.score / 100.0).clamp(0.0, 1.0).sqrt();
                plot.rect("heat", at, opacity, &level_title(run, id, number, level));
                let text = if level.completed > 0 {
                    format!("{:.0}", level.score)
                } else if reached {
                    "✕".to_owned()
                } else {
                    continue;
                };
                let class = if level.completed > 0 {
                    "mid"
                } else {
                    "mid quiet"
                };
                plot.text(class, at[0] + at[2] / 2.0, y + ROW / 2.0 + 4.0, &text);
            }
            y += ROW;
        }
        y += 8.0;
    }
    plot.finish("Mean score of each level in percent, by environment and run")
}

fn level_title(run: &AnalysedRun, id: &str, number: usize, level: &AnalysedLevel) -> String {
    let actions = match (level.mean_actions(true), level.mean_actions(false)) {
        (Some(actions), _) => format!(", {actions:.1} actions when completed"),
        (None, Some(actions)) => format!(", {actions:.1} actions without completing it"),
        (None, None) => String::new(),
    };
    format!(
        "{}, {id}, level {}: completed by {} of {} plays, mean score {:.2} %{actions}",
        run.label,
        number + 1,
        level.completed,
        level.plays,
        level.score
    )
}

/// Plots the actions of every play on each level that a run reached, on a logarithmic axis with the
/// baseline. Hollow marks are plays that did not complete the level. Returns `None` if no run
/// recorded actions.
pub fn compared_actions_plot(runs: &[AnalysedRun]) -> Option<String> {
    const ROW: f64 = 12.0;
    let rows = level_rows(runs);
    let counts = rows.iter().flat_map(|row| {
        let baseline = row.baseline.map(f64::from);
        let levels = row.levels.iter().flat_map(|(_, level)| &level.attempts);
        levels.map(|one| one.actions as f64).chain(baseline)
    });
    let greatest = counts.fold(0.0, f64::max);
    if greatest < 1.0 {
        return None;
    }
    let end = axis_end(greatest.max(10.0));
    let at = |actions: f64| LEFT + (RIGHT - LEFT) * actions.max(1.0).log10() / end.log10();
    let mut plot = Plot::new();
    let legend = plot.legend(&labels(runs));
    plot.path("base", &format!("M6 {:.1}v12", legend - 6.0), "");
    plot.text("", 16.0, legend + 4.0, "baseline");
    plot.text("quiet", 84.0, legend + 4.0, "hollow: not completed");
    let top = legend + 42.0;
    let height: f64 = rows
        .iter()
        .map(|row| row.levels.len() as f64 * ROW + 8.0)
        .sum();
    plot.text("quiet end", LEFT - 12.0, top - 12.0, "actions");
    for tick in ticks(end) {
        let x = at(tick);
        let d = format!("M{x:.1} {:.1}V{:.1}", top - 6.0, top + height);
        plot.path("grid", &d, "");
        plot.text("quiet mid", x, top - 12.0, &format!("{tick:.0}"));
    }
    let mut y = top;
    for row in &rows {
        let middle = y + row.levels.len() as f64 * ROW / 2.0;
        if let Some(id) = row.id {
            plot.text("", 0.0, middle + 4.0, &shortened(id, 12));
        }
        plot.text(
            "quiet end",
            LEFT - 12.0,
            middle + 4.0,
            &row.number.to_string(),
        );
        if let Some(baseline) = row.baseline {
            let d = format!(
                "M{:.1} {:.1}v{:.1}",
                at(f64::from(baseline)),
                y,
                row.levels.len() as f64 * ROW
            );
            plot.path("base", &d, &format!("baseline {baseline}"));
        }
        for (index, level) in &row.levels {
            attempts(&mut plot, &runs[*index], *index, level, y + ROW / 2.0, &at);
            y += ROW;
        }
        y += 8.0;
    }
    Some(plot.finish("Actions by level compared with the baseline, on a logarithmic axis"))
}

/// Draws a mark for each play of a run that reached a level.
fn attempts(
    plot: &mut Plot,
    run: &AnalysedRun,
    index: usize,
    level: &AnalysedLevel,
    y: f64,
    at: &impl Fn(f64) -> f64,
) {
    for attempt in &level.attempts {
        let outcome = if attempt.completed {
            "completed"
        } else {
            "not completed"
        };
        let title = format!("{}: {} actions, {outcome}", run.label, attempt.actions);
        plot.mark(
            index,
            at(attempt.actions as f64),
            y,
            attempt.completed,
            &title,
        );
    }
}

/// A level that at least one run reached.
struct LevelRow<'a> {
    /// The id of the environment, in its first row.
    id: Option<&'a str>,
    /// The number of the level, from 1.
    number: usize,
    baseline: Option<u32>,
    /// The runs that reached the level.
    levels: Vec<(usize, &'a AnalysedLevel)>,
}

fn level_rows(runs: &[AnalysedRun]) -> Vec<LevelRow<'_>> {
    let mut rows = Vec::new();
    for id in ids(runs) {
        let mut is_first = true;
        for number in 0..max_levels(runs) {
            let level = |(index, run)| Some((index, find(run, id)?.levels.get(number)?));
            let levels: Vec<(usize, &AnalysedLevel)> = runs
                .iter()
                .enumerate()
                .filter_map(level)
                .filter(|(_, level)| !level.attempts.is_empty())
                .collect();
            if levels.is_empty() {
                continue;
            }
            rows.push(LevelRow {
                id: is_first.then_some(id),
                number: number + 1,
                baseline: levels.iter().find_map(|(_, level)| level.baseline),
                levels,
            });
            is_first = false;
        }
    }
    rows
}

#[cfg(test)]
pub(crate) mod tests {
    use rhae_protocol::{LevelAttempt, MeanScore, RunKind};

    use super::*;

    /// A run whose plays completed the first `completed` of three levels of two environments.
    pub(crate) fn run(label: &str, completed: usize, actions: u64) -> AnalysedRun {
        let level = |number: usize| AnalysedLevel {
            baseline: Some(10),
            source: Some("solver".to_owned()),
            weight: 1.0 / 3.0,
            plays: 2,
            completed: if number < completed { 2 } else { 0 },
            attempts: if number <= completed {
                vec![
                    LevelAttempt {
                        actions: actions + number as u64,
                        completed: number < completed,
                    };
                    2
                ]
            } else {
                Vec::new()
            },
            score: if number < completed { 25.0 } else { 0.0 },
        };
        let environment = |id: &str| AnalysedEnvironment {
            id: id.to_owned(),
            scores: vec![8.0, 9.0],
            levels: (0..3).map(level).collect(),
            ..AnalysedEnvironment::default()
        };
        AnalysedRun {
            label: label.to_owned(),
            kind: RunKind::Plays,
            agent: label.to_owned(),
            repeats: 2,
            score: MeanScore {
                mean: 8.5,
                interval: [8.0, 9.0],
                interval_method: "exact-bootstrap".to_owned(),
                interval_error: None,
                environments: 2,
            },
            environments: vec![environment("ab12-v1"), environment("<b>99-v1")],
            ..AnalysedRun::default()
        }
    }

    #[test]
    fn heat_map_has_a_field_for_each_level_and_run() {
        let svg = level_heat_map(&[run("a", 2, 20), run("b", 0, 30)]);
        assert_eq!(svg.matches("class=\"heat\"").count(), 2 * 2 * 3);
        assert_eq!(svg.matches(">25<").count(), 4);
        // Level 3 of the first run and level 1 of the second were reached but not completed.
        assert_eq!(svg.matches(">✕<").count(), 4);
        assert!(!svg.contains("<b>"));
    }

    #[test]
    fn actions_are_shown_for_reached_levels() {
        let runs = [run("a", 2, 20), run("b", 0, 30)];
        let svg = compared_actions_plot(&runs).unwrap();
        // Two plays on three levels and on one level of two environments, and the legend.
        assert_eq!(svg.matches("class=\"mark run0\"").count(), 2 * 2 * 2 + 1);
        assert_eq!(svg.matches("class=\"mark hollow run0\"").count(), 2 * 2);
        assert_eq!(svg.matches("class=\"mark hollow run1\"").count(), 2 * 2);
        assert!(compared_actions_plot(&[]).is_none());
    }
}
