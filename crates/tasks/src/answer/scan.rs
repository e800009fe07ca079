//! Scans all lists of a text in one pass with a stack.
//!
//! A list that contains only numbers and lists is *plain*. A plain list is a row, a grid or
//! malformed; the lists inside it are not separate candidates. A list that contains anything else
//! (words, braces, keys) is not a candidate, but the lists inside it are.
//!
//! Invariant: the work per byte of the text is bounded, so the scan takes linear time. The stack
//! keeps only the innermost [`MAX_DEPTH`] lists; a list with deeper nesting cannot be a grid.

use std::collections::VecDeque;
use std::ops::Range;

use super::clean::FILLER;
use super::{Answer, AnswerSource, ParseError};
use crate::grid::{Grid, GridError, MAX_GRID_SIDE, short};

const MAX_DEPTH: usize = 64;

/// The keys whose value is taken for the answer.
const KEYS: [&[u8]; 4] = [b"output", b"answer", b"grid", b"result"];

/// The result of [`scan`].
pub(super) struct ScanResult {
    pub(super) answer: Option<Answer>,
    /// A single row, boxed or after a key.
    pub(super) row: Option<Answer>,
    /// The last plain list that is not a grid: its end and the reason.
    pub(super) fault: Option<(usize, ParseError)>,
}

/// Finds the list that is the answer: a grid if `tests` is 1, otherwise a list of `tests` grids.
pub(super) fn scan(text: &[u8], tests: usize) -> ScanResult {
    let mut scan = Scan {
        text,
        tests,
        boxed: last_box(text),
        stack: VecDeque::new(),
        top: Candidates::default(),
        at: 0,
    };
    scan.run();
    let Candidates {
        boxed,
        keyed,
        last,
        row,
        fault,
    } = scan.top;
    ScanResult {
        answer: boxed.or(keyed).or(last),
        row,
        fault,
    }
}

/// The candidates among the lists scanned so far: the last of each kind.
#[derive(Default)]
struct Candidates {
    boxed: Option<Answer>,
    keyed: Option<Answer>,
    last: Option<Answer>,
    row: Option<Answer>,
    fault: Option<(usize, ParseError)>,
}

impl Candidates {
    fn is_empty(&self) -> bool {
        self.boxed.is_none()
            && self.keyed.is_none()
            && self.last.is_none()
            && self.row.is_none()
            && self.fault.is_none()
    }

    /// Replaces each candidate with the one of the same kind that was found later in the text, if
    /// any.
    fn merge(&mut self, later: Self) {
        let Self {
            boxed,
            keyed,
            last,
            row,
            fault,
        } = later;
        self.boxed = boxed.or(self.boxed.take());
        self.keyed = keyed.or(self.keyed.take());
        self.last = last.or(self.last.take());
        self.row = row.or(self.row.take());
        self.fault = fault.or(self.fault.take());
    }
}

/// An open list.
struct OpenList {
    open: usize,
    round: bool,
    plain: bool,
    content: Content,
    fault: Option<ParseError>,
    /// The candidates inside this list. They are used only if this list turns out not to be plain.
    inner: Option<Box<Candidates>>,
}

/// The elements of a plain list.
enum Content {
    Nothing,
    Numbers(Vec<u8>),
    Rows(Vec<Vec<u8>>),
    Grids { grids: Vec<Grid>, count: usize },
}

/// The classification of a plain list.
#[derive(Clone)]
enum ListKind {
    Row(Vec<u8>),
    Grid(Grid),
    /// A list with one grid for each test.
    Whole(Vec<Grid>),
    GridError(ParseError),
}

impl OpenList {
    fn new(open: usize, round: bool) -> Self {
        Self {
            open,
            round,
            plain: true,
            content: Content::Nothing,
            fault: None,
            inner: None,
        }
    }

    fn reject(&mut self, fault: impl Into<ParseError>) {
        if self.fault.is_none() {
            self.fault = Some(fault.into());
        }
    }

    fn reject_mixed(&mut self) {
        self.reject(GridError::NotAGrid {
            what: "a list mixes numbers, rows and grids".to_owned(),
        });
    }

    fn number(&mut self, cell: Result<u8, GridError>) {
        match (&mut self.content, cell) {
            (_, Err(fault)) => self.reject(fault),
            (content @ Content::Nothing, Ok(cell)) => *content = Content::Numbers(vec![cell]),
            (Content::Numbers(row), Ok(_)) if row.len() == MAX_GRID_SIDE => {
                self.reject(GridError::TooLarge);
            }
            (Content::Numbers(row), Ok(cell)) => row.push(cell),
            _ => self.reject_mixed(),
        }
    }

