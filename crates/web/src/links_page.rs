//! The page on which owners manage the links to their published scorecards and replays.

use askama::Template;

use crate::page::{NavItem, Page, Time, Viewer, render};

/// A link in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkRow {
    pub id: String,
    /// The published scorecard, or `None` if it is a play.
    pub card_id: Option<String>,
    /// The published play, or `None` if it is a scorecard.
    pub guid: Option<String>,
    /// RFC 3339.
    pub created_at: String,
    /// RFC 3339; `None` while the link works.
    pub revoked_at: Option<String>,
}

impl LinkRow {
    fn created(&self) -> Time<'_> {
        Time {
            rfc3339: &self.created_at,
        }
    }

    fn revoked(&self) -> Option<Time<'_>> {
        self.revoked_at.as_deref().map(|rfc3339| Time { rfc3339 })
    }
}

#[derive(Template)]
#[template(path = "links.html")]
struct Links<'a> {
    page: Page<'a>,
    /// The path of a link that was just created.
    created: Option<&'a str>,
    rows: &'a [LinkRow],
    more: Option<&'a str>,
}

/// Renders the list of links. `created` is the path of a link that was just created, which is shown
/// only now. `more` is the id of the last listed link if there may be older ones, to which the page
/// then links.
pub fn links_page(
    viewer: Viewer,
    created: Option<&str>,
    rows: &[LinkRow],
    more: Option<&str>,
) -> String {
    render(&Links {
        page: Page {
            title: "Links",
            nav: NavItem::Cards,
            viewer,
            script: None,
            preload: None,
        },
        created,
        rows,
        more,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outline_of_links() {
        let row = |revoked_at: Option<&str>| LinkRow {
            id: "00000000000000ff".to_owned(),
            card_id: revoked_at.is_none().then(|| "<c1>".to_owned()),
            guid: revoked_at.map(|_| "g1".to_owned()),
            created_at: "2026-11-16T04:05:06Z".to_owned(),
            revoked_at: revoked_at.map(str::to_owned),
        };
        let rows = [row(None), row(Some("2026-11-17T04:05:06Z"))];
        let page = links_page(
            Viewer::KeyHolder,
            Some("/shared/0f"),
            &rows,
            Some("00000000000000ff"),
        );
        assert_eq!(page.matches(">Revoke<").count(), 1);
        insta::assert_snapshot!(rhae_testkit::page_outline(&page));
        let empty = links_page(Viewer::KeyHolder, None, &[], None);
        assert!(empty.contains("You have not published anything."));
    }
}
