//! SVG plots of a result by level: actions compared with the baseline, and completion.
//!
//! Invariants: marks differ by shape and position, never by colour alone. Plots use the text colour
//! (`currentColor`), so that they work on light and dark pages and in print. The style sheet is
//! separate from the drawings, because a page with a strict content security policy must load it
//! from a file.

use rhae_protocol::{EnvironmentScore, Scorecard};

use crate::result::{best_run, find};
use crate::svg::{Content, Px, Svg};

/// The CSS of the plots. A page that embeds a plot must include it.
pub const PLOT_STYLE: &str = include_str!("../assets/plot.css");

const WIDTH: f64 = 720.0;
const ROW: f64 = 18.0;
const LEFT: f64 = 116.0;
const RIGHT: f64 = 704.0;

/// One level of one environment over all cards.
#[derive(Clone, Debug, Default, PartialEq)]
struct Level {
    baseline: Option<f64>,
    /// The number of actions of each play on this level, and whether the play completed it.
    plays: Vec<(u64, bool)>,
    completed: usize,
}

/// Plots the number of actions of each level on a logarithmic axis, with the baseline marked.
///
/// Each level has one row with one mark for each card: a dot if it was completed, otherwise a
/// cross.
///
/// ```
/// use rhae_protocol::Scorecard;
/// use rhae_report::{actions_plot, completion_plot};
///
/// let card: Scorecard = serde_json::from_str(r#"{
///     "card_id": "c1", "score": 6.25, "method": "docs-2026-04", "software": "rhae 0.1.0",
///     "environments": [{
///         "id": "ab12-v1", "score": 6.25, "actions": 47, "levels_completed": 1,
///         "completed": false, "level_count": 2, "resets": 0,
///         "runs": [{
///             "id": "ab12-v1", "guid": "9f0c", "score": 6.25, "levels_completed": 1,
///             "actions": 47, "resets": 0, "state": "NOT_FINISHED", "completed": false,
///             "level_scores": [18.75, 0.0], "level_actions": [23, 24],
///             "level_baseline_actions": [10, 12], "number_of_levels": 2,
///             "number_of_environments": 1
///         }]
///     }],
///     "total_environments_completed": 0, "total_environments": 1,
///     "total_levels_completed": 1, "total_levels": 2, "total_actions": 47
/// }"#)?;
/// let actions = actions_plot(&[card.clone()]);
/// assert!(actions.contains("<title>23 actions, completed</title>"));
/// assert!(actions.contains("<title>24 actions, not completed</title>"));
/// assert!(completion_plot(&[card]).contains(">1/1<"));
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn actions_plot(cards: &[Scorecard]) -> String {
    let environments = by_environment(cards);
    let all = || environments.iter().flat_map(|(_, levels)| levels);
    let counts = all().flat_map(|level| {
        level
            .plays
            .iter()
            .map(|&(actions, _)| actions as f64)
            .chain(level.baseline)
    });
    let end = axis_end(counts.fold(10.0, f64::max));
    let at = |actions: f64| LEFT + (RIGHT - LEFT) * actions.max(1.0).log10() / end.log10();

    let top = 62.0;
    let height = top + all().count() as f64 * ROW + environments.len() as f64 * 10.0 + 28.0;
    let mut svg = Svg::new();
    legend(&mut svg);
    let bottom = height - 24.0;
    for actions in ticks(end) {
        let x = at(actions);
        svg.path("grid", &format!("M{x:.1} {:.1}V{bottom:.1}", top - 6.0));
        for y in [top - 12.0, bottom + 16.0] {
            svg.text("quiet mid", x, y, &actions.to_string());
        }
    }
    svg.text("quiet end", LEFT - 12.0, top - 12.0, "actions");
    let mut y = top + ROW / 2.0;
    for (name, levels) in &environments {
        svg.text("", 0.0, y + 4.0, name);
        for (index, level) in levels.iter().enumerate() {
            let number = (index + 1).to_string();
            svg.text("quiet end", LEFT - 12.0, y + 4.0, &number);
            level_row(&mut svg, level, y, &at);
            y += ROW;
        }
        y += 10.0;
    }
    let label = "Actions by level compared with the baseline, on a logarithmic axis";
    svg.finish("plot", (WIDTH, height), label, "")
}

