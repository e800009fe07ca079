//! The replay page of a play on this server, and the page that replays a local file. The file never
//! leaves the browser.

use askama::Template;
use rhae_engine::PlayState;

use crate::page::{NavItem, Page, Time, Viewer, render};

/// The facts of a play that a replay page shows.
#[derive(Clone, Debug)]
pub struct ReplayView {
    /// The id of the play.
    pub guid: String,
    /// The full id of the environment.
    pub game_id: String,
    /// The id of the scorecard on which the play counts.
    pub card_id: String,
    pub state: PlayState,
    pub levels_completed: u8,
    /// The number of levels of the game.
    pub win_levels: u8,
    /// Actions that count towards the score.
    pub actions: u64,
    /// The speed of animations.
    pub frames_per_second: u8,
    /// RFC 3339.
    pub opened_at: String,
    /// RFC 3339.
    pub last_action_at: String,
    /// Whether the scorecard is open, so that the play may continue.
    pub open: bool,
    /// The path of the page, below which its data is.
    pub base: String,
    /// Whether the page is published: it then has no links to pages that need a key.
    pub published: bool,
    /// Whether the visitor may publish the replay.
    pub publishable: bool,
}

impl ReplayView {
    fn state_text(&self) -> &'static str {
        state(self.state)
    }

    fn opened(&self) -> Time<'_> {
        Time {
            rfc3339: &self.opened_at,
        }
    }

    fn last_action(&self) -> Time<'_> {
        Time {
            rfc3339: &self.last_action_at,
        }
    }
}

/// The state of a play in words.
pub(crate) const fn state(state: PlayState) -> &'static str {
    match state {
        PlayState::Win => "won",
        PlayState::GameOver => "game over",
        PlayState::NotFinished => "in progress",
    }
}

#[derive(Template)]
#[template(path = "replay.html")]
struct Replay<'a> {
    page: Page<'a>,
    play: &'a ReplayView,
}

/// Renders the replay page of a play.
pub fn replay_page(viewer: Viewer, play: &ReplayView) -> String {
    let title = format!("{} replay", play.game_id);
    let film = format!("{}/film", play.base);
    render(&Replay {
        page: Page {
            title: &title,
            nav: NavItem::Replay,
            viewer,
            script: Some("replay.js"),
            preload: Some(&film),
        },
        play,
    })
}

#[derive(Template)]
#[template(path = "file_replay.html")]
struct FileReplay<'a> {
    page: Page<'a>,
    plays: &'a [ReplayView],
}

/// Renders the page that replays a local recording, with a list of the visitor's recent plays.
pub fn file_replay_page(viewer: Viewer, plays: &[ReplayView]) -> String {
    render(&FileReplay {
        page: Page {
            title: "Replay",
            nav: NavItem::Replay,
            viewer,
            script: Some("replay.js"),
            preload: None,
        },
        plays,
    })
}
