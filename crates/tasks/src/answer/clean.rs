//! Prepares a text for the scanner: blanks out reasoning sections and replaces full-width and other
//! compatibility forms of digits and brackets with ASCII characters.
//!
//! Invariant: byte offsets do not change, so a span of the cleaned text is also a span of the
//! original text. If a multi-byte character is replaced, its remaining bytes become [`FILLER`],
//! which the scanner and the other readers skip.

/// Padding after a replaced multi-byte character.
pub(super) const FILLER: u8 = 0;

/// Replacement for every non-ASCII character without an ASCII form.
const OTHER: u8 = b'?';

/// Opening and closing tags that models put around their reasoning.
const TAGS: [(&str, &str); 7] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<scratchpad>", "</scratchpad>"),
    ("[think]", "[/think]"),
    ("◁think▷", "◁/think▷"),
];

pub(super) struct CleanText {
    pub(super) text: Vec<u8>,
    /// Whether the text ends inside a reasoning section.
    pub(super) unclosed: bool,
}

pub(super) fn clean(text: &str) -> CleanText {
    let mut bytes = Vec::with_capacity(text.len());
    for letter in text.chars() {
        let end = bytes.len() + letter.len_utf8();
        bytes.push(ascii(letter));
        bytes.resize(end, FILLER);
    }
    let unclosed = blank_reasoning(text.as_bytes(), &mut bytes);
    CleanText {
        text: bytes,
        unclosed,
    }
}

/// Blanks every closed reasoning section, all text before an unmatched closing tag, and all text
/// after an unmatched opening tag. Returns whether a section is still open at the end.
fn blank_reasoning(text: &[u8], bytes: &mut [u8]) -> bool {
    let (mut begin, mut kept_from, mut at) = (None, 0, 0);
    while at < text.len() {
        let tag = if matches!(text[at], b'<' | b'[' | 0xE2) {
            tag_at(&text[at..])
        } else {
            None
        };
        let Some((opens, length)) = tag else {
            at += 1;
            continue;
        };
        if opens {
            begin = begin.or(Some(at));
        } else if let Some(begin) = begin.take() {
            bytes[begin..at + length].fill(b'\n');
        } else {
            kept_from = at + length;
        }
        at += length;
    }
    bytes[..kept_from].fill(b'\n');
    if let Some(begin) = begin {
        bytes[begin..].fill(b'\n');
    }
    begin.is_some()
}

/// Returns whether the tag at the start of `text` is an opening tag, and the length of the tag.
/// Returns `None` if `text` does not start with a tag.
fn tag_at(text: &[u8]) -> Option<(bool, usize)> {
    let starts_with = |tag: &str| {
        text.get(..tag.len())
            .is_some_and(|begin| begin.eq_ignore_ascii_case(tag.as_bytes()))
    };
    TAGS.iter().find_map(|(open, close)| {
        if starts_with(open) {
            Some((true, open.len()))
        } else if starts_with(close) {
            Some((false, close.len()))
        } else {
            None
        }
    })
}

/// Returns the ASCII form of a character: the Unicode NFKC form for digits, brackets and signs, a
/// comma for the ideographic comma, and [`OTHER`] for characters without an ASCII form.
fn ascii(letter: char) -> u8 {
    let digit =
        |first: u32| b'0' + u8::try_from((u32::from(letter) - first) % 10).expect("less than ten");
    match letter {
        '\0' => b' ',
        '\x01'..='\x7f' => u8::try_from(letter).expect("ASCII"),
        // Full-width forms are in the same order as the ASCII characters.
        '\u{FF01}'..='\u{FF5E}' => {
            u8::try_from(u32::from(letter) - 0xFEE0).expect("full-width forms are those of ASCII")
        }
        '\u{1D7CE}'..='\u{1D7FF}' => digit(0x1D7CE),
        '⁰' | '⁴'..='⁹' => digit(0x2070),
        '₀'..='₉' => digit(0x2080),
        '¹' => b'1',
        '²' => b'2',
        '³' => b'3',
        '①'..='⑨' => b'1' + digit(0x2460) - b'0',
        '⓪' => b'0',
        '\u{FE47}' => b'[',
        '\u{FE48}' => b']',
        '、' | '､' | '﹐' | '︐' | '﹑' => b',',
        '…' => b'\x1f',
        '−' => b'-',
        '“' | '”' => b'"',
        '‘' | '’' => b'\'',
        _ if letter.is_whitespace() => b' ',
        '\u{200B}' | '\u{2060}' | '\u{FEFF}' => FILLER,
        _ => OTHER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let clean = clean(text);
        assert_eq!(clean.text.len(), text.len());
        String::from_utf8(
            clean
                .text
                .into_iter()
                .filter(|&byte| byte != FILLER)
                .collect(),
        )
        .unwrap()
    }

    #[test]
    fn compatibility_forms_become_ascii() {
        assert_eq!(shown("［［１，２］，［𝟑、⁴］］"), "[[1,2],[3,4]]");
        assert_eq!(shown("①⑨⓪²₇"), "19027");
        assert_eq!(shown("1\u{3000}2"), "1 2");
    }

    #[test]
    fn reasoning_is_blanked() {
        assert_eq!(shown("<think>[[0]]</think>[[1]]").trim(), "[[1]]");
        assert_eq!(shown("[[0]] </THINK>[[1]]").trim(), "[[1]]");
        assert_eq!(shown("[[1]] <thinking>[[0]]").trim(), "[[1]]");
        assert!(clean("<think>[[0]]").unclosed);
        assert_eq!(shown("◁think▷[[0]]◁/think▷x").trim(), "x");
    }
}
