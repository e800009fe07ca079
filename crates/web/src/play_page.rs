//! The page on which a person plays. It contains nothing about the visitor's play; its script
//! fetches the state of the play.

use std::fmt::Write as _;

use rhae_engine::{ActionKind, GameInfo};
use rhae_report::Escaped;

use crate::page::{Head, Viewer, document, dots, icon, theme_switch};

/// An action button of the pad.
struct Button {
    action: u8,
    place: &'static str,
    label: &'static str,
    keys: &'static str,
    path: &'static str,
}

const PAD: [Button; 5] = [
    Button {
        action: 1,
        place: "up",
        label: "Up",
        keys: "ArrowUp W",
        path: "M8 13V3.5M4 7.5L8 3.5L12 7.5",
    },
    Button {
        action: 3,
        place: "left",
        label: "Left",
        keys: "ArrowLeft A",
        path: "M13 8H3.5M7.5 4L3.5 8L7.5 12",
    },
    Button {
        action: 5,
        place: "middle",
        label: "Act",
        keys: "Space",
        path: "M3 6.5V10.5H13V6.5",
    },
    Button {
        action: 4,
        place: "right",
        label: "Right",
        keys: "ArrowRight D",
        path: "M3 8H12.5M8.5 4L12.5 8L8.5 12",
    },
    Button {
        action: 2,
        place: "down",
        label: "Down",
        keys: "ArrowDown S",
        path: "M8 3V12.5M4 8.5L8 12.5L12 8.5",
    },
];

const UNDO: &str = "M13 12.5V9A3 3 0 0 0 10 6H3.5M6.5 3L3.5 6L6.5 9";
const RESET: &str = "M12.5 8A4.5 4.5 0 1 1 8 3.5H11M9 1L11.5 3.5L9 6";
const SYMBOLS: &str = "M2 2H7V7H2ZM9 9H14V14H9ZM2 14L7 9M9 2V7M11.5 2V7M14 2V7";
const BACK: &str = "M10 3L5 8L10 13";
const GRID: &str = "M2 2H7V7H2ZM9 2H14V7H9ZM2 9H7V14H2ZM9 9H14V14H9Z";
const WON: &str = "M2.5 8.5L6.5 12.5L13.5 4";

/// Renders the page on which an environment is played.
pub fn play_page(viewer: Viewer, info: &GameInfo) -> String {
    let levels = u8::try_from(info.baselines.len()).unwrap_or(u8::MAX);
    let actions: Vec<String> = info
        .actions
        .iter()
        .map(ActionKind::id)
        .map(|id| id.to_string())
        .collect();
    let mut pad = String::new();
    for Button {
        action,
        place,
        label,
        keys,
        path,
    } in PAD
    {
        let _ = write!(
            pad,
            "<button type=\"button\" class=\"{place}\" data-action=\"{action}\" aria-label=\"{label}\" aria-keyshortcuts=\"{keys}\" \
             title=\"{label} ({keys})\" hidden>{}</button>",
            icon(path)
        );
    }
    let tool = |name: &str, data: &str, label: &str, path: &str| {
        format!(
            "<button type=\"button\" {data} aria-label=\"{label}\" title=\"{label}\" class=\"{name}\">{}</button>",
            icon(path)
        )
    };
    let body = format!(
        r#"<div class="play" data-game="{id}" data-name="{name}" data-levels="{levels}" data-speed="{speed}" data-actions="{actions}" data-known="{known}">
<header class="bar">
<a class="tool" href="/" aria-label="All environments" title="All environments">{back}</a>
<h1><code>{name}</code></h1>
<p class="levels" data-show="dots">{dots}</p>
<p class="counts"><span class="label">Level</span> <b data-show="level">–</b><span class="quiet"> / {levels}</span>
<span class="label">Actions</span> <b data-show="actions">–</b></p>
<p class="connection" role="status" data-show="connection" hidden>Connection lost, reconnecting…</p>
<div class="tools">{theme}{signs}{undo}{reset}</div>
</header>
<main id="main"><rhae-board tabindex="0" role="application" aria-label="Board of {name}"></rhae-board>
<div class="outcome" data-show="outcome" hidden></div>
<noscript><p class="notice">Playing requires JavaScript. Scorecards and recordings are available without it.</p></noscript></main>
<div class="pad" role="group" aria-label="Actions">{pad}</div>
<p class="hidden" role="status" aria-live="polite" data-show="announcement"></p>
<dialog data-show="confirm" aria-labelledby="confirm"><form method="dialog"><p id="confirm">Restart from level 1?</p>
<div class="choice"><button value="no" autofocus>Keep playing</button><button value="yes">Restart</button></div></form></dialog>
<template data-show="won"><div class="sign won">{won}</div><div class="choice">
<a class="tool" href="/" aria-label="All environments" title="All environments">{grid}</a>
<button type="button" class="tool" data-do="reset" aria-label="Play again from level 1" title="Play again from level 1">{again}</button>
<a class="tool" data-show="replay" href="/replay" aria-label="Watch the replay" title="Watch the replay">{film}</a></div></template>
<template data-show="lost"><div class="sign lost">{lost}</div><div class="choice">
<button type="button" class="tool" data-do="reset" aria-label="Retry the level" title="Retry the level (R)">{again}</button></div></template>
</div>"#,
        id = Escaped(info.id.as_str()),
        name = Escaped(info.id.base()),
        speed = info.frames_per_second,
        actions = actions.join(" "),
        known = if viewer == Viewer::Anonymous {
            "no"
        } else {
            "yes"
        },
        back = icon(BACK),
        dots = dots(0, levels),
        theme = theme_switch(),
        signs = tool(
            "tool",
            "data-do=\"signs\" aria-pressed=\"false\"",
            "Symbols on colours",
            SYMBOLS
        ),
        undo = tool("tool", "data-action=\"7\" hidden", "Undo (Z)", UNDO),
        reset = tool("tool", "data-do=\"reset\"", "Reset (R)", RESET),
        won = icon(WON),
        lost = icon("M3.5 3.5L12.5 12.5M12.5 3.5L3.5 12.5"),
        grid = icon(GRID),
        again = icon(RESET),
        film = icon("M4 2.5V13.5L13.5 8Z"),
    );
    document(
        &Head {
            title: info.id.base(),
            class: "stage",
            script: Some("play.js"),
            preload: None,
        },
        &body,
    )
}
