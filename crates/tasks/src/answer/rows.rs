//! Reads a grid from the last lines of a text. A row may be written as `1 2`, `12`, `|1|2|`, or
//! `[1,2]` without an outer list.
//!
//! Only the last lines are read, so that numbers in the middle of an explanation are not taken for
//! an answer. The parser calls this module only if the scanner found no grid.

use super::clean::FILLER;
use super::scan::number;
use super::{Answer, AnswerSource};
use crate::grid::{Grid, GridError, MAX_GRID_SIDE};

/// The classification of a line.
enum Line {
    /// An empty line. It may follow the rows.
    Blank,
    /// The delimiter of a code block. It may follow the rows.
    Fence,
    /// The line below the header of a Markdown table.
    Rule,
    Row(Row),
    Other,
}

struct Row {
    cells: Result<Vec<u8>, GridError>,
    /// Whether brackets or separators make clear that the line is a row, even if it is the only
    /// one.
    evident: bool,
}

/// Reads the grid in the last lines. Returns `None` if they are not rows or begin before the byte
/// offset `floor`.
pub(super) fn rows(text: &[u8], floor: usize) -> Option<Result<Answer, GridError>> {
    let (mut rows, mut start, mut end) = (Vec::new(), text.len(), text.len());
    let mut line_end = text.len();
    loop {
        let line_start = text[..line_end]
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |at| at + 1);
        match line(&text[line_start..line_end]) {
            Line::Row(row) => {
                if rows.is_empty() {
                    end = line_end;
                }
                // Rows beyond the maximum plus one are not stored: one extra row is enough to
                // detect an oversized grid.
                if rows.len() <= MAX_GRID_SIDE {
                    rows.push(row);
                }
                start = line_start;
            }
            Line::Rule if !rows.is_empty() => {}
            Line::Blank | Line::Fence if rows.is_empty() => {}
            _ => break,
        }
        let Some(before) = line_start.checked_sub(1) else {
            break;
        };
        line_end = before;
    }
    rows.reverse();
    let evident = rows.len() > 1 || rows.first().is_some_and(|row| row.evident);
    if !evident || start < floor {
        return None;
    }
    if rows.len() > MAX_GRID_SIDE {
        return Some(Err(GridError::TooLarge));
    }
    let cells: Result<Vec<Vec<u8>>, GridError> = rows.into_iter().map(|row| row.cells).collect();
    let grid = cells.and_then(|rows| Grid::new(&rows));
    Some(grid.map(|grid| Answer {
        grids: vec![grid],
        source: AnswerSource::TrailingLines,
        span: start..end,
    }))
}

fn line(line: &[u8]) -> Line {
    // A longer line cannot be a row: in any notation, a row of thirty cells is much shorter than
    // this limit.
    let line = line.trim_ascii();
    if line.len() > 1000 {
        return Line::Other;
    }
    let text: Vec<u8> = line
        .iter()
        .copied()
        .filter(|&byte| byte != FILLER)
        .collect();
    let Ok(text) = std::str::from_utf8(&text) else {
        return Line::Other;
    };
    let text = text.trim().trim_end_matches([',', ';']).trim();
    if text.is_empty() {
        return Line::Blank;
    }
    if text.starts_with("```") || text.starts_with("~~~") {
        return Line::Fence;
    }
    let bare = [("[", "]"), ("(", ")"), ("|", "|")]
        .iter()
        .find_map(|(open, close)| {
            text.strip_prefix(open)
                .and_then(|text| text.strip_suffix(close))
        });
    let content = bare.unwrap_or(text);
    if text.contains('|')
        && text.contains('-')
        && content.chars().all(|letter| "|-: ".contains(letter))
    {
        return Line::Rule;
    }
    let tokens: Vec<&str> = content
        .split([' ', '\t', ',', '|'])
        .filter(|token| !token.is_empty())
        .collect();
    let numbers: Option<Vec<Result<u8, GridError>>> =
        tokens.iter().map(|token| number(token)).collect();
    let (Some(numbers), false) = (numbers, tokens.is_empty()) else {
        return Line::Other;
    };
    let digits = tokens.len() == 1
        && bare.is_none()
        && tokens[0].len() > 1
        && tokens[0].bytes().all(|byte| byte.is_ascii_digit());
    let cells = if digits {
        Ok(tokens[0].bytes().map(|digit| digit - b'0').collect())
    } else {
        numbers.into_iter().collect()
    };
    Line::Row(Row {
        cells,
        evident: bare.is_some() || tokens.len() > 1,
    })
}
