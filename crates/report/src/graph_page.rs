//! The HTML report of an exploration: the picture and the facts of each level.

use askama::Template;

use crate::html::render;

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

#[derive(Template)]
#[template(path = "graph.html")]
struct Page<'a> {
    report: &'a GraphPage,
}

/// Returns the report as a self-contained HTML page. The SVG texts are embedded unescaped.
pub fn graph_page(report: &GraphPage) -> String {
    render(&Page { report })
}
