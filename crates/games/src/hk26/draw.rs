//! The drawing code: the settled frame, and short animations that show the effect of an action or
//! the reason why it had none.
//!
//! A square is 8 pixels wide. Neighbouring squares share the one-pixel line between them, on which
//! fences and hands are drawn.

#[cfg(test)]
mod things;

use rhae_engine::{Frame, FrameSink, SIZE, StateOf, TextMap};

use super::levels::{LIKES, Level, ROWS, Shrine, is_inside, place, squares};
use super::wants::Wants;
use super::{Board, Hk26};

const FLOOR: u8 = 2;
const WALL: u8 = 4;
const FENCE: u8 = 13;
const BODY: u8 = 5;
const STUMP: u8 = 3;
const LIGHT: u8 = 0;
/// The colour of a hand whose want is not part of a closed loop.
const HAND: u8 = 7;
const BELL: u8 = 10;
const BELL_GONE: u8 = 3;
/// The colour of everything that a refusal points at.
const REFUSED: u8 = 6;

/// The distance from one square to the next.
const PITCH: usize = 9;
/// The height of the board in pixels.
const BOARD_HEIGHT: usize = ROWS * PITCH + 1;
/// The position of the first ring left, the size of each, and the distance to the next.
const BELLS: (usize, usize) = (2, 58);
const BELL_SIZE: usize = 4;
const BELL_PITCH: usize = 7;

/// Returns the upper left pixel of a square.
const fn corner(square: u8) -> (usize, usize) {
    let (column, row) = place(square);
    (column * PITCH + 1, row * PITCH + 1)
}

/// Returns a pixel in the middle of a square.
pub(crate) const fn middle(square: u8) -> (u8, u8) {
    let (x, y) = corner(square);
    (x as u8 + 4, y as u8 + 4)
}

/// Returns the square under a pixel, or `None` on the lines between squares and below the board.
pub(crate) fn square_at(x: u8, y: u8) -> Option<u8> {
    let (x, y) = (usize::from(x), usize::from(y));
    let on_square = x % PITCH != 0 && y % PITCH != 0 && y < BOARD_HEIGHT;
    on_square.then(|| super::levels::square(x / PITCH, y / PITCH))
}

/// Draws everything that never changes.
pub(crate) fn background(level: &Level, map: &TextMap) -> Frame {
    let mut frame = Frame::filled(WALL);
    let is_wall = |column: usize, row: usize| map.get(2 * column + 1, 2 * row + 1) == b'#';
    for (column, row) in squares().filter(|&(column, row)| !is_wall(column, row)) {
        frame.block::<10, 10>(column * PITCH, row * PITCH, FLOOR);
    }
    for (x, y, edge) in map.iter() {
        let inside = is_inside(x, y);
        match edge {
            b'|' if inside => frame.rect(x / 2 * PITCH, y / 2 * PITCH, 1, PITCH + 1, FENCE),
            b'-' if inside => frame.rect(x / 2 * PITCH, y / 2 * PITCH, PITCH + 1, 1, FENCE),
            _ => {}
        }
    }
    for (column, row) in squares().filter(|&(column, row)| is_wall(column, row)) {
        frame.block::<10, 10>(column * PITCH, row * PITCH, WALL);
    }
    frame.outline(0, 0, SIZE, BOARD_HEIGHT, WALL);
    for (column, row) in squares() {
        let mood = level.mood(super::levels::square(column, row));
        if mood != 0 {
            let (x, y) = (column * PITCH + 1, row * PITCH + 1);
            frame.block::<4, 4>(x + 2, y + 2, mood);
            for (dx, dy) in [(0, 0), (7, 0), (0, 7), (7, 7)] {
                frame.set(x + dx, y + dy, mood);
            }
        }
    }
    for &Shrine { square, color } in &level.shrines {
        let (x, y) = corner(square);
        frame.outline(x, y, 8, 8, color);
        frame.outline(x + 1, y + 1, 6, 6, color);
    }
    bells(&mut frame, level.rings, BELL_GONE);
    frame
}

/// Eight rows of eight pixels, one byte each.
pub(crate) type Body = [u64; 8];

/// A mask of the pixels of a square that a round body leaves uncovered.
const GROUND: Body = {
    let (end, next, middle) = (0xFFFF_0000_0000_FFFF, 0xFF00_0000_0000_00FF, 0);
    [end, next, middle, middle, middle, middle, next, end]
};

