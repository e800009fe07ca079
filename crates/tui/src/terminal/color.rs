//! Terminal escape sequences for the sixteen colours of a frame.
//!
//! On a terminal with only the sixteen ANSI colours, each cell value maps to a different colour, so
//! that all values can be distinguished. A grey without an ANSI counterpart gets a colour that no
//! other value uses.

use rhae_engine::PALETTE;

/// The number of colours that a terminal supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColorDepth {
    /// 24-bit RGB.
    True,
    /// The 256 xterm colours.
    Indexed,
    /// The eight ANSI colours and their bright variants.
    Ansi,
}

impl ColorDepth {
    /// Detects the colour depth from environment variables, read through `variable`.
    pub fn detect(variable: impl Fn(&str) -> Option<String>) -> Self {
        let value = |name: &str| variable(name).unwrap_or_default().to_ascii_lowercase();
        let term = value("TERM");
        let says_true = matches!(value("COLORTERM").as_str(), "truecolor" | "24bit");
        let known = [
            "alacritty",
            "contour",
            "foot",
            "ghostty",
            "kitty",
            "wezterm",
        ]
        .iter()
        .any(|name| term.contains(name));
        let program = matches!(
            value("TERM_PROGRAM").as_str(),
            "iterm.app" | "wezterm" | "vscode" | "ghostty"
        );
        // A multiplexer sets TERM to its own name, so the terminal around it is not matched by
        // TERM. That is intended: the multiplexer may support fewer colours.
        let direct =
            term.ends_with("-direct") || known || program || !value("WT_SESSION").is_empty();
        if says_true || direct {
            Self::True
        } else if term.contains("256color") {
            Self::Indexed
        } else {
            Self::Ansi
        }
    }

    /// Returns the parameters of the escape sequence that sets the foreground or background to the
    /// colour of a cell.
    pub fn parameters(self, cell: u8, background: bool) -> String {
        let cell = usize::from(cell & 15);
        let extended = if background { 48 } else { 38 };
        match self {
            Self::True => {
                let [red, green, blue] = PALETTE[cell];
                format!("{extended};2;{red};{green};{blue}")
            }
            Self::Indexed => format!("{extended};5;{}", INDEXED[cell]),
            Self::Ansi => {
                let color = ANSI[cell];
                let base = if color < 8 { 30 } else { 90 - 8 } + if background { 10 } else { 0 };
                (base + color).to_string()
            }
        }
    }
}

/// The ANSI colour, 0 to 15, of each cell value, without duplicates.
const ANSI: [u8; 16] = [15, 7, 6, 8, 2, 0, 5, 13, 9, 12, 14, 11, 3, 1, 10, 4];

/// The nearest xterm colour of each cell value. Only the colours 16 to 255 are used, because they
/// are the same on all terminals. Distances are measured in the Oklab space (Ottosson 2020): in
/// RGB, dark red would become purple.
const INDEXED: [u8; 16] = [
    231, 252, 247, 241, 236, 16, 199, 212, 196, 33, 117, 220, 208, 88, 76, 134,
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn depth(variables: &[(&str, &str)]) -> ColorDepth {
        ColorDepth::detect(|name| {
            variables
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn depth_is_detected_from_the_environment() {
        assert_eq!(
            depth(&[("COLORTERM", "truecolor"), ("TERM", "xterm")]),
            ColorDepth::True
        );
        assert_eq!(depth(&[("COLORTERM", "24bit")]), ColorDepth::True);
        assert_eq!(depth(&[("TERM", "xterm-kitty")]), ColorDepth::True);
        assert_eq!(depth(&[("TERM", "xterm-direct")]), ColorDepth::True);
        assert_eq!(
            depth(&[("TERM", "xterm-256color"), ("COLORTERM", "yes")]),
            ColorDepth::Indexed
        );
        assert_eq!(
            depth(&[("TERM", "tmux-256color"), ("TERM_PROGRAM", "tmux")]),
            ColorDepth::Indexed
        );
        assert_eq!(depth(&[("TERM", "linux")]), ColorDepth::Ansi);
        assert_eq!(depth(&[]), ColorDepth::Ansi);
    }

    #[test]
    fn colours_are_distinct_at_every_depth() {
        for depth in [ColorDepth::True, ColorDepth::Indexed, ColorDepth::Ansi] {
            for background in [false, true] {
                let different: BTreeSet<String> = (0..16)
                    .map(|cell| depth.parameters(cell, background))
                    .collect();
                assert_eq!(different.len(), 16, "{depth:?}");
            }
        }
    }

    #[test]
    fn parameters_match_the_colour_depth() {
        assert_eq!(ColorDepth::True.parameters(9, false), "38;2;30;147;255");
        assert_eq!(ColorDepth::Indexed.parameters(0, true), "48;5;231");
        assert_eq!(ColorDepth::Indexed.parameters(5, false), "38;5;16");
        assert_eq!(
            [
                ColorDepth::Ansi.parameters(5, false),
                ColorDepth::Ansi.parameters(5, true)
            ],
            ["30", "40"]
        );
        assert_eq!(
            [
                ColorDepth::Ansi.parameters(0, false),
                ColorDepth::Ansi.parameters(0, true)
            ],
            ["97", "107"]
        );
    }
}
