//! The page on which a person plays. It contains nothing about the visitor's play; its script
//! fetches the state of the play.

use askama::Template;
use rhae_engine::{ActionKind, GameInfo};

use crate::page::{Dots, NavItem, Page, Viewer, render};

/// An action button of the pad.
pub(crate) struct Button {
    pub(crate) action: u8,
    pub(crate) place: &'static str,
    pub(crate) label: &'static str,
    pub(crate) keys: &'static str,
    /// The path of the icon.
    pub(crate) path: &'static str,
}

pub(crate) const PAD: [Button; 5] = [
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

#[derive(Template)]
#[template(path = "play.html")]
struct Play<'a> {
    page: Page<'a>,
    info: &'a GameInfo,
    name: &'a str,
    levels: u8,
    dots: Dots,
    /// The ids of the actions that the environment offers, separated by blanks.
    actions: String,
    /// Whether the visitor may already have a play: `yes` or `no`.
    known: &'static str,
}

/// Renders the page on which an environment is played.
pub fn play_page(viewer: Viewer, info: &GameInfo) -> String {
    let levels = u8::try_from(info.level_count()).unwrap_or(u8::MAX);
    let actions: Vec<String> = info
        .actions
        .iter()
        .map(ActionKind::id)
        .map(|id| id.to_string())
        .collect();
    render(&Play {
        page: Page {
            title: info.id.base(),
            nav: NavItem::Other,
            viewer,
            script: Some("play.js"),
            preload: None,
        },
        info,
        name: info.id.base(),
        levels,
        dots: Dots {
            completed: 0,
            levels,
        },
        actions: actions.join(" "),
        known: if viewer == Viewer::Anonymous {
            "no"
        } else {
            "yes"
        },
    })
}