/// Returns the first of 1, 2, 5, 10, 20, 50 and so on that is at least `max`.
pub(crate) fn axis_end(max: f64) -> f64 {
    let decade = 10f64.powf(max.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .map(|step| step * decade)
        .into_iter()
        .find(|&end| end >= max)
        .unwrap_or(max)
}

/// Returns the positions of the grid lines: 1, 2, 5, 10 and so on, or only the powers of ten if the
/// lines would be too close.
pub(crate) fn ticks(end: f64) -> Vec<f64> {
    let steps: &[f64] = if end <= 1000.0 {
        &[1.0, 2.0, 5.0]
    } else {
        &[1.0]
    };
    let decades = (0..=end.log10() as i32).map(|decade| 10f64.powi(decade));
    decades
        .flat_map(|decade| steps.iter().map(move |step| step * decade))
        .filter(|&actions| actions <= end)
        .collect()
}

fn level_row(svg: &mut Svg, level: &Level, y: f64, at: &impl Fn(f64) -> f64) {
    let xs = level
        .plays
        .iter()
        .map(|&(actions, _)| at(actions as f64))
        .chain(level.baseline.map(at));
    let (low, high) = xs.fold((f64::MAX, f64::MIN), |(low, high), x| {
        (low.min(x), high.max(x))
    });
    if low < high {
        svg.path("span", &format!("M{low:.1} {y:.1}H{high:.1}"));
    }
    if let Some(baseline) = level.baseline {
        let title = format!("baseline {baseline}");
        svg.titled_path("base", &baseline_line(at(baseline), y), &title);
    }
    for &(actions, completed) in &level.plays {
        let state = if completed {
            "completed"
        } else {
            "not completed"
        };
        let title = format!("{actions} actions, {state}");
        mark(svg, at(actions as f64), y, completed, &title);
    }
}

/// Returns the path of the line that marks a baseline.
fn baseline_line(x: f64, y: f64) -> String {
    format!("M{x:.1} {:.1}v12", y - 6.0)
}

/// Draws a dot for a completed level, or a cross for one that was not completed.
fn mark(svg: &mut Svg, x: f64, y: f64, completed: bool, title: &str) {
    if completed {
        svg.circle("done", (x, y), 4.0, title);
    } else {
        let d = format!("M{:.1} {:.1}l7 7m0 -7l-7 7", x - 3.5, y - 3.5);
        svg.titled_path("open", &d, title);
    }
}

fn legend(svg: &mut Svg) {
    let y = 14.0;
    mark(svg, LEFT + 4.0, y, true, "completed");
    svg.text("", LEFT + 14.0, y + 4.0, "completed");
    mark(svg, LEFT + 104.0, y, false, "not completed");
    svg.text("", LEFT + 114.0, y + 4.0, "not completed");
    svg.path("base", &baseline_line(LEFT + 224.0, y));
    svg.text("", LEFT + 232.0, y + 4.0, "baseline");
}

/// Plots the share of plays that completed each level: one row for each environment, one field for
/// each level.
pub fn completion_plot(cards: &[Scorecard]) -> String {
    let environments = by_environment(cards);
    let max_levels = environments
        .iter()
        .map(|(_, levels)| levels.len())
        .max()
        .unwrap_or(0)
        .max(1);
    let (row, gap) = (24.0, 6.0);
    let field = ((RIGHT - LEFT) / max_levels as f64).min(96.0) - gap;
    let at = |index: usize| LEFT + index as f64 * (field + gap);
    let top = 26.0;
    let mut svg = Svg::new();
    let fill = |svg: &mut Svg, class: &str, x: f64, y: f64, width: f64| {
        svg.element(
            "rect",
            &[
                ("class", &class),
                ("x", &Px(x)),
                ("y", &Px(y)),
                ("width", &Px(width)),
                ("height", &row),
                ("rx", &2),
            ],
            Content::Empty,
        );
    };
    svg.text("quiet", 0.0, 14.0, "level");
    for index in 0..max_levels {
        let number = (index + 1).to_string();
        svg.text("quiet mid", at(index) + field / 2.0, 14.0, &number);
    }
    for (number, (name, levels)) in environments.iter().enumerate() {
        let y = top + number as f64 * (row + gap);
        let middle = y + row / 2.0;
        svg.text("", 0.0, middle + 4.0, name);
        for (index, level) in levels.iter().enumerate() {
            let (x, share) = (
                at(index),
                level.completed as f64 / cards.len().max(1) as f64,
            );
            fill(&mut svg, "field", x, y, field);
            if level.completed > 0 {
                fill(&mut svg, "fill", x, y, field * share);
            }
            let label = format!("{}/{}", level.completed, cards.len());
            svg.text("mid", x + field / 2.0, middle + 4.0, &label);
        }
    }
    let height = top + environments.len() as f64 * (row + gap);
    let label = "Share of plays that completed each level";
    svg.finish("plot", (WIDTH, height), label, "")
}

/// Returns every environment with its levels, in the order of the first card. Each card contributes
/// its best run.
fn by_environment(cards: &[Scorecard]) -> Vec<(&str, Vec<Level>)> {
    let mut names: Vec<&EnvironmentScore> = Vec::new();
    for environment in cards.iter().flat_map(|card| &card.environments) {
        if !names.iter().any(|known| known.id == environment.id) {
            names.push(environment);
        }
    }
    let levels_of = |environment: &EnvironmentScore| {
        let mut levels = vec![Level::default(); environment.level_count as usize];
        for run in cards
            .iter()
            .filter_map(|card| find(card, &environment.id))
            .filter_map(best_run)
        {
            for (index, level) in levels.iter_mut().enumerate() {
                let completed = index < run.levels_completed as usize;
                level.completed += usize::from(completed);
                level.baseline = level.baseline.or_else(|| {
                    run.level_baseline_actions
                        .get(index)
                        .filter(|&&baseline| baseline > 0)
                        .map(|&baseline| baseline as f64)
                });
                let actions = run.level_actions.get(index).copied().unwrap_or(0);
                if completed || actions > 0 {
                    level.plays.push((actions, completed));
                }
            }
        }
        levels
    };
    names
        .into_iter()
        .map(|environment| (environment.id.as_str(), levels_of(environment)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_page::tests::report;

    #[test]
    fn every_attempted_level_has_a_mark_with_the_right_shape() {
        let report = report(3);
        let svg = actions_plot(&report.cards);
        // Three cards with five and two completed levels and one attempted level each, and one mark
        // of each kind in the legend.
        assert_eq!(svg.matches("class=\"done\"").count(), 3 * 7 + 1);
        assert_eq!(svg.matches("class=\"open\"").count(), 3 + 1);
        assert_eq!(svg.matches("class=\"base\"").count(), 10 + 1);
        assert!(svg.contains("<title>24 actions, not completed</title>"));
    }

    #[test]
    fn missing_baselines_and_actions_are_drawn_without_error() {
        let mut report = report(1);
        let run = &mut report.cards[0].environments[0].runs[0];
        run.level_baseline_actions = vec![-1; 5];
        run.level_actions = vec![0];
        let svg = actions_plot(&report.cards);
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        assert!(!actions_plot(&[]).contains("NaN"));
        assert!(!completion_plot(&[]).contains("NaN"));
    }

    #[test]
    fn axis_ends_at_a_round_number() {
        assert_eq!(
            [10.0, 11.0, 20.0, 480.0, 999.0, 40_000.0].map(axis_end),
            [10.0, 20.0, 20.0, 500.0, 1000.0, 50_000.0]
        );
        assert_eq!(ticks(50.0), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0]);
        assert_eq!(ticks(5000.0), [1.0, 10.0, 100.0, 1000.0]);
    }

    #[test]
    fn completion_counts_plays_per_level() {
        let mut report = report(3);
        report.cards[0].environments[0].runs[0].levels_completed = 4;
        let svg = completion_plot(&report.cards);
        assert_eq!(svg.matches(">3/3<").count(), 6);
        assert_eq!(svg.matches(">2/3<").count(), 1);
        assert_eq!(svg.matches(">0/3<").count(), 3);
    }

    #[test]
    fn names_are_escaped() {
        let mut report = report(1);
        report.cards[0].environments[0].id = "<script>".to_owned();
        assert!(!actions_plot(&report.cards).contains("<script>"));
        assert!(!completion_plot(&report.cards).contains("<script>"));
    }
}