/// Returns a round body with the liked colours on its left, the best-liked colour on top.
pub(crate) fn body(likes: &[u8; LIKES]) -> Body {
    let color = if likes[0] == 0 { STUMP } else { BODY };
    let mut cells = [[color; 8]; 8];
    for (rank, &liked) in likes.iter().enumerate().filter(|&(_, &liked)| liked != 0) {
        for row in &mut cells[1 + 2 * rank..3 + 2 * rank] {
            row[1..3].fill(liked);
        }
    }
    std::array::from_fn(|row| u64::from_le_bytes(cells[row]) & !GROUND[row])
}

pub(crate) struct View<'a> {
    level: &'a Level,
    board: &'a Board,
}

impl<'a> View<'a> {
    pub(crate) const fn of(level: &'a Level, state: &'a StateOf<Hk26>) -> Self {
        Self {
            level,
            board: &state.board,
        }
    }

    /// Draws the settled frame.
    pub(crate) fn settled(&self, frame: &mut Frame) {
        self.ground(frame);
        self.beings(frame, |_| (0, 0));
        self.choice(frame, (0, 0));
        self.hands(frame, &Wants::of(self.level, self.board), |_| true);
    }

    /// Draws the board without beings, and the rings left.
    fn ground(&self, frame: &mut Frame) {
        frame.copy_from(&self.level.background);
        bells(frame, self.board.rings, BELL);
        for &shrine in &self.level.shrines {
            if Level::is_served(self.board, shrine) {
                serve(frame, shrine.square);
            }
        }
    }

    /// Draws all beings with their tokens, each moved by its offset.
    fn beings(&self, frame: &mut Frame, offset: impl Fn(usize) -> (isize, isize)) {
        for being in 0..self.level.count {
            let offset = offset(being);
            self.body(frame, being, offset);
            self.token(frame, being, offset);
        }
    }

    /// Draws a being without its token; the ground shows at its corners.
    #[inline]
    fn body(&self, frame: &mut Frame, being: usize, offset: (isize, isize)) {
        let square = self.board.square[being];
        let (x, y) = moved(corner(square), offset);
        let rows = frame.cells_mut()[y * SIZE..].chunks_exact_mut(SIZE);
        for ((row, part), ground) in rows.zip(self.level.body(being, square)).zip(GROUND) {
            if let Some(cells) = row[x..].first_chunk_mut::<8>() {
                *cells = (u64::from_le_bytes(*cells) & ground | part).to_le_bytes();
            }
        }
    }

    /// Draws the token of a being: on its right, or in the middle of a stump.
    fn token(&self, frame: &mut Frame, being: usize, offset: (isize, isize)) {
        let (x, y) = moved(corner(self.board.square[being]), offset);
        if self.level.walks(being) {
            frame.block::<3, 4>(x + 4, y + 2, self.board.token[being]);
        } else {
            frame.block::<4, 4>(x + 2, y + 2, self.board.token[being]);
        }
    }

    /// Draws a hand for each being in `shown` that wants something, in a light colour if the want
    /// is part of a closed loop.
    fn hands(&self, frame: &mut Frame, wants: &Wants, shown: impl Fn(usize) -> bool) {
        self.hands_in([HAND, LIGHT], frame, wants, shown);
    }

    /// Draws hands in two colours: first for open wants, then for those of a closed loop.
    /// Draws the four hands of each being that wants another token but has no neighbour with one.
    fn empty_hands(&self, frame: &mut Frame, wants: &Wants) {
        for being in (0..self.level.count).filter(|&being| self.level.walks(being)) {
            let square = self.board.square[being];
            let token = usize::from(self.board.token[being]);
            if wants.reach(being).is_some() || self.level.ranks(being, square)[token] == 0 {
                continue;
            }
            let (x, y) = corner(square);
            frame.block::<4, 1>(x + 2, y, REFUSED);
            frame.block::<4, 1>(x + 2, y + 7, REFUSED);
            frame.block::<1, 4>(x, y + 2, REFUSED);
            frame.block::<1, 4>(x + 7, y + 2, REFUSED);
        }
    }

    fn hands_in(
        &self,
        colors: [u8; 2],
        frame: &mut Frame,
        wants: &Wants,
        shown: impl Fn(usize) -> bool,
    ) {
        for being in (0..self.level.count).filter(|&being| shown(being)) {
            let Some(direction) = wants.reach(being) else {
                continue;
            };
            let (x, y) = corner(self.board.square[being]);
            let color = colors[usize::from(wants.is_in_loop(being))];
            // A hand is wide on the body of its being and narrow beyond it, which shows the
            // direction of the want.
            match direction {
                0 => {
                    frame.block::<2, 2>(x + 3, y - 2, color);
                    frame.block::<4, 1>(x + 2, y, color);
                }
                1 => {
                    frame.block::<2, 2>(x + 8, y + 3, color);
                    frame.block::<1, 4>(x + 7, y + 2, color);
                }
                2 => {
                    frame.block::<2, 2>(x + 3, y + 8, color);
                    frame.block::<4, 1>(x + 2, y + 7, color);
                }
                _ => {
                    frame.block::<2, 2>(x - 2, y + 3, color);
                    frame.block::<1, 4>(x, y + 2, color);
                }
            }
        }
    }

