//! Finds the grid in the text of an answer, or determines why the text contains no grid.
//!
//! Invariant: time and memory are linear in the length of the text, and no text makes a parser
//! panic. [`Parser::Lenient`] is Rhae's own parser. The others reproduce the parsers of published
//! harnesses, including their bugs, so that published scores can be recomputed.

mod clean;
mod rows;
mod scan;
mod strict;

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use crate::grid::{CellRule, Grid, GridError};

/// The maximum length of an answer in bytes; a longer text is [`ParseError::TooLong`].
pub const MAX_ANSWER_BYTES: usize = 64 << 20;

/// The rules by which the grid is found in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Parser {
    /// Finds the grid that a human reader would take for the answer. It is the first of these that
    /// exists: the last grid in the last `\boxed{}`, the last grid under a key such as `output`,
    /// the last grid in the text, the rows of numbers at the end of the text, a single row that a
    /// box or a label such as `answer:` marks.
    #[default]
    Lenient,
    /// The parser of the official harness. It takes the first `\boxed{}` if that contains a list of
    /// lists, otherwise the list that the last bracket closes.
    Official,
    /// The parser of Nejumi. It takes the list that the last bracket closes.
    Nejumi,
    /// The parser of the harness plan. It takes the first of these that is valid JSON: the whole
    /// text, the first code block, the text from the first `[` to the last `]`.
    Plan,
}

/// The error for a name that no [`Parser`] has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a parser: expected `lenient`, `official`, `nejumi` or `plan`")]
pub struct UnknownParser(String);

impl Parser {
    /// All parsers.
    pub const ALL: [Self; 4] = [Self::Lenient, Self::Official, Self::Nejumi, Self::Plan];

    /// Returns the name in flags and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lenient => "lenient",
            Self::Official => "official",
            Self::Nejumi => "nejumi",
            Self::Plan => "plan",
        }
    }

    /// Returns which values the harness of this parser accepts as cells.
    pub const fn cells(self) -> CellRule {
        match self {
            Self::Lenient => CellRule::Lenient,
            Self::Official => CellRule::Official,
            Self::Nejumi => CellRule::Truncating,
            Self::Plan => CellRule::JavaScript,
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

/// The grids that were found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// One grid for each test that the text answers.
    pub grids: Vec<Grid>,
    pub source: AnswerSource,
    /// The byte range of the text that contains the grids.
    pub span: Range<usize>,
}

/// The reason why a part of the text was taken for the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerSource {
    /// It is inside `\boxed{}`.
    Boxed,
    /// It is the value of a key such as `output` or `answer`.
    Keyed,
    /// It is the last grid in the text.
    LastGrid,
    /// It is a single row of numbers in brackets, boxed or after a label such as `answer:`.
    SingleRow,
    /// The last lines of the text are rows of numbers.
    TrailingLines,
    /// It is the list that the last bracket of the text closes.
    LastBracket,
    /// The whole text is JSON.
    WholeText,
    /// It is the first code block.
    CodeBlock,
    /// It is the text from the first `[` to the last `]`.
    FirstToLast,
}

impl fmt::Display for AnswerSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Boxed => "the last grid in the last \\boxed{}",
            Self::Keyed => "the last grid under a key such as `output`",
            Self::LastGrid => "the last grid in the text",
            Self::SingleRow => "a single row in brackets",
            Self::TrailingLines => "the rows at the end of the text",
            Self::LastBracket => "what the last bracket closes",
            Self::WholeText => "the whole text",
            Self::CodeBlock => "the first code block",
            Self::FirstToLast => "from the first `[` to the last `]`",
        })
    }
}

impl AnswerSource {
    /// Returns the name in files and JSON output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Boxed => "boxed",
            Self::Keyed => "keyed",
            Self::LastGrid => "last",
            Self::SingleRow => "row",
            Self::TrailingLines => "lines",
            Self::LastBracket => "last-bracket",
            Self::WholeText => "whole",
            Self::CodeBlock => "code-block",
            Self::FirstToLast => "first-to-last",
        }
    }
}

