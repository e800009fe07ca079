//! The plot of a leaderboard: score with its interval against cost, with the frontier and people.
//!
//! *Invariant:* the verification state of a row is told by the shape of its mark, and its rank by a
//! number, so the plot can be read without colours and in print.
//!
//! A line connects the rows of one family of models: those of the same authors with the same models, in
//! several settings.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rhae_protocol::{BoardRow, BoardView, RowScore, VerificationState};

use crate::frontier_plot::{CostAxis, HEIGHT, LEFT, RIGHT, frontier};
use crate::picture::PictureError;
use crate::run_marks::{Plot, axis_number, linear_axis, shortened};

/// The maximum number of rows in the figure. More would hide each other.
const MAX_MARKS: usize = 60;
/// The maximum number of characters of the name of a family.
const MAX_FAMILY_CHARS: usize = 30;
/// The mark of people, which no state has.
const PEOPLE: usize = 5;

/// The style of the figure. It is part of the figure, because the file is used without a page.
pub(crate) const STYLE: &str = "<style>.plot{font:13px system-ui,sans-serif;color:#1b1d21;background:#fff}.plot text{fill:currentColor}.plot .quiet{fill:#626973}.plot .mid{text-anchor:middle}.plot .end{text-anchor:end}.plot path{fill:none;stroke:currentColor}.plot .grid{stroke:#dfe2e6}.plot .strip{stroke:#626973;stroke-dasharray:2 3}.plot .family{stroke:#1b1d21;stroke-width:1.5}.plot .frontier{stroke:#626973;stroke-dasharray:6 3}.plot .mark{fill:#1668c4;stroke:none}.plot .hollow{fill:#fff;stroke:#1b1d21;stroke-width:2}.plot .whisker{stroke:#1668c4;stroke-width:1.5}</style>";

/// Draws the ranked rows of a board. The figure is a complete SVG file.
pub fn board_plot(view: &BoardView) -> String {
    let label = "Score against cost, with the frontier; numbers are ranks";
    styled(&draw(view).finish(label), STYLE)
}

/// Draws the same figure as a PNG picture.
///
/// # Errors
///
/// Returns [`PictureError`] if the picture cannot be encoded.
pub fn board_plot_png(view: &BoardView) -> Result<Vec<u8>, PictureError> {
    draw(view).into_png()
}

fn draw(view: &BoardView) -> Plot {
    let ranked: Vec<(&BoardRow, RowScore)> = view
        .rows
        .iter()
        .filter(|row| row.rank.is_some())
        .filter_map(|row| Some((row, row.score?)))
        .take(MAX_MARKS)
        .collect();
    let count = view.rows.iter().filter(|row| row.rank.is_some()).count();
    let people = view.people.map(|people| {
        let cost = people.cost_usd_micro.map(|micro| micro as f64 / 1e6);
        (people.score_nano as f64 / 1e9, cost)
    });
    let mut plot = Plot::new();
    let top = legend(&mut plot, &ranked, people.is_some()) + 26.0;
    let bottom = top + HEIGHT;
    let tops = ranked
        .iter()
        .map(|(_, score)| score.interval[1].max(score.mean));
    let (end, step) = linear_axis(
        tops.chain(people.map(|people| people.0))
            .fold(0.0, f64::max),
    );
    let y = |score: f64| bottom - HEIGHT * score / end;
    for line in 0..=(end / step).round() as usize {
        let score = line as f64 * step;
        plot.path("grid", &format!("M{LEFT} {:.1}H{RIGHT}", y(score)), "");
        plot.text("quiet end", LEFT - 8.0, y(score) + 4.0, &axis_number(score));
    }
    plot.text("quiet", 0.0, top - 14.0, "score %");
    let mut costs: Vec<Option<f64>> = ranked.iter().map(|(row, _)| row.cost.usd).collect();
    costs.extend(people.map(|people| people.1));
    let axis = CostAxis::new(&costs);
    axis.draw(&mut plot, top, bottom);
    let positions = axis.positions(&costs);
    families(&mut plot, &ranked, &positions, y);
    let mut points = Vec::new();
    for ((row, score), &x) in ranked.iter().zip(&positions) {
        let mark = shape_of(row.state);
        let [low, high] = score.interval;
        plot.interval(mark, x, [y(low), y(high)], true);
        plot.mark(mark, x, y(score.mean), true, &title(row, score));
        let rank = row.rank.map_or(0, |rank| rank.rank);
        plot.text("quiet", x + 6.0, y(score.mean) - 6.0, &rank.to_string());
        if row.cost.on_frontier {
            points.push((row.cost.usd.unwrap_or(0.0), x, y(score.mean)));
        }
    }
    if axis.decades.is_some() {
        frontier(&mut plot, points, axis.unknown);
    }
    if let (Some((score, _)), Some(&x)) = (people, positions.last()) {
        plot.mark(PEOPLE, x, y(score), false, &format!("people: {score:.2} %"));
    }
    if count > MAX_MARKS {
        let note = format!("the first {MAX_MARKS} of {count} ranked rows");
        plot.text("quiet end", RIGHT, top - 14.0, &note);
    }
    plot
}

