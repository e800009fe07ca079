//! Every list in a text, in one pass with a stack.
//!
//! A list that holds nothing but numbers and lists is *plain*: it is a row, a grid, or a fault, and what stands within it is no
//! answer of its own. A list that holds anything else (words, braces, keys) is no candidate, but lists within it are.
//! Invariant: a step looks at a bounded number of bytes, and the stack keeps the innermost [`DEEPEST`] lists only; a list around
//! more than these can be no grid.

use std::collections::VecDeque;
use std::ops::Range;

use super::clean::FILLER;
use super::{Answer, How, Unparsed};
use crate::grid::{Fault, Grid, LARGEST_SIDE, short};

const DEEPEST: usize = 64;

/// Keys whose value is the answer.
const KEYS: [&[u8]; 4] = [b"output", b"answer", b"grid", b"result"];

/// What the pass found.
pub(super) struct Found {
    pub(super) answer: Option<Answer>,
    /// A single row, boxed or under a key.
    pub(super) row: Option<Answer>,
    /// The last plain list that is no grid, with the place where it ends.
    pub(super) fault: Option<(usize, Unparsed)>,
}

/// Finds the list that is a grid, or the list of as many grids as a task has tests.
pub(super) fn scan(text: &[u8], tests: usize) -> Found {
    let mut scan = Scan {
        text,
        tests,
        boxed: last_box(text),
        stack: VecDeque::new(),
        top: Best::default(),
        at: 0,
    };
    scan.run();
    let Best {
        boxed,
        keyed,
        last,
        row,
        fault,
    } = scan.top;
    Found {
        answer: boxed.or(keyed).or(last),
        row,
        fault,
    }
}

/// The answers among the lists seen so far, the last of each kind.
#[derive(Default)]
struct Best {
    boxed: Option<Answer>,
    keyed: Option<Answer>,
    last: Option<Answer>,
    row: Option<Answer>,
    fault: Option<(usize, Unparsed)>,
}

impl Best {
    fn is_empty(&self) -> bool {
        self.boxed.is_none()
            && self.keyed.is_none()
            && self.last.is_none()
            && self.row.is_none()
            && self.fault.is_none()
    }

    /// Takes over what was found later.
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
struct Frame {
    open: usize,
    round: bool,
    plain: bool,
    content: Content,
    fault: Option<Unparsed>,
    /// What counts if this list turns out not to be plain.
    inner: Option<Box<Best>>,
}

/// What a plain list holds.
enum Content {
    Nothing,
    Numbers(Vec<u8>),
    Rows(Vec<Vec<u8>>),
    Grids { grids: Vec<Grid>, count: usize },
}

/// What a plain list is.
#[derive(Clone)]
enum Verdict {
    Row(Vec<u8>),
    Grid(Grid),
    /// A list with as many grids as were asked for.
    Whole(Vec<Grid>),
    Fault(Unparsed),
}

impl Frame {
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

    fn refuse(&mut self, fault: impl Into<Unparsed>) {
        if self.fault.is_none() {
            self.fault = Some(fault.into());
        }
    }

    fn mixed(&mut self) {
        self.refuse(Fault::NotAGrid {
            what: "a list mixes numbers, rows and grids".to_owned(),
        });
    }

    fn number(&mut self, cell: Result<u8, Fault>) {
        match (&mut self.content, cell) {
            (_, Err(fault)) => self.refuse(fault),
            (content @ Content::Nothing, Ok(cell)) => *content = Content::Numbers(vec![cell]),
            (Content::Numbers(row), Ok(_)) if row.len() == LARGEST_SIDE => {
                self.refuse(Fault::TooLarge)
            }
            (Content::Numbers(row), Ok(cell)) => row.push(cell),
            _ => self.mixed(),
        }
    }

    fn list(&mut self, verdict: Verdict, tests: usize) {
        match (&mut self.content, verdict) {
            (_, Verdict::Fault(fault)) => self.refuse(fault),
            (content @ Content::Nothing, Verdict::Row(row)) => *content = Content::Rows(vec![row]),
            (Content::Rows(rows), Verdict::Row(_)) if rows.len() == LARGEST_SIDE => {
                self.refuse(Fault::TooLarge)
            }
            (Content::Rows(rows), Verdict::Row(row)) => rows.push(row),
            (content @ Content::Nothing, Verdict::Grid(grid)) => {
                *content = Content::Grids {
                    grids: vec![grid],
                    count: 1,
                }
            }
            (Content::Grids { grids, count }, Verdict::Grid(grid)) => {
                *count += 1;
                if grids.len() < tests {
                    grids.push(grid);
                }
            }
            (_, Verdict::Whole(grids)) => {
                self.refuse(Fault::ThreeDimensional { grids: grids.len() })
            }
            _ => self.mixed(),
        }
    }

