//! Actions as outputs of a network.

use rhae_engine::{Action, ActionKind, CELLS, SIZE};

/// The number of outputs for ACTION1 to ACTION5.
pub const SIMPLE_OUTPUTS: usize = 5;
/// The number of outputs of a network: the simple actions, then one click for each cell.
pub const OUTPUTS: usize = SIMPLE_OUTPUTS + CELLS;

/// The output of a network that stands for an action: 0 to 4 for ACTION1 to ACTION5, then
/// `5 + 64 * y + x` for a click.
///
/// **Invariant:** the index is below [`OUTPUTS`].
///
/// # Examples
///
/// ```
/// use rhae_engine::Action;
/// use rhae_neural::ActionIndex;
///
/// let click = ActionIndex::new(5 + 64 * 2 + 7).unwrap();
/// assert_eq!(click.action(), Action::Action6 { x: 7, y: 2 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ActionIndex(u16);

impl ActionIndex {
    /// Creates an index, or returns `None` if it is not below [`OUTPUTS`].
    pub const fn new(index: usize) -> Option<Self> {
        if index < OUTPUTS {
            Some(Self(index as u16))
        } else {
            None
        }
    }

    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the kind of action at an output. All clicks are of the kind ACTION6.
    pub const fn kind(self) -> ActionKind {
        match self.0 {
            0 => ActionKind::Action1,
            1 => ActionKind::Action2,
            2 => ActionKind::Action3,
            3 => ActionKind::Action4,
            4 => ActionKind::Action5,
            _ => ActionKind::Action6,
        }
    }

    /// Returns the action that this output stands for.
    pub fn action(self) -> Action {
        self.kind().simple().unwrap_or_else(|| {
            let cell = self.index() - SIMPLE_OUTPUTS;
            Action::Action6 {
                x: (cell % SIZE) as u8,
                y: (cell / SIZE) as u8,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_the_keys_and_then_the_cells_row_by_row() {
        let action = |index| ActionIndex::new(index).unwrap().action();
        assert_eq!(action(0), Action::Action1);
        assert_eq!(action(4), Action::Action5);
        assert_eq!(action(5), Action::Action6 { x: 0, y: 0 });
        assert_eq!(action(5 + 63), Action::Action6 { x: 63, y: 0 });
        assert_eq!(action(5 + 64), Action::Action6 { x: 0, y: 1 });
        assert_eq!(action(OUTPUTS - 1), Action::Action6 { x: 63, y: 63 });
        assert_eq!(ActionIndex::new(OUTPUTS), None);
    }
}
