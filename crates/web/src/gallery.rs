//! The gallery of environments, each shown by its first level, with filters by kind of input and by
//! progress. It deliberately does not describe the games: finding out what a game is about is the
//! player's task.
//!
//! The filters are links, so they work without a script and can be bookmarked.

use askama::Template;
use rhae_engine::{ActionKind, ActionSet};

use crate::page::{Dots, NavItem, Page, Viewer, render};

/// How an environment is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    Keys,
    Clicks,
    Both,
}

impl InputKind {
    const ALL: [(Self, &'static str, &'static str); 3] = [
        (Self::Keys, "keys", "Keys"),
        (Self::Clicks, "clicks", "Clicks"),
        (Self::Both, "both", "Both"),
    ];

    /// Returns the kind of input of the offered actions. Undo is offered in addition to either.
    ///
    /// # Examples
    ///
    /// ```
    /// use rhae_engine::{ActionKind, ActionSet};
    /// use rhae_web::InputKind;
    ///
    /// assert_eq!(InputKind::of(ActionSet::ARROWS), InputKind::Keys);
    /// let clicks = ActionSet::of(&[ActionKind::Action6, ActionKind::Action7]);
    /// assert_eq!(InputKind::of(clicks), InputKind::Clicks);
    /// ```
    pub fn of(actions: ActionSet) -> Self {
        let is_key = |kind: ActionKind| {
            !matches!(
                kind,
                ActionKind::Reset | ActionKind::Action6 | ActionKind::Action7
            )
        };
        let keys = actions.iter().any(is_key);
        match (keys, actions.contains(ActionKind::Action6)) {
            (true, true) => Self::Both,
            (false, true) => Self::Clicks,
            (_, false) => Self::Keys,
        }
    }
}

/// How far the visitor has come in an environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    New,
    Started,
    Complete,
}

impl Progress {
    const ALL: [(Self, &'static str, &'static str); 3] = [
        (Self::New, "new", "New"),
        (Self::Started, "started", "Started"),
        (Self::Complete, "complete", "Complete"),
    ];
}

/// The environments that the gallery shows; all by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GalleryFilter {
    input: Option<InputKind>,
    progress: Option<Progress>,
}

impl GalleryFilter {
    /// Reads the values of the query parameters `input` and `progress`. An unknown value selects
    /// all environments, like a missing one.
    pub fn new(input: Option<&str>, progress: Option<&str>) -> Self {
        Self {
            input: named(&InputKind::ALL, input),
            progress: named(&Progress::ALL, progress),
        }
    }

    fn shows(self, item: &Item<'_>) -> bool {
        self.input.is_none_or(|input| input == item.game.input)
            && self
                .progress
                .is_none_or(|progress| progress == item.progress())
    }

    fn href(self) -> String {
        let input = name_of(&InputKind::ALL, self.input).map(|name| format!("input={name}"));
        let progress =
            name_of(&Progress::ALL, self.progress).map(|name| format!("progress={name}"));
        let query: Vec<String> = input.into_iter().chain(progress).collect();
        if query.is_empty() {
            "/".to_owned()
        } else {
            format!("/?{}", query.join("&"))
        }
    }

    fn groups(self) -> [FilterGroup; 2] {
        let link = |label: &'static str, filter: Self| FilterLink {
            label,
            href: filter.href(),
            is_current: filter == self,
        };
        let inputs = InputKind::ALL.map(|(input, _, label)| {
            let input = Some(input);
            link(label, Self { input, ..self })
        });
        let progresses = Progress::ALL.map(|(progress, _, label)| {
            let progress = Some(progress);
            link(label, Self { progress, ..self })
        });
        let all = [
            link(
                "All",
                Self {
                    input: None,
                    ..self
                },
            ),
            link(
                "All",
                Self {
                    progress: None,
                    ..self
                },
            ),
        ];
        let [all_inputs, all_progresses] = all;
        [
            FilterGroup {
                label: "Input",
                links: std::iter::once(all_inputs).chain(inputs).collect(),
            },
            FilterGroup {
                label: "Progress",
                links: std::iter::once(all_progresses).chain(progresses).collect(),
            },
        ]
    }
}

