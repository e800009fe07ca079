//! What is known of an environment before it is played: its id, levels, actions, tags and baselines.

use std::fmt;
use std::str::FromStr;

use crate::{Action, ActionSet};

/// The name of an environment with its version: four lower-case letters or digits, a hyphen, a version, as in `ab12-v1`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GameId(String);

impl GameId {
    /// The four characters without the version.
    pub fn base(&self) -> &str {
        &self.0[..4]
    }

    /// What follows the hyphen.
    pub fn version(&self) -> &str {
        &self.0[5..]
    }

    /// The whole id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for GameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What is wrong with an environment's id.
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

/// A level by its place, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LevelIndex(pub u8);

impl LevelIndex {
    /// As an index into a slice of levels.
    pub const fn get(self) -> usize {
        self.0 as usize
    }
}

/// Shown to people counted from 1.
impl fmt::Display for LevelIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", u32::from(self.0) + 1)
    }
}

/// Where a baseline comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BaselineSource {
    /// First-time players in a study.
    Humans,
    /// Twice the optimal count, proved by search: provisional until people have played.
    Solver,
    /// Twice the best count known: provisional, and the optimum may be lower.
    SolverUpperBound,
    /// The metadata of a game from outside, which does not say how the count was found.
    Metadata,
}

impl BaselineSource {
    /// The name in files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Humans => "humans",
            Self::Solver => "solver",
            Self::SolverUpperBound => "solver-upper-bound",
            Self::Metadata => "metadata",
        }
    }

    /// Whether a study may still replace it. What others publish about their games is for them to replace.
    pub const fn is_provisional(self) -> bool {
        matches!(self, Self::Solver | Self::SolverUpperBound)
    }
}

/// How many actions a level is expected to take, and who says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Baseline {
    /// The count that scores are relative to.
    pub actions: u32,
    /// Where it comes from.
    pub source: BaselineSource,
}

impl Baseline {
    /// A provisional baseline from an optimum that search has proved: twice the count.
    pub const fn solved(optimum: u32) -> Self {
        Self {
            actions: optimum * 2,
            source: BaselineSource::Solver,
        }
    }

    /// A provisional baseline from the best solution known: twice the count.
    pub const fn bounded(best_known: u32) -> Self {
        Self {
            actions: best_known * 2,
            source: BaselineSource::SolverUpperBound,
        }
    }

    /// The solution length behind a provisional baseline.
    pub const fn solution_length(self) -> Option<u32> {
        if self.source.is_provisional() {
            Some(self.actions / 2)
        } else {
            None
        }
    }
}

/// The facts of a native game, a constant on top of its file.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// The id with its version. The public title is the id: a name would give the game away.
    pub id: &'static str,
    /// One baseline for each level, in order.
    pub baselines: &'static [Baseline],
    /// The kinds of action that the game offers.
    pub actions: ActionSet,
    /// `keyboard`, `click` or `keyboard_click`, and what else a list may filter by.
    pub tags: &'static [&'static str],
    /// The speed at which animations are meant to be shown.
    pub frames_per_second: u8,
    /// Whether levels differ from seed to seed.
    pub seeded: bool,
    /// One winning line of actions for each level under seed 0, as [`Action`]s in their short form, one level a line.
    pub solutions: &'static str,
}

impl Facts {
    /// The parsed id.
    pub fn game_id(&self) -> GameId {
        self.id
            .parse()
            .expect("the registry's test checks every id")
    }

    /// How many levels there are.
    pub const fn level_count(&self) -> usize {
        self.baselines.len()
    }

    /// The stored solution of a level under seed 0; empty if there is none.
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
    fn ids_have_four_characters_and_a_version() {
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
    fn provisional_baselines_are_twice_the_solution() {
        assert_eq!(Baseline::solved(7).actions, 14);
        assert_eq!(Baseline::bounded(9).solution_length(), Some(9));
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
