//! Plants in a dark room grow towards the window that is opened, and whatever stands in the light keeps it from others.
//!
//! The rules:
//!
//! * A click on a window lets light in along its rows or columns, up to the first rock, pot, stem, tip or flower in each.
//!   A tip that is met first grows one cell towards the window; the tip of a shy plant grows one cell away from it.
//! * A click into the room darkens it: every plant that has grown loses the cell at its end.
//! * A tip on its own bloom place is a flower and does not grow; darkness takes it like any other. All places in flower win.
//!
//! Darkness can always undo growth down to the pots, so no position is lost and there is nothing to run out of.
//! Only the first thing in a row or column is lit and all lit tips grow along the light, so no two tips ever want one cell.

mod board;
mod draw;
mod levels;

use rhae_engine::{
    Action, ActionKind, ActionSet, Baseline, Facts, Frame, FrameSink, Game, LevelIndex, Outcome,
    State, StateOf,
};

use board::{Board, NOWHERE, PLANTS, Plan, RAYS, beyond, bit};
use levels::{Level, Window};

/// The game's type.
pub(crate) struct Bx20;

impl Game for Bx20 {
    const FACTS: Facts = Facts {
        id: "bx20-v1",
        baselines: &[
            Baseline::solved(8),
            Baseline::solved(11),
            Baseline::solved(16),
            Baseline::solved(15),
            Baseline::solved(13),
            Baseline::solved(18),
            Baseline::solved(13),
            Baseline::solved(19),
        ],
        actions: ActionSet::of(&[ActionKind::Action6]),
        tags: &["click"],
        frames_per_second: 8,
        seeded: false,
        solutions: include_str!("bx20/solutions.txt"),
    };

    type Level = Level;
    type Board = Board;
    type Spent = ();

    fn level(index: LevelIndex, _seed: u64) -> Level {
        Level::of(index)
    }

    fn start(level: &Level) -> StateOf<Self> {
        State {
            board: Board::of(&level.plan),
            spent: (),
        }
    }

    fn step(
        level: &Level,
        state: &mut StateOf<Self>,
        action: Action,
        sink: &mut impl FrameSink,
    ) -> Outcome {
        let Action::Action6 { x, y } = action else {
            return Outcome::Going;
        };
        let board = &mut state.board;
        let before = *board;
        if let Some(window) = level.window_at(x, y) {
            let growth = growth(&level.plan, board, window);
            for (plant, &(direction, into)) in growth.iter().enumerate() {
                if into != NOWHERE {
                    board.grow(plant, into, direction);
                }
            }
            draw::light(level, &before, window, &growth, sink);
        } else if draw::in_room(x, y) {
            board.shrink(&level.plan);
            draw::darkness(level, &before, board, sink);
        } else {
            draw::idle(level, board, x, y, sink);
        }
        if board.all_in_flower(&level.plan) {
            draw::triumph(level, board, sink);
            return Outcome::LevelWon;
        }
        Outcome::Going
    }

    fn draw(level: &Level, state: &StateOf<Self>, frame: &mut Frame) {
        draw::settled(level, &state.board, frame);
    }

    #[inline]
    fn clicks(level: &Level, _state: &StateOf<Self>) -> impl Iterator<Item = (u8, u8)> {
        level
            .windows
            .iter()
            .map(Window::center)
            .chain([draw::MIDDLE])
    }
}

/// For each plant: the direction in which the light of a window makes its tip grow (`NOWHERE` if it is not lit), and the
/// cell it grows into (`NOWHERE` if it cannot).
type Growth = [(u8, u8); PLANTS];

fn growth(plan: &Plan, board: &Board, window: &Window) -> Growth {
    let mut growth = [(NOWHERE, NOWHERE); PLANTS];
    let opaque = plan.rocks | board.plants;
    for (plant, grown) in growth.iter_mut().enumerate().take(plan.count) {
        let tip = board.tips[plant];
        if tip == plan.places[plant]
            || !window.covers(tip)
            || RAYS[usize::from(window.side)][usize::from(tip)] & opaque != 0
        {
            continue;
        }
        let direction = if plan.shy[plant] {
            window.side ^ 2
        } else {
            window.side
        };
        let ahead = beyond(tip, direction);
        let free = ahead != NOWHERE && opaque & bit(ahead) == 0;
        *grown = (direction, if free { ahead } else { NOWHERE });
    }
    growth
}

#[cfg(test)]
mod tests {
    use rhae_engine::NoFrames;

    use super::board::SIDE;
    use super::*;

    /// The board of a level, counted from 1, after clicks: a window by its place in the level, or `None` for darkness.
    fn after(level: u8, clicks: &[Option<usize>]) -> Board {
        let level = Level::of(LevelIndex(level - 1));
        let mut state = Bx20::start(&level);
        for click in clicks {
            let (x, y) = click.map_or(draw::MIDDLE, |window| level.windows[window].center());
            Bx20::step(&level, &mut state, Action::Action6 { x, y }, &mut NoFrames);
        }
        state.board
    }

    #[test]
    fn a_rock_keeps_the_light_from_a_tip() {
        let (start, parked) = (after(2, &[]), after(2, &[Some(2)]));
        assert_eq!(
            parked.tips[0], start.tips[0],
            "the first plant stands behind the rock"
        );
        assert_eq!(parked.tips[1], start.tips[1] + SIDE);
        let lit = after(2, &[Some(0), Some(2)]);
        assert_eq!(
            lit.tips[0],
            start.tips[0] + 1 + SIDE,
            "the first plant has left the shade"
        );
    }

    #[test]
    fn a_plant_is_a_screen() {
        // After three steps down the second plant stands behind the stem of the first; after one it does not.
        let (hidden, open) = (after(3, &[Some(1), Some(1), Some(1)]), after(3, &[Some(1)]));
        let moved = |clicks: &[Option<usize>]| after(3, clicks).tips[1];
        assert_eq!(moved(&[Some(1), Some(1), Some(1), Some(2)]), hidden.tips[1]);
        assert_eq!(moved(&[Some(1), Some(2)]), open.tips[1] - 1);
    }

    #[test]
    fn darkness_takes_one_cell_of_every_plant() {
        let start = after(4, &[]);
        assert_eq!(after(4, &[Some(1), None]), start);
        // The first plant met the wall after three cells, the second grew five; darkness leaves it two ahead.
        let uneven = after(
            4,
            &[
                Some(1),
                Some(1),
                Some(1),
                Some(1),
                Some(1),
                None,
                None,
                None,
            ],
        );
        assert_eq!(
            (uneven.tips[0], uneven.tips[1]),
            (start.tips[0], start.tips[1] + 2 * SIDE)
        );
    }

    #[test]
    fn a_shy_plant_shades_itself_and_so_grows_in_stairs() {
        let pushed = after(5, &[Some(3)]);
        assert_eq!(pushed.tips[1], after(5, &[]).tips[1] + 1);
        assert_eq!(pushed.tips[1], after(5, &[Some(3), Some(3)]).tips[1]);
        assert_eq!(after(5, &[Some(3), Some(2)]).tips[1], pushed.tips[1] - SIDE);
    }
}
