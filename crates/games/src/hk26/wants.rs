//! Who wants whose token, and which wants close a loop.

use super::levels::Level;
use super::{Board, MOST, SQUARES, next_to};

/// Nobody stands there, or nobody is wanted.
const NOBODY: u8 = MOST as u8;

/// The wants of all beings on a board.
pub(crate) struct Wants {
    /// Whose token each being wants; [`NOBODY`] if it is content.
    whose: [u8; MOST],
    /// The direction in which that one stands.
    direction: [u8; MOST],
    /// The beings whose wants close a loop, a bit each.
    pub(crate) in_loop: u8,
}

impl Wants {
    /// Every being looks at its four neighbours and wants the token it likes best, if it likes it better than its own;
    /// between equals the first in the order of [`AHEAD`](super::AHEAD). A stump, which likes nothing, answers the first
    /// neighbour that wants its token.
    #[inline]
    pub(crate) fn of(level: &Level, board: &Board) -> Self {
        let mut standing = [NOBODY; SQUARES];
        for being in 0..level.count {
            standing[usize::from(board.square[being])] = being as u8;
        }
        let mut wants = Self {
            whose: [NOBODY; MOST],
            direction: [0; MOST],
            in_loop: 0,
        };
        for being in (0..level.count).filter(|&being| level.walks(being)) {
            let square = board.square[being];
            let rank = level.ranks(being, square);
            let mut best = rank[usize::from(board.token[being])];
            for direction in 0..4 {
                let other = standing[usize::from(next_to(square, direction))];
                if other != NOBODY && rank[usize::from(board.token[usize::from(other)])] < best {
                    best = rank[usize::from(board.token[usize::from(other)])];
                    wants.whose[being] = other;
                    wants.direction[being] = direction as u8;
                }
            }
        }
        for stump in (0..level.count).filter(|&being| !level.walks(being)) {
            for direction in (0..4).rev() {
                let other = standing[usize::from(next_to(board.square[stump], direction))];
                if other != NOBODY && wants.whose[usize::from(other)] == stump as u8 {
                    wants.whose[stump] = other;
                    wants.direction[stump] = direction as u8;
                }
            }
        }
        wants.close_loops(level.count);
        wants
    }

    /// The direction in which a being reaches, if it wants anything.
    #[inline]
    pub(crate) fn reach(&self, being: usize) -> Option<usize> {
        (self.whose[being] != NOBODY).then(|| usize::from(self.direction[being]))
    }

    /// Whose token a being wants; itself if it is content.
    #[inline]
    pub(crate) fn wanted(&self, being: usize) -> usize {
        if self.whose[being] == NOBODY {
            being
        } else {
            usize::from(self.whose[being])
        }
    }

    /// Whether a being's want is part of a closed loop.
    #[inline]
    pub(crate) const fn is_in_loop(&self, being: usize) -> bool {
        self.in_loop >> being & 1 == 1
    }

    /// The tokens after all closed loops have traded.
    pub(crate) fn traded(&self, token: &[u8; MOST], count: usize) -> [u8; MOST] {
        let mut after = *token;
        for being in (0..count).filter(|&being| self.is_in_loop(being)) {
            after[being] = token[self.wanted(being)];
        }
        after
    }

    fn close_loops(&mut self, count: usize) {
        for first in 0..count {
            let mut being = self.whose[first];
            for _ in 0..count {
                if being == NOBODY || usize::from(being) == first {
                    break;
                }
                being = self.whose[usize::from(being)];
            }
            if usize::from(being) == first {
                self.in_loop |= 1 << first;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::levels::{ALL, square};
    use super::*;

    /// The tokens after a ring in a level whose beings stand on these squares.
    fn after_ring(level: usize, places: &[(usize, usize)]) -> Vec<u8> {
        let level = Level::new(&ALL[level]);
        let mut board = level.start;
        for (being, &(column, row)) in places.iter().enumerate() {
            board.square[being] = square(column, row);
        }
        Wants::of(&level, &board).traded(&board.token, level.count)[..level.count].to_vec()
    }

    #[test]
    fn two_that_want_each_others_tokens_trade_over_a_fence() {
        assert_eq!(after_ring(0, &[(4, 2), (5, 2)]), [9, 8]);
        assert_eq!(after_ring(0, &[(3, 2), (5, 2)]), [8, 9]);
    }

    #[test]
    fn a_better_neighbour_keeps_one_from_trading() {
        assert_eq!(after_ring(2, &[(1, 0), (0, 0), (0, 1)]), [8, 14, 11, 9]);
        assert_eq!(after_ring(2, &[(1, 0), (0, 0), (0, 2)]), [14, 8, 11, 9]);
    }

    #[test]
    fn four_trade_where_only_a_wrong_pair_would() {
        assert_eq!(
            after_ring(3, &[(2, 2), (3, 2), (3, 3), (2, 3)]),
            [9, 14, 11, 8]
        );
        assert_eq!(
            after_ring(3, &[(2, 2), (5, 0), (3, 3), (2, 3)]),
            [11, 9, 14, 8]
        );
    }

    #[test]
    fn a_mood_comes_before_all_likings() {
        assert_eq!(after_ring(4, &[(1, 2), (0, 1)]), [8, 14, 9]);
        assert_eq!(after_ring(4, &[(1, 2), (0, 2)]), [14, 8, 9]);
    }

    #[test]
    fn a_stump_answers_the_one_above_it_first() {
        let level = Level::new(&ALL[5]);
        let mut board = level.start;
        board.square[..3].copy_from_slice(&[square(3, 2), square(2, 3), square(4, 3)]);
        board.token[..4].copy_from_slice(&[12, 9, 8, 11]);
        assert_eq!(
            Wants::of(&level, &board).traded(&board.token, level.count)[..4],
            [11, 9, 8, 12]
        );
        board.square[0] = square(3, 1);
        assert_eq!(
            Wants::of(&level, &board).traded(&board.token, level.count)[..4],
            [12, 11, 8, 9]
        );
    }
}
