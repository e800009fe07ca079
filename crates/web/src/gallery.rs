//! The environments as pictures of their first levels. What a game is about is for the player to find out: there is no word about it.

use std::fmt::Write as _;

use rhae_report::Text;

use crate::page::{Page, Place, Who, dots};

/// An environment and how far the visitor has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GalleryGame {
    /// The id with its version.
    pub id: String,
    /// What is shown of it: the four characters.
    pub name: String,
    /// How many levels it has.
    pub levels: u8,
    /// The most levels that the visitor completed; `None` if it was not played.
    pub completed: Option<u8>,
}

/// The page with all of them.
pub fn gallery_page(who: Who, games: &[GalleryGame]) -> String {
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
        let said = completed.map_or_else(
            || "not played yet".to_owned(),
            |_| format!("{done} completed"),
        );
        let _ = writeln!(
            body,
            "<li><a href=\"/play/{id}\" aria-label=\"{name}, {levels} levels, {said}\">\
             <img src=\"/pictures/{id}.png\" alt=\"\" width=\"256\" height=\"256\" loading=\"lazy\" decoding=\"async\">\
             <span class=\"line\"><code>{name}</code>{progress}</span>{}</a></li>",
            dots(done, *levels),
            id = Text(id),
            name = Text(name),
        );
    }
    body.push_str("</ul>\n");
    if games.is_empty() {
        body.push_str("<p class=\"notice\">There is no environment that you may see.</p>\n");
    }
    Page {
        title: "Environments",
        place: Place::Gallery,
        who,
        script: None,
        asks: None,
        body,
    }
    .html()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_shows_its_name_its_levels_and_the_visitors_progress() {
        let game = |completed| GalleryGame {
            id: "ab12-v1".to_owned(),
            name: "ab12".to_owned(),
            levels: 5,
            completed,
        };
        let page = gallery_page(Who::Open, &[game(None), game(Some(2)), game(Some(5))]);
        assert_eq!(page.matches("class=\"on\"").count(), 7);
        assert!(
            page.contains("ab12, 5 levels, not played yet")
                && page.contains("ab12, 5 levels, 2 completed")
        );
        assert_eq!(page.matches(">complete<").count(), 1);
    }
}
