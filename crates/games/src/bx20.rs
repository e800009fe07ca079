//! `bx20`: plants in a dark room grow towards the window that is opened, and rocks and plants cast
//! shadows.
//!
//! The rules:
//!
//! * A click on a window lets light in along its rows or columns, up to the first rock, pot, stem,
//!   tip or flower in each row or column. If the light meets a tip first, the tip grows one cell
//!   towards the window, or one cell away from it if the plant is shy. A tip does not grow if that
//!   cell is not free.
//! * A click on the shutter, the blue corner of the wall, darkens the room: every plant that has
//!   grown loses the cell at its end.
//! * A tip on its own bloom cell is in flower and does not grow. Darkness removes it like any other
//!   tip.
//! * The level is won when every plant is in flower.
//!
//! Darkness can shrink every plant back to its pot, so every position can still be won, and the
//! levels have no action limit. Only the first object in a row or column is lit, and all lit tips
//! grow along the light, so no two tips ever grow into the same cell.

mod board;
mod draw;
mod levels;

use rhae_engine::{
    Action, ActionKind, ActionSet, Baseline, Facts, Frame, FrameSink, Game, LevelIndex, Outcome,
    State, StateOf,
};

use board::{Board, Layout, MAX_PLANTS, NONE, RAYS, bit, neighbour};
use levels::{Level, Window};

pub(crate) struct Bx20;

impl Game for Bx20 {
    const FACTS: Facts = Facts {
        id: "bx20-v1",
        baselines: &[
            Baseline::from_optimum(7),
            Baseline::from_optimum(11),
            Baseline::from_optimum(16),
            Baseline::from_optimum(12),
            Baseline::from_optimum(13),
            Baseline::from_optimum(18),
            Baseline::from_optimum(13),
            Baseline::from_optimum(18),
        ],
        actions: ActionSet::of(&[ActionKind::Action6, ActionKind::Action7]),
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
            board: level.start,
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
            return Outcome::Continue;
        };
        let board = &mut state.board;
        let before = *board;
        if let Some(window) = level.window_at(x, y) {
            let growth = growth(&level.layout, board, window);
            for (plant, &(direction, into)) in growth.iter().enumerate() {
                if into != NONE {
                    board.grow(plant, into, direction);
                }
            }
            draw::light(level, &before, window, &growth, sink);
        } else if draw::on_shutter(x, y) {
            board.shrink(&level.layout);
            draw::darkness(level, &before, board, sink);
        } else {
            draw::idle(level, board, x, y, sink);
        }
        if board.all_in_flower(&level.layout) {
            draw::triumph(level, board, sink);
            return Outcome::LevelWon;
        }
        Outcome::Continue
    }

    fn draw(level: &Level, state: &StateOf<Self>, frame: &mut Frame) {
        draw::settled(level, &state.board, frame);
    }

    fn on_undo(
        level: &Level,
        state: &mut StateOf<Self>,
        restored: bool,
        sink: &mut impl FrameSink,
    ) -> Outcome {
        if !restored {
            draw::nothing_to_undo(level, &state.board, sink);
        }
        Outcome::Continue
    }

    #[inline]
    fn clicks(level: &Level, _state: &StateOf<Self>) -> impl Iterator<Item = (u8, u8)> {
        level
            .windows
            .iter()
            .map(Window::center)
            .chain([draw::SHUTTER_MIDDLE])
    }
}

/// For each plant, the direction in which the light of a window makes its tip grow (`NONE` if the
/// tip is not lit), and the cell it grows into (`NONE` if it cannot grow or is in flower).
type Growth = [(u8, u8); MAX_PLANTS];

