//! The HTML page of heat maps that compare environments pair by pair.
//!
//! Invariant: every cell shows its number, so that no information is conveyed by colour alone.

use std::fmt::Write as _;

use crate::html::{Escaped, page};

/// A square matrix of numbers from 0 to 1.
pub struct HeatMap {
    pub title: &'static str,
    /// The meaning of a number.
    pub note: &'static str,
    /// The names of the rows, which are also the names of the columns.
    pub names: Vec<String>,
    /// The numbers, row by row; `None` for a pair that was not compared.
    pub cells: Vec<Vec<Option<f64>>>,
}

const SIDE: f64 = 64.0;
const LEFT: f64 = 92.0;
const TOP: f64 = 28.0;

/// Returns a self-contained HTML page with heat maps below each other, preceded by notices.
///
/// ```
/// use rhae_report::{HeatMap, heat_page};
///
/// let map = HeatMap {
///     title: "Rules",
///     note: "share of common rules",
///     names: vec!["ab12-v1".to_owned(), "cd34-v1".to_owned()],
///     cells: vec![vec![None, Some(0.25)], vec![Some(0.25), None]],
/// };
/// let page = heat_page(&[map], &["Two environments were compared.".to_owned()]);
/// assert_eq!(page.matches("25 %</text>").count(), 2);
/// ```
pub fn heat_page(maps: &[HeatMap], notices: &[String]) -> String {
    let mut body = "<main>\n<header class=\"plain\">\n<h1>Novelty</h1>\n<p class=\"quiet\">Similarity of environments, pair by pair: an approximation of the \
                    paper's test, which cannot be computed</p>\n</header>\n"
        .to_owned();
    for notice in notices {
        let _ = writeln!(body, "<p class=\"notice\">{}</p>", Escaped(notice));
    }
    for map in maps {
        let _ = writeln!(
            body,
            "<section>\n<h2>{} <small>{}</small></h2>\n<div class=\"wide\">{}</div>\n</section>",
            Escaped(map.title),
            Escaped(map.note),
            heat_map_svg(map)
        );
    }
    body.push_str("</main>");
    page("Novelty", "novelty", &body)
}

fn heat_map_svg(map: &HeatMap) -> String {
    let count = map.names.len() as f64;
    let (width, height) = (LEFT + count * SIDE, TOP + count * SIDE);
    let mut svg = format!(
        "<svg viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" aria-label=\"{}\" \
         font-size=\"13\" fill=\"currentColor\">\n",
        Escaped(map.title)
    );
    for (index, name) in map.names.iter().enumerate() {
        let (x, y) = (
            LEFT + (index as f64 + 0.5) * SIDE,
            TOP + (index as f64 + 0.5) * SIDE,
        );
        let short = name.get(..4).unwrap_or(name);
        let _ = writeln!(
            svg,
            "<text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            TOP - 10.0,
            Escaped(short)
        );
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
            LEFT - 12.0,
            y + 4.0,
            Escaped(name)
        );
    }
    for (row, cells) in map.cells.iter().enumerate() {
        for (column, cell) in cells.iter().enumerate() {
            let (x, y) = (LEFT + column as f64 * SIDE, TOP + row as f64 * SIDE);
            let Some(share) = cell else {
                let _ = writeln!(
                    svg,
                    "<rect x=\"{}\" y=\"{}\" width=\"{w}\" height=\"{w}\" fill=\"currentColor\" opacity=\"0.04\"/>",
                    x + 1.0,
                    y + 1.0,
                    w = SIDE - 2.0
                );
                continue;
            };
            let (heat, text) = (share.clamp(0.0, 1.0), format!("{:.0} %", 100.0 * share));
            let _ = writeln!(
                svg,
                "<rect x=\"{}\" y=\"{}\" width=\"{w}\" height=\"{w}\" fill=\"#d9534f\" opacity=\"{:.2}\"/>\n\
                 <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{text}</text>",
                x + 1.0,
                y + 1.0,
                0.06 + 0.8 * heat,
                x + SIDE / 2.0,
                y + SIDE / 2.0 + 4.0,
                w = SIDE - 2.0
            );
        }
    }
    svg.push_str("</svg>");
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_show_their_numbers_and_names_are_escaped() {
        let names = vec!["ab12-v1".to_owned(), "<b>".to_owned()];
        let cells = vec![vec![None, Some(0.625)], vec![Some(0.625), None]];
        let page = heat_page(
            &[HeatMap {
                title: "Rules",
                note: "n",
                names,
                cells,
            }],
            &["62 % in common".to_owned()],
        );
        assert_eq!(page.matches("62 %</text>").count(), 2);
        assert!(page.contains("&lt;b&gt;") && !page.contains("<b>"));
    }
}
