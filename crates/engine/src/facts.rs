//! The metadata of an environment: its id, levels, actions, tags and baselines.

use std::fmt;
use std::str::FromStr;

use crate::{Action, ActionSet};

/// The versioned id of an environment, such as `ab12-v1`.
///
/// It consists of four lower-case ASCII letters or digits, a hyphen, and a version of 1 to 40
/// lower-case ASCII letters or digits. It is therefore safe to use in file names and URLs.
///
/// # Examples
///
/// ```
/// use rhae_engine::GameId;
///
/// let id: GameId = "ab12-v1".parse()?;
/// assert_eq!((id.base(), id.version()), ("ab12", "v1"));
/// assert!("AB12".parse::<GameId>().is_err());
/// # Ok::<(), rhae_engine::GameIdError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GameId(String);

impl GameId {
    /// Returns the four characters before the hyphen.
    pub fn base(&self) -> &str {
        &self.0[..4]
    }

    /// Returns the part after the hyphen.
    pub fn version(&self) -> &str {
        &self.0[5..]
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for GameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The error for a text that is not a [`GameId`]; it contains the rejected text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not an environment id: expected four lower-case letters or digits, a hyphen and a version, as in `ab12-v1`"
)]
pub struct GameIdError(String);

impl FromStr for GameId {
    type Err = GameIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let plain = |part: &str| {
            part.bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        };
        let well_formed = text.split_once('-').is_some_and(|(base, version)| {
            base.len() == 4 && plain(base) && (1..=40).contains(&version.len()) && plain(version)
        });
        if well_formed {
            Ok(Self(text.to_owned()))
        } else {
            Err(GameIdError(text.to_owned()))
        }
    }
}

/// The index of a level, starting at 0. [`Display`](fmt::Display) shows it starting at 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LevelIndex(pub u8);

impl LevelIndex {
    /// Returns the index for use with slices.
    pub const fn get(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for LevelIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", u32::from(self.0) + 1)
    }
}

/// The origin of a baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BaselineSource {
    /// People who met the level for the first time, in an unknown number.
    Humans,
    /// A human study in which this number of people completed the level.
    People(u32),
    /// Twice the length of the shortest solution; an exhaustive search has proved that no shorter
    /// solution exists. The baseline is provisional until a study replaces it.
    Solver,
    /// Twice the length of the best known solution; a shorter solution may exist. The baseline is
    /// provisional until a study replaces it.
    SolverUpperBound,
    /// The metadata of a hosted game, which does not state how the number was found.
    Metadata,
}

impl BaselineSource {
    /// Parses the text of [`Display`](fmt::Display); `None` for any other text.
    ///
    /// # Examples
    ///
    /// ```
    /// use rhae_engine::BaselineSource;
    ///
    /// let source = BaselineSource::People(10);
    /// assert_eq!(source.to_string(), "people, n = 10");
    /// assert_eq!(BaselineSource::parse("people, n = 10"), Some(source));
    /// assert_eq!(BaselineSource::parse("people"), None);
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "humans" => Some(Self::Humans),
            "solver" => Some(Self::Solver),
            "solver-upper-bound" => Some(Self::SolverUpperBound),
            "metadata" => Some(Self::Metadata),
            _ => Some(Self::People(
                text.strip_prefix("people, n = ")?.parse().ok()?,
            )),
        }
    }

    /// Returns whether a study is expected to replace the baseline. A baseline from the metadata of
    /// a hosted game is not provisional, because only the publisher of the game can replace it.
    pub const fn is_provisional(self) -> bool {
        matches!(self, Self::Solver | Self::SolverUpperBound)
    }
}

/// The name in files and reports.
impl fmt::Display for BaselineSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Humans => f.write_str("humans"),
            Self::People(number) => write!(f, "people, n = {number}"),
            Self::Solver => f.write_str("solver"),
            Self::SolverUpperBound => f.write_str("solver-upper-bound"),
            Self::Metadata => f.write_str("metadata"),
        }
    }
}

/// The reference number of actions for a level. A score compares the number of actions that an
/// agent needed with this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Baseline {
    pub actions: u32,
    pub source: BaselineSource,
}

