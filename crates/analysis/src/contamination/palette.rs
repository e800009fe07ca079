//! The published names of the colours of both generations of ARC-AGI.

/// A mapping of integers to colour names. Value 0 is left out in both: that the background is the
/// colour of the background is no knowledge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Palette {
    /// ARC-AGI-1 and ARC-AGI-2.
    Static,
    /// ARC-AGI-3.
    Interactive,
}

/// A colour: its value and the names that transcripts use, the usual one first.
type Color = (u32, &'static [&'static str]);

const STATIC: &[Color] = &[
    (1, &["blue"]),
    (2, &["red"]),
    (3, &["green"]),
    (4, &["yellow"]),
    (5, &["gray", "grey"]),
    (6, &["magenta", "fuchsia", "pink"]),
    (7, &["orange"]),
    (8, &["light blue", "sky blue", "azure", "cyan", "teal"]),
    (9, &["maroon", "brown", "dark red", "burgundy"]),
];

const INTERACTIVE: &[Color] = &[
    (1, &["light gray", "light grey"]),
    (2, &["gray", "grey"]),
    (3, &["dark gray", "dark grey"]),
    (4, &["charcoal"]),
    (5, &["black"]),
    (6, &["magenta", "fuchsia"]),
    (7, &["pink"]),
    (8, &["red"]),
    (9, &["blue"]),
    (10, &["light blue", "sky blue", "azure", "cyan", "teal"]),
    (11, &["yellow"]),
    (12, &["orange"]),
    (13, &["maroon", "brown", "dark red", "burgundy"]),
    (14, &["green"]),
    (15, &["purple", "violet"]),
];

impl Palette {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Static => "arc-agi-1",
            Self::Interactive => "arc-agi-3",
        }
    }

    const fn colors(self) -> &'static [Color] {
        match self {
            Self::Static => STATIC,
            Self::Interactive => INTERACTIVE,
        }
    }

    /// Returns the number of colours with a name.
    pub(super) const fn count(self) -> u64 {
        self.colors().len() as u64
    }

    /// Returns the value of the colour with this name.
    pub(super) fn value(self, name: &str) -> Option<u32> {
        let colors = self.colors().iter();
        let mut named = colors.filter(|(_, names)| names.contains(&name));
        named.next().map(|&(value, _)| value)
    }

    /// Returns the usual name of a colour.
    pub(super) fn usual_name(self, value: u32) -> &'static str {
        let mut colors = self.colors().iter();
        colors
            .find(|(one, _)| *one == value)
            .map_or("", |(_, names)| names[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_unique() {
        for palette in [Palette::Static, Palette::Interactive] {
            let mut names: Vec<&str> = palette
                .colors()
                .iter()
                .flat_map(|(_, names)| names.iter().copied())
                .collect();
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count);
            let values = palette.colors().iter().map(|(value, _)| *value);
            assert!(values.eq(1..=u32::try_from(palette.count()).unwrap()));
        }
    }

    #[test]
    fn synonyms_have_the_same_value() {
        assert_eq!(Palette::Static.value("azure"), Some(8));
        assert_eq!(Palette::Static.value("black"), None);
        assert_eq!(Palette::Interactive.value("black"), Some(5));
        assert_eq!(Palette::Interactive.usual_name(13), "maroon");
    }
}
