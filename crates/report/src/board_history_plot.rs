//! The best score of a leaderboard over time.
//!
//! *Invariant:* only ranked rows count, so a retracted row does not appear, and the best score at a day
//! is that of the rows that were submitted until then and are ranked now.

use rhae_protocol::{BoardRow, BoardView, RowScore};

use crate::board_plot::{STYLE, styled};
use crate::frontier_plot::{HEIGHT, LEFT, RIGHT};
use crate::picture::PictureError;
use crate::run_marks::{Plot, axis_number, linear_axis};

/// The number of days between the labels of the axis is chosen so that there are at most this many.
const MAX_LABELS: i64 = 6;

/// Half the width of a date.
const HALF_LABEL: f64 = 40.0;

/// Draws the best score over the days of submission. The figure is a complete SVG file.
pub fn board_history_plot(view: &BoardView) -> String {
    styled(&draw(view).finish("Best score over time"), STYLE)
}

/// Draws the same figure as a PNG picture.
///
/// # Errors
///
/// Returns [`PictureError`] if the picture cannot be encoded.
pub fn board_history_plot_png(view: &BoardView) -> Result<Vec<u8>, PictureError> {
    draw(view).into_png()
}

fn draw(view: &BoardView) -> Plot {
    let mut rows: Vec<(i64, &BoardRow, RowScore)> = view
        .rows
        .iter()
        .filter(|row| row.rank.is_some())
        .filter_map(|row| Some((days(&row.date)?, row, row.score?)))
        .collect();
    rows.sort_by_key(|(day, _, _)| *day);
    let mut plot = Plot::new();
    let (top, bottom) = (28.0, 28.0 + HEIGHT);
    let greatest = rows.iter().map(|(_, _, score)| score.mean);
    let (end, step) = linear_axis(greatest.fold(0.0, f64::max));
    let y = |score: f64| bottom - HEIGHT * score / end;
    for line in 0..=(end / step).round() as usize {
        let score = line as f64 * step;
        plot.path("grid", &format!("M{LEFT} {:.1}H{RIGHT}", y(score)), "");
        plot.text("quiet end", LEFT - 8.0, y(score) + 4.0, &axis_number(score));
    }
    plot.text("quiet", 0.0, top - 14.0, "score %");
    let first = rows.first().map_or(0, |row| row.0);
    let last = rows.last().map_or(0, |row| row.0).max(first + 1);
    let x = |day: i64| LEFT + (RIGHT - LEFT) * (day - first) as f64 / (last - first) as f64;
    let apart = ((last - first) + MAX_LABELS - 1) / MAX_LABELS;
    let mut labelled = rows.first().map_or(last + 1, |_| first);
    while labelled <= last {
        let at = x(labelled);
        let class = if at + HALF_LABEL > RIGHT {
            "quiet end"
        } else {
            "quiet mid"
        };
        plot.text(class, at, bottom + 20.0, &date(labelled));
        labelled += apart.max(1);
    }
    let mut best = None::<f64>;
    let mut steps = String::new();
    for (day, row, score) in &rows {
        let is_best = best.is_none_or(|best| score.mean > best);
        let title = format!(
            "{} {}: {:.2} %, {}",
            row.name, row.version, score.mean, row.date
        );
        plot.mark(0, x(*day), y(score.mean), is_best, &title);
        if is_best {
            let start = best.map_or_else(
                || format!("M{:.1} {:.1}", x(*day), y(score.mean)),
                |_| format!("H{:.1}V{:.1}", x(*day), y(score.mean)),
            );
            steps.push_str(&start);
            best = Some(score.mean);
        }
    }
    if !steps.is_empty() {
        steps.push_str(&format!("H{RIGHT}"));
        plot.path("frontier", &steps, "best score");
    }
    plot
}

/// Returns the number of days from the civil date 1970-01-01 to a date such as `2026-11-18`.
fn days(date: &str) -> Option<i64> {
    let mut parts = date.splitn(3, '-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let shifted = if month > 2 { month - 3 } else { month + 9 };
    let year = if month > 2 { year } else { year - 1 };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * shifted + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

/// Returns the date of a day, as [`days`] counts it.
fn date(day: i64) -> String {
    let at_ms = u64::try_from(day).unwrap_or(0) * 24 * 60 * 60 * 1000;
    rhae_protocol::rfc3339_utc(at_ms).chars().take(10).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board_text::tests::view;

    #[test]
    fn days_and_dates_are_inverse() {
        assert_eq!(days("1970-01-01"), Some(0));
        assert_eq!(days("2000-03-01"), Some(11_017));
        for day in [0, 59, 60, 365, 11_016, 20_776] {
            assert_eq!(days(&date(day)), Some(day), "{day}");
        }
        assert_eq!(days("soon"), None);
    }

    #[test]
    fn best_score_only_rises() {
        let mut view = view();
        view.rows[0].date = "2026-11-01".to_owned();
        for (day, mean) in [("2026-11-05", 8.0), ("2026-11-09", 20.0)] {
            let mut row = view.rows[0].clone();
            row.date = day.to_owned();
            row.score = row.score.map(|score| RowScore { mean, ..score });
            view.rows.push(row);
        }
        let svg = board_history_plot(&view);
        // Two of the three ranked rows raised the best score.
        assert_eq!(svg.matches("class=\"mark run0").count(), 2);
        assert_eq!(svg.matches("class=\"mark hollow run0").count(), 1);
        let steps = svg
            .lines()
            .find(|line| line.contains("best score"))
            .unwrap();
        assert_eq!(steps.matches('V').count(), 1);
        assert!(svg.contains(">2026-11-01<"), "{svg}");
    }

    #[test]
    fn board_without_rows_is_drawn() {
        let mut view = view();
        view.rows.clear();
        let svg = board_history_plot(&view);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}
