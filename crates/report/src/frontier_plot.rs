//! Score against cost with the Pareto frontier.

use std::fmt::Write as _;

use rhae_protocol::AnalysedRun;

use crate::run_marks::{Plot, axis_number, linear_axis};

pub(crate) const LEFT: f64 = 52.0;
pub(crate) const RIGHT: f64 = 712.0;
pub(crate) const HEIGHT: f64 = 240.0;
/// The distance of runs without a position on the cost axis.
const STEP: f64 = 26.0;

/// Plots the score of runs with its interval against the cost of one repeat on a logarithmic axis.
///
/// Runs that cost nothing are in a strip at the left, and runs of unknown cost in one at the right.
/// Runs on the frontier are connected by steps.
pub fn frontier_plot(runs: &[AnalysedRun]) -> String {
    let mut plot = Plot::new();
    let labels: Vec<String> = runs.iter().map(|run| run.label.clone()).collect();
    let top = plot.legend(&labels) + 26.0;
    let bottom = top + HEIGHT;
    let (end, step) = linear_axis(
        runs.iter()
            .map(|run| run.score.interval[1].max(run.score.mean))
            .fold(0.0, f64::max),
    );
    let y = |score: f64| bottom - HEIGHT * score / end;
    for line in 0..=(end / step).round() as usize {
        let score = line as f64 * step;
        plot.path("grid", &format!("M{LEFT} {:.1}H{RIGHT}", y(score)), "");
        plot.text("quiet end", LEFT - 8.0, y(score) + 4.0, &axis_number(score));
    }
    plot.text("quiet", 0.0, top - 14.0, "score %");
    let costs: Vec<Option<f64>> = runs.iter().map(|run| run.cost_usd).collect();
    let axis = CostAxis::new(&costs);
    axis.draw(&mut plot, top, bottom);
    let positions = axis.positions(&costs);
    for (index, run) in runs.iter().enumerate() {
        let x = positions[index];
        let [low, high] = run.score.interval;
        plot.interval(index, x, [y(low), y(high)], true);
        plot.mark(index, x, y(run.score.mean), true, &title(run));
    }
    // Without costs there is nothing to trade off.
    if axis.decades.is_some() {
        let on_frontier = runs
            .iter()
            .zip(&positions)
            .filter(|(run, _)| run.on_frontier);
        let points = on_frontier
            .map(|(run, &x)| (run.cost_usd.unwrap_or(0.0), x, y(run.score.mean)))
            .collect();
        frontier(&mut plot, points, axis.unknown);
    }
    plot.finish("Score against cost with the Pareto frontier")
}

fn title(run: &AnalysedRun) -> String {
    let [low, high] = run.score.interval;
    let cost = run
        .cost_usd
        .map_or_else(|| "cost unknown".to_owned(), |usd| format!("{usd:.4} USD"));
    format!(
        "{}: {:.2} % ({low:.2} to {high:.2}, n = {}), {cost}",
        run.label, run.score.mean, run.score.environments
    )
}

/// Draws the frontier as steps from the cheapest point to the dearest. A point is its cost and its
/// position.
pub(crate) fn frontier(plot: &mut Plot, mut points: Vec<(f64, f64, f64)>, until: f64) {
    points.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
    let Some(&(_, x, height)) = points.first() else {
        return;
    };
    let mut d = format!("M{x:.1} {height:.1}");
    for (_, x, height) in &points[1..] {
        let _ = write!(d, "H{x:.1}V{height:.1}");
    }
    let _ = write!(d, "H{until:.1}");
    plot.path("frontier", &d, "Pareto frontier");
}

/// The cost axis with its strips.
pub(crate) struct CostAxis {
    /// The powers of ten at the ends; `None` if no run has a cost above 0.
    pub(crate) decades: Option<(i32, i32)>,
    left: f64,
    /// The distance of runs that cost nothing.
    free_step: f64,
    /// The start of the strip of unknown costs.
    pub(crate) unknown: f64,
    has_free: bool,
    has_unknown: bool,
}

