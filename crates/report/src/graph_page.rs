//! The report of an exploration as a page: for each level its picture and what was found.

use std::fmt::Write as _;

use crate::html::{Text, page};

/// What the report of an exploration is made from.
pub struct GraphPage {
    /// The environment with its version.
    pub game_id: String,
    /// Under the title: seed, software and what else holds for all levels.
    pub subtitle: String,
    /// How the number of states grows, as SVG.
    pub growth: Option<String>,
    /// The levels in their order.
    pub levels: Vec<LevelGraph>,
}

/// One level of the report.
pub struct LevelGraph {
    /// Its heading.
    pub title: String,
    /// Names and values.
    pub facts: Vec<(&'static str, String)>,
    /// What the reader must know before believing the values.
    pub notices: Vec<String>,
    /// The picture, as SVG.
    pub picture: String,
}

/// The report as a self-contained page.
pub fn graph_page(report: &GraphPage) -> String {
    let mut body = format!(
        "<main>\n<header class=\"plain\">\n<h1>{} · states</h1>\n<p class=\"quiet\">{}</p>\n</header>\n",
        Text(&report.game_id),
        Text(&report.subtitle)
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
            Text(&level.title)
        );
        for (name, value) in &level.facts {
            let _ = writeln!(
                body,
                "<div><dt>{}</dt><dd>{}</dd></div>",
                Text(name),
                Text(value)
            );
        }
        body.push_str("</dl>\n");
        for notice in &level.notices {
            let _ = writeln!(body, "<p class=\"notice\">{}</p>", Text(notice));
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
