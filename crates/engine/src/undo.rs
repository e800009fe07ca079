//! The stack of boards that undo restores.

/// The number of boards that the ring retains. The episode recovers older ones by replaying the
/// level.
pub(crate) const CAPACITY: usize = 64;

/// A stack of boards in a ring of fixed size. A push beyond [`CAPACITY`] evicts the oldest board
/// but still counts it in the depth.
#[derive(Clone, Debug)]
pub(crate) struct UndoRing<Board> {
    /// The slots of the ring. Board `i` of the stack, counted from the bottom, is in slot
    /// `i % CAPACITY`.
    boards: Vec<Board>,
    /// The number of boards on the stack, including evicted ones.
    depth: usize,
    /// The number of boards, counted from the top, that the ring still holds.
    retained: usize,
}

/// The result of [`UndoRing::pop`].
pub(crate) enum Popped<Board> {
    /// The board before the last change.
    Board(Board),
    /// The stack is not empty, but the ring no longer holds its top board.
    Evicted,
    /// The stack is empty: nothing changed since the level started.
    Empty,
}

impl<Board: Clone> UndoRing<Board> {
    pub(crate) fn new() -> Self {
        Self {
            boards: Vec::with_capacity(CAPACITY),
            depth: 0,
            retained: 0,
        }
    }

    pub(crate) fn clear(&mut self) {
        self.depth = 0;
        self.retained = 0;
    }

    #[inline]
    pub(crate) fn push(&mut self, board: &Board) {
        let slot = self.depth % CAPACITY;
        if slot < self.boards.len() {
            self.boards[slot].clone_from(board);
        } else {
            self.boards.push(board.clone());
        }
        self.depth += 1;
        self.retained = (self.retained + 1).min(CAPACITY);
    }

    pub(crate) fn pop(&mut self) -> Popped<Board> {
        if self.depth == 0 {
            return Popped::Empty;
        }
        if self.retained == 0 {
            return Popped::Evicted;
        }
        self.depth -= 1;
        self.retained -= 1;
        Popped::Board(self.boards[self.depth % CAPACITY].clone())
    }

    /// Returns the retained boards, oldest first, and the depth of the stack.
    pub(crate) fn retained(&self) -> (Vec<Board>, usize) {
        let boards = (self.depth - self.retained..self.depth)
            .map(|index| self.boards[index % CAPACITY].clone())
            .collect();
        (boards, self.depth)
    }

    /// Creates a stack of this depth whose top boards are `newest`, oldest first. The slots of
    /// evicted boards are never read and are filled with `any`.
    pub(crate) fn restored(any: &Board, depth: usize, newest: Vec<Board>) -> Self {
        let mut boards = Vec::with_capacity(CAPACITY);
        boards.resize(depth.min(CAPACITY), any.clone());
        let retained = newest.len().min(depth).min(CAPACITY);
        let first = depth - retained;
        let skipped = newest.len() - retained;
        for (index, board) in newest.into_iter().skip(skipped).enumerate() {
            boards[(first + index) % CAPACITY] = board;
        }
        Self {
            boards,
            depth,
            retained,
        }
    }

    /// Replaces the stack with `stack`, whose last board is the top.
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
            Popped::Board(board) => Some(board),
            Popped::Evicted | Popped::Empty => None,
        }
    }

    #[test]
    fn pops_retained_boards_in_reverse_and_reports_evicted_ones() {
        let mut ring = UndoRing::new();
        for board in 0..CAPACITY + 10 {
            ring.push(&board);
        }
        for board in (10..CAPACITY + 10).rev() {
            assert_eq!(popped(&mut ring), Some(board));
        }
        assert!(matches!(ring.pop(), Popped::Evicted));
        ring.refill(&(0..10).collect::<Vec<_>>());
        for board in (0..10).rev() {
            assert_eq!(popped(&mut ring), Some(board));
        }
        assert!(matches!(ring.pop(), Popped::Empty));
    }
}
