//! The replay page of a play on this server, and the page that replays a local file. The file never
//! leaves the browser.

use std::fmt::Write as _;

use rhae_report::Escaped;

use crate::page::{NavItem, Page, Viewer, time};

/// The facts of a play that a replay page shows.
#[derive(Clone, Debug)]
pub struct ReplayView {
    /// The id of the play.
    pub guid: String,
    /// The full id of the environment.
    pub game_id: String,
    /// The id of the scorecard on which the play counts.
    pub card_id: String,
    /// The state of the play: `NOT_FINISHED`, `WIN` or `GAME_OVER`.
    pub state: String,
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
}

/// Renders the replay page of a play.
pub fn replay_page(viewer: Viewer, play: &ReplayView) -> String {
    let mut body = String::new();
    let watch = if play.open {
        format!(
            " · <a href=\"/watch/{}\">follow live</a>",
            Escaped(&play.guid)
        )
    } else {
        String::new()
    };
    let _ = write!(
        body,
        r#"<header class="head"><h1><code>{game}</code> <small>replay</small></h1>
<p class="quiet">{levels} of {win} levels, <span data-show="actions">{actions}</span> actions, {state} · {opened} · <a href="/scorecards/{card}">scorecard</a>{watch}</p></header>
<rhae-player data-guid="{guid}" data-game="{game}" data-speed="{speed}" data-levels="{win}"></rhae-player>
<noscript><p class="notice">Showing frames requires JavaScript. The recording can be downloaded without it.</p></noscript>
<p class="downloads"><span class="quiet">Download</span> <a class="button" href="/replay/{guid}/recording.jsonl" download>Recording</a>
<button type="button" class="button" data-do="gif" hidden>GIF</button> <button type="button" class="button" data-do="png" hidden>PNG of this frame</button>
<span role="status" data-show="export-status" class="quiet"></span></p>
"#,
        game = Escaped(&play.game_id),
        levels = play.levels_completed,
        win = play.win_levels,
        actions = play.actions,
        state = state(&play.state),
        opened = time(&play.opened_at),
        card = Escaped(&play.card_id),
        guid = Escaped(&play.guid),
        speed = play.frames_per_second,
    );
    let title = format!("{} replay", play.game_id);
    let film = format!("/replay/{}/film", play.guid);
    Page {
        title: &title,
        nav: NavItem::Replay,
        viewer,
        script: Some("replay.js"),
        preload: Some(&film),
        body,
    }
    .html()
}

/// The state of a play in words.
pub(crate) fn state(name: &str) -> &'static str {
    match name {
        "WIN" => "won",
        "GAME_OVER" => "game over",
        _ => "in progress",
    }
}

/// Renders the page that replays a local recording, with a list of the visitor's recent plays.
pub fn file_replay_page(viewer: Viewer, plays: &[ReplayView]) -> String {
    let mut body = String::from(
        r#"<header class="head"><h1>Replay</h1></header>
<form class="drop" data-show="drop"><label for="file"><strong>Drop a recording here</strong> or choose one</label>
<input id="file" type="file" accept=".jsonl,.json,.ndjson,application/x-ndjson">
<p class="quiet">The file is played in your browser and not uploaded. Recordings of the official toolkit and of the agents repository contain frames.
For a recording in Rhae's own format, add them first with <code>rhae replay convert</code>.</p>
<p class="error" role="alert" data-show="error" hidden></p></form>
<noscript><p class="notice">Replaying a file requires JavaScript.</p></noscript>
<rhae-player hidden></rhae-player>
<p class="downloads" hidden><span class="quiet">Download</span> <button type="button" class="button" data-do="gif" hidden>GIF</button>
<button type="button" class="button" data-do="png" hidden>PNG of this frame</button> <span role="status" data-show="export-status" class="quiet"></span></p>
"#,
    );
    if !plays.is_empty() {
        body.push_str(
            "<section class=\"mine\"><h2>Your plays</h2>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Your plays\"><table>\n\
             <thead><tr><th scope=\"col\">Environment</th><th scope=\"col\" class=\"num\">Levels</th><th scope=\"col\" class=\"num\">Actions</th>\
             <th scope=\"col\">State</th><th scope=\"col\">Last action</th></tr></thead>\n<tbody>\n",
        );
        for play in plays {
            let _ = writeln!(
                body,
                "<tr><td><a href=\"/replay/{}\"><code>{}</code></a></td><td class=\"num\">{}<span class=\"quiet\"> / {}</span></td>\
                 <td class=\"num\">{}</td><td>{}</td><td>{}</td></tr>",
                Escaped(&play.guid),
                Escaped(&play.game_id),
                play.levels_completed,
                play.win_levels,
                play.actions,
                state(&play.state),
                time(&play.last_action_at),
            );
        }
        body.push_str("</tbody></table></div></section>\n");
    }
    Page {
        title: "Replay",
        nav: NavItem::Replay,
        viewer,
        script: Some("replay.js"),
        preload: None,
        body,
    }
    .html()
}