    fn list(&mut self, verdict: ListKind, tests: usize) {
        match (&mut self.content, verdict) {
            (_, ListKind::GridError(fault)) => self.reject(fault),
            (content @ Content::Nothing, ListKind::Row(row)) => *content = Content::Rows(vec![row]),
            (Content::Rows(rows), ListKind::Row(_)) if rows.len() == MAX_GRID_SIDE => {
                self.reject(GridError::TooLarge);
            }
            (Content::Rows(rows), ListKind::Row(row)) => rows.push(row),
            (content @ Content::Nothing, ListKind::Grid(grid)) => {
                *content = Content::Grids {
                    grids: vec![grid],
                    count: 1,
                }
            }
            (Content::Grids { grids, count }, ListKind::Grid(grid)) => {
                *count += 1;
                if grids.len() < tests {
                    grids.push(grid);
                }
            }
            (_, ListKind::Whole(grids)) => {
                self.reject(GridError::ThreeDimensional { grids: grids.len() });
            }
            _ => self.reject_mixed(),
        }
    }

    fn verdict(self, tests: usize) -> ListKind {
        if let Some(fault) = self.fault {
            return ListKind::GridError(fault);
        }
        match self.content {
            Content::Nothing => ListKind::GridError(GridError::Empty.into()),
            Content::Numbers(row) => ListKind::Row(row),
            // Parentheses around a single list belong to a call such as `array([1, 2])`, so they
            // add no level of nesting.
            Content::Rows(mut rows) if self.round && rows.len() == 1 => {
                ListKind::Row(rows.remove(0))
            }
            Content::Grids {
                mut grids,
                count: 1,
            } if self.round => ListKind::Grid(grids.remove(0)),
            Content::Rows(rows) => Grid::new(&rows)
                .map_or_else(|fault| ListKind::GridError(fault.into()), ListKind::Grid),
            Content::Grids { grids, count } if count == tests => ListKind::Whole(grids),
            Content::Grids { count, .. } if tests == 1 => {
                ListKind::GridError(GridError::ThreeDimensional { grids: count }.into())
            }
            Content::Grids { count, .. } => ListKind::GridError(ParseError::Count {
                expected: tests,
                found: count,
            }),
        }
    }
}

struct Scan<'a> {
    text: &'a [u8],
    tests: usize,
    boxed: Option<Range<usize>>,
    stack: VecDeque<OpenList>,
    /// The candidates outside all open lists.
    top: Candidates,
    at: usize,
}

