//! The parsers of published harnesses, faults included.
//!
//! Each finds the same part of the text as its model does. What its model would pass on although it is no grid is a fault here: it
//! can equal no solution, so scores are the same.

use std::ops::Range;

use serde_json::Value;

use super::{Answer, How, Parser, Unparsed};
use crate::grid::{Fault, Grid};

/// The first `\boxed{}` if it holds a list of lists, else what the last bracket closes.
pub(super) fn official(text: &str, tests: usize) -> Result<Answer, Unparsed> {
    const MARK: &str = "\\boxed{";
    let begin = text.find(MARK).map(|at| at + MARK.len());
    let boxed = begin.and_then(|begin| text[begin..].find('}').map(|length| begin..begin + length));
    if let Some(span) = boxed
        && let Ok(value) = serde_json::from_str::<Value>(text[span.clone()].trim())
        && value
            .as_array()
            .is_some_and(|list| list.iter().all(Value::is_array))
    {
        return finish(Parser::Official, &value, How::Boxed, span, tests);
    }
    last_bracket(Parser::Official, text, tests)
}

/// What the last bracket closes.
pub(super) fn nejumi(text: &str, tests: usize) -> Result<Answer, Unparsed> {
    last_bracket(Parser::Nejumi, text, tests)
}

/// From the last `]` or `}` back to where it was opened, brackets of its own kind counted, strings or not.
fn last_bracket(parser: Parser, text: &str, tests: usize) -> Result<Answer, Unparsed> {
    let bytes = text.as_bytes();
    let end = bytes
        .iter()
        .rposition(|byte| matches!(byte, b']' | b'}'))
        .ok_or_else(|| {
            if text.contains('[') {
                Unparsed::Truncated("a list is never closed")
            } else {
                Unparsed::NoBracket
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
        return Err(Unparsed::NotJson {
            reason: "the last bracket was never opened".to_owned(),
        });
    };
    let span = start..end + 1;
    let value = json(&text[span.clone()])?;
    let Some(list) = value.as_array() else {
        return Err(Fault::NotAGrid {
            what: "the last bracket closes an object, not a list".to_owned(),
        }
        .into());
    };
    if list.is_empty() {
        return Err(Fault::Empty.into());
    }
    finish(parser, &value, How::LastBracket, span, tests)
}

/// The whole text, else the first code block, else from the first `[` to the last `]`: the first of these that is JSON, whatever it holds.
pub(super) fn plan(text: &str, tests: usize) -> Result<Answer, Unparsed> {
    let attempts = [
        (How::Whole, Some(0..text.len())),
        (How::CodeBlock, code_block(text)),
        (How::FirstToLast, first_to_last(text)),
    ];
    let mut reason = None;
    for (how, span) in attempts {
        let Some(span) = span else { continue };
        match json(text[span.clone()].trim()) {
            Ok(value) => return finish(Parser::Plan, &value, how, span, tests),
            Err(error) => reason = Some(error),
        }
    }
    let nothing = if text.contains('[') { reason } else { None };
    Err(nothing.unwrap_or(Unparsed::NoBracket))
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

fn json(text: &str) -> Result<Value, Unparsed> {
    serde_json::from_str(text).map_err(|error| {
        if error.is_eof() {
            Unparsed::Truncated("the JSON is not complete")
        } else {
            Unparsed::NotJson {
                reason: error.to_string(),
            }
        }
    })
}

/// One grid for one test, a list of grids for several.
fn finish(
    parser: Parser,
    value: &Value,
    how: How,
    span: Range<usize>,
    tests: usize,
) -> Result<Answer, Unparsed> {
    let grids = match value {
        Value::Array(list) if tests != 1 => {
            if list.len() != tests {
                return Err(Unparsed::Count {
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
    Ok(Answer { grids, how, span })
}
