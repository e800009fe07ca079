//! The scorecards that the visitor may read, the last first.

use std::fmt::Write as _;

use rhae_protocol::Scorecard;
use rhae_report::Text;

use crate::page::{Page, Place, Who, time};

/// A scorecard in the list.
#[derive(Clone, Debug)]
pub struct CardRow {
    /// Its id.
    pub id: String,
    /// When it was opened.
    pub opened_at: String,
    /// Whether it is open.
    pub open: bool,
    /// What the author filed it under.
    pub tags: Vec<String>,
    /// Its numbers; absent while a competition lasts.
    pub card: Option<Scorecard>,
}

/// The list; `more` leads to older ones.
pub fn cards_page(who: Who, rows: &[CardRow], more: Option<&str>) -> String {
    let mut body = String::from("<header class=\"head\"><h1>Scorecards</h1></header>\n");
    if rows.is_empty() {
        body.push_str(
            "<p class=\"quiet\">There are no scorecards yet. Playing opens one, and so does an agent that uses this server.</p>\n",
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
            .map(|tag| format!("<span class=\"tag\">{}</span>", Text(tag)))
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
            Text(&row.id),
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
            Text(more)
        );
    }
    Page {
        title: "Scorecards",
        place: Place::Cards,
        who,
        script: None,
        asks: None,
        body,
    }
    .html()
}
