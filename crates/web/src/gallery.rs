//! The gallery of environments, each shown by its first level. It deliberately does not describe
//! the games: finding out what a game is about is the player's task.

use askama::Template;

use crate::page::{Dots, NavItem, Page, Viewer, render};

/// An environment and the visitor's progress in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GalleryGame {
    /// The full id, with the version.
    pub id: String,
    /// The name shown: the four-character name.
    pub name: String,
    /// The number of levels; 0 if it is unknown.
    pub levels: u8,
    /// The highest number of levels that the visitor has completed in one play; `None` if never
    /// played.
    pub completed: Option<u8>,
    /// Whether to say that the source of a hosted game on disk is no longer the one that is played.
    pub source_changed: bool,
}

#[derive(Template)]
#[template(path = "gallery.html")]
struct Gallery<'a> {
    page: Page<'a>,
    items: Vec<Item<'a>>,
}

struct Item<'a> {
    game: &'a GalleryGame,
    /// The number of completed levels.
    done: u8,
}

impl<'a> Item<'a> {
    fn new(game: &'a GalleryGame) -> Self {
        Self {
            game,
            done: match (game.completed.unwrap_or(0), game.levels) {
                (completed, 0) => completed,
                (completed, levels) => completed.min(levels),
            },
        }
    }

    fn is_new(&self) -> bool {
        self.game.completed.is_none()
    }

    fn is_complete(&self) -> bool {
        self.game.levels > 0 && self.done == self.game.levels
    }

    fn dots(&self) -> Dots {
        Dots {
            completed: self.done,
            levels: self.game.levels,
        }
    }
}

/// Renders the gallery.
pub fn gallery_page(viewer: Viewer, games: &[GalleryGame]) -> String {
    render(&Gallery {
        page: Page {
            title: "Environments",
            nav: NavItem::Gallery,
            viewer,
            script: None,
            preload: None,
        },
        items: games.iter().map(Item::new).collect(),
    })
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
            source_changed: completed == Some(2),
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
        assert_eq!(page.matches("The source changed").count(), 1);
    }
}
