//! Protocols: the scoring rules of a benchmark. Flags can override them one by one.

use clap::ValueEnum;
use rhae_tasks::{Measure, Parser, Rules, Score};

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Protocol {
    /// Two attempts, lenient parser, mean task score
    Standard,
    /// Two attempts, parser of the official harness, mean task score
    Official,
    /// Two attempts, parser of Nejumi, mean task score
    Nejumi,
    /// One attempt, parser and task ids of the harness plan, share of tasks solved
    Plan,
}

impl Protocol {
    pub(super) fn rules(self) -> Rules {
        match self {
            Self::Standard => Rules::default(),
            Self::Official => Rules {
                attempts: 2,
                parser: Parser::Official,
            },
            Self::Nejumi => Rules {
                attempts: 2,
                parser: Parser::Nejumi,
            },
            Self::Plan => Rules {
                attempts: 1,
                parser: Parser::Plan,
            },
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Official => "official",
            Self::Nejumi => "nejumi",
            Self::Plan => "plan",
        }
    }

    /// Returns the name of the default prompt template for models.
    pub(super) fn prompt(self) -> &'static str {
        match self {
            Self::Standard | Self::Official => "official",
            Self::Nejumi => "nejumi-ja",
            Self::Plan => "whole-task",
        }
    }

    /// Returns the headline measure: its JSON field, and a function that selects it from a score.
    pub(super) fn headline(self) -> (&'static str, fn(&Score) -> Measure) {
        match self {
            Self::Plan => ("tasks_solved", |score| score.tasks_solved),
            _ => ("mean_task_score", |score| score.mean_task_score),
        }
    }
}

/// The effect of a failed request, or of an answer without a readable grid.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Failures {
    Soft,
    Hard,
}
