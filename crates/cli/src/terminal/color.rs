//! How the sixteen colours of a frame are asked for on a terminal.
//!
//! Where a terminal has only the sixteen colours of old, each cell value has one of its own, so that all can be told apart:
//! a grey that has no counterpart takes a colour that no other value uses.

use rhae_engine::PALETTE;

/// How many colours a terminal shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Any red, green and blue.
    True,
    /// The 256 colours of xterm.
    Indexed,
    /// Eight colours and their bright variants.
    Ansi,
}

impl Depth {
    /// What the environment variables tell of the terminal.
    pub(crate) fn detect(variable: impl Fn(&str) -> Option<String>) -> Self {
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
        // A multiplexer names itself in TERM and may show less than the terminal that it was started from.
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

    /// The parameters of the escape sequence that sets the foreground, or the background, to the colour of a cell.
    pub(crate) fn parameters(self, cell: u8, background: bool) -> String {
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

/// For each cell value one of the colours 0 to 15 of a terminal, none twice.
const ANSI: [u8; 16] = [15, 7, 6, 8, 2, 0, 5, 13, 9, 12, 14, 11, 3, 1, 10, 4];

/// For each cell value the nearest of the colours 16 to 255, which are the same on all terminals, by distance in the Oklab
/// space (Ottosson 2020): by distance in red, green and blue, dark red would turn purple.
const INDEXED: [u8; 16] = [
    231, 252, 247, 241, 236, 16, 199, 212, 196, 33, 117, 220, 208, 88, 76, 134,
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn depth(variables: &[(&str, &str)]) -> Depth {
        Depth::detect(|name| {
            variables
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_environment_tells_the_depth() {
        assert_eq!(
            depth(&[("COLORTERM", "truecolor"), ("TERM", "xterm")]),
            Depth::True
        );
        assert_eq!(depth(&[("COLORTERM", "24bit")]), Depth::True);
        assert_eq!(depth(&[("TERM", "xterm-kitty")]), Depth::True);
        assert_eq!(depth(&[("TERM", "xterm-direct")]), Depth::True);
        assert_eq!(
            depth(&[("TERM", "xterm-256color"), ("COLORTERM", "yes")]),
            Depth::Indexed
        );
        assert_eq!(
            depth(&[("TERM", "tmux-256color"), ("TERM_PROGRAM", "tmux")]),
            Depth::Indexed
        );
        assert_eq!(depth(&[("TERM", "linux")]), Depth::Ansi);
        assert_eq!(depth(&[]), Depth::Ansi);
    }

    #[test]
    fn all_colours_stay_apart_at_every_depth() {
        for depth in [Depth::True, Depth::Indexed, Depth::Ansi] {
            for background in [false, true] {
                let different: BTreeSet<String> = (0..16)
                    .map(|cell| depth.parameters(cell, background))
                    .collect();
                assert_eq!(different.len(), 16, "{depth:?}");
            }
        }
    }

    #[test]
    fn colours_are_asked_for_as_the_terminal_knows_them() {
        assert_eq!(Depth::True.parameters(9, false), "38;2;30;147;255");
        assert_eq!(Depth::Indexed.parameters(0, true), "48;5;231");
        assert_eq!(Depth::Indexed.parameters(5, false), "38;5;16");
        assert_eq!(
            [
                Depth::Ansi.parameters(5, false),
                Depth::Ansi.parameters(5, true)
            ],
            ["30", "40"]
        );
        assert_eq!(
            [
                Depth::Ansi.parameters(0, false),
                Depth::Ansi.parameters(0, true)
            ],
            ["97", "107"]
        );
    }
}