    fn verdict(self, tests: usize) -> Verdict {
        if let Some(fault) = self.fault {
            return Verdict::Fault(fault);
        }
        match self.content {
            Content::Nothing => Verdict::Fault(Fault::Empty.into()),
            Content::Numbers(row) => Verdict::Row(row),
            // Parentheses around one list belong to a call such as `array([1, 2])`.
            Content::Rows(mut rows) if self.round && rows.len() == 1 => {
                Verdict::Row(rows.remove(0))
            }
            Content::Grids {
                mut grids,
                count: 1,
            } if self.round => Verdict::Grid(grids.remove(0)),
            Content::Rows(rows) => {
                Grid::new(&rows).map_or_else(|fault| Verdict::Fault(fault.into()), Verdict::Grid)
            }
            Content::Grids { grids, count } if count == tests => Verdict::Whole(grids),
            Content::Grids { count, .. } if tests == 1 => {
                Verdict::Fault(Fault::ThreeDimensional { grids: count }.into())
            }
            Content::Grids { count, .. } => Verdict::Fault(Unparsed::Count {
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
    stack: VecDeque<Frame>,
    /// What stands outside all lists.
    top: Best,
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
                _ => self.inside(byte),
            }
        }
        while let Some(frame) = self.stack.pop_back() {
            // A lone bracket in prose ends nothing; a plain list that never closes does.
            if frame.plain {
                let span = frame.open..self.text.len();
                self.record(
                    Verdict::Fault(Unparsed::Truncated("a list is never closed")),
                    &span,
                );
            } else {
                self.give_up(frame);
            }
        }
    }

    fn open(&mut self, round: bool) {
        if self.stack.len() == DEEPEST
            && let Some(outermost) = self.stack.pop_front()
        {
            self.top
                .merge(outermost.inner.map_or_else(Best::default, |inner| *inner));
        }
        self.stack.push_back(Frame::new(self.at - 1, round));
    }

    fn close_square(&mut self) {
        // A parenthesis that is still open was no list.
        while let Some(frame) = self.stack.pop_back_if(|frame| frame.round) {
            self.give_up(frame);
        }
        if let Some(frame) = self.stack.pop_back() {
            self.close(frame);
        }
    }

    fn close_round(&mut self) {
        match self.stack.pop_back_if(|frame| frame.round) {
            Some(frame) => self.close(frame),
            None => self.spoil(),
        }
    }

    fn close(&mut self, frame: Frame) {
        if !frame.plain {
            return self.give_up(frame);
        }
        // A replaced bracket is longer than the one it stands for.
        let left_over = self.text[self.at..]
            .iter()
            .take_while(|&&byte| byte == FILLER)
            .count();
        let span = frame.open..self.at + left_over;
        let verdict = frame.verdict(self.tests);
        if self.stack.is_empty() {
            return self.record(verdict, &span);
        }
        // Most rows are nothing on their own, and need no copy for the case that they are.
        if !matches!(verdict, Verdict::Row(_)) || self.how(&span).1 {
            self.record(verdict.clone(), &span);
        }
        if let Some(parent) = self.stack.back_mut() {
            parent.list(verdict, self.tests);
        }
    }

    /// A list that is no candidate: what it holds counts in its stead, and the list around it is not plain either.
    fn give_up(&mut self, frame: Frame) {
        let inner = frame.inner.map_or_else(Best::default, |inner| *inner);
        match self.stack.back_mut() {
            Some(parent) => {
                parent.plain = false;
                parent.inner.get_or_insert_default().merge(inner);
            }
            None => self.top.merge(inner),
        }
    }

    fn spoil(&mut self) {
        if let Some(frame) = self.stack.back_mut() {
            frame.plain = false;
        }
    }

    /// What would make a list the answer, and whether anything says that it is one.
    fn how(&self, span: &Range<usize>) -> (How, bool) {
        let before = &self.text[..span.start];
        if self
            .boxed
            .as_ref()
            .is_some_and(|boxed| boxed.start <= span.start && span.end <= boxed.end)
        {
            (How::Boxed, true)
        } else if key_before(before, true) {
            (How::Keyed, true)
        } else {
            (How::Last, key_before(before, false))
        }
    }

    /// Notes what a plain list is, for the case that nothing plain stands around it.
    fn record(&mut self, verdict: Verdict, span: &Range<usize>) {
        let (how, labelled) = self.how(span);
        let answer = |grids: Vec<Grid>, how| {
            Some(Answer {
                grids,
                how,
                span: span.clone(),
            })
        };
        let mut best = Best::default();
        let grids = match verdict {
            Verdict::Grid(grid) if self.tests == 1 => vec![grid],
            Verdict::Grid(_) => {
                best.fault = Some((
                    span.end,
                    Unparsed::Count {
                        expected: self.tests,
                        found: 1,
                    },
                ));
                Vec::new()
            }
            Verdict::Whole(grids) => grids,
            Verdict::Fault(fault) => {
                best.fault = Some((span.end, fault));
                Vec::new()
            }
            Verdict::Row(row) => {
                if self.tests == 1 && labelled {
                    best.row = Grid::new(&[row])
                        .ok()
                        .and_then(|grid| answer(vec![grid], How::Row));
                }
                Vec::new()
            }
        };
        if !grids.is_empty() {
            match how {
                How::Boxed => best.boxed = answer(grids, how),
                How::Keyed => best.keyed = answer(grids, how),
                _ => best.last = answer(grids, how),
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

    /// Anything that is neither bracket nor separator, within a list.
    fn inside(&mut self, byte: u8) {
        let Some(frame) = self.stack.back_mut() else {
            return;
        };
        let rest = &self.text[self.at..];
        let in_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.+-\0".contains(byte);
        match byte {
            // Nearly every number is one digit.
            b'0'..=b'9' if !rest.first().is_some_and(in_token) => frame.number(Ok(byte - b'0')),
            b'0'..=b'9' | b'+' | b'-' | b'.' | b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                let length = rest.iter().take_while(|byte| in_token(byte)).count();
                // A token is cut where it can no longer be a number; the rest of a long word is a word as well.
                let token: Vec<u8> = self.text[self.at - 1..self.at + length.min(40)]
                    .iter()
                    .copied()
                    .filter(|&byte| byte != FILLER)
                    .collect();
                self.at += length;
                token_in(frame, &token, self.text.get(self.at) == Some(&b'('));
            }
            0x1f => frame.refuse(Unparsed::Elided),
            b'"' | b'\'' => match quoted(rest, byte) {
                Some((cell, length)) => {
                    frame.number(cell);
                    self.at += length;
                }
                None => frame.plain = false,
            },
            // Escapes of a JSON string that holds the list.
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

/// A word or a number in a list.
fn token_in(frame: &mut Frame, token: &[u8], called: bool) {
    let text = std::str::from_utf8(token).expect("tokens are ASCII");
    if text.bytes().all(|byte| byte == b'.') && text.len() >= 2 {
        return frame.refuse(Unparsed::Elided);
    }
    if text.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_') {
        let last = text.rsplit('.').next().unwrap_or(text);
        match last.to_ascii_lowercase().as_str() {
            "nan" | "null" | "none" | "true" | "false" | "inf" | "infinity" => {
                frame.refuse(Fault::NonInteger { value: short(text) });
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

/// The cell that a number stands for; `None` if it is not a number.
pub(super) fn number(text: &str) -> Option<Result<u8, Fault>> {
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
        return Some(Err(Fault::NonInteger { value: short(text) }));
    }
    Some(match whole.trim_start_matches('0') {
        "" => Ok(0),
        digit if digit.len() == 1 && sign.is_empty() => Ok(digit.as_bytes()[0] - b'0'),
        _ => Err(Fault::OutOfRange { value: short(text) }),
    })
}

/// A number in quotation marks, and how many bytes follow the first mark.
fn quoted(rest: &[u8], mark: u8) -> Option<(Result<u8, Fault>, usize)> {
    let end = rest.iter().take(12).position(|&byte| byte == mark)?;
    // In a JSON string within a JSON string the marks are escaped.
    let inner: Vec<u8> = rest[..end]
        .iter()
        .copied()
        .filter(|&byte| byte != FILLER && byte != b'\\')
        .collect();
    let cell = number(std::str::from_utf8(&inner).ok()?.trim())?;
    Some((cell, end + 1))
}

/// Whether a list that begins here is the value of a key; `quoted` asks for quotation marks around the key.
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

/// What stands within the last `\boxed{}`; to the end of the text if nothing closes it.
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
