//! The parts that all pages share: the data of their layout (`templates/document.html` and
//! `templates/page.html`), the content security policy, and small elements.
//!
//! Invariant: the template engine escapes all external text. A type is [`HtmlSafe`] only if its
//! output is a rendered template.

use askama::Template;
use askama::filters::HtmlSafe;

use crate::asset::imports;

/// The `Content-Security-Policy` header of every page. A page may load only scripts, styles and
/// images of this server. Images that a page creates itself, such as a GIF to save, are blobs,
/// which are allowed too.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; \
                          form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The entry of the navigation that a page belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NavItem {
    Gallery,
    /// Plays in progress.
    Watch,
    Replay,
    Cards,
    /// None: the page is not part of the navigation.
    Other,
}

/// The identity of the person who views a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Viewer {
    /// A visitor without a key.
    Anonymous,
    /// A visitor with a key in the cookie.
    KeyHolder,
    /// Any visitor of a server with open access, which needs no key.
    OpenAccess,
}

/// The parts of a page that its layout shows: the document head and the site's navigation. Every
/// template that extends `document.html` has a field `page` of this type.
pub(crate) struct Page<'a> {
    pub(crate) title: &'a str,
    pub(crate) nav: NavItem,
    pub(crate) viewer: Viewer,
    /// The page's script, an ES module.
    pub(crate) script: Option<&'static str>,
    /// The URL that the script fetches first; the browser preloads it.
    pub(crate) preload: Option<&'a str>,
}

/// A link of the navigation.
pub(crate) struct NavLink {
    pub(crate) path: &'static str,
    pub(crate) name: &'static str,
    /// Whether the page belongs to this entry.
    pub(crate) current: bool,
}

impl Page<'_> {
    /// Lists the links of the navigation.
    pub(crate) fn links(&self) -> [NavLink; 4] {
        [
            (NavItem::Gallery, "/", "Play"),
            (NavItem::Watch, "/watch", "Watch"),
            (NavItem::Replay, "/replay", "Replay"),
            (NavItem::Cards, "/scorecards", "Scorecards"),
        ]
        .map(|(item, path, name)| NavLink {
            path,
            name,
            current: item == self.nav,
        })
    }

    /// Lists the modules that the page's script imports.
    pub(crate) fn imports(&self) -> Vec<&'static str> {
        self.script.map(imports).unwrap_or_default()
    }
}

/// Renders a template.
pub(crate) fn render(template: &impl Template) -> String {
    template
        .render()
        .expect("templates write to a string, which does not fail")
}

/// Levels as dots, filled for completed levels. They are decorative: the text next to them says the
/// same.
#[derive(Template)]
#[template(path = "dots.html")]
pub(crate) struct Dots {
    pub(crate) completed: u8,
    pub(crate) levels: u8,
}

/// The template contains no external text.
impl HtmlSafe for Dots {}

/// An RFC 3339 time as a `<time>` element, to the minute.
#[derive(Template)]
#[template(path = "time.html")]
pub(crate) struct Time<'a> {
    pub(crate) rfc3339: &'a str,
}

/// The template escapes the time.
impl HtmlSafe for Time<'_> {}

impl Time<'_> {
    fn minute(&self) -> String {
        self.rfc3339.replace('T', " ").chars().take(16).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page without content.
    #[derive(Template)]
    #[template(path = "page.html")]
    struct EmptyPage<'a> {
        page: Page<'a>,
    }

    #[test]
    fn page_has_no_inline_script_or_style() {
        let (script, preload) = (Some("watch_play.js"), Some("/replay/\"/film"));
        let page = render(&EmptyPage {
            page: Page {
                title: "<b>",
                nav: NavItem::Watch,
                viewer: Viewer::KeyHolder,
                script,
                preload,
            },
        });
        assert_eq!(page.matches("<script").count(), 2);
        assert!(page.contains("<script src=\"/assets/theme.js\"></script>"));
        assert!(page.contains("<script type=\"module\" src=\"/assets/watch_play.js\"></script>"));
        assert!(
            page.contains("href=\"/assets/strip.js\"")
                && page.contains("href=\"/replay/&#34;/film\"")
        );
        for forbidden in ["<style", " style=", " onclick", "<b>", "javascript:"] {
            assert!(!page.contains(forbidden), "{forbidden}");
        }
        assert!(page.contains("href=\"/watch\" aria-current=\"page\""));
    }
}