/// The reason why no grid was found in a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// The text contains only white space.
    #[error("the answer is empty")]
    Empty,
    /// The text is longer than [`MAX_ANSWER_BYTES`].
    #[error("the answer has {bytes} bytes: expected at most {MAX_ANSWER_BYTES}")]
    TooLong { bytes: usize },
    /// The text contains no list and does not end with rows of numbers.
    #[error("the answer contains no list in brackets and does not end with rows of numbers")]
    NoBracket,
    /// The text ends inside a list or inside the reasoning section.
    #[error("the answer is cut off: {0}")]
    Truncated(&'static str),
    /// The grid is incomplete: dots stand for an omitted part.
    #[error("the grid is abbreviated with `...`")]
    Elided,
    /// The parser of a harness requires JSON, and the text is not JSON.
    #[error("not valid JSON: {reason}")]
    NotJson { reason: String },
    /// The answer to a whole task has another number of grids than the task has tests.
    #[error("expected {expected} grids, one for each test, found {found}")]
    Count { expected: usize, found: usize },
    /// The text contains a list, but the list is not a grid.
    #[error(transparent)]
    Grid(#[from] GridError),
}

impl ParseError {
    /// Returns the name of the error in tables and results, for example `truncated`.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::TooLong { .. } => "too-long",
            Self::NoBracket => "no-bracket",
            Self::Truncated(_) => "truncated",
            Self::Elided => "elided",
            Self::NotJson { .. } => "not-json",
            Self::Count { .. } => "wrong-count",
            Self::Grid(error) => error.kind(),
        }
    }
}

/// Finds the grid in the answer to one test.
///
/// # Errors
///
/// Returns a [`ParseError`] that states the reason if the text contains no grid.
///
/// # Examples
///
/// ```
/// use rhae_tasks::{AnswerSource, ParseError, Parser, parse};
///
/// let text = "The rule mirrors the grid, so the output is [[1, 2], [3, 4]] (see example [0]).";
/// let answer = parse(Parser::Lenient, text)?;
/// assert_eq!(answer.grids[0].to_string(), "[[1,2],[3,4]]");
/// assert_eq!(answer.source, AnswerSource::LastGrid);
/// assert_eq!(&text[answer.span], "[[1, 2], [3, 4]]");
///
/// // The parser of Nejumi takes the last bracket, which closes `[0]`.
/// assert_eq!(parse(Parser::Nejumi, text).unwrap_err().kind(), "not-a-grid");
/// # Ok::<(), ParseError>(())
/// ```
pub fn parse(parser: Parser, text: &str) -> Result<Answer, ParseError> {
    parse_whole_task(parser, text, 1)
}

/// Finds the grids in the answer to all tests of a task: a single grid if `tests` is 1, otherwise a
/// list of `tests` grids.
///
/// # Errors
///
/// Returns a [`ParseError`] that states the reason if the text does not contain the expected number
/// of grids.
///
/// # Examples
///
/// ```
/// use rhae_tasks::{ParseError, Parser, parse_whole_task};
///
/// let text = "The outputs are [[[1, 2]], [[3]]].";
/// assert_eq!(parse_whole_task(Parser::Lenient, text, 2)?.grids.len(), 2);
/// let error = parse_whole_task(Parser::Lenient, text, 3).unwrap_err();
/// assert_eq!(error, ParseError::Count { expected: 3, found: 2 });
/// # Ok::<(), ParseError>(())
/// ```
pub fn parse_whole_task(parser: Parser, text: &str, tests: usize) -> Result<Answer, ParseError> {
    if text.len() > MAX_ANSWER_BYTES {
        return Err(ParseError::TooLong { bytes: text.len() });
    }
    if text.trim().is_empty() {
        return Err(ParseError::Empty);
    }
    match parser {
        Parser::Lenient => lenient(text, tests),
        Parser::Official => strict::official(text, tests),
        Parser::Nejumi => strict::nejumi(text, tests),
        Parser::Plan => strict::plan(text, tests),
    }
}

fn lenient(text: &str, tests: usize) -> Result<Answer, ParseError> {
    let clean = clean::clean(text);
    let found = scan::scan(&clean.text, tests);
    if let Some(answer) = found.answer {
        return Ok(answer);
    }
    // Rows inside a malformed list are not an answer, so only lines after that list are considered.
    let floor = found.fault.as_ref().map_or(0, |(end, _)| *end);
    if tests == 1
        && let Some(rows) = rows::rows(&clean.text, floor)
    {
        return rows.map_err(ParseError::from);
    }
    if let Some(row) = found.row {
        return Ok(row);
    }
    Err(match found.fault {
        Some((_, fault)) => fault,
        None if clean.unclosed => ParseError::Truncated("the reasoning section is not closed"),
        None if clean.text.contains(&b'[') => GridError::NotAGrid {
            what: "the answer contains lists, but none is a grid".to_owned(),
        }
        .into(),
        None if clean.text.iter().all(u8::is_ascii_whitespace) => ParseError::Empty,
        None => ParseError::NoBracket,
    })
}

#[cfg(test)]
mod tests;
