//! How many tokens a text may have, before anyone has counted them.
//!
//! Tokenisers differ; this is for estimates of cost and for a first idea of a conversation's length. What is billed and limited
//! is counted by providers.

/// About how many tokens a text has: a word has one for every five letters, a number one for every three digits, and each run of
/// one punctuation mark is one. Blanks before something belong to it. Letters of other scripts count one each.
pub fn estimate_tokens(text: &str) -> u64 {
    let mut tokens = 0;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let alike: fn(char, char) -> bool = match letter {
            _ if letter.is_ascii_alphabetic() => |_, next| next.is_ascii_alphabetic(),
            _ if letter.is_ascii_digit() => |_, next| next.is_ascii_digit(),
            ' ' => continue,
            _ if letter.is_ascii() => |first, next| first == next,
            _ => |_, _| false,
        };
        let mut length: u64 = 1;
        while letters.next_if(|&next| alike(letter, next)).is_some() {
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
    fn words_numbers_and_marks_are_counted() {
        assert_eq!(estimate_tokens(""), 0);
        assert_eq!(estimate_tokens("hello big world"), 3);
        assert_eq!(estimate_tokens("[[1, 2], [3, 4]]"), 11);
        assert_eq!(estimate_tokens("入力"), 2);
        assert_eq!(estimate_tokens("1234567"), 3);
    }
}
