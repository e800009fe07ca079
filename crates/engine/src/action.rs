//! The eight commands that an agent can send, and sets of them.

use std::fmt;
use std::str::FromStr;

/// One command to an environment.
///
/// The names are those of the official API. What a key does is up to the game; by convention
/// ACTION1 to ACTION4 are the arrow keys, which [`Direction::of`](crate::Direction::of) maps to
/// directions. RESET and undo (ACTION7) are handled by the engine and never reach a game's rules.
///
/// Stored solutions use a short text form: `0` for RESET, `1` to `5` and `7` for the keys, `6@x,y`
/// for a click. [`Display`](fmt::Display) writes it and [`FromStr`] parses it.
///
/// **Invariant:** the coordinates of a click are below 64. [`Action::click`] and the parser check
/// this; code that constructs [`Action::Action6`] directly must check it itself.
///
/// # Examples
///
/// ```
/// use rhae_engine::{Action, ActionKind};
///
/// let click: Action = "6@7,41".parse()?;
/// assert_eq!(click, Action::Action6 { x: 7, y: 41 });
/// assert_eq!(click.kind(), ActionKind::Action6);
/// assert_eq!(click.to_string(), "6@7,41");
/// assert_eq!(Action::click(64, 0), None);
/// # Ok::<(), rhae_engine::ParseActionError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Action {
    /// Restart the level or the game; see [`Episode`](crate::Episode).
    Reset,
    /// A key; up by convention.
    Action1,
    /// A key; down by convention.
    Action2,
    /// A key; left by convention.
    Action3,
    /// A key; right by convention.
    Action4,
    /// A key without a conventional meaning.
    Action5,
    /// A click on the cell at column `x`, row `y`, both in `0..=63`.
    Action6 { x: u8, y: u8 },
    /// Undo.
    Action7,
}

/// An action without its coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum ActionKind {
    Reset = 0,
    Action1 = 1,
    Action2 = 2,
    Action3 = 3,
    Action4 = 4,
    Action5 = 5,
    Action6 = 6,
    Action7 = 7,
}

impl ActionKind {
    /// All kinds, ordered by id.
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

    /// Returns the number of the action in REST bodies and recordings.
    pub const fn id(self) -> u8 {
        self as u8
    }

    /// Returns the kind with this id, or `None` if the id is above 7.
    #[inline]
    pub const fn from_id(id: u8) -> Option<Self> {
        if (id as usize) < Self::ALL.len() {
            Some(Self::ALL[id as usize])
        } else {
            None
        }
    }

    /// Returns the name in the official API: `RESET` or `ACTION1` to `ACTION7`.
    pub const fn name(self) -> &'static str {
        [
            "RESET", "ACTION1", "ACTION2", "ACTION3", "ACTION4", "ACTION5", "ACTION6", "ACTION7",
        ][self as usize]
    }

    /// Returns the kind with this official name, which must be in upper case.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the action of this kind, or `None` for a click, which needs coordinates.
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
    /// Returns the action without its coordinates.
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

    /// Creates a click, or returns `None` if a coordinate is above 63.
    #[inline]
    pub const fn click(x: u8, y: u8) -> Option<Self> {
        if x < 64 && y < 64 {
            Some(Self::Action6 { x, y })
        } else {
            None
        }
    }
}

/// Writes the short form of stored solutions.
impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Action6 { x, y } => write!(f, "6@{x},{y}"),
            other => write!(f, "{}", other.kind().id()),
        }
    }
}

/// The error for a text that is not the short form of an action; it contains the rejected text.
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
///
/// # Examples
///
/// ```
/// use rhae_engine::{ActionKind, ActionSet};
///
/// const ACTIONS: ActionSet = ActionSet::ARROWS.with(ActionKind::Action7);
/// assert!(ACTIONS.contains(ActionKind::Action3));
/// assert!(!ACTIONS.contains(ActionKind::Action6));
/// assert_eq!(ACTIONS.len(), 5);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ActionSet(u8);

impl ActionSet {
    pub const EMPTY: Self = Self(0);
    /// The four arrow keys, ACTION1 to ACTION4.
    pub const ARROWS: Self = Self(0b0001_1110);

    /// Creates a set from its members.
    pub const fn of(kinds: &[ActionKind]) -> Self {
        let mut bits = 0;
        let mut index = 0;
        while index < kinds.len() {
            bits |= 1 << kinds[index] as u8;
            index += 1;
        }
        Self(bits)
    }

    /// Returns this set with one more kind.
    pub const fn with(self, kind: ActionKind) -> Self {
        Self(self.0 | 1 << kind as u8)
    }

    pub const fn contains(self, kind: ActionKind) -> bool {
        self.0 >> kind as u8 & 1 == 1
    }

    /// Returns the members, ordered by id.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = ActionKind> {
        let mut remaining = self.0;
        std::iter::from_fn(move || {
            // An empty set has 8 trailing zeros, which is not the id of any kind.
            let first = remaining.trailing_zeros() as u8;
            remaining &= remaining.wrapping_sub(1);
            ActionKind::from_id(first)
        })
    }

    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

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
    fn short_form_round_trips() {
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
    fn malformed_short_form_is_rejected() {
        for text in [
            "", "8", "6", "6@", "6@1", "6@64,0", "6@0,64", "6@-1,2", "6@1,2,3", "x", "256",
        ] {
            assert!(text.parse::<Action>().is_err(), "{text}");
        }
    }

    #[test]
    fn names_and_ids_round_trip() {
        for kind in ActionKind::ALL {
            assert_eq!(ActionKind::from_id(kind.id()), Some(kind));
            assert_eq!(ActionKind::from_name(kind.name()), Some(kind));
        }
        assert_eq!(ActionKind::from_id(8), None);
    }

    #[test]
    fn set_iterates_in_order_of_ids() {
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