impl Baseline {
    /// Creates a provisional baseline of twice `optimum`, the length of the shortest solution as
    /// proved by an exhaustive search.
    pub const fn from_optimum(optimum: u32) -> Self {
        Self {
            actions: optimum * 2,
            source: BaselineSource::Solver,
        }
    }

    /// Creates a provisional baseline of twice `best_known`, the length of the best known solution.
    pub const fn from_upper_bound(best_known: u32) -> Self {
        Self {
            actions: best_known * 2,
            source: BaselineSource::SolverUpperBound,
        }
    }

    /// Returns the solution length from which a provisional baseline was computed; `None` for other
    /// baselines.
    pub const fn solution_length(self) -> Option<u32> {
        if self.source.is_provisional() {
            Some(self.actions / 2)
        } else {
            None
        }
    }
}

/// The metadata of a native game, declared as a constant at the top of its source file.
///
/// **Invariants**, checked by the tests of the game registry: `id` parses as a [`GameId`], there is
/// one baseline and one stored solution for each level, and each solution wins its level under
/// seed 0. The number of levels is the number of baselines.
///
/// # Examples
///
/// ```
/// use rhae_engine::{Action, ActionSet, Baseline, Facts, LevelIndex};
///
/// const FACTS: Facts = Facts {
///     id: "ab12-v1",
///     baselines: &[Baseline::from_optimum(2), Baseline::from_upper_bound(3)],
///     actions: ActionSet::ARROWS,
///     tags: &["keyboard"],
///     frames_per_second: 10,
///     seeded: false,
///     solutions: "# one line for each level\n1 4\n4 4 2",
/// };
/// assert_eq!(FACTS.level_count(), 2);
/// assert_eq!(FACTS.baselines[0].actions, 4);
/// assert_eq!(FACTS.solution(LevelIndex(0)), [Action::Action1, Action::Action4]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// The [`GameId`] as text. Its first four characters are also the public title, because a
    /// descriptive title would reveal the rules.
    pub id: &'static str,
    /// One baseline for each level, in order.
    pub baselines: &'static [Baseline],
    /// The kinds of action that the game offers. ACTION7 enables undo.
    pub actions: ActionSet,
    /// `keyboard`, `click` or `keyboard_click`, and further tags by which lists can be filtered.
    pub tags: &'static [&'static str],
    /// The intended playback speed of animations.
    pub frames_per_second: u8,
    /// Whether levels depend on the seed.
    pub seeded: bool,
    /// A winning sequence for each level under seed 0: one line for each level, with [`Action`]s in
    /// their short form. Blank lines and lines that start with `#` are ignored.
    pub solutions: &'static str,
}

impl Facts {
    /// Parses the id.
    ///
    /// # Panics
    ///
    /// Panics if the id is not well formed.
    pub fn game_id(&self) -> GameId {
        self.id
            .parse()
            .expect("the registry's test checks every id")
    }

    /// Returns the number of levels.
    pub const fn level_count(&self) -> usize {
        self.baselines.len()
    }

    /// Returns the stored solution of a level under seed 0, or an empty list if none is stored.
    /// Words that are not actions are skipped.
    pub fn solution(&self, level: LevelIndex) -> Vec<Action> {
        let lines = self
            .solutions
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        lines
            .skip(level.get())
            .take(1)
            .flat_map(str::split_whitespace)
            .filter_map(|word| word.parse().ok())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_needs_four_characters_and_a_version() {
        let id: GameId = "ab12-v1".parse().unwrap();
        assert_eq!((id.base(), id.version()), ("ab12", "v1"));
        assert!("ls20-9607627b".parse::<GameId>().is_ok());
        for text in [
            "",
            "ab12",
            "ab12-",
            "abc-v1",
            "AB12-v1",
            "ab12-v 1",
            "ab12-v1-2",
            "äb12-v1",
            "ab12-../x",
        ] {
            assert!(text.parse::<GameId>().is_err(), "{text}");
        }
    }

    #[test]
    fn provisional_baseline_is_twice_the_solution_length() {
        assert_eq!(Baseline::from_optimum(7).actions, 14);
        assert_eq!(Baseline::from_upper_bound(9).solution_length(), Some(9));
        assert_eq!(
            Baseline {
                actions: 9,
                source: BaselineSource::Humans
            }
            .solution_length(),
            None
        );
    }
}
