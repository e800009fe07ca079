//! The wants of the beings, and the closed loops that they form.

use super::levels::Level;
use super::{Board, MAX_BEINGS, SQUARES, next_to};

/// Marks an empty square, or a being that wants nothing.
const NO_BEING: u8 = MAX_BEINGS as u8;

pub(crate) struct Wants {
    /// The being whose token each being wants, or [`NO_BEING`].
    whose: [u8; MAX_BEINGS],
    /// The direction in which that being stands.
    direction: [u8; MAX_BEINGS],
    /// The beings whose wants are part of a closed loop, one bit each.
    pub(crate) in_loop: u8,
}

impl Wants {
    /// Computes all wants. Every being compares the tokens of its up to four neighbours and wants
    /// the one that it likes best, provided that it likes that token better than its own. If it
    /// likes several equally, it wants the first in the order of [`AHEAD`](super::AHEAD). A stump,
    /// which likes nothing, wants the token of the first neighbour that wants its own.
    #[inline]
    pub(crate) fn of(level: &Level, board: &Board) -> Self {
        let mut standing = [NO_BEING; SQUARES];
        for being in 0..level.count {
            standing[usize::from(board.square[being])] = being as u8;
        }
        let mut wants = Self {
            whose: [NO_BEING; MAX_BEINGS],
            direction: [0; MAX_BEINGS],
            in_loop: 0,
        };
        for being in (0..level.count).filter(|&being| level.walks(being)) {
            let square = board.square[being];
            let rank = level.ranks(being, square);
            let mut best = rank[usize::from(board.token[being])];
            for direction in 0..4 {
                let other = standing[usize::from(next_to(square, direction))];
                if other != NO_BEING && rank[usize::from(board.token[usize::from(other)])] < best {
                    best = rank[usize::from(board.token[usize::from(other)])];
                    wants.whose[being] = other;
                    wants.direction[being] = direction as u8;
                }
            }
        }
        for stump in (0..level.count).filter(|&being| !level.walks(being)) {
            for direction in (0..4).rev() {
                let other = standing[usize::from(next_to(board.square[stump], direction))];
                if other != NO_BEING && wants.whose[usize::from(other)] == stump as u8 {
                    wants.whose[stump] = other;
                    wants.direction[stump] = direction as u8;
                }
            }
        }
        wants.close_loops(level.count);
        wants
    }

    /// Returns the direction in which a being reaches, or `None` if it wants nothing.
    #[inline]
    pub(crate) fn reach(&self, being: usize) -> Option<usize> {
        (self.whose[being] != NO_BEING).then(|| usize::from(self.direction[being]))
    }

    /// Returns the being whose token a being wants, or the being itself if it wants nothing.
    #[inline]
    pub(crate) fn wanted(&self, being: usize) -> usize {
        if self.whose[being] == NO_BEING {
            being
        } else {
            usize::from(self.whose[being])
        }
    }

    #[inline]
    pub(crate) const fn is_in_loop(&self, being: usize) -> bool {
        self.in_loop >> being & 1 == 1
    }

    /// Returns the tokens after all closed loops have traded.
    pub(crate) fn traded(&self, token: &[u8; MAX_BEINGS], count: usize) -> [u8; MAX_BEINGS] {
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
                if being == NO_BEING || usize::from(being) == first {
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

    /// Returns the tokens after the bell rings in a level whose beings stand on these squares.
    fn after_ring(level: usize, places: &[(usize, usize)]) -> Vec<u8> {
        let level = Level::new(&ALL[level]);
        let mut board = level.start;
        for (being, &(column, row)) in places.iter().enumerate() {
            board.square[being] = square(column, row);
        }
        Wants::of(&level, &board).traded(&board.token, level.count)[..level.count].to_vec()
    }

    #[test]
    fn two_beings_trade_across_a_fence() {
        assert_eq!(after_ring(0, &[(4, 2), (5, 2)]), [9, 8]);
        assert_eq!(after_ring(0, &[(3, 2), (5, 2)]), [8, 9]);
    }

    #[test]
    fn preferred_neighbour_prevents_a_trade() {
        assert_eq!(after_ring(2, &[(1, 0), (0, 0), (0, 1)]), [8, 14, 11, 9]);
        assert_eq!(after_ring(2, &[(1, 0), (0, 0), (0, 2)]), [14, 8, 11, 9]);
    }

    #[test]
    fn four_beings_trade_in_a_loop() {
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
    fn mood_takes_precedence_over_likings() {
        assert_eq!(after_ring(4, &[(1, 2), (0, 1)]), [8, 14, 9]);
        assert_eq!(after_ring(4, &[(1, 2), (0, 2)]), [14, 8, 9]);
    }

    #[test]
    fn stump_prefers_the_being_above_it() {
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
