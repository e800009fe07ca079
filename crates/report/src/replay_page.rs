//! One film as a page of its own.

use crate::html::{Text, page};
use crate::{Film, player_data};

/// The script that defines `<rhae-player>`, an ES module without dependencies.
///
/// The element takes what [`player_data`] gives: from a `<script type="application/json">` child, from its `film` attribute,
/// or set as its `film` property.
pub const PLAYER_SCRIPT: &str = include_str!("../assets/player.js");

/// A self-contained HTML page that plays the film.
pub fn replay_page(film: &Film) -> String {
    let body = format!(
        "<main>\n<header class=\"plain\">\n<h1>{}</h1>\n<p class=\"quiet\">{}</p>\n</header>\n{}\n</main>",
        Text(&film.title),
        Text(&film.subtitle),
        player(film)
    );
    page(&film.title, "replay", &body)
}

/// The element with its data.
pub(crate) fn player(film: &Film) -> String {
    format!("<rhae-player><script type=\"application/json\">{}</script></rhae-player>", player_data(film))
}

#[cfg(test)]
mod tests {
    use rhae_engine::{PALETTE, Rgb};

    use super::*;
    use crate::PACKED_VERSION;
    use crate::film::tests::walking_square;

    #[test]
    fn hostile_names_and_reasoning_stay_text() {
        let hostile = "</title></script><img src=x onerror=alert(1)>";
        let mut film = walking_square(1);
        film.title = hostile.to_owned();
        film.subtitle = hostile.to_owned();
        film.moments[1].reasoning = Some(hostile.to_owned());
        let page = replay_page(&film);
        assert!(!page.contains("<img"));
        assert_eq!(page.matches("</script>").count(), 2);
        assert_eq!(page.matches("</title>").count(), 1);
    }

    #[test]
    fn the_player_has_the_colours_and_the_version_of_the_engine() {
        let hex = |[red, green, blue]: Rgb| format!("\"#{red:02X}{green:02X}{blue:02X}\"");
        let script: String = PLAYER_SCRIPT.split_whitespace().collect();
        assert!(script.contains(&PALETTE.map(hex).join(",")));
        assert!(PLAYER_SCRIPT.contains(&format!("const VERSION = {PACKED_VERSION};")));
    }

    #[test]
    fn a_page_asks_the_network_for_nothing() {
        let page = replay_page(&walking_square(2));
        for forbidden in ["http://", "https://", "src=", "@import", "url("] {
            assert!(!page.contains(forbidden), "{forbidden}");
        }
    }
}
