//! What [`rhae_percept`] sees in a film: boxes to draw over the board, and a description.

use std::fmt::Write as _;

use rhae_engine::{Action, Frame};
use rhae_percept::{
    Bounds, Change, Event, GridFinder, Indicator, IndicatorKind, Matching, Object, Scene,
    SizeClass, StatusBars,
};

use serde_json::{Value, json};

use crate::{Film, Moment};

/// The names of the sixteen colours.
const COLOR_NAMES: [&str; 16] = [
    "white",
    "light grey",
    "grey",
    "dark grey",
    "charcoal",
    "black",
    "magenta",
    "pink",
    "red",
    "blue",
    "light blue",
    "yellow",
    "orange",
    "maroon",
    "green",
    "purple",
];
/// The maximum number of changes that a description lists.
const MAX_LISTED: usize = 6;

/// What perception sees in one moment of a film.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Perception {
    /// The objects that changed and the indicators.
    pub boxes: Vec<PerceivedBox>,
    /// The description, one fact per line.
    pub text: String,
}

impl Perception {
    /// Returns the JSON form that the browser player reads.
    pub fn to_json(&self) -> Value {
        let boxes = self.boxes.iter().map(|shown| {
            let Bounds { left, top, .. } = shown.bounds;
            let (width, height) = (shown.bounds.width(), shown.bounds.height());
            json!([left, top, width, height, u8::from(shown.is_indicator)])
        });
        json!({ "boxes": boxes.collect::<Vec<Value>>(), "text": self.text })
    }
}

/// A part of the board to outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerceivedBox {
    pub bounds: Bounds,
    /// Whether it is a status bar or counter, and not an object that changed.
    pub is_indicator: bool,
}

/// Returns what perception sees in each moment of a film, as an agent would see it during the play.
///
/// # Examples
///
/// ```
/// use rhae_engine::{Action, Frame, PlayState};
/// use rhae_report::{Film, Moment, perceive};
///
/// let mut film = Film::new("ab12", "an agent", 20, 1);
/// for x in [10, 14] {
///     let mut frame = Frame::filled(0);
///     frame.rect(x, 20, 4, 4, 9);
///     film.moments.push(Moment {
///         action: Action::Action4,
///         frames: vec![frame],
///         state: PlayState::NotFinished,
///         levels_completed: 0,
///         changed: true,
///         counted: true,
///         full_reset: false,
///         reasoning: None,
///         work: None,
///         t_ms: None,
///     });
/// }
/// let seen = perceive(&film);
/// assert_eq!(seen[1].text, "blue 4 × 4 moved right by 4\n");
/// ```
pub fn perceive(film: &Film) -> Vec<Perception> {
    let mut perceiver = Perceiver::default();
    film.moments
        .iter()
        .map(|moment| perceiver.perceive(moment))
        .collect()
}

/// Perceives the commands of a play in order.
#[derive(Default)]
pub struct Perceiver {
    before: Scene,
    after: Scene,
    matching: Matching,
    bars: StatusBars,
    grid: GridFinder,
    /// The settled frame before the next moment, and the number of levels completed then.
    last: Option<(Frame, u8)>,
}

impl Perceiver {
    fn perceive(&mut self, moment: &Moment) -> Perception {
        let frame = moment.frames.last();
        frame.map_or_else(Perception::default, |frame| {
            let (levels, full_reset) = (moment.levels_completed, moment.full_reset);
            self.observe(moment.action, frame, levels, full_reset)
        })
    }

    /// Returns what perception sees in the settled frame after an action. `levels_completed` and
    /// `full_reset` are those of the same observation.
    pub fn observe(
        &mut self,
        action: Action,
        frame: &Frame,
        levels_completed: u8,
        full_reset: bool,
    ) -> Perception {
        let mut seen = Perception::default();
        let last = self.last.replace((frame.clone(), levels_completed));
        let is_new_level = last
            .as_ref()
            .is_none_or(|(_, levels)| *levels != levels_completed || full_reset);
        if is_new_level {
            self.grid = GridFinder::default();
        }
        if is_new_level || action == Action::Reset {
            self.bars.start_attempt();
        }
        self.grid.observe(frame);
        self.after.read(frame);
        if let Some((before, _)) = last.filter(|_| !is_new_level) {
            if action != Action::Reset {
                self.bars.observe(action.kind(), &before, frame);
            }
            self.matching.update(&self.before, &self.after);
            self.describe_changes(&mut seen);
        }
        self.describe_indicators(&mut seen);
        let cell = self.grid.grid().cell;
        if cell > 1 {
            let _ = writeln!(seen.text, "cells of {cell} × {cell} pixels");
        }
        std::mem::swap(&mut self.before, &mut self.after);
        seen
    }

    fn describe_changes(&self, seen: &mut Perception) {
        let background = Some(self.before.background());
        let events = self.matching.events().iter().filter(|event| {
            // Everything that moves changes what is below it, and bars change on their own.
            let is_counted = |bounds: Bounds| self.is_indicator(bounds);
            event.before != background
                && !self.is_floor_change(event)
                && !event
                    .before
                    .is_some_and(|id| is_counted(self.before.object(id).bounds))
                && !event
                    .after
                    .is_some_and(|id| is_counted(self.after.object(id).bounds))
        });
        let mut count = 0;
        for event in events {
            let before = event.before.map(|id| self.before.object(id));
            let after = event.after.map(|id| self.after.object(id));
            let Some(object) = before.or(after) else {
                continue;
            };
            count += 1;
            if count <= MAX_LISTED {
                let _ = writeln!(seen.text, "{} {}", name(object), verb(event.change));
            }
            if let Some(shown) = after {
                seen.boxes.push(PerceivedBox {
                    bounds: shown.bounds,
                    is_indicator: false,
                });
            }
        }
        if count > MAX_LISTED {
            let _ = writeln!(seen.text, "and {} more changes", count - MAX_LISTED);
        }
    }

