//! The HTML page that plays one film.

use askama::Template;

use crate::Film;
use crate::html::{Player, render};
use crate::packed::MAX_REASONING_BYTES;

#[derive(Template)]
#[template(path = "replay.html")]
struct ReplayPage<'a> {
    film: &'a Film,
    player: Player<'a>,
}

/// Returns a self-contained HTML page that plays the film and can show what perception sees in it.
pub fn replay_page(film: &Film) -> String {
    let player = Player {
        film,
        has_perception: true,
        max_reasoning: MAX_REASONING_BYTES,
    };
    render(&ReplayPage { film, player })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::film::tests::walking_square;

    #[test]
    fn names_and_reasoning_are_escaped() {
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
    fn page_makes_no_network_requests() {
        let page = replay_page(&walking_square(2));
        for forbidden in ["http://", "https://", "src=", "@import", "url("] {
            assert!(!page.contains(forbidden), "{forbidden}");
        }
    }
}
