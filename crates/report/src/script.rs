//! The player's script: modules that a site serves one by one, and one text of all of them for a page that asks the network for nothing.
//!
//! Invariant: the modules name each other only in `import` lines, and share no names, so that joining them is leaving those lines out.

use std::sync::LazyLock;

/// The modules of the player, each after those that it imports: what defines `<rhae-board>` and `<rhae-player>`.
pub const PLAYER_MODULES: [(&str, &str); 5] = [
    ("reel.js", include_str!("../assets/reel.js")),
    ("board.js", include_str!("../assets/board.js")),
    ("look.js", include_str!("../assets/look.js")),
    ("strip.js", include_str!("../assets/strip.js")),
    ("player.js", include_str!("../assets/player.js")),
];

/// All modules of the player as one ES module without dependencies.
///
/// The element takes what [`player_data`](crate::player_data) gives: from a `<script type="application/json">` child, or set as its `film`
/// property.
pub fn player_script() -> &'static str {
    static JOINED: LazyLock<String> =
        LazyLock::new(|| PLAYER_MODULES.map(|(_, text)| without_links(text)).concat());
    &JOINED
}

fn without_links(module: &str) -> String {
    let line = |line: &str| format!("{}\n", line.strip_prefix("export ").unwrap_or(line));
    module
        .lines()
        .filter(|line| !line.starts_with("import "))
        .map(line)
        .collect()
}

#[cfg(test)]
mod tests {
    use rhae_engine::{PALETTE, Rgb};

    use super::*;
    use crate::PACKED_VERSION;

    #[test]
    fn the_player_has_the_colours_and_the_version_of_the_engine() {
        let hex = |[red, green, blue]: Rgb| format!("\"#{red:02X}{green:02X}{blue:02X}\"");
        let script: String = player_script().split_whitespace().collect();
        assert!(script.contains(&PALETTE.map(hex).join(",")));
        assert!(player_script().contains(&format!("const VERSION = {PACKED_VERSION};")));
    }

    #[test]
    fn joined_modules_have_no_links_and_cannot_end_their_own_element() {
        let script = player_script();
        assert!(
            !script
                .lines()
                .any(|line| line.starts_with("import ") || line.starts_with("export "))
        );
        assert!(!script.contains("</script") && !script.contains("<!--"));
    }
}