    /// Marks the chosen being with light corners on the lines around its square.
    fn choice(&self, frame: &mut Frame, offset: (isize, isize)) {
        let (x, y) = moved(
            corner(self.board.square[usize::from(self.board.chosen)]),
            offset,
        );
        for (dx, dy) in [(0, 0), (7, 0), (0, 9), (7, 9)] {
            frame.block::<3, 1>(x + dx - 1, y + dy - 1, LIGHT);
        }
        for (dx, dy) in [(0, 0), (9, 0), (0, 7), (9, 7)] {
            frame.block::<1, 3>(x + dx - 1, y + dy - 1, LIGHT);
        }
    }
}

/// Draws the first `count` bells in a colour.
fn bells(frame: &mut Frame, count: u8, color: u8) {
    for bell in 0..usize::from(count) {
        let (x, y) = (BELLS.0 + bell * BELL_PITCH, BELLS.1);
        frame.block::<4, 4>(x, y, color);
    }
}

/// Lights the corners of a shrine, which the being on it leaves visible. Nothing outside the square
/// changes, so that fences, walls and moods next to the shrine stay visible.
fn serve(frame: &mut Frame, square: u8) {
    let (x, y) = corner(square);
    for (dx, dy) in [(0, 0), (6, 0), (0, 6), (6, 6)] {
        frame.block::<2, 2>(x + dx, y + dy, LIGHT);
    }
}

/// Colours the lines around a square.
fn surround(frame: &mut Frame, square: u8, color: u8) {
    let (x, y) = corner(square);
    frame.block::<10, 1>(x - 1, y - 1, color);
    frame.block::<10, 1>(x - 1, y + 8, color);
    frame.block::<1, 8>(x - 1, y, color);
    frame.block::<1, 8>(x + 8, y, color);
}

const fn moved((x, y): (usize, usize), (dx, dy): (isize, isize)) -> (usize, usize) {
    (x.wrapping_add_signed(dx), y.wrapping_add_signed(dy))
}

/// Returns the offset of a number of pixels in a direction.
const fn toward(direction: usize, cells: isize) -> (isize, isize) {
    match direction {
        0 => (0, -cells),
        1 => (cells, 0),
        2 => (0, cells),
        _ => (-cells, 0),
    }
}

/// Animates the chosen being's step to the next square.
pub(crate) fn slide(
    level: &Level,
    before: &StateOf<Hk26>,
    after: &StateOf<Hk26>,
    direction: usize,
    sink: &mut impl FrameSink,
) {
    let chosen = usize::from(before.board.chosen);
    for cells in [3, 6] {
        sink.frame(|frame| {
            let view = View::of(level, before);
            let wants = Wants::of(level, &after.board);
            view.ground(frame);
            view.beings(frame, |being| {
                if being == chosen {
                    toward(direction, cells)
                } else {
                    (0, 0)
                }
            });
            view.choice(frame, toward(direction, cells));
            view.hands(frame, &wants, |being| {
                being != chosen && wants.wanted(being) != chosen
            });
        });
    }
    let goal = after.board.square[chosen];
    if level.mood(goal) != 0 {
        // The mood has just changed the likings of the being that entered the square.
        sink.frame(|frame| {
            View::of(level, after).settled(frame);
            surround(frame, goal, level.mood(goal));
        });
    }
}

/// Animates a blocked step: the chosen being leans towards the obstacle, whose edge lights up.
pub(crate) fn bump(
    level: &Level,
    state: &StateOf<Hk26>,
    direction: usize,
    sink: &mut impl FrameSink,
) {
    sink.frame(|frame| {
        let view = View::of(level, state);
        let chosen = usize::from(state.board.chosen);
        let (x, y) = corner(state.board.square[chosen]);
        view.ground(frame);
        view.beings(frame, |being| {
            if being == chosen {
                toward(direction, 1)
            } else {
                (0, 0)
            }
        });
        view.choice(frame, (0, 0));
        view.hands(frame, &Wants::of(level, &state.board), |being| {
            being != chosen
        });
        match direction {
            0 => frame.block::<10, 1>(x - 1, y - 1, LIGHT),
            1 => frame.block::<1, 10>(x + 8, y - 1, LIGHT),
            2 => frame.block::<10, 1>(x - 1, y + 8, LIGHT),
            _ => frame.block::<1, 10>(x - 1, y - 1, LIGHT),
        }
    });
}