impl Scan<'_> {
    fn run(&mut self) {
        while let Some(&byte) = self.text.get(self.at) {
            self.at += 1;
            match byte {
                b'[' => self.open(false),
                b']' => self.close_square(),
                _ if self.stack.is_empty() => {}
                b'(' => self.open(true),
                b')' => self.close_round(),
                b',' | b';' | FILLER => {}
                _ if byte.is_ascii_whitespace() => {}
                _ => self.read_element(byte),
            }
        }
        while let Some(frame) = self.stack.pop_back() {
            // A plain list that is still open at the end of the text is a truncated answer. Any
            // other open bracket is part of prose.
            if frame.plain {
                let span = frame.open..self.text.len();
                self.record(
                    ListKind::GridError(ParseError::Truncated("a list is not closed")),
                    &span,
                );
            } else {
                self.discard(frame);
            }
        }
    }

    fn open(&mut self, round: bool) {
        if self.stack.len() == MAX_DEPTH
            && let Some(outermost) = self.stack.pop_front()
        {
            self.top.merge(
                outermost
                    .inner
                    .map_or_else(Candidates::default, |inner| *inner),
            );
        }
        self.stack.push_back(OpenList::new(self.at - 1, round));
    }

    fn close_square(&mut self) {
        // A parenthesis that is still open is not a list.
        while let Some(frame) = self.stack.pop_back_if(|frame| frame.round) {
            self.discard(frame);
        }
        if let Some(frame) = self.stack.pop_back() {
            self.close(frame);
        }
    }

    fn close_round(&mut self) {
        match self.stack.pop_back_if(|frame| frame.round) {
            Some(frame) => self.close(frame),
            None => self.mark_not_plain(),
        }
    }

    fn close(&mut self, frame: OpenList) {
        if !frame.plain {
            return self.discard(frame);
        }
        // If the bracket replaced a multi-byte character, filler bytes follow that belong to it.
        let left_over = self.text[self.at..]
            .iter()
            .take_while(|&&byte| byte == FILLER)
            .count();
        let span = frame.open..self.at + left_over;
        let verdict = frame.verdict(self.tests);
        if self.stack.is_empty() {
            return self.record(verdict, &span);
        }
        // A row is a candidate by itself only if a box or a key labels it. For all other rows the
        // copy is skipped.
        if !matches!(verdict, ListKind::Row(_)) || self.source_of(&span).1 {
            self.record(verdict.clone(), &span);
        }
        if let Some(parent) = self.stack.back_mut() {
            parent.list(verdict, self.tests);
        }
    }

    /// Drops a list that is not a candidate. The candidates inside it are kept, and the list around
    /// it is marked as not plain.
    fn discard(&mut self, frame: OpenList) {
        let inner = frame.inner.map_or_else(Candidates::default, |inner| *inner);
        match self.stack.back_mut() {
            Some(parent) => {
                parent.plain = false;
                parent.inner.get_or_insert_default().merge(inner);
            }
            None => self.top.merge(inner),
        }
    }

    fn mark_not_plain(&mut self) {
        if let Some(frame) = self.stack.back_mut() {
            frame.plain = false;
        }
    }

    /// Returns why the list would be the answer, and whether a box or a key labels it as one.
    fn source_of(&self, span: &Range<usize>) -> (AnswerSource, bool) {
        let before = &self.text[..span.start];
        if self
            .boxed
            .as_ref()
            .is_some_and(|boxed| boxed.start <= span.start && span.end <= boxed.end)
        {
            (AnswerSource::Boxed, true)
        } else if key_before(before, true) {
            (AnswerSource::Keyed, true)
        } else {
            (AnswerSource::LastGrid, key_before(before, false))
        }
    }

    /// Records a plain list as a candidate. The candidate is used only if no plain list encloses
    /// it.
    fn record(&mut self, verdict: ListKind, span: &Range<usize>) {
        let (source, labelled) = self.source_of(span);
        let answer = |grids: Vec<Grid>, source| {
            Some(Answer {
                grids,
                source,
                span: span.clone(),
            })
        };
        let mut best = Candidates::default();
        let grids = match verdict {
            ListKind::Grid(grid) if self.tests == 1 => vec![grid],
            ListKind::Grid(_) => {
                best.fault = Some((
                    span.end,
                    ParseError::Count {
                        expected: self.tests,
                        found: 1,
                    },
                ));
                Vec::new()
            }
            ListKind::Whole(grids) => grids,
            ListKind::GridError(fault) => {
                best.fault = Some((span.end, fault));
                Vec::new()
            }
            ListKind::Row(row) => {
                if self.tests == 1 && labelled {
                    best.row = Grid::new(&[row])
                        .ok()
                        .and_then(|grid| answer(vec![grid], AnswerSource::SingleRow));
                }
                Vec::new()
            }
        };
        if !grids.is_empty() {
            match source {
                AnswerSource::Boxed => best.boxed = answer(grids, source),
                AnswerSource::Keyed => best.keyed = answer(grids, source),
                _ => best.last = answer(grids, source),
            }
        }
        if best.is_empty() {
            return;
        }
        match self.stack.back_mut() {
            Some(parent) => parent.inner.get_or_insert_default().merge(best),
            None => self.top.merge(best),
        }
    }

    /// Reads an element of a list: anything except brackets and separators. Outside lists it does
    /// nothing.
    fn read_element(&mut self, byte: u8) {
        let Some(frame) = self.stack.back_mut() else {
            return;
        };
        let rest = &self.text[self.at..];
        let in_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.+-\0".contains(byte);
        match byte {
            // Fast path: nearly every number has one digit.
            b'0'..=b'9' if !rest.first().is_some_and(in_token) => frame.number(Ok(byte - b'0')),
            b'0'..=b'9' | b'+' | b'-' | b'.' | b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                let length = rest.iter().take_while(|byte| in_token(byte)).count();
                // A longer token cannot be a number, so only the beginning of a token is copied.
                let token: Vec<u8> = self.text[self.at - 1..self.at + length.min(40)]
                    .iter()
                    .copied()
                    .filter(|&byte| byte != FILLER)
                    .collect();
                self.at += length;
                token_in(frame, &token, self.text.get(self.at) == Some(&b'('));
            }
            0x1f => frame.reject(ParseError::Elided),
            b'"' | b'\'' => match quoted(rest, byte) {
                Some((cell, length)) => {
                    frame.number(cell);
                    self.at += length;
                }
                None => frame.plain = false,
            },
            // The list may be inside a JSON string, in which line breaks, tabs and quotation marks
            // are escaped.
            b'\\' if matches!(rest.first(), Some(b'n' | b't' | b'r')) => self.at += 1,
            b'\\' if rest.first() == Some(&b'"') => {}
            b'/' if frame.plain && rest.first() == Some(&b'/') => self.skip_line(),
            b'#' if frame.plain => self.skip_line(),
            _ => frame.plain = false,
        }
    }

    fn skip_line(&mut self) {
        self.at += self.text[self.at..]
            .iter()
            .take_while(|&&byte| byte != b'\n')
            .count();
    }
}

