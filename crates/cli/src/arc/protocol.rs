//! Whose rules: what a protocol sets unless a flag says otherwise.

use clap::ValueEnum;
use rhae_tasks::{Measure, Parser, Rules, Score};

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Protocol {
    /// Two attempts, our parser, the mean task score
    Standard,
    /// Two attempts, the official harness's parser, the mean task score
    Official,
    /// Two attempts, Nejumi's parser, the mean task score
    Nejumi,
    /// One attempt, the harness plan's parser and ids, tasks solved
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

    /// The prompt that models get.
    pub(super) fn prompt(self) -> &'static str {
        match self {
            Self::Standard | Self::Official => "official",
            Self::Nejumi => "nejumi-ja",
            Self::Plan => "whole-task",
        }
    }

    pub(super) fn headline(self) -> (&'static str, fn(&Score) -> Measure) {
        match self {
            Self::Plan => ("tasks_solved", |score| score.tasks_solved),
            _ => ("mean_task_score", |score| score.mean_task_score),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Failures {
    Soft,
    Hard,
}