/// The options of one filter.
struct FilterGroup {
    label: &'static str,
    links: Vec<FilterLink>,
}

struct FilterLink {
    label: &'static str,
    href: String,
    is_current: bool,
}

fn named<T: Copy>(all: &[(T, &str, &str)], name: Option<&str>) -> Option<T> {
    all.iter()
        .find(|(_, known, _)| Some(*known) == name)
        .map(|&(value, ..)| value)
}

fn name_of<T: Copy + PartialEq>(
    all: &[(T, &'static str, &str)],
    value: Option<T>,
) -> Option<&'static str> {
    all.iter()
        .find(|(known, ..)| Some(*known) == value)
        .map(|&(_, name, _)| name)
}

/// An environment and the visitor's progress in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GalleryGame {
    /// The full id, with the version.
    pub id: String,
    /// The name shown: the four-character name.
    pub name: String,
    pub input: InputKind,
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
    filters: [FilterGroup; 2],
    items: Vec<Item<'a>>,
    is_filtered: bool,
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

    fn progress(&self) -> Progress {
        if self.is_new() {
            Progress::New
        } else if self.is_complete() {
            Progress::Complete
        } else {
            Progress::Started
        }
    }

    fn dots(&self) -> Dots {
        Dots {
            completed: self.done,
            levels: self.game.levels,
        }
    }
}

/// Renders the gallery with the environments that pass the filter.
pub fn gallery_page(viewer: Viewer, games: &[GalleryGame], filter: GalleryFilter) -> String {
    let items = games.iter().map(Item::new);
    render(&Gallery {
        page: Page {
            title: "Environments",
            nav: NavItem::Gallery,
            viewer,
            script: None,
            preload: None,
        },
        filters: filter.groups(),
        items: items.filter(|item| filter.shows(item)).collect(),
        is_filtered: filter != GalleryFilter::default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(completed: Option<u8>) -> GalleryGame {
        GalleryGame {
            id: "ab12-v1".to_owned(),
            name: "ab12".to_owned(),
            input: if completed.is_some() {
                InputKind::Clicks
            } else {
                InputKind::Keys
            },
            levels: 5,
            completed,
            source_changed: completed == Some(2),
        }
    }

    fn page(filter: GalleryFilter) -> String {
        let games = [game(None), game(Some(2)), game(Some(5))];
        gallery_page(Viewer::OpenAccess, &games, filter)
    }

    #[test]
    fn game_shows_its_levels_and_the_visitors_progress() {
        let page = page(GalleryFilter::default());
        assert_eq!(page.matches("class=\"on\"").count(), 7);
        assert!(
            page.contains("ab12, 5 levels, not played yet")
                && page.contains("ab12, 5 levels, 2 completed")
        );
        assert_eq!(page.matches(">complete<").count(), 1);
        assert_eq!(page.matches("The source changed").count(), 1);
    }
    #[test]
    fn filters_select_by_input_and_progress() {
        let shown = |input, progress| {
            let page = page(GalleryFilter::new(input, progress));
            (page.matches("<img").count(), page)
        };
        assert_eq!(shown(None, None).0, 3);
        assert_eq!(shown(Some("clicks"), None).0, 2);
        assert_eq!(shown(Some("clicks"), Some("complete")).0, 1);
        assert_eq!(shown(Some("unknown"), Some("new")).0, 1);
        let (count, empty) = shown(Some("both"), None);
        assert!(count == 0 && empty.contains("No environment matches the filters."));
    }

    #[test]
    fn filter_links_keep_the_other_filter_and_mark_the_current_one() {
        let page = page(GalleryFilter::new(Some("clicks"), Some("new")));
        for link in [
            "<a href=\"/?progress=new\">All</a>",
            "<a href=\"/?input=keys&#38;progress=new\">Keys</a>",
            "<a href=\"/?input=clicks&#38;progress=new\" aria-current=\"true\">Clicks</a>",
            "<a href=\"/?input=clicks\">All</a>",
        ] {
            assert!(page.contains(link), "{link} in\n{page}");
        }
    }
}
