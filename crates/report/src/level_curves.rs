//! Curves of several runs over the levels: completion, and learning across levels.

use std::fmt::Write as _;

use rhae_protocol::AnalysedRun;
use rhae_stats::clopper_pearson_95;

use crate::level_plots::{labels, max_levels};
use crate::run_marks::{MARKS, Plot, WIDTH};

const RIGHT: f64 = 704.0;

/// The plays of one run at one level over all environments.
struct LevelCounts {
    plays: u64,
    completed: u64,
    /// The ratios of actions to the baseline of the plays that completed the level.
    ratios: Vec<f64>,
}

fn counts(run: &AnalysedRun, number: usize) -> LevelCounts {
    let levels = run
        .environments
        .iter()
        .filter_map(|one| one.levels.get(number));
    let mut all = LevelCounts {
        plays: 0,
        completed: 0,
        ratios: Vec::new(),
    };
    for level in levels {
        all.plays += level.plays as u64;
        all.completed += level.completed as u64;
        if let Some(baseline) = level.baseline.filter(|&baseline| baseline > 0) {
            let completed = level
                .attempts
                .iter()
                .filter(|one| one.completed && one.actions > 0);
            all.ratios
                .extend(completed.map(|one| one.actions as f64 / f64::from(baseline)));
        }
    }
    all
}

const CURVE_HEIGHT: f64 = 200.0;
const CURVE_LEFT: f64 = 60.0;

/// Plots the share of plays that completed each level, over all environments that have it, with exact
/// 95 % intervals of Clopper and Pearson.
pub fn completion_curves(runs: &[AnalysedRun]) -> String {
    let mut plot = Plot::new();
    let top = plot.legend(&labels(runs)) + 14.0;
    let bottom = top + CURVE_HEIGHT;
    let y = |share: f64| bottom - CURVE_HEIGHT * share;
    for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
        plot.path(
            "grid",
            &format!("M{CURVE_LEFT} {:.1}H{RIGHT}", y(share)),
            "",
        );
        plot.text(
            "quiet end",
            CURVE_LEFT - 8.0,
            y(share) + 4.0,
            &format!("{:.0} %", 100.0 * share),
        );
    }
    let columns = max_levels(runs).max(1);
    level_axis(&mut plot, columns, bottom);
    for (index, run) in runs.iter().enumerate() {
        let mut d = String::new();
        for number in 0..columns {
            let level = counts(run, number);
            if level.plays == 0 {
                continue;
            }
            let x = level_x(number, columns) + offset(index, runs.len());
            let share = level.completed as f64 / level.plays as f64;
            let interval = clopper_pearson_95(level.completed, level.plays);
            let _ = write!(
                d,
                "{}{x:.1} {:.1}",
                if d.is_empty() { "M" } else { "L" },
                y(share)
            );
            plot.interval(index, x, [y(interval.low), y(interval.high)], true);
            let title = format!(
                "{}, level {}: {} of {} plays ({:.1} to {:.1} %)",
                run.label,
                number + 1,
                level.completed,
                level.plays,
                100.0 * interval.low,
                100.0 * interval.high
            );
            plot.mark(index, x, y(share), true, &title);
        }
        plot.path(&format!("curve run{}", index % MARKS), &d, "");
    }
    plot.finish("Share of plays that completed each level")
}

