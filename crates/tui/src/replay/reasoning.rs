//! Sanitizing and wrapping the reasoning text of a recording for the terminal.
//!
//! Invariant: for any input, the output contains no control characters, and every character
//! occupies one column. Recordings are untrusted.

/// Wraps a text to at most `rows` lines of at most `columns` columns. An ellipsis marks truncation.
pub(crate) fn wrapped_lines(text: &str, columns: usize, rows: usize) -> Vec<String> {
    let mut lines = Vec::new();
    if columns == 0 || rows == 0 {
        return lines;
    }
    let mut truncated = false;
    for line in text.lines() {
        // Wrap one row more than fits. The extra row shows that the text is too long, without
        // wrapping the rest of it.
        wrap(line, columns, rows + 1, &mut lines);
        if lines.len() > rows {
            truncated = true;
            break;
        }
    }
    lines.truncate(rows);
    if truncated && let Some(last) = lines.last_mut() {
        if last.chars().count() == columns {
            last.pop();
        }
        last.push('…');
    }
    lines
}

/// Sanitizes a text for display on a single line.
pub(crate) fn plain(text: &str) -> String {
    text.chars().filter_map(printable).collect()
}

/// Wraps one line between words, and within words that are longer than a line. Stops once `lines`
/// has `max_lines` entries.
fn wrap(line: &str, columns: usize, max_lines: usize, lines: &mut Vec<String>) {
    let mut row = String::new();
    let mut length = 0;
    // The last space in the row: its byte offset and its column.
    let mut space: Option<(usize, usize)> = None;
    for symbol in line.chars().filter_map(printable) {
        if length == columns {
            if symbol == ' ' {
                lines.push(std::mem::take(&mut row));
                (length, space) = (0, None);
            } else if let Some((at, before)) = space.take() {
                let rest = row.split_off(at + 1);
                row.truncate(at);
                lines.push(std::mem::replace(&mut row, rest));
                length -= before + 1;
            } else {
                lines.push(std::mem::take(&mut row));
                length = 0;
            }
            if lines.len() >= max_lines {
                return;
            }
            if symbol == ' ' {
                continue;
            }
        }
        if symbol == ' ' && !row.trim_start().is_empty() {
            space = Some((row.len(), length));
        }
        row.push(symbol);
        length += 1;
    }
    lines.push(row);
}

/// Returns the character to show: `None` for control and invisible characters, a question mark for
/// characters that may not be one column wide.
fn printable(symbol: char) -> Option<char> {
    match symbol {
        '\t' => Some(' '),
        _ if symbol.is_control() => None,
        // Directional marks, joiners, separators, the byte order mark, the soft hyphen.
        '\u{200B}'..='\u{200F}'
        | '\u{2028}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}'
        | '\u{FE00}'..='\u{FE0F}'
        | '\u{FEFF}'
        | '\u{AD}'
        | '\u{61C}'
        | '\u{E0000}'..='\u{E0FFF}' => None,
        // Combining marks would change the previous character.
        '\u{300}'..='\u{36F}' => None,
        // Other spaces.
        '\u{A0}' | '\u{2000}'..='\u{200A}' | '\u{202F}' | '\u{205F}' => Some(' '),
        // Latin, Greek, Cyrillic without its combining marks, punctuation, currency signs.
        ' '..='\u{2FF}'
        | '\u{370}'..='\u{482}'
        | '\u{48A}'..='\u{52F}'
        | '\u{1E00}'..='\u{20CF}' => Some(symbol),
        // Wide characters in the following range: watch, hourglass, fast forward, angle brackets,
        // medium squares.
        '\u{231A}'
        | '\u{231B}'
        | '\u{2329}'
        | '\u{232A}'
        | '\u{23E9}'..='\u{23F3}'
        | '\u{25FD}'
        | '\u{25FE}' => Some('?'),
        // Arrows, mathematics, box drawing, geometric shapes.
        '\u{2190}'..='\u{25FF}' => Some(symbol),
        _ => Some('?'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_within_long_words() {
        assert_eq!(
            wrapped_lines("go left, then up", 8, 9),
            ["go left,", "then up"]
        );
        assert_eq!(
            wrapped_lines("aaaaaaaaaa bb", 4, 9),
            ["aaaa", "aaaa", "aa", "bb"]
        );
        assert_eq!(
            wrapped_lines("{\n  \"plan\": 1\n}", 20, 9),
            ["{", "  \"plan\": 1", "}"]
        );
        assert_eq!(wrapped_lines("a\n\nb", 4, 9), ["a", "", "b"]);
        assert_eq!(wrapped_lines("      ab", 4, 9), ["    ", " ab"]);
    }

    #[test]
    fn truncation_is_marked() {
        assert_eq!(wrapped_lines("one two three", 5, 2), ["one", "two…"]);
        assert_eq!(wrapped_lines("12345 12345", 5, 1), ["1234…"]);
        assert_eq!(wrapped_lines("1\n2\n3", 5, 2), ["1", "2…"]);
        assert_eq!(wrapped_lines("1\n2", 5, 2), ["1", "2"]);
        assert!(wrapped_lines("text", 0, 4).is_empty() && wrapped_lines("text", 4, 0).is_empty());
        assert_eq!(wrapped_lines(&"word ".repeat(1_000_000), 64, 3).len(), 3);
    }

    #[test]
    fn control_and_wide_characters_are_removed_or_replaced() {
        let hostile = "\x1b]0;title\x07\x1b[2J\u{9b}31m\u{202E}evil\u{200B}\r\x08\x7f ok";
        assert_eq!(wrapped_lines(hostile, 80, 5), ["]0;title[2J31mevil ok"]);
        assert_eq!(plain("a\nb\u{301}漢😀é→"), "ab??é→");
        for symbol in (0..=0x10FFFF).filter_map(char::from_u32) {
            assert!(printable(symbol).is_none_or(|shown| !shown.is_control()));
        }
    }
}
