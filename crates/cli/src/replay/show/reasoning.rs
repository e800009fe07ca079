//! What a player said, made fit for a terminal.
//!
//! Invariant: what comes out of here moves no cursor and fills one column a character, whatever came in: a recording may
//! come from anybody.

/// The text as lines of at most this many columns, and at most this many of them; a mark says that there was more.
pub(crate) fn lines(text: &str, columns: usize, rows: usize) -> Vec<String> {
    let mut lines = Vec::new();
    if columns == 0 || rows == 0 {
        return lines;
    }
    let mut cut = false;
    for line in text.lines() {
        // One row more than fits tells whether something is left out, without going through all of a long text.
        wrap(line, columns, rows + 1, &mut lines);
        if lines.len() > rows {
            cut = true;
            break;
        }
    }
    lines.truncate(rows);
    if cut && let Some(last) = lines.last_mut() {
        if last.chars().count() == columns {
            last.pop();
        }
        last.push('…');
    }
    lines
}

/// One line of plain characters, for a word that stands beside others.
pub(crate) fn plain(text: &str) -> String {
    text.chars().filter_map(printable).collect()
}

/// Breaks a line between words, and a word that is longer than a line anywhere.
fn wrap(line: &str, columns: usize, most: usize, lines: &mut Vec<String>) {
    let mut row = String::new();
    let mut length = 0;
    // Where the last blank stands in the row: in bytes, and the columns up to it.
    let mut blank: Option<(usize, usize)> = None;
    for symbol in line.chars().filter_map(printable) {
        if length == columns {
            if symbol == ' ' {
                lines.push(std::mem::take(&mut row));
                (length, blank) = (0, None);
            } else if let Some((at, before)) = blank.take() {
                let rest = row.split_off(at + 1);
                row.truncate(at);
                lines.push(std::mem::replace(&mut row, rest));
                length -= before + 1;
            } else {
                lines.push(std::mem::take(&mut row));
                length = 0;
            }
            if lines.len() >= most {
                return;
            }
            if symbol == ' ' {
                continue;
            }
        }
        if symbol == ' ' && !row.trim_start().is_empty() {
            blank = Some((row.len(), length));
        }
        row.push(symbol);
        length += 1;
    }
    lines.push(row);
}

/// The character as the terminal may show it: none for a control or an invisible character, a question mark for one that
/// may not be one column wide.
fn printable(symbol: char) -> Option<char> {
    match symbol {
        '\t' => Some(' '),
        _ if symbol.is_control() => None,
        // Marks of direction, joiners, separators, the byte order mark, the soft hyphen.
        '\u{200B}'..='\u{200F}'
        | '\u{2028}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}'
        | '\u{FE00}'..='\u{FE0F}'
        | '\u{FEFF}'
        | '\u{AD}'
        | '\u{61C}'
        | '\u{E0000}'..='\u{E0FFF}' => None,
        // Combining marks would fall on the character before.
        '\u{300}'..='\u{36F}' => None,
        // Other kinds of blank.
        '\u{A0}' | '\u{2000}'..='\u{200A}' | '\u{202F}' | '\u{205F}' => Some(' '),
        // Latin, Greek, Cyrillic without its combining marks; punctuation, currency, arrows, mathematics, boxes, shapes.
        ' '..='\u{2FF}'
        | '\u{370}'..='\u{482}'
        | '\u{48A}'..='\u{52F}'
        | '\u{1E00}'..='\u{20CF}' => Some(symbol),
        // Of the arrows to the shapes these are wide: watch, hourglass, fast forward, angle brackets, medium squares.
        '\u{231A}'
        | '\u{231B}'
        | '\u{2329}'
        | '\u{232A}'
        | '\u{23E9}'..='\u{23F3}'
        | '\u{25FD}'
        | '\u{25FE}' => Some('?'),
        '\u{2190}'..='\u{25FF}' => Some(symbol),
        _ => Some('?'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_whole_and_long_ones_are_broken() {
        assert_eq!(lines("go left, then up", 8, 9), ["go left,", "then up"]);
        assert_eq!(lines("aaaaaaaaaa bb", 4, 9), ["aaaa", "aaaa", "aa", "bb"]);
        assert_eq!(
            lines("{\n  \"plan\": 1\n}", 20, 9),
            ["{", "  \"plan\": 1", "}"]
        );
        assert_eq!(lines("a\n\nb", 4, 9), ["a", "", "b"]);
        assert_eq!(lines("      ab", 4, 9), ["    ", " ab"]);
    }

    #[test]
    fn what_does_not_fit_is_marked() {
        assert_eq!(lines("one two three", 5, 2), ["one", "two…"]);
        assert_eq!(lines("12345 12345", 5, 1), ["1234…"]);
        assert_eq!(lines("1\n2\n3", 5, 2), ["1", "2…"]);
        assert_eq!(lines("1\n2", 5, 2), ["1", "2"]);
        assert!(lines("text", 0, 4).is_empty() && lines("text", 4, 0).is_empty());
        assert_eq!(lines(&"word ".repeat(1_000_000), 64, 3).len(), 3);
    }

    #[test]
    fn nothing_reaches_the_terminal_but_plain_characters() {
        let hostile = "\x1b]0;title\x07\x1b[2J\u{9b}31m\u{202E}evil\u{200B}\r\x08\x7f ok";
        assert_eq!(lines(hostile, 80, 5), ["]0;title[2J31mevil ok"]);
        assert_eq!(plain("a\nb\u{301}漢😀é→"), "ab??é→");
        for symbol in (0..=0x10FFFF).filter_map(char::from_u32) {
            assert!(printable(symbol).is_none_or(|shown| !shown.is_control()));
        }
    }
}
