//! The eight things an agent can do, and sets of them.

use std::fmt;
use std::str::FromStr;

/// One command to an environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Action {
    /// Start the level, or the game, again.
    Reset,
    /// A key; up by convention.
    Action1,
    /// A key; down by convention.
    Action2,
    /// A key; left by convention.
    Action3,
    /// A key; right by convention.
    Action4,
    /// A further key.
    Action5,
    /// A click on the cell at column `x`, row `y`, both `0..=63`.
    Action6 {
        /// Column.
        x: u8,
        /// Row.
        y: u8,
    },
    /// Undo.
    Action7,
}

/// An action without its coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum ActionKind {
    /// See [`Action::Reset`].
    Reset = 0,
    /// See [`Action::Action1`].
    Action1 = 1,
    /// See [`Action::Action2`].
    Action2 = 2,
    /// See [`Action::Action3`].
    Action3 = 3,
    /// See [`Action::Action4`].
    Action4 = 4,
    /// See [`Action::Action5`].
    Action5 = 5,
    /// See [`Action::Action6`].
    Action6 = 6,
    /// See [`Action::Action7`].
    Action7 = 7,
}

impl ActionKind {
    /// All kinds in the order of their ids.
    pub const ALL: [Self; 8] = [
        Self::Reset,
        Self::Action1,
        Self::Action2,
        Self::Action3,
        Self::Action4,
        Self::Action5,
        Self::Action6,
        Self::Action7,
    ];

    /// The number by which REST bodies and recordings name the action.
    pub const fn id(self) -> u8 {
        self as u8
    }

    /// The kind with this number.
    #[inline]
    pub const fn from_id(id: u8) -> Option<Self> {
        if (id as usize) < Self::ALL.len() {
            Some(Self::ALL[id as usize])
        } else {
            None
        }
    }

    /// The official name, `RESET` or `ACTION1` to `ACTION7`.
    pub const fn name(self) -> &'static str {
        [
            "RESET", "ACTION1", "ACTION2", "ACTION3", "ACTION4", "ACTION5", "ACTION6", "ACTION7",
        ][self as usize]
    }

    /// The kind with this official name, in upper case.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The action of this kind; a click needs coordinates and gives `None`.
    #[inline]
    pub const fn simple(self) -> Option<Action> {
        Some(match self {
            Self::Reset => Action::Reset,
            Self::Action1 => Action::Action1,
            Self::Action2 => Action::Action2,
            Self::Action3 => Action::Action3,
            Self::Action4 => Action::Action4,
            Self::Action5 => Action::Action5,
            Self::Action6 => return None,
            Self::Action7 => Action::Action7,
        })
    }
}

impl fmt::Display for ActionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Action {
    /// The kind of this action.
    pub const fn kind(self) -> ActionKind {
        match self {
            Self::Reset => ActionKind::Reset,
            Self::Action1 => ActionKind::Action1,
            Self::Action2 => ActionKind::Action2,
            Self::Action3 => ActionKind::Action3,
            Self::Action4 => ActionKind::Action4,
            Self::Action5 => ActionKind::Action5,
            Self::Action6 { .. } => ActionKind::Action6,
            Self::Action7 => ActionKind::Action7,
        }
    }

    /// A click, if the coordinates lie on the frame.
    #[inline]
    pub const fn click(x: u8, y: u8) -> Option<Self> {
        if x < 64 && y < 64 {
            Some(Self::Action6 { x, y })
        } else {
            None
        }
    }
}

/// Written as `1` to `5`, `6@x,y`, `7` and `0` for RESET: the short form of stored solutions.
impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Action6 { x, y } => write!(f, "6@{x},{y}"),
            other => write!(f, "{}", other.kind().id()),
        }
    }
}

/// What is wrong with the short form of an action.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an action: expected `0` to `5`, `7`, or `6@x,y` with x and y from 0 to 63")]
pub struct ParseActionError(String);

impl FromStr for Action {
    type Err = ParseActionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParseActionError(text.to_owned());
        if let Some(place) = text.strip_prefix("6@") {
            let (x, y) = place.split_once(',').ok_or_else(error)?;
            let coordinate = |part: &str| part.parse::<u8>().map_err(|_| error());
            return Self::click(coordinate(x)?, coordinate(y)?).ok_or_else(error);
        }
        let id = text.parse::<u8>().map_err(|_| error())?;
        ActionKind::from_id(id)
            .and_then(ActionKind::simple)
            .ok_or_else(error)
    }
}

/// A set of action kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ActionSet(u8);

impl ActionSet {
    /// No action.
    pub const EMPTY: Self = Self(0);
    /// The four directions.
    pub const ARROWS: Self = Self(0b0001_1110);

    /// A set from its members.
    pub const fn of(kinds: &[ActionKind]) -> Self {
        let mut bits = 0;
        let mut index = 0;
        while index < kinds.len() {
            bits |= 1 << kinds[index] as u8;
            index += 1;
        }
        Self(bits)
    }

    /// This set and one more kind.
    pub const fn with(self, kind: ActionKind) -> Self {
        Self(self.0 | 1 << kind as u8)
    }

    /// Whether the kind is in the set.
    pub const fn contains(self, kind: ActionKind) -> bool {
        self.0 >> kind as u8 & 1 == 1
    }

    /// The members in the order of their ids.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = ActionKind> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let first = left.trailing_zeros() as u8;
            left &= left.wrapping_sub(1);
            // Of an empty set, the first is one that there is not.
            ActionKind::from_id(first)
        })
    }

    /// How many kinds there are.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl FromIterator<ActionKind> for ActionSet {
    fn from_iter<I: IntoIterator<Item = ActionKind>>(kinds: I) -> Self {
        kinds.into_iter().fold(Self::EMPTY, Self::with)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_forms_come_back() {
        let clicks = [(0, 0), (63, 63), (7, 41)]
            .into_iter()
            .map(|(x, y)| Action::Action6 { x, y });
        for action in ActionKind::ALL
            .into_iter()
            .filter_map(ActionKind::simple)
            .chain(clicks)
        {
            assert_eq!(action.to_string().parse(), Ok(action));
        }
    }

    #[test]
    fn bad_short_forms_are_refused() {
        for text in [
            "", "8", "6", "6@", "6@1", "6@64,0", "6@0,64", "6@-1,2", "6@1,2,3", "x", "256",
        ] {
            assert!(text.parse::<Action>().is_err(), "{text}");
        }
    }

    #[test]
    fn names_and_ids_agree_with_each_other() {
        for kind in ActionKind::ALL {
            assert_eq!(ActionKind::from_id(kind.id()), Some(kind));
            assert_eq!(ActionKind::from_name(kind.name()), Some(kind));
        }
        assert_eq!(ActionKind::from_id(8), None);
    }

    #[test]
    fn a_set_lists_its_members_in_order() {
        let set = ActionSet::ARROWS.with(ActionKind::Action7);
        assert_eq!(
            set.iter().map(ActionKind::id).collect::<Vec<_>>(),
            [1, 2, 3, 4, 7]
        );
        assert_eq!(set.len(), 5);
        assert_eq!(
            ActionSet::of(&[ActionKind::Action6])
                .iter()
                .collect::<ActionSet>(),
            ActionSet::of(&[ActionKind::Action6])
        );
    }
}
