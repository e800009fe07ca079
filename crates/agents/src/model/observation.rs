//! The observation text for the model, in the format of the official agent.
//!
//! Three blocks are separated by empty lines: the state and the number of completed levels; the
//! frames, each as 64 lines with a list of numbers; the allowed actions. An animation of more than
//! seven frames is sampled evenly to seven, including the first and the last.

use std::fmt::Write as _;

use rhae_engine::{ActionKind, ActionSet, Frame};

use crate::View;

/// The maximum number of frames in an observation.
const MAX_FRAMES: usize = 7;

/// The commands that the model may choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AllowedActions {
    /// The actions that the environment offers.
    pub(super) actions: ActionSet,
    /// Whether RESET is allowed. It is not allowed as the first command or directly after another
    /// RESET.
    pub(super) reset: bool,
}

/// Formats a view as the text of a user message. If `new_level` is true, the text says that the
/// last frame shows a new level.
pub(super) fn observation(view: &View<'_>, new_level: bool, allowed: AllowedActions) -> String {
    let mut text = format!(
        "State: {}\nLevels completed: {}\n",
        view.state.name(),
        view.levels_completed
    );
    let shown = sampled(view.frames.len());
    for (number, &index) in shown.iter().enumerate() {
        if new_level && number + 1 == shown.len() {
            text.push_str("\nNew Level:");
        }
        let _ = write!(text, "\nFrame {number}:\n{}\n", rows(&view.frames[index]));
    }
    text.push_str("\nAvailable actions:");
    for action in names(allowed) {
        let _ = write!(text, "\n{action}");
    }
    text
}

/// Returns the names of the allowed actions.
fn names(allowed: AllowedActions) -> Vec<&'static str> {
    const ALL: [&str; 7] = [
        "ACTION1",
        "ACTION2",
        "ACTION3",
        "ACTION4",
        "ACTION5",
        "ACTION6 x y (where x and y are integers 0-63)",
        "ACTION7",
    ];
    let is_offered =
        |id: u8| ActionKind::from_id(id).is_some_and(|kind| allowed.actions.contains(kind));
    let offered = (1..)
        .zip(ALL)
        .filter(|&(id, _)| is_offered(id))
        .map(|(_, name)| name);
    allowed
        .reset
        .then_some("RESET")
        .into_iter()
        .chain(offered)
        .collect()
}

/// Returns the indices of the frames to show. Up to seven frames are all shown. Of `n` > 7 frames,
/// the shown ones have the indices `round(i · (n − 1) / 6)` for `i` from 0 to 6, with halves
/// rounded to even.
fn sampled(frames: usize) -> Vec<usize> {
    if frames <= MAX_FRAMES {
        return (0..frames).collect();
    }
    let gaps = MAX_FRAMES - 1;
    let rounded = |part: usize| {
        let (quotient, rest) = (part / gaps, part % gaps);
        let up = 2 * rest > gaps || (2 * rest == gaps && quotient % 2 == 1);
        quotient + usize::from(up)
    };
    (0..MAX_FRAMES)
        .map(|index| rounded(index * (frames - 1)))
        .collect()
}

/// Formats a frame as 64 lines, each a list of numbers.
fn rows(frame: &Frame) -> String {
    let row = |row: &[u8]| {
        format!(
            "  [{}]",
            row.iter().map(u8::to_string).collect::<Vec<_>>().join(", ")
        )
    };
    frame.rows().map(row).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use rhae_engine::PlayState;

    use super::*;

    fn view(frames: &[Frame]) -> View<'_> {
        View {
            frames,
            state: PlayState::NotFinished,
            levels_completed: 1,
            win_levels: 8,
            available: ActionSet::ARROWS,
            full_reset: false,
        }
    }

    #[test]
    fn frame_text_has_the_official_length() {
        let frame = Frame::filled(5);
        assert_eq!(rows(&frame).len(), 12_479);
        assert_eq!(rows(&Frame::filled(15)).len(), 16_575);
        assert!(rows(&frame).starts_with("  [5, 5, "));
    }

    #[test]
    fn animations_are_sampled_to_seven_frames() {
        assert_eq!(sampled(1), [0]);
        assert_eq!(sampled(7), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(
            sampled(8),
            [0, 1, 2, 4, 5, 6, 7],
            "3.5 becomes 4, as 7/6 · 3"
        );
        assert_eq!(
            sampled(10),
            [0, 2, 3, 4, 6, 8, 9],
            "1.5 becomes 2, 4.5 becomes 4, 7.5 becomes 8"
        );
        assert_eq!(sampled(1000).len(), 7);
        assert_eq!((sampled(1000)[0], sampled(1000)[6]), (0, 999));
    }

    #[test]
    fn observation_matches_the_official_format() {
        let frames = [Frame::filled(1), Frame::filled(2)];
        let text = observation(
            &view(&frames),
            true,
            AllowedActions {
                actions: ActionSet::ARROWS,
                reset: true,
            },
        );
        assert!(
            text.starts_with("State: NOT_FINISHED\nLevels completed: 1\n\nFrame 0:\n  [1, 1, "),
            "{text}"
        );
        assert!(
            text.contains("]\n\nNew Level:\nFrame 1:\n  [2, 2, "),
            "{text}"
        );
        assert!(
            text.ends_with("]\n\nAvailable actions:\nRESET\nACTION1\nACTION2\nACTION3\nACTION4"),
            "{text}"
        );
        let text = observation(
            &view(&frames),
            false,
            AllowedActions {
                actions: ActionSet::of(&ActionKind::ALL[1..]),
                reset: false,
            },
        );
        assert!(
            !text.contains("New Level") && !text.contains("RESET"),
            "{text}"
        );
        assert!(
            text.ends_with("ACTION5\nACTION6 x y (where x and y are integers 0-63)\nACTION7"),
            "{text}"
        );
    }
}