/// Plots the geometric mean of actions relative to the baseline on completed levels: an agent that
/// learns needs relatively fewer actions on later levels. The number at a mark is the number of plays.
/// Returns `None` if no run completed a level that has a baseline.
pub fn learning_plot(runs: &[AnalysedRun]) -> Option<String> {
    let columns = max_levels(runs);
    let all: Vec<Vec<LevelCounts>> = runs
        .iter()
        .map(|run| (0..columns).map(|number| counts(run, number)).collect())
        .collect();
    let ratios = || {
        all.iter()
            .flatten()
            .flat_map(|level| &level.ratios)
            .copied()
    };
    let (least, greatest) = (ratios().fold(1.0, f64::min), ratios().fold(1.0, f64::max));
    ratios().next()?;
    let powers = |value: f64| value.log2();
    let (low, high) = (
        powers(least).floor().min(-1.0),
        powers(greatest).ceil().max(1.0),
    );
    let mut plot = Plot::new();
    let top = plot.legend(&labels(runs)) + 30.0;
    let bottom = top + CURVE_HEIGHT;
    let y = |ratio: f64| bottom - CURVE_HEIGHT * (powers(ratio) - low) / (high - low);
    plot.text(
        "quiet",
        0.0,
        top - 14.0,
        "actions ÷ baseline, logarithmic; lower is better",
    );
    let mut power = low;
    while power <= high {
        let ratio = power.exp2();
        let class = if power == 0.0 { "base" } else { "grid" };
        plot.path(class, &format!("M{CURVE_LEFT} {:.1}H{RIGHT}", y(ratio)), "");
        let label = if power < 0.0 {
            format!("1/{:.0}", (-power).exp2())
        } else {
            format!("{ratio:.0}")
        };
        plot.text("quiet end", CURVE_LEFT - 8.0, y(ratio) + 4.0, &label);
        power += 1.0;
    }
    level_axis(&mut plot, columns, bottom);
    for (index, levels) in all.iter().enumerate() {
        learning_curve(&mut plot, runs, index, levels, &y);
    }
    Some(plot.finish("Actions relative to the baseline on completed levels"))
}

/// Draws the curve of one run, with the range and the number of ratios at each level.
fn learning_curve(
    plot: &mut Plot,
    runs: &[AnalysedRun],
    index: usize,
    levels: &[LevelCounts],
    y: &impl Fn(f64) -> f64,
) {
    let columns = levels.len();
    let mut d = String::new();
    for (number, level) in levels
        .iter()
        .enumerate()
        .filter(|(_, level)| !level.ratios.is_empty())
    {
        let count = level.ratios.len() as f64;
        let mean = (level.ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / count).exp();
        let range = level
            .ratios
            .iter()
            .fold((f64::MAX, 0.0_f64), |(low, high), &ratio| {
                (low.min(ratio), high.max(ratio))
            });
        let x = level_x(number, columns) + offset(index, runs.len());
        let _ = write!(
            d,
            "{}{x:.1} {:.1}",
            if d.is_empty() { "M" } else { "L" },
            y(mean)
        );
        plot.interval(index, x, [y(range.0), y(range.1)], true);
        let title = format!(
            "{}, level {}: {mean:.2} times the baseline, from {:.2} to {:.2}, n = {count}",
            runs[index].label,
            number + 1,
            range.0,
            range.1
        );
        plot.mark(index, x, y(mean), true, &title);
        // The number of the first run is at the left, so that it does not cover the next mark.
        let (class, shift) = if index == 0 && runs.len() > 1 {
            ("quiet small end", -8.0)
        } else {
            ("quiet small", 8.0)
        };
        plot.text(class, x + shift, y(mean) + 4.0, &format!("{count}"));
    }
    plot.path(&format!("curve run{}", index % MARKS), &d, "");
}

fn level_axis(plot: &mut Plot, columns: usize, bottom: f64) {
    for number in 0..columns {
        plot.text(
            "quiet mid",
            level_x(number, columns),
            bottom + 18.0,
            &(number + 1).to_string(),
        );
    }
    plot.text(
        "quiet mid",
        (CURVE_LEFT + RIGHT) / 2.0,
        bottom + 36.0,
        "level",
    );
}

fn level_x(number: usize, columns: usize) -> f64 {
    let step = ((WIDTH - 16.0 - CURVE_LEFT) / columns as f64).min(110.0);
    CURVE_LEFT + step * (number as f64 + 0.5)
}

/// Returns the shift of a run, so that intervals of several runs do not cover each other.
fn offset(index: usize, runs: usize) -> f64 {
    (index as f64 - (runs as f64 - 1.0) / 2.0) * 11.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::level_plots::tests::run;

    #[test]
    fn curves_show_counts_and_ratios() {
        let runs = [run("a", 2, 20), run("b", 0, 30)];
        let completion = completion_curves(&runs);
        assert!(completion.contains("a, level 1: 4 of 4 plays"));
        assert!(completion.contains("b, level 1: 0 of 4 plays"));
        let learning = learning_plot(&runs).unwrap();
        assert!(learning.contains("a, level 1: 2.00 times the baseline, from 2.00 to 2.00, n = 4"));
        assert!(learning_plot(&runs[1..]).is_none());
        for svg in [completion, learning, completion_curves(&[])] {
            assert!(!svg.contains("NaN") && !svg.contains("inf"));
        }
    }
}
