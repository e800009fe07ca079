//! The HTML page of heat maps that compare environments pair by pair.
//!
//! Invariant: every cell shows its number, so that no information is conveyed by colour alone.

use askama::Template;
use askama::filters::HtmlSafe;

use crate::html::render;

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
    render(&Page {
        maps: maps.iter().map(Drawing::new).collect(),
        notices,
    })
}

#[derive(Template)]
#[template(path = "heat.html")]
struct Page<'a> {
    maps: Vec<Drawing<'a>>,
    notices: &'a [String],
}

/// A heat map as SVG.
#[derive(Template)]
#[template(path = "heat_map.svg")]
struct Drawing<'a> {
    map: &'a HeatMap,
    width: f64,
    height: f64,
    labels: Vec<Label<'a>>,
    cells: Vec<Cell>,
}

/// The template escapes the names.
impl HtmlSafe for Drawing<'_> {}

/// The name of a row and column.
struct Label<'a> {
    name: &'a str,
    /// The name without the version.
    short: &'a str,
    /// The distance of its middle from the first cell.
    at: f64,
}

struct Cell {
    x: f64,
    y: f64,
    share: Option<f64>,
}

impl Cell {
    fn opacity(&self) -> f64 {
        0.06 + 0.8 * self.share.unwrap_or(0.0).clamp(0.0, 1.0)
    }
}

impl<'a> Drawing<'a> {
    fn new(map: &'a HeatMap) -> Self {
        let count = map.names.len() as f64;
        let label = |(index, name): (usize, &'a String)| Label {
            name,
            short: name.get(..4).unwrap_or(name),
            at: (index as f64 + 0.5) * SIDE,
        };
        let row = |(row, shares): (usize, &'a Vec<Option<f64>>)| {
            let cell = move |(column, &share): (usize, &Option<f64>)| Cell {
                x: LEFT + column as f64 * SIDE,
                y: TOP + row as f64 * SIDE,
                share,
            };
            shares.iter().enumerate().map(cell)
        };
        Self {
            map,
            width: LEFT + count * SIDE,
            height: TOP + count * SIDE,
            labels: map.names.iter().enumerate().map(label).collect(),
            cells: map.cells.iter().enumerate().flat_map(row).collect(),
        }
    }
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
        assert!(page.contains("&#60;b&#62;") && !page.contains("<b>"));
    }
}