/// Animates the choice of a being: it hops.
pub(crate) fn greeting(level: &Level, state: &StateOf<Hk26>, sink: &mut impl FrameSink) {
    sink.frame(|frame| {
        let view = View::of(level, state);
        view.ground(frame);
        view.beings(frame, |being| {
            if being == usize::from(state.board.chosen) {
                (0, -1)
            } else {
                (0, 0)
            }
        });
        view.choice(frame, (0, 0));
    });
}

/// Animates a click without effect: the square, or the pixels around the click, light up.
pub(crate) fn idle_click(
    level: &Level,
    state: &StateOf<Hk26>,
    x: u8,
    y: u8,
    sink: &mut impl FrameSink,
) {
    sink.frame(|frame| {
        View::of(level, state).settled(frame);
        match square_at(x, y) {
            Some(square) => surround(frame, square, LIGHT),
            None => frame.rect(
                usize::from(x).saturating_sub(1),
                usize::from(y).saturating_sub(1),
                3,
                3,
                LIGHT,
            ),
        }
    });
}

/// Shows why the bell does not ring: the hands that no other hand answers, or the used-up bells,
/// flash. No being moves, unlike in a trade.
pub(crate) fn refusal(
    level: &Level,
    state: &StateOf<Hk26>,
    wants: &Wants,
    sink: &mut impl FrameSink,
) {
    for flash in [true, false, true] {
        sink.frame(|frame| {
            let view = View::of(level, state);
            view.settled(frame);
            if !flash {
                return;
            }
            if wants.in_loop == 0 {
                view.hands_in([REFUSED; 2], frame, wants, |_| true);
                view.empty_hands(frame, wants);
            }
            for bell in 0..usize::from(level.rings) {
                let (x, y) = (BELLS.0 + bell * BELL_PITCH, BELLS.1);
                frame.outline(x, y, BELL_SIZE, BELL_SIZE, REFUSED);
            }
        });
    }
}

/// Shows that there is nothing to undo: all bells flash.
pub(crate) fn nothing_to_undo(level: &Level, state: &StateOf<Hk26>, sink: &mut impl FrameSink) {
    sink.frame(|frame| {
        View::of(level, state).settled(frame);
        bells(frame, level.rings, LIGHT);
    });
}

/// Animates a trade: all beings hop, then the tokens of each closed loop move to the beings that
/// want them.
pub(crate) fn trade(
    level: &Level,
    state: &StateOf<Hk26>,
    wants: &Wants,
    sink: &mut impl FrameSink,
) {
    let view = View::of(level, state);
    sink.frame(|frame| {
        view.ground(frame);
        view.beings(frame, |_| (0, -1));
        view.choice(frame, (0, 0));
    });
    for cells in [3, 5, 7] {
        sink.frame(|frame| {
            view.ground(frame);
            for being in 0..level.count {
                view.body(frame, being, (0, 0));
            }
            view.hands(frame, wants, |being| wants.is_in_loop(being));
            for being in 0..level.count {
                if !wants.is_in_loop(being) {
                    view.token(frame, being, (0, 0));
                }
            }
            // The wanted token is drawn on its way from its owner to the being that wants it.
            for being in (0..level.count).filter(|&being| wants.is_in_loop(being)) {
                if let Some(direction) = wants.reach(being) {
                    view.token(frame, wants.wanted(being), toward(direction, -cells));
                }
            }
        });
    }
}

/// Animates a win: the beings on shrines hop, and the shrines light up.
pub(crate) fn triumph(level: &Level, state: &StateOf<Hk26>, sink: &mut impl FrameSink) {
    let view = View::of(level, state);
    let on_shrine = |being: usize| {
        level
            .shrines
            .iter()
            .any(|shrine| shrine.square == state.board.square[being])
    };
    for step in 0..4 {
        sink.frame(|frame| {
            view.ground(frame);
            for shrine in &level.shrines {
                surround(
                    frame,
                    shrine.square,
                    if step % 2 == 0 { LIGHT } else { shrine.color },
                );
            }
            view.beings(frame, |being| {
                if on_shrine(being) && step % 2 == 0 {
                    (0, -1)
                } else {
                    (0, 0)
                }
            });
        });
    }
}
