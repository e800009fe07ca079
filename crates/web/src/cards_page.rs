//! The list of scorecards that the visitor may read, newest first.

use askama::Template;
use rhae_protocol::{CardOwner, Scorecard};

use crate::page::{NavItem, Page, Time, Viewer, render};

/// A row of the list.
#[derive(Clone, Debug)]
pub struct CardRow {
    pub id: String,
    /// RFC 3339.
    pub opened_at: String,
    pub open: bool,
    /// The holder of the key that opened the card, if the visitor is an administrator.
    pub owner: Option<CardOwner>,
    pub tags: Vec<String>,
    /// The results; `None` for an open competition card, whose results are hidden.
    pub card: Option<Scorecard>,
}

impl CardRow {
    fn opened(&self) -> Time<'_> {
        Time {
            rfc3339: &self.opened_at,
        }
    }
}

#[derive(Template)]
#[template(path = "cards.html")]
struct Cards<'a> {
    page: Page<'a>,
    rows: &'a [CardRow],
    /// Whether to show the owners of the cards.
    owners: bool,
    more: Option<&'a str>,
}

/// Renders the list. `more` is the id of the last listed card if there may be older ones, to which
/// the page then links.
pub fn cards_page(viewer: Viewer, rows: &[CardRow], more: Option<&str>) -> String {
    render(&Cards {
        page: Page {
            title: "Scorecards",
            nav: NavItem::Cards,
            viewer,
            script: None,
            preload: None,
        },
        rows,
        owners: rows.iter().any(|row| row.owner.is_some()),
        more,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outline_of_a_list() {
        let card = serde_json::json!({
            "card_id": "c1", "score": 62.5, "method": "m", "software": "rhae", "environments": [],
            "total_environments_completed": 0, "total_environments": 1, "total_levels_completed": 1,
            "total_levels": 2, "total_actions": 19
        });
        let row = |card, open| CardRow {
            id: "<c1>".to_owned(),
            opened_at: "2026-11-16T04:05:06Z".to_owned(),
            open,
            owner: None,
            tags: vec!["<a>".to_owned(), "b".to_owned()],
            card,
        };
        let rows = [
            row(Some(serde_json::from_value(card).unwrap()), false),
            row(None, true),
        ];
        let page = cards_page(Viewer::Anonymous, &rows, Some("c0&"));
        insta::assert_snapshot!(rhae_testkit::page_outline(&page));
    }
}
