//! Colour names that a text attaches to integers: "Green (3)", "3 = green", "green is color 3".
//!
//! Positions and counts ("row 3 is green", "red: 3 cells") are left out as far as the neighbouring
//! words show them. What remains by mistake does not depend on the published mapping, so the
//! comparison with shuffled mappings accounts for it.

use std::collections::BTreeMap;
use std::ops::Range;

use super::palette::Palette;
use super::tokens::{Token, TokenKind, tokens};

/// Words after which an integer is a position, a number of an example or a size.
const POSITION_WORDS: &[&str] = &[
    "at", "attempt", "block", "by", "case", "col", "cols", "column", "columns", "count", "example",
    "examples", "figure", "grid", "height", "index", "input", "level", "line", "object", "option",
    "output", "pair", "part", "pattern", "position", "region", "row", "rows", "rule", "section",
    "shape", "size", "step", "test", "top", "train", "training", "width", "x", "y",
];
/// Words before which an integer is a count.
const COUNT_WORDS: &[&str] = &[
    "block", "blocks", "by", "cell", "cells", "columns", "dots", "lines", "object", "objects",
    "of", "pixel", "pixels", "rows", "shapes", "square", "squares", "tiles", "times", "units", "x",
];
/// Words that attach a name to an integer.
const LINK_WORDS: &[&str] = &[
    "is",
    "as",
    "means",
    "represents",
    "equals",
    "called",
    "denotes",
];
/// Words that may stand between a link and an integer.
const VALUE_WORDS: &[&str] = &["color", "colour", "value", "number"];

/// A colour with the integer that a text attaches to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Association {
    /// The value of the colour in the palette.
    pub(super) color: u32,
    /// The integer in the text.
    pub(super) value: u32,
    /// The bytes of the association.
    pub(super) range: Range<usize>,
}

/// Returns all associations of a text, in order.
pub(super) fn associations(text: &str, palette: Palette) -> Vec<Association> {
    let tokens = tokens(text);
    let reader = Reader {
        tokens: &tokens,
        palette,
    };
    (0..tokens.len()).filter_map(|at| reader.at(at)).collect()
}

/// Returns the integer that a text attaches to each colour most often. A colour without a single
/// most frequent integer has the smallest of them.
pub(super) fn mapping(associations: &[Association]) -> BTreeMap<u32, u32> {
    let mut counts: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    for one in associations {
        *counts.entry((one.color, one.value)).or_default() += 1;
    }
    most_frequent(&counts)
        .into_iter()
        .map(|(color, (value, _))| (color, value))
        .collect()
}

/// Returns the most frequent integer of each colour, with its count.
pub(super) fn most_frequent(counts: &BTreeMap<(u32, u32), usize>) -> BTreeMap<u32, (u32, usize)> {
    let mut best: BTreeMap<u32, (u32, usize)> = BTreeMap::new();
    for (&(color, value), &count) in counts {
        let known = best.entry(color).or_insert((value, count));
        if count > known.1 {
            *known = (value, count);
        }
    }
    best
}

struct Reader<'a> {
    tokens: &'a [Token],
    palette: Palette,
}

