//! From the text of an answer to a grid, or to the reason why there is none.
//!
//! Invariant: time and memory are linear in the text, whatever it holds, and no text makes a parser panic. The other parsers are
//! those of published harnesses, faults included, so that published scores can be computed again.

mod clean;
mod rows;
mod scan;
mod strict;

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use crate::grid::{Cells, Fault, Grid};

/// The longest text that is looked at, in bytes.
pub const LONGEST_ANSWER: usize = 64 << 20;

/// Which rules find the grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Parser {
    /// Ours: takes what a reader would take for the answer.
    #[default]
    Lenient,
    /// The official harness's: the first `\boxed{}`, then the last bracket.
    Official,
    /// Nejumi's: the last bracket.
    Nejumi,
    /// The harness plan's: the whole text, then the first code block, then from the first `[` to the last `]`.
    Plan,
}

/// A name that is no parser's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a parser: expected `lenient`, `official`, `nejumi` or `plan`")]
pub struct UnknownParser(String);

impl Parser {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Lenient, Self::Official, Self::Nejumi, Self::Plan];

    /// The name in flags and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lenient => "lenient",
            Self::Official => "official",
            Self::Nejumi => "nejumi",
            Self::Plan => "plan",
        }
    }

    /// Which values this parser's harness takes for cells.
    pub const fn cells(self) -> Cells {
        match self {
            Self::Lenient => Cells::Lenient,
            Self::Official => Cells::Official,
            Self::Nejumi => Cells::Truncating,
            Self::Plan => Cells::Script,
        }
    }
}

impl FromStr for Parser {
    type Err = UnknownParser;

    fn from_str(text: &str) -> Result<Self, UnknownParser> {
        Self::ALL
            .into_iter()
            .find(|parser| parser.name() == text)
            .ok_or_else(|| UnknownParser(text.to_owned()))
    }
}

/// A grid that was found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The grid; for a whole task one for each test.
    pub grids: Vec<Grid>,
    /// What made it the answer.
    pub how: How,
    /// Where it stands, in bytes of the text.
    pub span: Range<usize>,
}

/// What made a part of the text the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It stands in `\boxed{}`.
    Boxed,
    /// It is the value of a key such as `output` or `answer`.
    Keyed,
    /// It is the last grid in the text.
    Last,
    /// It is a single row of numbers in brackets.
    Row,
    /// The text ends with lines that are rows.
    Lines,
    /// It begins where the last closing bracket was opened.
    LastBracket,
    /// The whole text is JSON.
    Whole,
    /// It is the first code block.
    CodeBlock,
    /// It reaches from the first `[` to the last `]`.
    FirstToLast,
}

impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Boxed => "the last grid in the last \\boxed{}",
            Self::Keyed => "the last grid under a key such as `output`",
            Self::Last => "the last grid in the text",
            Self::Row => "a single row in brackets",
            Self::Lines => "the rows at the end of the text",
            Self::LastBracket => "what the last bracket closes",
            Self::Whole => "the whole text",
            Self::CodeBlock => "the first code block",
            Self::FirstToLast => "from the first `[` to the last `]`",
        })
    }
}

impl How {
    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Boxed => "boxed",
            Self::Keyed => "keyed",
            Self::Last => "last",
            Self::Row => "row",
            Self::Lines => "lines",
            Self::LastBracket => "last-bracket",
            Self::Whole => "whole",
            Self::CodeBlock => "code-block",
            Self::FirstToLast => "first-to-last",
        }
    }
}

/// Why a text has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unparsed {
    /// Nothing but white space.
    #[error("the answer is empty")]
    Empty,
    /// Longer than [`LONGEST_ANSWER`].
    #[error("the answer has {bytes} bytes, and no more than {LONGEST_ANSWER} are looked at")]
    TooLong {
        /// How long.
        bytes: usize,
    },
    /// No list, and no rows at the end.
    #[error("there is no bracket in the answer, and no rows of numbers at its end")]
    NoBracket,
    /// The text ends within a list or within the reasoning.
    #[error("the answer is cut off: {0}")]
    Truncated(&'static str),
    /// Something is left out with dots.
    #[error("the grid is abridged with `...`")]
    Elided,
    /// A harness's parser wanted JSON.
    #[error("not JSON: {reason}")]
    NotJson {
        /// What is wrong.
        reason: String,
    },
    /// A whole task's answer has another number of grids.
    #[error("the task has {expected} tests, and the answer has {found} grids")]
    Count {
        /// Tests.
        expected: usize,
        /// Grids found.
        found: usize,
    },
    /// There is a list, but it is not a grid.
    #[error(transparent)]
    Grid(#[from] Fault),
}

impl Unparsed {
    /// The name in tables.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::TooLong { .. } => "too-long",
            Self::NoBracket => "no-bracket",
            Self::Truncated(_) => "truncated",
            Self::Elided => "elided",
            Self::NotJson { .. } => "not-json",
            Self::Count { .. } => "wrong-count",
            Self::Grid(fault) => fault.kind(),
        }
    }
}

/// The grid that a text answers one test with.
pub fn parse(parser: Parser, text: &str) -> Result<Answer, Unparsed> {
    parse_whole(parser, text, 1)
}

/// The grids that a text answers a whole task with: one grid where there is one test, a list of grids where there are several.
pub fn parse_whole(parser: Parser, text: &str, tests: usize) -> Result<Answer, Unparsed> {
    if text.len() > LONGEST_ANSWER {
        return Err(Unparsed::TooLong { bytes: text.len() });
    }
    if text.trim().is_empty() {
        return Err(Unparsed::Empty);
    }
    match parser {
        Parser::Lenient => lenient(text, tests),
        Parser::Official => strict::official(text, tests),
        Parser::Nejumi => strict::nejumi(text, tests),
        Parser::Plan => strict::plan(text, tests),
    }
}

fn lenient(text: &str, tests: usize) -> Result<Answer, Unparsed> {
    let clean = clean::clean(text);
    let found = scan::scan(&clean.text, tests);
    if let Some(answer) = found.answer {
        return Ok(answer);
    }
    // Rows within a list that has a fault are no answer.
    let floor = found.fault.as_ref().map_or(0, |(end, _)| *end);
    if tests == 1
        && let Some(rows) = rows::rows(&clean.text, floor)
    {
        return rows.map_err(Unparsed::from);
    }
    if let Some(row) = found.row {
        return Ok(row);
    }
    Err(match found.fault {
        Some((_, fault)) => fault,
        None if clean.unclosed => Unparsed::Truncated("the reasoning never ends"),
        None if clean.text.contains(&b'[') => Fault::NotAGrid {
            what: "no list in the answer is a grid".to_owned(),
        }
        .into(),
        None if clean.text.iter().all(u8::is_ascii_whitespace) => Unparsed::Empty,
        None => Unparsed::NoBracket,
    })
}

#[cfg(test)]
mod tests;