/// Reads a word or a number in a list; `called` says whether a parenthesis follows.
fn token_in(frame: &mut OpenList, token: &[u8], called: bool) {
    let text = std::str::from_utf8(token).expect("tokens are ASCII");
    if text.bytes().all(|byte| byte == b'.') && text.len() >= 2 {
        return frame.reject(ParseError::Elided);
    }
    if text.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_') {
        let last = text.rsplit('.').next().unwrap_or(text);
        match last.to_ascii_lowercase().as_str() {
            "nan" | "null" | "none" | "true" | "false" | "inf" | "infinity" => {
                frame.reject(GridError::NonInteger { value: short(text) });
            }
            "array" | "tensor" | "tuple" | "list" if called => {}
            _ => frame.plain = false,
        }
        return;
    }
    match number(text) {
        Some(cell) => frame.number(cell),
        None => frame.plain = false,
    }
}

/// Parses a cell. Returns `None` if the text is not a number, and an error if the number is not a
/// colour.
pub(super) fn number(text: &str) -> Option<Result<u8, GridError>> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty()
        || !whole
            .bytes()
            .chain(fraction.bytes())
            .all(|byte| byte.is_ascii_digit())
    {
        return None;
    }
    if fraction.bytes().any(|byte| byte != b'0') {
        return Some(Err(GridError::NonInteger { value: short(text) }));
    }
    Some(match whole.trim_start_matches('0') {
        "" => Ok(0),
        digit if digit.len() == 1 && sign.is_empty() => Ok(digit.as_bytes()[0] - b'0'),
        _ => Err(GridError::OutOfRange { value: short(text) }),
    })
}

/// Parses a number in quotation marks. Returns the cell and the length after the opening mark.
fn quoted(rest: &[u8], mark: u8) -> Option<(Result<u8, GridError>, usize)> {
    let end = rest.iter().take(12).position(|&byte| byte == mark)?;
    // Inside a nested JSON string the quotation marks are escaped.
    let inner: Vec<u8> = rest[..end]
        .iter()
        .copied()
        .filter(|&byte| byte != FILLER && byte != b'\\')
        .collect();
    let cell = number(std::str::from_utf8(&inner).ok()?.trim())?;
    Some((cell, end + 1))
}

/// Returns whether `text` ends with a key such as `answer:`. The list that follows is then the
/// value of the key. If `quoted` is set, the key must be in quotation marks.
fn key_before(text: &[u8], quoted: bool) -> bool {
    let near = &text[text.len().saturating_sub(64)..];
    let space =
        |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'*' | b'`') || *byte == FILLER;
    let trimmed = |text: &[u8]| {
        text.iter()
            .rposition(|byte| !space(byte))
            .map_or(0, |last| last + 1)
    };
    let near = &near[..trimmed(near)];
    let Some((b':' | b'=', near)) = near.split_last() else {
        return false;
    };
    let mut near = &near[..trimmed(near)];
    let mut marks = 0;
    while let Some((b'"' | b'\'' | b'\\', before)) = near.split_last() {
        near = before;
        marks += 1;
    }
    let begin = near
        .iter()
        .rposition(|byte| !byte.is_ascii_alphabetic())
        .map_or(0, |last| last + 1);
    let word = near[begin..].to_ascii_lowercase();
    KEYS.contains(&word.as_slice()) && (marks > 0 || !quoted)
}

/// Returns the byte range of the content of the last `\boxed{}`. If the box is not closed, the
/// range extends to the end of the text.
fn last_box(text: &[u8]) -> Option<Range<usize>> {
    const MARK: &[u8] = b"\\boxed{";
    let start = text
        .windows(MARK.len())
        .rposition(|window| window == MARK)?
        + MARK.len();
    let mut depth = 1;
    let end = text[start..].iter().position(|byte| {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    Some(start..end.map_or(text.len(), |end| start + end))
}
