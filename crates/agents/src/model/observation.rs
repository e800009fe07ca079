//! What a model is shown: the format of the official agent.
//!
//! Three blocks with empty lines between them: the state and the completed levels; the frames, each as 64 lines of lists; the actions that
//! are offered. Of an animation of more than seven frames seven are shown, evenly spread, the first and the last among them.

use std::fmt::Write as _;

use rhae_engine::{ActionKind, ActionSet, Frame};

use crate::View;

/// The most frames that are shown.
const MOST_FRAMES: usize = 7;

/// What a model may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Offer {
    /// The actions that the environment offers.
    pub(super) actions: ActionSet,
    /// Whether RESET is offered: not as the first command, and not directly after another RESET.
    pub(super) reset: bool,
}

/// A view as text.
pub(super) fn observation(view: &View<'_>, new_level: bool, offer: Offer) -> String {
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
    for action in names(offer) {
        let _ = write!(text, "\n{action}");
    }
    text
}

/// The actions that are offered, as the model is told.
fn names(offer: Offer) -> Vec<&'static str> {
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
        |id: u8| ActionKind::from_id(id).is_some_and(|kind| offer.actions.contains(kind));
    let offered = (1..)
        .zip(ALL)
        .filter(|&(id, _)| is_offered(id))
        .map(|(_, name)| name);
    offer
        .reset
        .then_some("RESET")
        .into_iter()
        .chain(offered)
        .collect()
}

/// Which of so many frames are shown: frame `i` of 7 is `round(i · (n − 1) / 6)`, halves to the even neighbour.
fn sampled(frames: usize) -> Vec<usize> {
    if frames <= MOST_FRAMES {
        return (0..frames).collect();
    }
    let gaps = MOST_FRAMES - 1;
    let rounded = |part: usize| {
        let (whole, rest) = (part / gaps, part % gaps);
        let up = 2 * rest > gaps || (2 * rest == gaps && whole % 2 == 1);
        whole + usize::from(up)
    };
    (0..MOST_FRAMES)
        .map(|index| rounded(index * (frames - 1)))
        .collect()
}

/// A frame as 64 lines, each a list of numbers.
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
    fn a_frame_has_the_official_length() {
        let frame = Frame::filled(5);
        assert_eq!(rows(&frame).len(), 12_479);
        assert_eq!(rows(&Frame::filled(15)).len(), 16_575);
        assert!(rows(&frame).starts_with("  [5, 5, "));
    }

    #[test]
    fn animations_are_thinned_to_seven_frames() {
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
    fn the_blocks_are_as_official() {
        let frames = [Frame::filled(1), Frame::filled(2)];
        let text = observation(
            &view(&frames),
            true,
            Offer {
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
            Offer {
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
