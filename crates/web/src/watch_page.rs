//! Pages for plays in progress: the list, and one play followed live.

use std::fmt::Write as _;

use rhae_report::Escaped;

use crate::page::{NavItem, Page, Viewer, dots};

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

/// Renders the list of plays in progress.
pub fn watch_list_page(viewer: Viewer, rows: &[WatchRow]) -> String {
    let mut body = String::from(
        "<header class=\"head\"><h1>In progress</h1></header>\n<div data-show=\"plays\" aria-live=\"polite\">\n",
    );
    if rows.is_empty() {
        body.push_str(
            "<p class=\"quiet\">No plays are in progress. A play is listed from its first command until its scorecard is closed or it has been idle \
             for five minutes.</p>\n",
        );
    } else {
        body.push_str("<ul class=\"rows\">\n");
        for row in rows {
            let _ = writeln!(
                body,
                "<li><a href=\"/watch/{guid}\"><img src=\"/watch/{guid}/now.png?{actions}\" alt=\"\" width=\"96\" height=\"96\">\
                 <span class=\"about\"><code>{game}</code>{dots}<span class=\"quiet\">level {level} of {win} · {actions} actions · {since}</span></span></a></li>",
                guid = Escaped(&row.guid),
                game = Escaped(&row.game_id),
                dots = dots(row.levels_completed, row.win_levels),
                level = row.levels_completed.saturating_add(1).min(row.win_levels),
                win = row.win_levels,
                actions = row.actions,
                since = since(row.seconds),
            );
        }
        body.push_str("</ul>\n");
    }
    body.push_str("</div>\n");
    Page {
        title: "Watch",
        nav: NavItem::Watch,
        viewer,
        script: Some("watch_list.js"),
        preload: None,
        body,
    }
    .html()
}

fn since(seconds: u64) -> String {
    match seconds {
        0..=4 => "just now".to_owned(),
        5..=99 => format!("{seconds} s ago"),
        _ => format!("{} min ago", seconds / 60),
    }
}

/// Renders the page that follows one play live.
pub fn watch_page(viewer: Viewer, play: &WatchView) -> String {
    let body = format!(
        r#"<header class="head"><h1><code>{game}</code> <small data-show="live" role="status">connecting…</small></h1>
<p class="quiet"><a href="/replay/{guid}">replay and downloads</a></p></header>
<rhae-player data-guid="{guid}" data-game="{game}" data-speed="{speed}" data-levels="{win}"></rhae-player>
<noscript><p class="notice">Following a play requires JavaScript.</p></noscript>
"#,
        game = Escaped(&play.game_id),
        guid = Escaped(&play.guid),
        speed = play.frames_per_second,
        win = play.win_levels,
    );
    let title = format!("{} live", play.game_id);
    let film = format!("/replay/{}/film", play.guid);
    Page {
        title: &title,
        nav: NavItem::Watch,
        viewer,
        script: Some("watch_play.js"),
        preload: Some(&film),
        body,
    }
    .html()
}
