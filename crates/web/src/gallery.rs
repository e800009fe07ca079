//! The gallery of environments, each shown by its first level. It deliberately does not describe
//! the games: finding out what a game is about is the player's task.

use std::fmt::Write as _;

use rhae_report::Escaped;

use crate::page::{NavItem, Page, Viewer, dots};

/// An environment and the visitor's progress in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GalleryGame {
    /// The full id, with the version.
    pub id: String,
    /// The name shown: the four-character name.
    pub name: String,
    pub levels: u8,
    /// The highest number of levels that the visitor has completed in one play; `None` if never
    /// played.
    pub completed: Option<u8>,
}

/// Renders the gallery.
pub fn gallery_page(viewer: Viewer, games: &[GalleryGame]) -> String {
    let mut body = String::from("<h1 class=\"hidden\">Environments</h1>\n<ul class=\"gallery\">\n");
    for game in games {
        let GalleryGame {
            id,
            name,
            levels,
            completed,
        } = game;
        let done = completed.unwrap_or(0).min(*levels);
        let progress = match completed {
            None => "<span class=\"quiet\">new</span>".to_owned(),
            Some(_) if done == *levels => "<span class=\"done\">complete</span>".to_owned(),
            Some(_) => format!("<span>{done}<span class=\"quiet\"> / {levels}</span></span>"),
        };
        let progress_label = completed.map_or_else(
            || "not played yet".to_owned(),
            |_| format!("{done} completed"),
        );
        let _ = writeln!(
            body,
            "<li><a href=\"/play/{id}\" aria-label=\"{name}, {levels} levels, {progress_label}\">\
             <img src=\"/pictures/{id}.png\" alt=\"\" width=\"256\" height=\"256\" loading=\"lazy\" decoding=\"async\">\
             <span class=\"line\"><code>{name}</code>{progress}</span>{}</a></li>",
            dots(done, *levels),
            id = Escaped(id),
            name = Escaped(name),
        );
    }
    body.push_str("</ul>\n");
    if games.is_empty() {
        body.push_str("<p class=\"notice\">No environment is available to you.</p>\n");
    }
    Page {
        title: "Environments",
        nav: NavItem::Gallery,
        viewer,
        script: None,
        preload: None,
        body,
    }
    .html()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn game_shows_its_levels_and_the_visitors_progress() {
        let game = |completed| GalleryGame {
            id: "ab12-v1".to_owned(),
            name: "ab12".to_owned(),
            levels: 5,
            completed,
        };
        let page = gallery_page(
            Viewer::OpenAccess,
            &[game(None), game(Some(2)), game(Some(5))],
        );
        assert_eq!(page.matches("class=\"on\"").count(), 7);
        assert!(
            page.contains("ab12, 5 levels, not played yet")
                && page.contains("ab12, 5 levels, 2 completed")
        );
        assert_eq!(page.matches(">complete<").count(), 1);
    }
}
