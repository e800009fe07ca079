//! The first frame of every level, for contact sheets.

use rhae_engine::{Episode, Frame, Game, LevelIndex, Levels};

use crate::{Visitor, visit};

struct FirstFrames {
    seed: u64,
}

impl Visitor for FirstFrames {
    type Output = Vec<Frame>;

    fn visit<G: Game>(self) -> Vec<Frame> {
        let levels = Levels::<G>::new(self.seed);
        (0..levels.count())
            .map(|level| {
                let mut frame = Frame::filled(0);
                Episode::at(levels.clone(), LevelIndex(level)).draw(&mut frame);
                frame
            })
            .collect()
    }
}

/// Returns the frame with which each level of the game with this full id starts, or `None` if it is
/// not registered.
///
/// # Examples
///
/// ```
/// let frames = rhae_games::first_frames("kq19-v1", 0).expect("the game is registered");
/// assert_eq!(frames.len(), 8);
/// assert!(rhae_games::first_frames("zz99-v1", 0).is_none());
/// ```
pub fn first_frames(id: &str, seed: u64) -> Option<Vec<Frame>> {
    visit(id, FirstFrames { seed })
}
