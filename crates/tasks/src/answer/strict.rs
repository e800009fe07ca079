//! The parsers of published harnesses, including their bugs.
//!
//! Each parser finds the same part of the text as the original. The originals also accept values
//! that are not grids, which are errors here. Such a value is never equal to a solution, so the
//! scores are the same.

use std::ops::Range;

use serde_json::Value;

use super::{Answer, AnswerSource, ParseError, Parser};
use crate::grid::{Grid, GridError};

/// Parses the first `\boxed{}` if it contains a list of lists, otherwise the list that the last
/// bracket closes.
pub(super) fn official(text: &str, tests: usize) -> Result<Answer, ParseError> {
    const MARK: &str = "\\boxed{";
    let begin = text.find(MARK).map(|at| at + MARK.len());
    let boxed = begin.and_then(|begin| text[begin..].find('}').map(|length| begin..begin + length));
    if let Some(span) = boxed
        && let Ok(value) = serde_json::from_str::<Value>(text[span.clone()].trim())
        && value
            .as_array()
            .is_some_and(|list| list.iter().all(Value::is_array))
    {
        return finish(Parser::Official, &value, AnswerSource::Boxed, span, tests);
    }
    last_bracket(Parser::Official, text, tests)
}

/// Parses the list that the last bracket closes.
pub(super) fn nejumi(text: &str, tests: usize) -> Result<Answer, ParseError> {
    last_bracket(Parser::Nejumi, text, tests)
}

/// Parses the text from the last `]` or `}` back to its opening bracket. Only brackets of the same
/// kind are counted, including those inside strings.
fn last_bracket(parser: Parser, text: &str, tests: usize) -> Result<Answer, ParseError> {
    let bytes = text.as_bytes();
    let end = bytes
        .iter()
        .rposition(|byte| matches!(byte, b']' | b'}'))
        .ok_or_else(|| {
            if text.contains('[') {
                ParseError::Truncated("a list is not closed")
            } else {
                ParseError::NoBracket
            }
        })?;
    let (open, close) = if bytes[end] == b']' {
        (b'[', b']')
    } else {
        (b'{', b'}')
    };
    let mut depth = 0_usize;
    let start = bytes[..=end].iter().rposition(|&byte| {
        if byte == close {
            depth += 1;
        } else if byte == open {
            depth -= 1;
        }
        depth == 0
    });
    let Some(start) = start else {
        return Err(ParseError::NotJson {
            reason: "the last bracket has no opening bracket".to_owned(),
        });
    };
    let span = start..end + 1;
    let value = json(&text[span.clone()])?;
    let Some(list) = value.as_array() else {
        return Err(GridError::NotAGrid {
            what: "the last bracket closes an object, not a list".to_owned(),
        }
        .into());
    };
    if list.is_empty() {
        return Err(GridError::Empty.into());
    }
    finish(parser, &value, AnswerSource::LastBracket, span, tests)
}

/// Parses the first of these that is valid JSON, even if it does not contain a grid: the whole
/// text, the first code block, the text from the first `[` to the last `]`.
pub(super) fn plan(text: &str, tests: usize) -> Result<Answer, ParseError> {
    let attempts = [
        (AnswerSource::WholeText, Some(0..text.len())),
        (AnswerSource::CodeBlock, code_block(text)),
        (AnswerSource::FirstToLast, first_to_last(text)),
    ];
    let mut reason = None;
    for (source, span) in attempts {
        let Some(span) = span else { continue };
        match json(text[span.clone()].trim()) {
            Ok(value) => return finish(Parser::Plan, &value, source, span, tests),
            Err(error) => reason = Some(error),
        }
    }
    let nothing = if text.contains('[') { reason } else { None };
    Err(nothing.unwrap_or(ParseError::NoBracket))
}

fn code_block(text: &str) -> Option<Range<usize>> {
    const FENCE: &str = "```";
    let mut start = text.find(FENCE)? + FENCE.len();
    if text[start..].starts_with("json") {
        start += "json".len();
    }
    let end = start + text[start..].find(FENCE)?;
    Some(start..end)
}

fn first_to_last(text: &str) -> Option<Range<usize>> {
    let (first, last) = (text.find('[')?, text.rfind(']')?);
    (first < last).then_some(first..last + 1)
}

fn json(text: &str) -> Result<Value, ParseError> {
    serde_json::from_str(text).map_err(|error| {
        if error.is_eof() {
            ParseError::Truncated("the JSON is not complete")
        } else {
            ParseError::NotJson {
                reason: error.to_string(),
            }
        }
    })
}

/// Converts JSON to one grid for one test, or to a list of grids for several tests.
fn finish(
    parser: Parser,
    value: &Value,
    source: AnswerSource,
    span: Range<usize>,
    tests: usize,
) -> Result<Answer, ParseError> {
    let grids = match value {
        Value::Array(list) if tests != 1 => {
            if list.len() != tests {
                return Err(ParseError::Count {
                    expected: tests,
                    found: list.len(),
                });
            }
            list.iter()
                .map(|grid| Grid::from_json(grid, parser.cells()))
                .collect::<Result<_, _>>()?
        }
        value => vec![Grid::from_json(value, parser.cells())?],
    };
    Ok(Answer {
        grids,
        source,
        span,
    })
}
