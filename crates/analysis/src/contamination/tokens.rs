//! Words, integers and punctuation of a transcript.

use std::ops::Range;

/// A token and its place in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    /// The bytes of the token.
    pub(super) range: Range<usize>,
}

/// What a token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A word of letters, in lower case.
    Word(String),
    /// An integer of at most three digits.
    Integer(u32),
    /// `->`, `=>` or `→`.
    Arrow,
    /// Any other character that is not white space.
    Sign(char),
    /// Digits that are not an integer on their own: `3x3`, `0.5`, `007bbfb7`.
    Other,
}

/// Divides a text into tokens.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut rest = text.char_indices().peekable();
    while let Some(&(start, first)) = rest.peek() {
        if first.is_whitespace() {
            rest.next();
            continue;
        }
        let is_part = |letter: char| letter.is_alphanumeric();
        let mut end = start + first.len_utf8();
        if is_part(first) {
            while let Some(&(at, letter)) = rest.peek() {
                // A point between two digits belongs to the number.
                let joins = letter == '.'
                    && text[..at].ends_with(|digit: char| digit.is_ascii_digit())
                    && text[at + 1..].starts_with(|digit: char| digit.is_ascii_digit());
                if !is_part(letter) && !joins {
                    break;
                }
                end = at + letter.len_utf8();
                rest.next();
            }
        } else {
            rest.next();
            let is_arrow = matches!(first, '-' | '=') && text[end..].starts_with('>');
            if is_arrow {
                rest.next();
                end += 1;
            }
        }
        let kind = kind_of(&text[start..end], first);
        found.push(Token {
            kind,
            range: start..end,
        });
    }
    found
}

fn kind_of(text: &str, first: char) -> TokenKind {
    if !first.is_alphanumeric() {
        return match text {
            "->" | "=>" | "→" => TokenKind::Arrow,
            _ => TokenKind::Sign(first),
        };
    }
    if text.chars().all(char::is_alphabetic) {
        return TokenKind::Word(text.to_lowercase());
    }
    let is_short = text.len() <= 3 && text.bytes().all(|digit| digit.is_ascii_digit());
    match text.parse() {
        Ok(number) if is_short => TokenKind::Integer(number),
        _ => TokenKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_divided_into_words_integers_and_signs() {
        use TokenKind::{Arrow, Integer, Other, Sign, Word};
        let kinds = |text: &str| -> Vec<TokenKind> {
            tokens(text).into_iter().map(|token| token.kind).collect()
        };
        let word = |text: &str| Word(text.to_owned());
        assert_eq!(
            kinds("Target is Green (3)."),
            [
                word("target"),
                word("is"),
                word("green"),
                Sign('('),
                Integer(3),
                Sign(')'),
                Sign('.')
            ]
        );
        assert_eq!(kinds("3x3 0.5 007bbfb7"), [Other, Other, Other]);
        assert_eq!(
            kinds("3->blau, 4 → rot = 2"),
            [
                Integer(3),
                Arrow,
                word("blau"),
                Sign(','),
                Integer(4),
                Arrow,
                word("rot"),
                Sign('='),
                Integer(2)
            ]
        );
        assert_eq!(kinds("12345 .5"), [Other, Sign('.'), Integer(5)]);
    }

    #[test]
    fn ranges_are_the_bytes_of_the_tokens() {
        let text = "é→ (7)";
        let parts: Vec<&str> = tokens(text)
            .into_iter()
            .map(|token| &text[token.range])
            .collect();
        assert_eq!(parts, ["é", "→", "(", "7", ")"]);
    }
}
