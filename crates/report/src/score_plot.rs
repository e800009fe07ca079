//! An SVG plot of score over cost: for each cost, the part of the score that tasks of at most this
//! cost contribute.
//!
//! Invariant: the curve ends at the mean score. The plot uses the text colour, as the other plots
//! do.

use std::fmt::Write as _;

use crate::svg::Svg;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 640.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 256.0;

const STYLE: &str = "
.plot text { font: 12px system-ui, sans-serif; fill: currentColor; }
.plot .quiet { opacity: 0.65; }
.plot .mid { text-anchor: middle; }
.plot .end { text-anchor: end; }
.plot .grid { stroke: currentColor; opacity: 0.14; fill: none; }
.plot .curve { stroke: currentColor; stroke-width: 2; fill: none; }
.plot .dot { fill: currentColor; }
";

/// The unit of costs in a [`score_plot`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostUnit {
    UsDollars,
    Seconds,
}

/// Plots tasks, given as pairs of cost and score, on a logarithmic cost axis; `None` if no task has
/// a cost above 0.
///
/// ```
/// use rhae_report::{CostUnit, score_plot};
///
/// let svg = score_plot(&[(0.02, 1.0), (0.5, 0.0)], CostUnit::UsDollars).unwrap();
/// assert!(svg.contains(">50.0 %<"));
/// assert_eq!(score_plot(&[(0.0, 1.0)], CostUnit::UsDollars), None);
/// ```
pub fn score_plot(tasks: &[(f64, f64)], unit: CostUnit) -> Option<String> {
    let mut tasks: Vec<(f64, f64)> = tasks.to_vec();
    tasks.sort_by(|a, b| a.0.total_cmp(&b.0));
    let min = tasks.iter().map(|task| task.0).find(|&cost| cost > 0.0)?;
    let max = tasks.last()?.0;
    let (first, last) = (
        10f64.powf(min.log10().floor()),
        10f64.powf((max * 1.0001).log10().ceil()),
    );
    let across = (last / first).log10().max(1.0);
    let x = |cost: f64| {
        LEFT + (RIGHT - LEFT) * ((cost.max(first) / first).log10() / across).clamp(0.0, 1.0)
    };
    let count = tasks.len() as f64;
    let total = tasks.iter().map(|task| task.1).sum::<f64>() / count;
    let (end, step) = axis(total);
    let y = |share: f64| BOTTOM - (BOTTOM - TOP) * share / end;
    let mut svg = Svg::new();
    let mut share = 0.0;
    while share <= end + 1e-9 {
        let text = format!("{:.0} %", 100.0 * share);
        svg.path("grid", &format!("M{LEFT} {:.1}H{RIGHT}", y(share)));
        svg.text("quiet end", LEFT - 8.0, y(share) + 4.0, &text);
        share += step;
    }
    let mut tick = first;
    while tick <= last * 1.0001 {
        svg.path("grid", &format!("M{:.1} {TOP}V{BOTTOM}", x(tick)));
        svg.text("quiet mid", x(tick), BOTTOM + 18.0, &label(tick, unit));
        tick *= 10.0;
    }
    let axis_label = if unit == CostUnit::UsDollars {
        "US dollars per task"
    } else {
        "seconds per task"
    };
    let middle = (LEFT + RIGHT) / 2.0;
    svg.text("quiet mid", middle, BOTTOM + 38.0, axis_label);
    let mut path = format!("M{LEFT:.1} {:.1}", y(0.0));
    let mut sum = 0.0;
    for (cost, score) in &tasks {
        if *score > 0.0 {
            sum += score;
            let _ = write!(path, "H{:.1}V{:.1}", x(*cost), y(sum / count));
        }
    }
    let _ = write!(path, "H{:.1}", x(max));
    svg.path("curve", &path);
    let mean = tasks.iter().map(|task| task.0).sum::<f64>() / count;
    let (score, mean) = (format!("{:.1} %", 100.0 * total), label(mean, unit));
    svg.circle("dot", (x(max), y(total)), 4.0, &score);
    svg.text("", x(max) + 9.0, y(total) + 4.0, &score);
    svg.text(
        "quiet",
        x(max) + 9.0,
        y(total) + 20.0,
        &format!("mean {mean}"),
    );
    Some(svg.finish(
        "plot",
        (WIDTH, HEIGHT),
        "Score of tasks up to a cost",
        STYLE,
    ))
}

/// Returns the end of the score axis and the distance of its grid lines.
fn axis(total: f64) -> (f64, f64) {
    for (end, step) in [
        (0.05, 0.01),
        (0.1, 0.02),
        (0.2, 0.05),
        (0.4, 0.1),
        (0.6, 0.1),
        (0.8, 0.2),
    ] {
        if total <= end {
            return (end, step);
        }
    }
    (1.0, 0.2)
}

fn label(cost: f64, unit: CostUnit) -> String {
    let digits = if cost >= 10.0 {
        0
    } else {
        (1.0 - cost.log10().floor()).clamp(0.0, 8.0) as usize
    };
    let mut number = format!("{cost:.digits$}");
    if number.contains('.') {
        number = number
            .trim_end_matches('0')
            .trim_end_matches('.')
            .to_owned();
    }
    if unit == CostUnit::UsDollars {
        format!("${number}")
    } else {
        format!("{number} s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curve_ends_at_the_mean_score() {
        let svg = score_plot(
            &[(0.5, 1.0), (2.0, 0.0), (0.1, 0.5), (40.0, 0.0)],
            CostUnit::Seconds,
        )
        .unwrap();
        assert!(svg.contains(">37.5 %<") && svg.contains(">100 s<"), "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        assert!(
            score_plot(&[(0.0, 1.0)], CostUnit::UsDollars).is_none()
                && score_plot(&[], CostUnit::UsDollars).is_none()
        );
        assert!(score_plot(&[(0.001, 0.0)], CostUnit::UsDollars).is_some());
    }

    #[test]
    fn costs_are_labelled_without_trailing_zeros() {
        assert_eq!(
            [0.001, 0.25, 1.0, 10.0, 120.0].map(|cost| label(cost, CostUnit::UsDollars)),
            ["$0.001", "$0.25", "$1", "$10", "$120"]
        );
    }
}
