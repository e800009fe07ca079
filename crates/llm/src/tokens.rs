//! A provider-independent estimate of token counts.
//!
//! Tokenisers differ, so the estimate serves only to predict costs and the length of a
//! conversation. Costs and spend limits use the provider's counts.

/// Returns an estimate of the number of tokens of a text.
///
/// A word counts as one token per five letters, a number as one token per three digits, and a
/// sequence of the same punctuation mark as one token. Spaces are not counted. Each non-ASCII
/// character counts as one token.
///
/// # Examples
///
/// ```
/// assert_eq!(rhae_llm::estimate_tokens("hello big world"), 3);
/// assert_eq!(rhae_llm::estimate_tokens("[[1, 2], [3, 4]]"), 11);
/// ```
pub fn estimate_tokens(text: &str) -> u64 {
    let mut tokens = 0;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let continues: fn(char, char) -> bool = match letter {
            _ if letter.is_ascii_alphabetic() => |_, next| next.is_ascii_alphabetic(),
            _ if letter.is_ascii_digit() => |_, next| next.is_ascii_digit(),
            ' ' => continue,
            _ if letter.is_ascii() => |first, next| first == next,
            _ => |_, _| false,
        };
        let mut length: u64 = 1;
        while letters.next_if(|&next| continues(letter, next)).is_some() {
            length += 1;
        }
        tokens += match letter {
            _ if letter.is_ascii_alphabetic() => length.div_ceil(5),
            _ if letter.is_ascii_digit() => length.div_ceil(3),
            _ => 1,
        };
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_numbers_and_punctuation_are_counted() {
        assert_eq!(estimate_tokens(""), 0);
        assert_eq!(estimate_tokens("hello big world"), 3);
        assert_eq!(estimate_tokens("[[1, 2], [3, 4]]"), 11);
        assert_eq!(estimate_tokens("入力"), 2);
        assert_eq!(estimate_tokens("1234567"), 3);
    }
}
