//! The boards that undo goes back to.

/// How many boards are kept at hand; older ones are found by playing the level again.
pub(crate) const KEPT: usize = 64;

/// A stack of boards in a fixed ring: pushing past its size forgets the oldest.
#[derive(Clone, Debug)]
pub(crate) struct UndoRing<Board> {
    boards: Vec<Board>,
    /// How many boards lie on the stack, the forgotten ones included.
    depth: usize,
    /// How many of them, counted from the top, are at hand.
    at_hand: usize,
}

/// What taking the top board gave.
pub(crate) enum Undone<Board> {
    /// The board before the last change.
    Board(Board),
    /// There was a change, but its board is no longer at hand.
    Forgotten,
    /// Nothing was changed since the level's start.
    Nothing,
}

impl<Board: Clone> UndoRing<Board> {
    pub(crate) fn new() -> Self {
        Self {
            boards: Vec::with_capacity(KEPT),
            depth: 0,
            at_hand: 0,
        }
    }

    pub(crate) fn clear(&mut self) {
        self.depth = 0;
        self.at_hand = 0;
    }

    #[inline]
    pub(crate) fn push(&mut self, board: &Board) {
        let place = self.depth % KEPT;
        if place < self.boards.len() {
            self.boards[place].clone_from(board);
        } else {
            self.boards.push(board.clone());
        }
        self.depth += 1;
        self.at_hand = (self.at_hand + 1).min(KEPT);
    }

    pub(crate) fn pop(&mut self) -> Undone<Board> {
        if self.depth == 0 {
            return Undone::Nothing;
        }
        if self.at_hand == 0 {
            return Undone::Forgotten;
        }
        self.depth -= 1;
        self.at_hand -= 1;
        Undone::Board(self.boards[self.depth % KEPT].clone())
    }

    /// The boards at hand, oldest first, and how many lie on the stack.
    pub(crate) fn at_hand(&self) -> (Vec<Board>, usize) {
        let boards = (self.depth - self.at_hand..self.depth)
            .map(|index| self.boards[index % KEPT].clone())
            .collect();
        (boards, self.depth)
    }

    /// A stack of this depth whose newest boards are these, oldest first. Places of forgotten boards hold any board.
    pub(crate) fn restored(any: &Board, depth: usize, newest: Vec<Board>) -> Self {
        let mut boards = Vec::with_capacity(KEPT);
        boards.resize(depth.min(KEPT), any.clone());
        let at_hand = newest.len().min(depth).min(KEPT);
        let first = depth - at_hand;
        let skipped = newest.len() - at_hand;
        for (index, board) in newest.into_iter().skip(skipped).enumerate() {
            boards[(first + index) % KEPT] = board;
        }
        Self {
            boards,
            depth,
            at_hand,
        }
    }

    /// Puts a whole stack in place, its last board on top.
    pub(crate) fn refill(&mut self, stack: &[Board]) {
        self.boards.clear();
        self.clear();
        for board in stack {
            self.push(board);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn popped(ring: &mut UndoRing<usize>) -> Option<usize> {
        match ring.pop() {
            Undone::Board(board) => Some(board),
            Undone::Forgotten | Undone::Nothing => None,
        }
    }

    #[test]
    fn the_last_boards_come_back_in_reverse_and_older_ones_are_known_to_be_missing() {
        let mut ring = UndoRing::new();
        for board in 0..KEPT + 10 {
            ring.push(&board);
        }
        for board in (10..KEPT + 10).rev() {
            assert_eq!(popped(&mut ring), Some(board));
        }
        assert!(matches!(ring.pop(), Undone::Forgotten));
        ring.refill(&(0..10).collect::<Vec<_>>());
        for board in (0..10).rev() {
            assert_eq!(popped(&mut ring), Some(board));
        }
        assert!(matches!(ring.pop(), Undone::Nothing));
    }
}