    /// Returns whether an event is only a large area that others cover or uncover.
    fn is_floor_change(&self, event: &Event) -> bool {
        let is_large = event
            .before
            .is_some_and(|id| SizeClass::of(self.before.object(id).area) == SizeClass::Large);
        is_large
            && matches!(
                event.change,
                Change::Grown | Change::Shrunk | Change::Reshaped
            )
    }

    fn is_indicator(&self, bounds: Bounds) -> bool {
        let mut indicators = self.bars.indicators().iter();
        indicators.any(|indicator| indicator.bounds.joined(bounds) == indicator.bounds)
    }

    fn describe_indicators(&self, seen: &mut Perception) {
        for indicator in self.bars.indicators() {
            seen.boxes.push(PerceivedBox {
                bounds: indicator.bounds,
                is_indicator: true,
            });
            let _ = writeln!(seen.text, "{}", describe_indicator(indicator));
        }
    }
}

fn describe_indicator(indicator: &Indicator) -> String {
    match indicator.kind {
        IndicatorKind::Bar { rest, .. } => {
            let left = indicator.actions_left().unwrap_or(0);
            format!("status bar: {rest} cells left, about {left} actions")
        }
        IndicatorKind::Counter => "counter".to_owned(),
    }
}

/// Returns the colour and the size of an object.
fn name(object: &Object) -> String {
    let color = COLOR_NAMES.get(usize::from(object.color)).map_or_else(
        || format!("colour {}", object.color),
        |name| (*name).to_owned(),
    );
    format!(
        "{color} {} × {}",
        object.bounds.width(),
        object.bounds.height()
    )
}

fn verb(change: Change) -> String {
    match change {
        Change::Moved { dx, dy } => format!("moved {}", direction(dx, dy)),
        Change::Turned { .. } => "turned".to_owned(),
        Change::Recolored { to, .. } => {
            let name = COLOR_NAMES.get(usize::from(to)).copied();
            format!("became {}", name.unwrap_or("another colour"))
        }
        Change::Grown => "grew".to_owned(),
        Change::Shrunk => "shrank".to_owned(),
        Change::Reshaped => "changed its shape".to_owned(),
        Change::SplitOff => "split".to_owned(),
        Change::Merged => "merged".to_owned(),
        Change::Appeared => "appeared".to_owned(),
        Change::Vanished => "vanished".to_owned(),
    }
}

/// Describes a displacement, such as `right by 4, up by 1`.
fn direction(dx: i8, dy: i8) -> String {
    let along = |by: i8, negative: &str, positive: &str| {
        let name = if by < 0 { negative } else { positive };
        (by != 0).then(|| format!("{name} by {}", by.unsigned_abs()))
    };
    let parts = [along(dx, "left", "right"), along(dy, "up", "down")];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhae_engine::PlayState;

    fn film(frames: impl IntoIterator<Item = Frame>) -> Film {
        let mut film = Film::new("", "", 20, 2);
        for (index, frame) in frames.into_iter().enumerate() {
            film.moments.push(Moment {
                action: [Action::Action1, Action::Action2][index % 2],
                frames: vec![frame],
                state: PlayState::NotFinished,
                levels_completed: 0,
                changed: true,
                counted: true,
                full_reset: false,
                reasoning: None,
                work: None,
                t_ms: None,
            });
        }
        film
    }

    #[test]
    fn status_bar_is_described_and_not_listed_as_a_change() {
        let frames = (0..6).map(|step| {
            let mut frame = Frame::filled(0);
            frame.rect(0, 63, 64 - 2 * step, 1, 9);
            frame.rect(10, 10, 3, 3 + step, 14);
            frame
        });
        let seen = perceive(&film(frames));
        let last = &seen[5];
        assert_eq!(
            last.text,
            "green 3 × 7 grew\nstatus bar: 54 cells left, about 27 actions\n"
        );
        assert_eq!(
            last.boxes
                .iter()
                .map(|one| one.is_indicator)
                .collect::<Vec<_>>(),
            [false, true]
        );
    }

    #[test]
    fn first_moment_of_a_level_has_no_changes() {
        let frames = (0..3).map(|step| {
            let mut frame = Frame::filled(0);
            frame.rect(10 + 4 * step, 20, 4, 4, 9);
            frame
        });
        let mut film = film(frames);
        film.moments[2].levels_completed = 1;
        let seen = perceive(&film);
        assert!(seen[0].boxes.is_empty() && seen[2].boxes.is_empty());
        assert!(!seen[1].boxes.is_empty());
    }

    #[test]
    fn long_lists_are_shortened() {
        let scattered = |color: u8| {
            let mut frame = Frame::filled(0);
            for index in 0..20 {
                frame.set(3 * index, 3 * index, color);
            }
            frame
        };
        let seen = perceive(&film([scattered(3), scattered(4)]));
        assert!(
            seen[1].text.ends_with("and 14 more changes\n"),
            "{}",
            seen[1].text
        );
        assert_eq!(seen[1].boxes.len(), 20);
    }
}