/// The models and the authors of rows that a line connects.
type Family<'a> = (Vec<&'a str>, Vec<&'a str>);

/// Draws a line for each family of models, from its cheapest row to its dearest one, and writes the names
/// of the models next to the end. Rows without a place on the cost axis are not connected.
fn families(
    plot: &mut Plot,
    ranked: &[(&BoardRow, RowScore)],
    positions: &[f64],
    y: impl Fn(f64) -> f64,
) {
    let mut families: BTreeMap<Family<'_>, Vec<(f64, f64, f64)>> = BTreeMap::new();
    for ((row, score), &x) in ranked.iter().zip(positions) {
        let cost = row.cost.usd.filter(|&cost| cost > 0.0);
        if let (Some(family), Some(cost)) = (family(row), cost) {
            let rows = families.entry(family).or_default();
            rows.push((cost, x, y(score.mean)));
        }
    }
    for ((models, _), mut rows) in families {
        rows.sort_by(|one, other| one.0.total_cmp(&other.0).then(other.2.total_cmp(&one.2)));
        let (Some(&(_, x, height)), true) = (rows.last(), rows.len() > 1) else {
            continue;
        };
        let mut d = String::new();
        for (index, (_, x, height)) in rows.iter().enumerate() {
            let command = if index == 0 { 'M' } else { 'L' };
            let _ = write!(d, "{command}{x:.1} {height:.1}");
        }
        let names = models.join(", ");
        plot.path("family", &d, &format!("{names} in {} settings", rows.len()));
        let label = shortened(&names, MAX_FAMILY_CHARS);
        plot.text("end", x - 8.0, height - 8.0, &label);
    }
}

/// Returns the models and the authors of a row with a model.
fn family(row: &BoardRow) -> Option<Family<'_>> {
    let mut models: Vec<&str> = row.models.iter().map(String::as_str).collect();
    let mut authors: Vec<&str> = row.authors.iter().map(|one| one.name.as_str()).collect();
    models.sort_unstable();
    models.dedup();
    authors.sort_unstable();
    (!models.is_empty() && models != ["none"]).then_some((models, authors))
}

/// Adds a style to an SVG element, so that the file can be used without a page.
pub(crate) fn styled(svg: &str, style: &str) -> String {
    let start = svg.find('>').map_or(0, |end| end + 1);
    format!("{}\n{style}{}", &svg[..start], &svg[start..])
}

/// Draws the marks of the states that occur, and returns the height of the legend.
fn legend(plot: &mut Plot, ranked: &[(&BoardRow, RowScore)], has_people: bool) -> f64 {
    let mut x = 6.0;
    let mut add = |mark: usize, label: &str, is_filled: bool| {
        plot.mark(mark, x, 10.0, is_filled, "");
        plot.text("", x + 10.0, 14.0, label);
        x += 28.0 + 7.2 * label.chars().count() as f64;
    };
    for state in VerificationState::ALL {
        if ranked.iter().any(|(row, _)| row.state == state) {
            add(shape_of(state), state.name(), true);
        }
    }
    if has_people {
        add(PEOPLE, "people", false);
    }
    28.0
}

