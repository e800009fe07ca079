//! The script of the browser player, in two forms: modules that a web site serves individually, and
//! one script for self-contained pages that joins them.
//!
//! Invariant: the modules refer to each other only in `import` lines and share no top-level names.
//! The modules can therefore be joined by removing those lines.

use std::sync::LazyLock;

/// The names and texts of the JavaScript modules that define `<rhae-board>` and `<rhae-player>`,
/// each after the modules that it imports.
pub const PLAYER_MODULES: [(&str, &str); 5] = [
    ("reel.js", include_str!("../assets/reel.js")),
    ("board.js", include_str!("../assets/board.js")),
    ("template.js", include_str!("../assets/template.js")),
    ("strip.js", include_str!("../assets/strip.js")),
    ("player.js", include_str!("../assets/player.js")),
];

/// Returns all modules of the player joined into one ES module without imports.
///
/// A `<rhae-player>` element reads the JSON of [`player_data`](crate::player_data) from a
/// `<script type="application/json">` child, or from its `film` property.
///
/// ```
/// let script = rhae_report::player_script();
/// assert!(script.contains("customElements?.define(\"rhae-player\""));
/// assert!(!script.contains("import {"));
/// ```
pub fn player_script() -> &'static str {
    static JOINED: LazyLock<String> = LazyLock::new(|| {
        PLAYER_MODULES
            .map(|(_, text)| without_imports(text))
            .concat()
    });
    &JOINED
}

fn without_imports(module: &str) -> String {
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
    fn player_has_the_palette_and_the_packed_version() {
        let hex = |[red, green, blue]: Rgb| format!("\"#{red:02X}{green:02X}{blue:02X}\"");
        let script: String = player_script().split_whitespace().collect();
        assert!(script.contains(&PALETTE.map(hex).join(",")));
        assert!(player_script().contains(&format!("const VERSION = {PACKED_VERSION};")));
    }

    #[test]
    fn joined_script_has_no_imports_and_cannot_close_its_element() {
        let script = player_script();
        assert!(
            !script
                .lines()
                .any(|line| line.starts_with("import ") || line.starts_with("export "))
        );
        assert!(!script.contains("</script") && !script.contains("<!--"));
    }
}
