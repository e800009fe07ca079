//! The text as the scanner reads it: reasoning blanked out, full-width and other compatibility forms of digits and brackets replaced.
//!
//! Invariant: every byte keeps its place, so that a span in the cleaned text is the span in the text. What a replaced character
//! leaves over is filled with [`FILLER`], which readers skip.

/// A byte that stands for nothing.
pub(super) const FILLER: u8 = 0;

/// A byte that stands for any character that is neither ASCII nor replaced.
const OTHER: u8 = b'?';

/// How models mark what they think before they answer.
const TAGS: [(&str, &str); 7] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<scratchpad>", "</scratchpad>"),
    ("[think]", "[/think]"),
    ("◁think▷", "◁/think▷"),
];

pub(super) struct Clean {
    pub(super) text: Vec<u8>,
    /// Whether the text ends within the reasoning.
    pub(super) unclosed: bool,
}

pub(super) fn clean(text: &str) -> Clean {
    let mut bytes = Vec::with_capacity(text.len());
    for letter in text.chars() {
        let end = bytes.len() + letter.len_utf8();
        bytes.push(ascii(letter));
        bytes.resize(end, FILLER);
    }
    let unclosed = blank_reasoning(text.as_bytes(), &mut bytes);
    Clean {
        text: bytes,
        unclosed,
    }
}

/// Blanks every closed part, what stands before a closing tag that nothing opened, and what follows an opening tag that nothing closes.
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

/// Whether a tag stands here, opening or closing, and how long it is.
fn tag_at(text: &[u8]) -> Option<(bool, usize)> {
    let stands = |tag: &str| {
        text.get(..tag.len())
            .is_some_and(|begin| begin.eq_ignore_ascii_case(tag.as_bytes()))
    };
    TAGS.iter().find_map(|(open, close)| {
        if stands(open) {
            Some((true, open.len()))
        } else if stands(close) {
            Some((false, close.len()))
        } else {
            None
        }
    })
}

/// The ASCII character that this one is a form of (Unicode's NFKC for digits, brackets and signs; the ideographic comma besides).
fn ascii(letter: char) -> u8 {
    let digit =
        |first: u32| b'0' + u8::try_from((u32::from(letter) - first) % 10).expect("less than ten");
    match letter {
        '\0' => b' ',
        '\x01'..='\x7f' => u8::try_from(letter).expect("ASCII"),
        // Full-width forms stand in the order of ASCII.
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
