//! The list of scorecards that the visitor may read, newest first.

use std::fmt::Write as _;

use rhae_protocol::Scorecard;
use rhae_report::Escaped;

use crate::page::{NavItem, Page, Viewer, time};

/// A row of the list.
#[derive(Clone, Debug)]
pub struct CardRow {
    pub id: String,
    /// RFC 3339.
    pub opened_at: String,
    pub open: bool,
    pub tags: Vec<String>,
    /// The results; `None` for an open competition card, whose results are hidden.
    pub card: Option<Scorecard>,
}

/// Renders the list. `more` is the id of the last listed card if there may be older ones, to which
/// the page then links.
pub fn cards_page(viewer: Viewer, rows: &[CardRow], more: Option<&str>) -> String {
    let mut body = String::from("<header class=\"head\"><h1>Scorecards</h1></header>\n");
    if rows.is_empty() {
        body.push_str(
            "<p class=\"quiet\">There are no scorecards yet. One is opened when you play, or when an agent uses this server.</p>\n",
        );
    } else {
        body.push_str(
            "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Scorecards\"><table class=\"cards\">\n<thead><tr>\
             <th scope=\"col\">Opened</th><th scope=\"col\" class=\"num\">Score %</th><th scope=\"col\" class=\"num\">Levels</th>\
             <th scope=\"col\" class=\"num\">Environments</th><th scope=\"col\" class=\"num\">Actions</th><th scope=\"col\">Tags</th>\
             <th scope=\"col\">State</th></tr></thead>\n<tbody>\n",
        );
    }
    for row in rows {
        let tags: String = row
            .tags
            .iter()
            .map(|tag| format!("<span class=\"tag\">{}</span>", Escaped(tag)))
            .collect();
        let numbers = row.card.as_ref().map_or_else(
            || "<td class=\"num\">–</td>".repeat(4),
            |card| {
                format!(
                    "<td class=\"num\">{:.2}</td><td class=\"num\">{}<span class=\"quiet\"> / {}</span></td><td class=\"num\">{}</td>\
                     <td class=\"num\">{}</td>",
                    card.score, card.total_levels_completed, card.total_levels, card.total_environments, card.total_actions
                )
            },
        );
        let _ = writeln!(
            body,
            "<tr><td><a href=\"/scorecards/{}\">{}</a></td>{numbers}<td>{tags}</td><td>{}</td></tr>",
            Escaped(&row.id),
            time(&row.opened_at),
            if row.open { "open" } else { "closed" }
        );
    }
    if !rows.is_empty() {
        body.push_str("</tbody></table></div>\n");
    }
    if let Some(more) = more {
        let _ = writeln!(
            body,
            "<p><a class=\"button\" href=\"/scorecards?before={}\">Older</a></p>",
            Escaped(more)
        );
    }
    Page {
        title: "Scorecards",
        nav: NavItem::Cards,
        viewer,
        script: None,
        preload: None,
        body,
    }
    .html()
}
