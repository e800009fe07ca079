//! Plays under way: the list of them, and one as it goes on.

use std::fmt::Write as _;

use rhae_report::Text;

use crate::page::{Page, Place, Who, dots};

/// A play under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchRow {
    /// The play.
    pub guid: String,
    /// The environment with its version.
    pub game_id: String,
    /// Levels completed.
    pub levels_completed: u8,
    /// All levels.
    pub win_levels: u8,
    /// Counted actions.
    pub actions: u64,
    /// Seconds since the last of them.
    pub seconds: u64,
}

/// One that is followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchView {
    /// The play.
    pub guid: String,
    /// The environment with its version.
    pub game_id: String,
    /// All levels.
    pub win_levels: u8,
    /// The speed of animations.
    pub frames_per_second: u8,
}

/// The list.
pub fn watch_list_page(who: Who, rows: &[WatchRow]) -> String {
    let mut body = String::from(
        "<header class=\"head\"><h1>Under way now</h1></header>\n<div data-show=\"plays\" aria-live=\"polite\">\n",
    );
    if rows.is_empty() {
        body.push_str(
            "<p class=\"quiet\">Nobody plays at the moment. A play appears here with its first command and goes when nothing was done for \
             five minutes, or when its scorecard is closed.</p>\n",
        );
    } else {
        body.push_str("<ul class=\"rows\">\n");
        for row in rows {
            let _ = writeln!(
                body,
                "<li><a href=\"/watch/{guid}\"><img src=\"/watch/{guid}/now.png?{actions}\" alt=\"\" width=\"96\" height=\"96\">\
                 <span class=\"about\"><code>{game}</code>{dots}<span class=\"quiet\">level {level} of {win} · {actions} actions · {since}</span></span></a></li>",
                guid = Text(&row.guid),
                game = Text(&row.game_id),
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
        place: Place::Watch,
        who,
        script: Some("watch.js"),
        asks: None,
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

/// One play as it goes on.
pub fn watch_page(who: Who, play: &WatchView) -> String {
    let body = format!(
        r#"<header class="head"><h1><code>{game}</code> <small data-show="live" role="status">connecting…</small></h1>
<p class="quiet"><a href="/replay/{guid}">replay and downloads</a></p></header>
<rhae-player data-guid="{guid}" data-game="{game}" data-speed="{speed}" data-levels="{win}"></rhae-player>
<noscript><p class="notice">Following a play needs JavaScript.</p></noscript>
"#,
        game = Text(&play.game_id),
        guid = Text(&play.guid),
        speed = play.frames_per_second,
        win = play.win_levels,
    );
    let title = format!("{} live", play.game_id);
    let film = format!("/replay/{}/film", play.guid);
    Page {
        title: &title,
        place: Place::Watch,
        who,
        script: Some("watching.js"),
        asks: Some(&film),
        body,
    }
    .html()
}
