//! Replays: of a play of this server, and of a file that is dropped on the page and never leaves the browser.

use std::fmt::Write as _;

use rhae_report::Text;

use crate::page::{Page, Place, Who, time};

/// A play to be shown again.
#[derive(Clone, Debug)]
pub struct ReplayView {
    /// The play.
    pub guid: String,
    /// The environment with its version.
    pub game_id: String,
    /// The scorecard that it counts on.
    pub card_id: String,
    /// Where it stands: `NOT_FINISHED`, `WIN` or `GAME_OVER`.
    pub state: String,
    /// Levels completed.
    pub levels_completed: u8,
    /// All levels.
    pub win_levels: u8,
    /// Counted actions.
    pub actions: u64,
    /// The speed of animations.
    pub frames_per_second: u8,
    /// When it was opened.
    pub opened_at: String,
    /// When the last command was carried out.
    pub last_action_at: String,
    /// Whether it may still go on.
    pub open: bool,
}

/// The page of a play.
pub fn replay_page(who: Who, play: &ReplayView) -> String {
    let mut body = String::new();
    let watch = if play.open {
        format!(" · <a href=\"/watch/{}\">follow live</a>", Text(&play.guid))
    } else {
        String::new()
    };
    let _ = write!(
        body,
        r#"<header class="head"><h1><code>{game}</code> <small>replay</small></h1>
<p class="quiet">{levels} of {win} levels, <span data-show="actions">{actions}</span> actions, {state} · {opened} · <a href="/scorecards/{card}">scorecard</a>{watch}</p></header>
<rhae-player data-guid="{guid}" data-game="{game}" data-speed="{speed}" data-levels="{win}"></rhae-player>
<noscript><p class="notice">Frames are drawn by JavaScript. The recording can be downloaded without it.</p></noscript>
<p class="downloads"><span class="quiet">Download</span> <a class="button" href="/replay/{guid}/recording.jsonl" download>Recording</a>
<button type="button" class="button" data-do="gif" hidden>GIF</button> <button type="button" class="button" data-do="png" hidden>PNG of this frame</button>
<span role="status" data-show="made" class="quiet"></span></p>
"#,
        game = Text(&play.game_id),
        levels = play.levels_completed,
        win = play.win_levels,
        actions = play.actions,
        state = state(&play.state),
        opened = time(&play.opened_at),
        card = Text(&play.card_id),
        guid = Text(&play.guid),
        speed = play.frames_per_second,
    );
    let title = format!("{} replay", play.game_id);
    let film = format!("/replay/{}/film", play.guid);
    Page {
        title: &title,
        place: Place::Replay,
        who,
        script: Some("replay.js"),
        asks: Some(&film),
        body,
    }
    .html()
}

/// The state in words.
pub(crate) fn state(name: &str) -> &'static str {
    match name {
        "WIN" => "won",
        "GAME_OVER" => "game over",
        _ => "going on",
    }
}

/// The page that takes a file, with the visitor's last plays.
pub fn drop_page(who: Who, plays: &[ReplayView]) -> String {
    let mut body = String::from(
        r#"<header class="head"><h1>Replay</h1></header>
<form class="drop" data-show="drop"><label for="file"><strong>Drop a recording here</strong> or choose one</label>
<input id="file" type="file" accept=".jsonl,.json,.ndjson,application/x-ndjson">
<p class="quiet">It is played in your browser and not uploaded. Recordings of the official toolkit and of the agents repository carry their frames;
<code>rhae replay convert</code> gives frames to one of Rhae's own.</p>
<p class="error" role="alert" data-show="error" hidden></p></form>
<noscript><p class="notice">Playing a file needs JavaScript.</p></noscript>
<rhae-player hidden></rhae-player>
<p class="downloads" hidden><span class="quiet">Download</span> <button type="button" class="button" data-do="gif" hidden>GIF</button>
<button type="button" class="button" data-do="png" hidden>PNG of this frame</button> <span role="status" data-show="made" class="quiet"></span></p>
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
                Text(&play.guid),
                Text(&play.game_id),
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
        place: Place::Replay,
        who,
        script: Some("replay.js"),
        asks: None,
        body,
    }
    .html()
}
