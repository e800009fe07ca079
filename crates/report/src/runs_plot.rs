//! The scores of many runs with their intervals next to published results, as a figure for a paper.

use rhae_protocol::RunsReport;

use crate::run_marks::{Plot, axis_number, linear_axis, shortened};

const LEFT: f64 = 250.0;
const RIGHT: f64 = 600.0;
const ROW: f64 = 24.0;

/// The style of the figure. It is part of the figure, because the file is used without a page.
const STYLE: &str = "<style>.plot{font:13px system-ui,sans-serif;color:#1b1d21;background:#fff}.plot text{fill:currentColor}.plot .quiet{fill:#626973}.plot .mid{text-anchor:middle}.plot .end{text-anchor:end}.plot path{fill:none;stroke:currentColor}.plot .grid{stroke:#dfe2e6}.plot .mark{fill:#1668c4;stroke:none}.plot .hollow{fill:#fff;stroke:#626973;stroke-width:2}.plot .whisker{stroke:#1668c4;stroke-width:1.5}</style>";

/// Draws one row for each run, with its score and 95 % interval, and one for each published result,
/// which has no interval. The figure is a complete SVG file.
pub fn runs_plot(report: &RunsReport) -> String {
    let mut plot = Plot::new();
    let runs = report
        .runs
        .iter()
        .map(|run| run.score.interval[1].max(run.score.mean));
    let published = report.published.iter().map(|one| one.score);
    let (end, step) = linear_axis(runs.chain(published).fold(0.0, f64::max));
    let x = |score: f64| LEFT + (RIGHT - LEFT) * score / end;
    let rows = report.runs.len() + report.published.len();
    let top = 14.0;
    let bottom = top
        + ROW * rows as f64
        + if report.published.is_empty() {
            0.0
        } else {
            14.0
        };
    for line in 0..=(end / step).round() as usize {
        let score = line as f64 * step;
        plot.path(
            "grid",
            &format!("M{:.1} {top:.1}V{bottom:.1}", x(score)),
            "",
        );
        plot.text("quiet mid", x(score), bottom + 16.0, &axis_number(score));
    }
    plot.text("quiet mid", (LEFT + RIGHT) / 2.0, bottom + 36.0, "score %");
    let mut y = top + ROW / 2.0;
    for run in &report.runs {
        let [low, high] = run.score.interval;
        plot.text("end", LEFT - 14.0, y + 4.0, &shortened(&run.label, 34));
        plot.interval(0, y, [x(low), x(high)], false);
        plot.mark(0, x(run.score.mean), y, true, "");
        let value = format!("{:.2}  (n = {})", run.score.mean, run.score.environments);
        plot.text("quiet", RIGHT + 8.0, y + 4.0, &value);
        y += ROW;
    }
    if !report.published.is_empty() {
        y += 14.0;
    }
    for result in &report.published {
        plot.text(
            "end quiet",
            LEFT - 14.0,
            y + 4.0,
            &shortened(&result.system, 34),
        );
        plot.mark(3, x(result.score), y, false, &result.source);
        plot.text(
            "quiet",
            RIGHT + 8.0,
            y + 4.0,
            &format!("{:.2}", result.score),
        );
        y += ROW;
    }
    let svg = plot.finish("Scores with 95 % intervals and published results");
    let start = svg.find('>').map_or(0, |end| end + 1);
    format!("{}\n{STYLE}{}", &svg[..start], &svg[start..])
}

#[cfg(test)]
mod tests {
    use rhae_protocol::PublishedResult;

    use super::*;
    use crate::level_plots::tests::run;

    #[test]
    fn published_results_have_no_interval() {
        let report = RunsReport {
            runs: vec![run("mine", 2, 20), run("<other>", 1, 20)],
            published: vec![PublishedResult {
                system: "known".to_owned(),
                score: 12.58,
                ..PublishedResult::default()
            }],
            ..RunsReport::default()
        };
        let svg = runs_plot(&report);
        assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
        assert_eq!(svg.matches("class=\"whisker").count(), 2);
        assert_eq!(svg.matches("class=\"mark hollow").count(), 1);
        assert!(svg.contains("8.50  (n = 2)") && !svg.contains("<other>"));
    }
}
