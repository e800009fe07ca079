//! What the templates of all pages share: their style sheet and small elements.
//!
//! The templates are in `templates/`, and `document.html` is the skeleton of every page. A template
//! escapes every value unless its type is [`HtmlSafe`] or the template says `|safe`; both are only
//! for markup that this crate has rendered itself.

use askama::Template;
use askama::filters::HtmlSafe;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use rhae_engine::Frame;

use crate::packed::{player_data_with_perception, player_data_within};
use crate::{Film, PictureError, contact_sheet};

/// The style sheet of the pages.
pub(crate) const PAGE_STYLE: &str = include_str!("../assets/page.css");

/// Renders a template.
pub(crate) fn render(template: &impl Template) -> String {
    template
        .render()
        .expect("templates write to a string, which does not fail")
}

/// A fact below the headline of a page, shown by `facts.html`.
pub(crate) struct Fact<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: String,
    /// Whether the fact takes a whole line.
    pub(crate) is_line: bool,
    pub(crate) is_code: bool,
}

/// The `<rhae-player>` element with its data.
#[derive(Template)]
#[template(path = "player.html")]
pub(crate) struct Player<'a> {
    pub(crate) film: &'a Film,
    /// Whether the player can show what perception sees. It doubles the size of the data.
    pub(crate) has_perception: bool,
    /// The bytes of reasoning that the data may contain.
    pub(crate) max_reasoning: usize,
}

/// The template contains only JSON that `player_data` has escaped.
impl HtmlSafe for Player<'_> {}

impl Player<'_> {
    fn data(&self) -> String {
        if self.has_perception {
            player_data_with_perception(self.film)
        } else {
            player_data_within(self.film, self.max_reasoning)
        }
    }
}

/// Frames next to each other as an embedded picture, enlarged twice.
#[derive(Template)]
#[template(path = "picture.html")]
pub(crate) struct FramePicture {
    width: usize,
    height: usize,
    /// The PNG file in base64.
    file: String,
}

/// The template escapes its values.
impl HtmlSafe for FramePicture {}

impl FramePicture {
    /// # Errors
    ///
    /// Returns a [`PictureError`] if the picture cannot be encoded.
    pub(crate) fn new(frames: &[&Frame]) -> Result<Self, PictureError> {
        let file = BASE64_STANDARD.encode(contact_sheet(frames, frames.len(), 1)?);
        let (gap, count) = (if frames.len() == 1 { 0 } else { 2 }, frames.len());
        Ok(Self {
            width: 2 * (count * (64 + gap) + gap),
            height: 2 * (64 + 2 * gap),
            file,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Template)]
    #[template(source = "<b>{{ text }}</b>", ext = "html")]
    struct Bold<'a> {
        text: &'a str,
    }

    #[test]
    fn templates_escape_metacharacters() {
        let html = |text| render(&Bold { text });
        assert_eq!(html("plain – ünïcode"), "<b>plain – ünïcode</b>");
        assert_eq!(
            html(r#"<i a='x'>"&"#),
            "<b>&#60;i a=&#39;x&#39;&#62;&#34;&#38;</b>"
        );
    }
}
