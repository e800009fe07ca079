//! The HTML report of an exploration: the picture and the facts of each level.

use std::fmt::Write as _;

use crate::html::{Escaped, page};

/// The content of the report of an exploration.
pub struct GraphPage {
    /// The id of the environment with its version.
    pub game_id: String,
    /// The line below the title: seed, software and other facts that hold for all levels.
    pub subtitle: String,
    /// The SVG of [`growth_plot`](crate::growth_plot).
    pub growth: Option<String>,
    pub levels: Vec<LevelGraph>,
}

/// One level of the report.
pub struct LevelGraph {
    pub title: String,
    /// Names and values, shown as a list.
    pub facts: Vec<(&'static str, String)>,
    /// Notices that qualify the facts.
    pub notices: Vec<String>,
    /// The SVG of [`graph_picture`](crate::graph_picture()).
    pub picture: String,
}

/// Returns the report as a self-contained HTML page. The SVG texts are embedded unescaped.
pub fn graph_page(report: &GraphPage) -> String {
    let mut body = format!(
        "<main>\n<header class=\"plain\">\n<h1>{} · states</h1>\n<p class=\"quiet\">{}</p>\n</header>\n",
        Escaped(&report.game_id),
        Escaped(&report.subtitle)
    );
    if let Some(growth) = &report.growth {
        let _ = writeln!(
            body,
            "<section>\n<h2>Growth by level</h2>\n<div class=\"wide\">{growth}</div>\n</section>"
        );
    }
    for level in &report.levels {
        let _ = writeln!(
            body,
            "<section>\n<h2>{}</h2>\n<dl class=\"facts\">",
            Escaped(&level.title)
        );
        for (name, value) in &level.facts {
            let _ = writeln!(
                body,
                "<div><dt>{}</dt><dd>{}</dd></div>",
                Escaped(name),
                Escaped(value)
            );
        }
        body.push_str("</dl>\n");
        for notice in &level.notices {
            let _ = writeln!(body, "<p class=\"notice\">{}</p>", Escaped(notice));
        }
        let _ = writeln!(
            body,
            "<div class=\"wide\">{}</div>\n</section>",
            level.picture
        );
    }
    body.push_str("</main>");
    page(&format!("{} · states", report.game_id), "graph", &body)
}