fn growth(layout: &Layout, board: &Board, window: &Window) -> Growth {
    let mut growth = [(NONE, NONE); MAX_PLANTS];
    let opaque = layout.rocks | board.plants;
    for (plant, grown) in growth.iter_mut().enumerate().take(layout.count) {
        let tip = board.tips[plant];
        if !window.covers(tip) || RAYS[usize::from(window.side)][usize::from(tip)] & opaque != 0 {
            continue;
        }
        let direction = if layout.shy[plant] {
            window.side ^ 2
        } else {
            window.side
        };
        let ahead = neighbour(tip, direction);
        let in_flower = tip == layout.bloom_cells[plant];
        let free = !in_flower && ahead != NONE && opaque & bit(ahead) == 0;
        *grown = (direction, if free { ahead } else { NONE });
    }
    growth
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use rhae_engine::{NoFrames, StateKey, key_of};
    use rhae_explore::{Explorable, shortest_win};

    use super::board::SIDE;
    use super::*;

    #[test]
    fn tip_in_flower_does_not_grow_but_darkness_removes_it() {
        let right = [None, Some(1), Some(1), Some(1), Some(1)];
        let flower = after(1, &[&right[..], &[Some(0); 2]].concat());
        let lit = after(1, &[&right[..], &[Some(0); 3]].concat());
        assert_eq!(flower, lit);
        let shorter = after(1, &[&right[..], &[Some(0); 2], &[None]].concat());
        assert_eq!(shorter, after(1, &[&right[..], &[Some(0)]].concat()));
    }

    #[test]
    fn plant_can_start_grown() {
        let level = Level::of(LevelIndex(0));
        let pot = level.layout.pots[0];
        assert_eq!(after(1, &[]).tips[0], pot - 4 * SIDE);
        assert_eq!(after(1, &[None]).tips[0], pot - 3 * SIDE);
        assert_eq!(after(1, &[None; 5]).tips[0], pot);
    }

    #[test]
    fn click_into_the_room_changes_nothing() {
        let level = Level::of(LevelIndex(0));
        let mut state = Bx20::start(&level);
        Bx20::step(
            &level,
            &mut state,
            Action::Action6 { x: 8, y: 3 },
            &mut NoFrames,
        );
        let grown = [
            Action::Action6 { x: 23, y: 3 },
            Action::Action6 { x: 32, y: 32 },
        ]
        .map(|click| {
            Bx20::step(&level, &mut state, click, &mut NoFrames);
            state.board
        });
        assert!(grown[0] == grown[1] && grown[0] != Bx20::start(&level).board);
    }

    /// Returns the board of a level after some clicks. Levels are numbered from 1. A click is the
    /// index of a window in the level, or `None` for darkness.
    fn after(level: u8, clicks: &[Option<usize>]) -> Board {
        let level = Level::of(LevelIndex(level - 1));
        let mut state = Bx20::start(&level);
        for click in clicks {
            let (x, y) = click.map_or(draw::SHUTTER_MIDDLE, |window| {
                level.windows[window].center()
            });
            Bx20::step(&level, &mut state, Action::Action6 { x, y }, &mut NoFrames);
        }
        state.board
    }

    #[test]
    fn rock_shades_a_tip() {
        let (start, parked) = (after(2, &[]), after(2, &[Some(2)]));
        assert_eq!(
            parked.tips[0], start.tips[0],
            "the first plant is in the shadow of the rock"
        );
        assert_eq!(parked.tips[1], start.tips[1] + SIDE);
        let lit = after(2, &[Some(0), Some(2)]);
        assert_eq!(
            lit.tips[0],
            start.tips[0] + 1 + SIDE,
            "the first plant has left the shadow"
        );
    }

    #[test]
    fn plant_shades_another_plant() {
        // After three steps down, the second plant is in the shadow of the first one's stem; after
        // one step it is not.
        let (hidden, open) = (after(3, &[Some(0), Some(0), Some(0)]), after(3, &[Some(0)]));
        let moved = |clicks: &[Option<usize>]| after(3, clicks).tips[1];
        assert_eq!(moved(&[Some(0), Some(0), Some(0), Some(1)]), hidden.tips[1]);
        assert_eq!(moved(&[Some(0), Some(1)]), open.tips[1] - 1);
    }

    #[test]
    fn darkness_removes_one_cell_of_every_plant() {
        let start = after(4, &[]);
        assert_eq!(after(4, &[Some(1), None]), start);
        // Both plants grow two cells to the right. Then only the first one grows up, because a rock
        // shades the second one. After the room has been darkened twice, the first plant still has
        // one cell.
        let uneven = after(4, &[Some(1), Some(1), Some(0), None, None]);
        assert_eq!(
            (uneven.tips[0], uneven.tips[1]),
            (start.tips[0] + 1, start.tips[1])
        );
    }

    #[test]
    fn shy_plant_shades_itself_after_one_step() {
        let pushed = after(5, &[Some(1)]);
        assert_eq!(pushed.tips[1], after(5, &[]).tips[1] - 1);
        assert_eq!(pushed.tips[1], after(5, &[Some(1), Some(1)]).tips[1]);
        assert_eq!(after(5, &[Some(1), Some(0)]).tips[1], pushed.tips[1] + SIDE);
    }

    /// A level without the shutter.
    struct AlwaysDay(Level);

    impl Explorable for AlwaysDay {
        type State = StateOf<Bx20>;
        type Error = Infallible;

        fn start(&self) -> Self::State {
            Bx20::start(&self.0)
        }

        fn offered(&self, _state: &Self::State) -> ActionSet {
            ActionSet::of(&[ActionKind::Action6])
        }

        fn clicks(&self, _state: &Self::State, actions: &mut Vec<Action>) {
            let windows = self.0.windows.iter().map(Window::center);
            actions.extend(windows.filter_map(|(x, y)| Action::click(x, y)));
        }

        fn step(&self, state: &mut Self::State, action: Action) -> Result<Outcome, Infallible> {
            Ok(Bx20::step(&self.0, state, action, &mut NoFrames))
        }

        fn key(&self, state: &Self::State) -> StateKey {
            key_of(state)
        }
    }

    #[test]
    fn levels_need_darkness() {
        for number in [1, 3, 4, 6, 7, 8] {
            let level = AlwaysDay(Level::of(LevelIndex(number - 1)));
            let search = shortest_win(&level, 1_000_000);
            assert!(search.complete && search.win.is_none(), "level {number}");
        }
    }
}
