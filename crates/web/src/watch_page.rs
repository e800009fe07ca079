//! Pages for plays in progress: the list, and one play followed live.

use askama::Template;

use crate::page::{Dots, NavItem, Page, Viewer, render};

/// A play in progress, as listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchRow {
    /// The id of the play.
    pub guid: String,
    /// The full id of the environment.
    pub game_id: String,
    pub levels_completed: u8,
    /// The number of levels of the game.
    pub win_levels: u8,
    /// Actions that count towards the score.
    pub actions: u64,
    /// Seconds since the last command.
    pub seconds: u64,
}

/// A play that is followed live.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchView {
    /// The id of the play.
    pub guid: String,
    /// The full id of the environment.
    pub game_id: String,
    /// The number of levels of the game.
    pub win_levels: u8,
    /// The speed of animations.
    pub frames_per_second: u8,
}

impl WatchRow {
    /// The number of the current level, from 1.
    fn level(&self) -> u8 {
        self.levels_completed.saturating_add(1).min(self.win_levels)
    }

    fn dots(&self) -> Dots {
        Dots {
            completed: self.levels_completed,
            levels: self.win_levels,
        }
    }

    /// The time since the last command in words.
    fn since(&self) -> String {
        match self.seconds {
            0..=4 => "just now".to_owned(),
            seconds @ 5..=99 => format!("{seconds} s ago"),
            seconds => format!("{} min ago", seconds / 60),
        }
    }
}

#[derive(Template)]
#[template(path = "watch_list.html")]
struct WatchList<'a> {
    page: Page<'a>,
    rows: &'a [WatchRow],
}

/// Renders the list of plays in progress.
pub fn watch_list_page(viewer: Viewer, rows: &[WatchRow]) -> String {
    render(&WatchList {
        page: Page {
            title: "Watch",
            nav: NavItem::Watch,
            viewer,
            script: Some("watch_list.js"),
            preload: None,
        },
        rows,
    })
}

#[derive(Template)]
#[template(path = "watch.html")]
struct Watch<'a> {
    page: Page<'a>,
    play: &'a WatchView,
}

/// Renders the page that follows one play live.
pub fn watch_page(viewer: Viewer, play: &WatchView) -> String {
    let title = format!("{} live", play.game_id);
    let film = format!("/replay/{}/film", play.guid);
    render(&Watch {
        page: Page {
            title: &title,
            nav: NavItem::Watch,
            viewer,
            script: Some("watch_play.js"),
            preload: Some(&film),
        },
        play,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outlines_of_the_list_and_of_a_play() {
        let row = |seconds| WatchRow {
            guid: "\"g\"".to_owned(),
            game_id: "<ab12>".to_owned(),
            levels_completed: 1,
            win_levels: 3,
            actions: 12,
            seconds,
        };
        let list = watch_list_page(Viewer::OpenAccess, &[0, 30, 300].map(row));
        insta::assert_snapshot!("list", rhae_testkit::page_outline(&list));
        let play = WatchView {
            guid: "\"g\"".to_owned(),
            game_id: "<ab12>".to_owned(),
            win_levels: 3,
            frames_per_second: 20,
        };
        let page = watch_page(Viewer::OpenAccess, &play);
        insta::assert_snapshot!("play", rhae_testkit::page_outline(&page));
    }
}