impl Reader<'_> {
    /// Returns the association that begins at a token.
    fn at(&self, start: usize) -> Option<Association> {
        if let Some((color, next)) = self.name(start) {
            let (value, end) = self.value_after_name(next)?;
            return Some(self.association(color, value, start..end));
        }
        let value = self.integer(start)?;
        if start > 0 && self.is_word(start - 1, POSITION_WORDS) {
            return None;
        }
        let (color, end) = self.name_after_value(start + 1)?;
        Some(self.association(color, value, start..end))
    }

    fn association(&self, color: u32, value: u32, at: Range<usize>) -> Association {
        let range = self.tokens[at.start].range.start..self.tokens[at.end - 1].range.end;
        Association {
            color,
            value,
            range,
        }
    }

    /// Returns the colour whose name begins at a token, and the token after the name.
    fn name(&self, at: usize) -> Option<(u32, usize)> {
        let first = self.word(at)?;
        let is_dash = self.is_sign(at + 1, '-');
        let second_at = at + 1 + usize::from(is_dash);
        let joined = self
            .word(second_at)
            .map(|second| format!("{first} {second}"));
        if let Some(color) = joined.and_then(|name| self.palette.value(&name)) {
            return Some((color, second_at + 1));
        }
        // The second word of a longer name is not a name: "light blue".
        let before = at.checked_sub(1 + usize::from(at > 0 && self.is_sign(at - 1, '-')));
        let is_qualified = before
            .and_then(|before| self.word(before))
            .is_some_and(|word| matches!(word, "light" | "dark" | "sky" | "off" | "pale"));
        if is_qualified {
            return None;
        }
        Some((self.palette.value(first)?, at + 1))
    }

    /// Returns the integer that follows a name, and the token after the association.
    fn value_after_name(&self, at: usize) -> Option<(u32, usize)> {
        if self.is_sign(at, '(') {
            let at = at + 1 + usize::from(self.is_word(at + 1, VALUE_WORDS));
            let value = self.integer(at)?;
            return self.is_sign(at + 1, ')').then_some((value, at + 2));
        }
        let at = self.after_link(at)?;
        let at = at + usize::from(self.is_word(at, VALUE_WORDS));
        let value = self.integer(at)?;
        let is_count = self.is_word(at + 1, COUNT_WORDS) || self.is_sign(at + 1, '×');
        (!is_count).then_some((value, at + 1))
    }

    /// Returns the colour that follows an integer, and the token after the association.
    fn name_after_value(&self, at: usize) -> Option<(u32, usize)> {
        if self.is_sign(at, '(') {
            let (color, next) = self.name(at + 1)?;
            return self.is_sign(next, ')').then_some((color, next + 1));
        }
        self.name(self.after_link(at)?)
    }

    /// Returns the token after a link, such as `=` or `is`.
    fn after_link(&self, at: usize) -> Option<usize> {
        let is_link = match &self.tokens.get(at)?.kind {
            TokenKind::Sign(sign) => matches!(sign, '=' | ':'),
            TokenKind::Arrow => true,
            TokenKind::Word(word) => LINK_WORDS.contains(&word.as_str()),
            _ => false,
        };
        is_link.then_some(at + 1)
    }

    fn word(&self, at: usize) -> Option<&str> {
        match &self.tokens.get(at)?.kind {
            TokenKind::Word(word) => Some(word),
            _ => None,
        }
    }

    fn is_word(&self, at: usize, words: &[&str]) -> bool {
        self.word(at).is_some_and(|word| words.contains(&word))
    }

    fn integer(&self, at: usize) -> Option<u32> {
        match self.tokens.get(at)?.kind {
            TokenKind::Integer(value) => Some(value),
            _ => None,
        }
    }

    fn is_sign(&self, at: usize, sign: char) -> bool {
        self.tokens
            .get(at)
            .is_some_and(|token| token.kind == TokenKind::Sign(sign))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the associations as `name value` pairs.
    fn found(text: &str) -> Vec<String> {
        associations(text, Palette::Static)
            .into_iter()
            .map(|one| format!("{} {}", Palette::Static.usual_name(one.color), one.value))
            .collect()
    }

    #[test]
    fn associations_are_found_in_the_usual_notations() {
        for (text, expected) in [
            (
                "Target is Green (3). Pattern is Magenta (6) Solid.",
                vec!["green 3", "magenta 6"],
            ),
            ("3 (green), 6 (pink)", vec!["green 3", "magenta 6"]),
            ("0=black, 1=blue, 2=red", vec!["blue 1", "red 2"]),
            ("Light blue is color 8", vec!["light blue 8"]),
            ("the light-blue (8) line", vec!["light blue 8"]),
            ("8: azure; 9 → brown", vec!["light blue 8", "maroon 9"]),
            ("grey -> 5", vec!["gray 5"]),
            ("red (color 4)", vec!["red 4"]),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn positions_counts_and_other_numbers_are_not_associations() {
        for text in [
            "row 3 is green",
            "column 2: red",
            "red: 3 cells",
            "green is 3 by 3",
            "3 green cells",
            "green, 3",
            "green (3 cells)",
            "evergreen (3)",
            "a blue 1x1 square",
            "dark blue (1)",
            "12345 = red",
        ] {
            assert_eq!(found(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn most_frequent_integer_of_a_colour_counts() {
        let text = "green (3), green (3), green (4), red (7), red (1)";
        let mapping = mapping(&associations(text, Palette::Static));
        assert_eq!(mapping, BTreeMap::from([(2, 1), (3, 3)]));
    }

    #[test]
    fn ranges_cover_the_associations() {
        let text = "so Magenta (6) it is";
        let all = associations(text, Palette::Static);
        assert_eq!(&text[all[0].range.clone()], "Magenta (6)");
    }
}
