//! Protocols: the scoring rules of published benchmarks.

use std::fmt;
use std::str::FromStr;

use crate::answer::Parser;
use crate::score::{Measure, Rules, Score};

/// The scoring rules of a benchmark: parser, number of attempts and headline measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    Standard,
    Official,
    Nejumi,
    Plan,
}

impl Protocol {
    /// Every protocol, the default one first.
    pub const ALL: [Self; 4] = [Self::Standard, Self::Official, Self::Nejumi, Self::Plan];

    /// Returns the name that [`FromStr`] accepts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Official => "official",
            Self::Nejumi => "nejumi",
            Self::Plan => "plan",
        }
    }

    /// Returns a description in a few words.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::Standard => "Two attempts, lenient parser, mean task score",
            Self::Official => "Two attempts, parser of the official harness, mean task score",
            Self::Nejumi => "Two attempts, parser of Nejumi, mean task score",
            Self::Plan => {
                "One attempt, parser and task ids of the harness plan, share of tasks solved"
            }
        }
    }

    /// Returns the parser and the number of attempts that count.
    pub fn rules(self) -> Rules {
        let (attempts, parser) = match self {
            Self::Standard => return Rules::default(),
            Self::Official => (2, Parser::Official),
            Self::Nejumi => (2, Parser::Nejumi),
            Self::Plan => (1, Parser::Plan),
        };
        Rules { attempts, parser }
    }

    /// Returns the name of the default prompt template for models.
    pub const fn prompt(self) -> &'static str {
        match self {
            Self::Standard | Self::Official => "official",
            Self::Nejumi => "nejumi-ja",
            Self::Plan => "whole-task",
        }
    }

    /// Returns the JSON field of the headline measure in a [`Score`].
    pub const fn headline(self) -> &'static str {
        match self {
            Self::Plan => "tasks_solved",
            Self::Standard | Self::Official | Self::Nejumi => "mean_task_score",
        }
    }

    /// Returns the headline measure of a score.
    pub const fn measure(self, score: &Score) -> Measure {
        match self {
            Self::Plan => score.tasks_solved,
            Self::Standard | Self::Official | Self::Nejumi => score.mean_task_score,
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// A text is not the name of a protocol.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no protocol `{0}`; expected standard, official, nejumi or plan")]
pub struct UnknownProtocol(pub String);

impl FromStr for Protocol {
    type Err = UnknownProtocol;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|protocol| protocol.name() == name)
            .ok_or_else(|| UnknownProtocol(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed_and_unknown_names_are_rejected() {
        for protocol in Protocol::ALL {
            assert_eq!(protocol.name().parse(), Ok(protocol));
        }
        assert!("Standard".parse::<Protocol>().is_err());
        assert_eq!(Protocol::Standard.rules(), Rules::default());
    }
}
