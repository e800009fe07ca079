//! Drawing plots that compare runs: text, lines, and a mark for each run.
//!
//! Invariant: the marks of different runs differ by shape and not only by colour. The colours are in
//! `compare.css`, so that plots work on light and dark pages and in print.

use crate::picture::PictureError;
use crate::raster::{Drawn, png};
use crate::svg::{Content, Px, Svg};

pub(crate) const WIDTH: f64 = 720.0;

/// The number of different marks. Further runs repeat them.
pub(crate) const MARKS: usize = 6;

/// An SVG plot under construction.
pub(crate) struct Plot {
    svg: Svg,
    /// The same paths and texts, from which a picture is drawn.
    drawn: Vec<Drawn>,
    height: f64,
}

impl Plot {
    pub(crate) const fn new() -> Self {
        Self {
            svg: Svg::new(),
            drawn: Vec::new(),
            height: 0.0,
        }
    }

    pub(crate) fn text(&mut self, class: &str, x: f64, y: f64, text: &str) {
        self.svg.text(class, x, y, text);
        self.drawn.push(Drawn::Text {
            class: class.to_owned(),
            at: [x, y],
            text: text.to_owned(),
        });
        self.height = self.height.max(y + 8.0);
    }

    /// Draws a path. `title` is shown when the pointer is over it.
    pub(crate) fn path(&mut self, class: &str, d: &str, title: &str) {
        self.drawn.push(Drawn::Path {
            class: class.to_owned(),
            d: d.to_owned(),
        });
        if title.is_empty() {
            self.svg.path(class, d);
        } else {
            self.svg.titled_path(class, d, title);
        }
    }

    pub(crate) fn rect(&mut self, class: &str, at: [f64; 4], opacity: f64, title: &str) {
        let [x, y, width, height] = at;
        self.svg.element(
            "rect",
            &[
                ("class", &class),
                ("x", &Px(x)),
                ("y", &Px(y)),
                ("width", &Px(width)),
                ("height", &Px(height)),
                ("rx", &2),
                ("fill-opacity", &format_args!("{opacity:.3}")),
            ],
            Content::Title(title),
        );
        self.height = self.height.max(y + height + 4.0);
    }

    /// Draws the mark of a run: filled, or hollow for something that is incomplete.
    pub(crate) fn mark(&mut self, run: usize, x: f64, y: f64, is_filled: bool, title: &str) {
        let class = if is_filled { "mark" } else { "mark hollow" };
        self.path(
            &format!("{class} run{}", run % MARKS),
            &shape(run, x, y),
            title,
        );
        self.height = self.height.max(y + 10.0);
    }

    /// Draws an interval with end caps, vertical if `is_vertical`.
    pub(crate) fn interval(&mut self, run: usize, at: f64, ends: [f64; 2], is_vertical: bool) {
        let [from, to] = ends;
        let d = if is_vertical {
            format!(
                "M{at:.1} {from:.1}V{to:.1}M{0:.1} {from:.1}h6M{0:.1} {to:.1}h6",
                at - 3.0
            )
        } else {
            format!(
                "M{from:.1} {at:.1}H{to:.1}M{from:.1} {0:.1}v6M{to:.1} {0:.1}v6",
                at - 3.0
            )
        };
        self.path(&format!("whisker run{}", run % MARKS), &d, "");
    }

    /// Draws the marks with the labels of the runs and returns the height that they take.
    pub(crate) fn legend(&mut self, labels: &[String]) -> f64 {
        let (mut x, mut y) = (6.0, 10.0);
        for (run, label) in labels.iter().enumerate() {
            let label = shortened(label, 60);
            // The average width of a letter at 13 pixels.
            let width = 28.0 + 7.2 * label.chars().count() as f64;
            if x > 6.0 && x + width > WIDTH {
                (x, y) = (6.0, y + 20.0);
            }
            self.mark(run, x, y, true, "");
            self.text("", x + 10.0, y + 4.0, &label);
            x += width;
        }
        y + 18.0
    }

    /// Returns a PNG picture of a plot of a leaderboard, which has no rectangles.
    pub(crate) fn into_png(self) -> Result<Vec<u8>, PictureError> {
        png(&self.drawn, self.height)
    }

    /// Returns the SVG element. `label` describes it for screen readers.
    pub(crate) fn finish(self, label: &str) -> String {
        self.svg.finish("plot", (WIDTH, self.height), label, "")
    }
}

/// Shortens a text to `max` characters.
pub(crate) fn shortened(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    text.chars().take(max - 1).chain(['…']).collect()
}

/// Returns the outline of the mark of a run.
pub(crate) fn shape(run: usize, x: f64, y: f64) -> String {
    match run % MARKS {
        0 => format!(
            "M{:.1} {y:.1}a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z",
            x - 4.5
        ),
        1 => format!("M{:.1} {:.1}h8v8h-8z", x - 4.0, y - 4.0),
        2 => format!("M{x:.1} {:.1}l5 9h-10z", y - 5.5),
        3 => format!("M{x:.1} {:.1}l5.5 5.5l-5.5 5.5l-5.5 -5.5z", y - 5.5),
        4 => format!("M{x:.1} {:.1}l5 -9h-10z", y + 5.5),
        _ => format!("M{:.1} {:.1}h4v3h3v4h-3v3h-4v-3h-3v-4h3z", x - 2.0, y - 5.0),
    }
}

/// Returns the end of an axis that starts at 0 and the distance of its lines, so that it has four to
/// ten lines.
pub(crate) fn linear_axis(max: f64) -> (f64, f64) {
    let max = if max > 0.0 { max } else { 1.0 };
    let decade = 10_f64.powf(max.log10().floor());
    let step = [0.1, 0.2, 0.5, 1.0, 2.0]
        .map(|step| step * decade)
        .into_iter()
        .find(|step| max / step <= 8.0)
        .unwrap_or(decade);
    ((max / step - 1e-9).ceil() * step, step)
}

/// Formats a number of an axis without trailing zeros.
pub(crate) fn axis_number(value: f64) -> String {
    let digits = if value == 0.0 || value.abs() >= 10.0 {
        1
    } else {
        (1.0 - value.abs().log10().floor()).clamp(0.0, 8.0) as usize
    };
    let text = format!("{value:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_round_numbers() {
        assert_eq!(linear_axis(0.71), (0.8, 0.1));
        assert_eq!(linear_axis(24.0), (25.0, 5.0));
        assert_eq!(linear_axis(100.0), (100.0, 20.0));
        assert_eq!(linear_axis(0.0).0, 1.0);
    }

    #[test]
    fn axis_numbers_have_no_trailing_zeros() {
        assert_eq!(
            [0.0, 0.1, 0.25, 5.0, 12.5, 100.0].map(axis_number),
            ["0", "0.1", "0.25", "5", "12.5", "100"]
        );
    }

    #[test]
    fn labels_are_escaped_and_shortened() {
        let mut plot = Plot::new();
        plot.legend(&["<script>".to_owned(), "x".repeat(200)]);
        let svg = plot.finish("a \"b\"");
        assert!(!svg.contains("<script>") && !svg.contains(&"x".repeat(61)));
        assert!(!svg.contains("\"a \"b\"\""));
    }
}