impl CostAxis {
    /// Creates the axis for some costs, of which `None` is unknown.
    pub(crate) fn new(all: &[Option<f64>]) -> Self {
        let costs = || all.iter().copied().flatten();
        let free = costs().filter(|&cost| cost <= 0.0).count();
        let unknown = all.iter().filter(|cost| cost.is_none()).count();
        let paid = || costs().filter(|&cost| cost > 0.0);
        let least = paid().fold(f64::MAX, f64::min);
        let greatest = paid().fold(0.0, f64::max);
        let decades = (greatest > 0.0).then(|| {
            let low = least.log10().floor() as i32;
            (
                low,
                ((greatest * 1.0001).log10().ceil() as i32).max(low + 1),
            )
        });
        let strip = |count: usize| {
            if count > 0 {
                STEP * count as f64 + 14.0
            } else {
                0.0
            }
        };
        let unknown_start = RIGHT - strip(unknown);
        // Without an axis, the runs that cost nothing have all the space.
        let free_step = match decades {
            None if free > 0 => (unknown_start - LEFT) / free as f64,
            _ => STEP,
        };
        Self {
            decades,
            left: LEFT + strip(free),
            free_step,
            unknown: unknown_start,
            has_free: free > 0,
            has_unknown: unknown > 0,
        }
    }

    /// Returns the positions of costs: on the axis, or in one of the strips.
    pub(crate) fn positions(&self, costs: &[Option<f64>]) -> Vec<f64> {
        let (mut free, mut unknown) = (0, 0);
        let position = |cost: &Option<f64>| match *cost {
            Some(cost) if cost > 0.0 => self.at(cost),
            Some(_) => {
                free += 1;
                LEFT + self.free_step * (f64::from(free) - 0.5)
            }
            None => {
                unknown += 1;
                self.unknown + STEP * (f64::from(unknown) - 0.5)
            }
        };
        costs.iter().map(position).collect()
    }

    fn at(&self, cost: f64) -> f64 {
        let Some((low, high)) = self.decades else {
            return self.left;
        };
        let share = (cost.log10() - f64::from(low)) / f64::from(high - low);
        self.left + (self.unknown - self.left - 12.0) * share
    }

    pub(crate) fn draw(&self, plot: &mut Plot, top: f64, bottom: f64) {
        let label = bottom + 18.0;
        if let Some((low, high)) = self.decades {
            for decade in low..=high {
                let cost = 10_f64.powi(decade);
                let x = self.at(cost);
                plot.path("grid", &format!("M{x:.1} {top:.1}V{bottom:.1}"), "");
                plot.text("quiet mid", x, label, &axis_number(cost));
            }
            let middle = (self.left + self.unknown) / 2.0;
            plot.text(
                "quiet mid",
                middle,
                label + 20.0,
                "US dollars per repeat, logarithmic",
            );
        }
        if self.has_free && self.decades.is_some() {
            plot.text("quiet", LEFT + 4.0, label, "0");
            let x = self.left - 7.0;
            plot.path("strip", &format!("M{x:.1} {top:.1}V{bottom:.1}"), "");
        } else if self.has_free {
            let middle = f64::midpoint(LEFT, self.unknown);
            plot.text("quiet mid", middle, label, "no model was used: cost 0");
        }
        if self.has_unknown {
            plot.text("quiet end", RIGHT, label, "cost unknown");
            let x = self.unknown - 7.0;
            plot.path("strip", &format!("M{x:.1} {top:.1}V{bottom:.1}"), "");
        }
    }
}

#[cfg(test)]
mod tests {
    use rhae_protocol::MeanScore;

    use super::*;

    fn run(label: &str, cost_usd: Option<f64>, mean: f64, on_frontier: bool) -> AnalysedRun {
        AnalysedRun {
            label: label.to_owned(),
            cost_usd,
            on_frontier,
            score: MeanScore {
                mean,
                interval: [mean / 2.0, mean * 1.5],
                environments: 6,
                ..MeanScore::default()
            },
            ..AnalysedRun::default()
        }
    }

    #[test]
    fn every_kind_of_cost_has_a_place() {
        let runs = [
            run("free", Some(0.0), 1.0, true),
            run("cheap", Some(0.02), 5.0, true),
            run("dear", Some(30.0), 9.0, true),
            run("unknown", None, 12.0, false),
        ];
        let svg = frontier_plot(&runs);
        // Four marks and four in the legend.
        assert_eq!(svg.matches("class=\"mark run").count(), 8);
        assert_eq!(svg.matches("class=\"frontier\"").count(), 1);
        assert!(svg.contains("cost unknown") && svg.contains(">0.01<") && svg.contains(">100<"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn runs_without_costs_and_scores_are_drawn() {
        for runs in [
            vec![],
            vec![run("a", Some(0.0), 0.0, true)],
            vec![run("b", None, 0.0, false)],
        ] {
            let svg = frontier_plot(&runs);
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
