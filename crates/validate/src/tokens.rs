//! Reduces source code to one byte per token, for comparison. An author can change names, literals,
//! comments and layout without changing the rules of a game. Every name therefore becomes the same
//! byte, as does every number and every string. Comments and layout are removed.
//!
//! The conversion does not parse the language: any other ASCII character is a separate token, and
//! every input is accepted.

/// The programming language of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// The language of native games.
    Rust,
    /// The language of games for the official engine.
    Python,
}

const RUST: &[&str] = &[
    "as", "break", "const", "continue", "else", "enum", "false", "fn", "for", "if", "impl", "in",
    "let", "loop", "match", "mod", "move", "mut", "pub", "ref", "return", "self", "Self", "static",
    "struct", "trait", "true", "type", "use", "where", "while",
];
const PYTHON: &[&str] = &[
    "and", "as", "assert", "break", "class", "continue", "def", "del", "elif", "else", "except",
    "False", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "None",
    "nonlocal", "not", "or", "pass", "raise", "return", "self", "True", "try", "while", "with",
    "yield",
];

const NAME: u8 = b'n';
const NUMBER: u8 = b'0';
const TEXT: u8 = b's';
/// The byte of the first keyword; the others follow.
const KEYWORDS: u8 = 128;

/// Converts a source to tokens, one byte each.
///
/// # Examples
///
/// ```
/// use rhae_validate::{Language, tokens};
///
/// // Names and comments do not matter, operators do.
/// let sum = tokens("fn add(a: u8) -> u8 { a + 1 } // sum", Language::Rust);
/// assert_eq!(sum, tokens("fn more(b: i64) -> i64 { b + 22 }", Language::Rust));
/// assert_ne!(sum, tokens("fn less(b: i64) -> i64 { b - 22 }", Language::Rust));
/// ```
pub fn tokens(source: &str, language: Language) -> Vec<u8> {
    let keywords = if language == Language::Rust {
        RUST
    } else {
        PYTHON
    };
    let mut tokens = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let length = match (language, first) {
            (Language::Rust, '/') if rest.starts_with("//") => line_length(rest),
            (Language::Rust, '/') if rest.starts_with("/*") => {
                rest.find("*/").map_or(rest.len(), |end| end + 2)
            }
            (Language::Python, '#') => line_length(rest),
            (Language::Python, '\'' | '"')
                if rest.starts_with("'''") || rest.starts_with("\"\"\"") =>
            {
                tokens.push(TEXT);
                rest[3..].find(&rest[..3]).map_or(rest.len(), |end| end + 6)
            }
            (_, '"') | (Language::Python, '\'') => {
                tokens.push(TEXT);
                quoted_length(rest, first)
            }
            (Language::Rust, '\'') => {
                tokens.push(TEXT);
                character_length(rest)
            }
            (_, space) if space.is_whitespace() => space.len_utf8(),
            (_, digit) if digit.is_ascii_digit() => {
                tokens.push(NUMBER);
                word_length(rest)
            }
            (_, letter) if letter.is_alphabetic() || letter == '_' => {
                let length = word_length(rest);
                let known = keywords
                    .iter()
                    .position(|&keyword| keyword == &rest[..length]);
                tokens.push(
                    known
                        .and_then(|at| u8::try_from(at).ok())
                        .map_or(NAME, |at| KEYWORDS + at),
                );
                length
            }
            (_, sign) => {
                tokens.push(if sign.is_ascii() { sign as u8 } else { NAME });
                sign.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    tokens
}

fn line_length(rest: &str) -> usize {
    rest.find('\n').unwrap_or(rest.len())
}

fn word_length(rest: &str) -> usize {
    rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .unwrap_or(rest.len())
}

fn quoted_length(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, letter) in rest.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if letter == quote => return at + quote.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

/// Returns the length of a Rust character literal or of the name of a lifetime.
fn character_length(rest: &str) -> usize {
    let mut letters = rest.char_indices().skip(1);
    let Some((at, first)) = letters.next() else {
        return rest.len();
    };
    if first == '\\' {
        return quoted_length(rest, '\'');
    }
    let after = at + first.len_utf8();
    if rest[after..].starts_with('\'') {
        after + 1
    } else {
        1 + word_length(&rest[1..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_literals_and_comments_are_removed() {
        let one = tokens("fn add(a: u8) -> u8 { a + 1 } // sum", Language::Rust);
        let other = tokens(
            "/* no\nsum */ fn minus_minus(other: i64) -> i64 {\n other + 0xFF }",
            Language::Rust,
        );
        assert_eq!(one, other);
        assert_ne!(one, tokens("fn add(a: u8) -> u8 { a - 1 }", Language::Rust));
        assert_eq!(
            tokens(
                "let a = 'x'; let b: &'static str = \"\\\"\";",
                Language::Rust
            ),
            tokens("let c='\\n';let d:&'a n=\"\";", Language::Rust)
        );
        let python = |text: &str| tokens(text, Language::Python);
        assert_eq!(
            python("def f(x): # note\n  return 'a'"),
            python("def g(y):\n\treturn \"\"\"b\nc\"\"\"")
        );
    }

    #[test]
    fn malformed_source_does_not_panic() {
        for text in [
            "'", "\"", "\"\\", "/*", "'''", "'\\", "é'ü", "#", "_", "'ab", "''",
        ] {
            let _ = (tokens(text, Language::Rust), tokens(text, Language::Python));
        }
    }
}