const fn shape_of(state: VerificationState) -> usize {
    match state {
        VerificationState::Claimed => 4,
        VerificationState::Replayed => 0,
        VerificationState::Witnessed => 1,
        VerificationState::Reproduced => 2,
        VerificationState::Official => 3,
    }
}

fn title(row: &BoardRow, score: &RowScore) -> String {
    let [low, high] = score.interval;
    let cost = match row.cost.usd {
        Some(usd) => format!("{usd:.4} USD ({})", row.cost.basis.name()),
        None => "cost unknown".to_owned(),
    };
    format!(
        "{} {}: {:.2} % ({low:.2} to {high:.2}), {}, {cost}",
        row.name,
        row.version,
        score.mean,
        row.state.name()
    )
}

#[cfg(test)]
mod tests {
    use rhae_protocol::{BoardAuthor, PeopleScore};

    use super::*;
    use crate::board_text::tests::view;

    #[test]
    fn ranked_rows_and_people_have_marks() {
        let mut view = view();
        view.people = Some(PeopleScore {
            score_nano: 100_000_000_000,
            cost_usd_micro: Some(5_000_000),
        });
        let svg = board_plot(&view);
        assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
        // One mark in the legend and one in the plot for each.
        assert_eq!(svg.matches("class=\"mark run0").count(), 2);
        assert_eq!(svg.matches("class=\"mark hollow run5").count(), 2);
        assert_eq!(svg.matches("class=\"frontier\"").count(), 1);
        assert!(!svg.contains("<b>") && svg.contains("12.50 %"));
    }

    /// Returns a ranked row of a model at a cost.
    fn row(models: &[&str], author: &str, usd: Option<f64>, mean: f64) -> BoardRow {
        let mut row = view().rows.remove(0);
        row.models = models.iter().map(|&name| name.to_owned()).collect();
        row.authors = vec![BoardAuthor {
            name: author.to_owned(),
            link: String::new(),
            affiliation: None,
        }];
        row.cost.usd = usd;
        let score = row.score.as_mut().unwrap();
        (score.mean, score.interval) = (mean, [mean * 0.8, mean * 1.2]);
        row
    }

    #[test]
    fn rows_of_a_family_of_models_are_connected() {
        let mut view = view();
        view.rows = vec![
            row(&["big <1>"], "Ada", Some(10.0), 30.0),
            row(&["big <1>"], "Ada", Some(0.1), 10.0),
            row(&["big <1>"], "Ada", Some(1.0), 20.0),
            row(&["big <1>"], "Eve", Some(2.0), 5.0),
            row(&["small"], "Ada", Some(0.2), 4.0),
            row(&["small"], "Ada", None, 40.0),
            row(&["small"], "Ada", Some(0.0), 1.0),
            row(&["none"], "Ada", Some(0.3), 2.0),
            row(&["none"], "Ada", Some(0.4), 3.0),
        ];
        let svg = board_plot(&view);
        assert_eq!(svg.matches("class=\"family\"").count(), 1);
        assert!(svg.contains("big &#60;1&#62; in 3 settings"), "{svg}");
        // The line goes from the cheapest row to the dearest one and upwards.
        let d = svg.split("class=\"family\" d=\"M").nth(1).unwrap();
        let points: Vec<Vec<f64>> = d[..d.find('"').unwrap()]
            .split('L')
            .map(|point| point.split(' ').map(|text| text.parse().unwrap()).collect())
            .collect();
        assert_eq!(points.len(), 3);
        assert!(points.is_sorted_by(|one, next| one[0] < next[0] && one[1] > next[1]));
        let without: Vec<u8> = {
            let mut apart = view.clone();
            apart.rows.truncate(3);
            for (index, row) in apart.rows.iter_mut().enumerate() {
                row.authors[0].name = index.to_string();
            }
            board_plot_png(&apart).unwrap()
        };
        view.rows.truncate(3);
        assert_ne!(board_plot_png(&view).unwrap(), without);
    }

    #[test]
    fn board_without_rows_is_drawn() {
        let mut view = view();
        view.rows.clear();
        let svg = board_plot(&view);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}
