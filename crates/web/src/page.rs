//! The parts that all pages share: document head, navigation, content security policy, icons.

use std::fmt::Write as _;

use rhae_report::Escaped;

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

/// A page with the site's header and navigation.
pub(crate) struct Page<'a> {
    pub(crate) title: &'a str,
    pub(crate) nav: NavItem,
    pub(crate) viewer: Viewer,
    /// The page's script, an ES module.
    pub(crate) script: Option<&'static str>,
    /// The URL that the script fetches first; the browser preloads it.
    pub(crate) preload: Option<&'a str>,
    pub(crate) body: String,
}

impl Page<'_> {
    /// Renders the complete document.
    pub(crate) fn html(&self) -> String {
        let links = [
            (NavItem::Gallery, "/", "Play"),
            (NavItem::Watch, "/watch", "Watch"),
            (NavItem::Replay, "/replay", "Replay"),
        ];
        let links = links
            .into_iter()
            .chain([(NavItem::Cards, "/scorecards", "Scorecards")])
            .map(|(item, path, name)| {
                let current = if item == self.nav {
                    " aria-current=\"page\""
                } else {
                    ""
                };
                format!("<a href=\"{path}\"{current}>{name}</a>")
            });
        let sign_in_or_out = match self.viewer {
            Viewer::KeyHolder => {
                "<form method=\"post\" action=\"/leave\"><button class=\"plain\">Sign out</button></form>"
            }
            Viewer::Anonymous => "<a href=\"/enter\">Sign in with a key</a>",
            Viewer::OpenAccess => "",
        };
        let body = format!(
            "<header class=\"top\">\n<a class=\"brand\" href=\"/\">{MARK}Rhae</a>\n<nav aria-label=\"Main\">{}</nav>\n\
             <div class=\"viewer\">{sign_in_or_out}{}</div>\n</header>\n<main id=\"main\">\n{}</main>",
            links.collect::<String>(),
            theme_switch(),
            self.body
        );
        document(
            &Head {
                title: self.title,
                class: "site",
                script: self.script,
                preload: self.preload,
            },
            &body,
        )
    }
}

/// The contents of a document's `<head>`.
pub(crate) struct Head<'a> {
    pub(crate) title: &'a str,
    pub(crate) class: &'static str,
    pub(crate) script: Option<&'static str>,
    pub(crate) preload: Option<&'a str>,
}

/// Renders a complete document. The theme is set by a classic script, because a module might run
/// only after the first paint, so that the page would briefly show the wrong colours.
pub(crate) fn document(head: &Head<'_>, body: &str) -> String {
    let Head {
        title,
        class,
        script,
        preload,
    } = head;
    let mut links = String::new();
    if let Some(path) = preload {
        let _ = writeln!(
            links,
            "<link rel=\"preload\" as=\"fetch\" href=\"{}\" crossorigin>",
            Escaped(path)
        );
    }
    if let Some(name) = script {
        // Without these links a browser would discover each imported module only after loading its
        // importer.
        for module in imports(name) {
            let _ = writeln!(
                links,
                "<link rel=\"modulepreload\" href=\"/assets/{module}\">"
            );
        }
        let _ = writeln!(
            links,
            "<script type=\"module\" src=\"/assets/{name}\"></script>"
        );
    }
    format!(
        r##"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title} · Rhae</title>
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
<script src="/assets/theme.js"></script>
<link rel="stylesheet" href="/assets/site.css">
{links}</head>
<body class="{class}">
<a class="skip" href="#main">Skip to content</a>
{body}
</body>
</html>
"##,
        title = Escaped(title),
    )
}

/// The button that cycles through the system, light and dark themes, labelled with the current one.
/// It is hidden without JavaScript.
pub(crate) fn theme_switch() -> String {
    let state = |name: &str, sign: &str| {
        format!(
            "<span class=\"{name}\">{}<span class=\"hidden\">Theme: {name}</span></span>",
            icon(sign)
        )
    };
    format!(
        "<button type=\"button\" class=\"tool theme\" data-switch=\"theme\" title=\"Theme: system, light or dark\">{}{}{}</button>",
        state("system", "M2 3H14V11H2ZM6 13.5H10M8 11V13.5"),
        state(
            "light",
            "M5.2 8A2.8 2.8 0 1 0 10.8 8A2.8 2.8 0 1 0 5.2 8M8 1V2.6M8 13.4V15M1 8H2.6M13.4 8H15M3.1 3.1L4.2 4.2M11.8 11.8L12.9 12.9M12.9 3.1L11.8 4.2M4.2 11.8L3.1 12.9"
        ),
        state(
            "dark",
            "M13.5 9.7A6 6 0 1 1 6.3 2.5A4.8 4.8 0 0 0 13.5 9.7Z"
        ),
    )
}

/// The logo: three ascending cells.
const MARK: &str = "<svg viewBox=\"0 0 16 16\" aria-hidden=\"true\"><path d=\"M1 10h5v5H1zM6 5h5v5H6zM11 0h5v5h-5z\"/></svg>";

/// An icon drawn with strokes on a 16 × 16 grid.
pub(crate) fn icon(path: &str) -> String {
    format!(
        "<svg class=\"icon\" viewBox=\"0 0 16 16\" aria-hidden=\"true\"><path d=\"{path}\"/></svg>"
    )
}

/// Levels as dots, filled for completed levels. They are decorative: the text next to them says the
/// same.
pub(crate) fn dots(completed: u8, levels: u8) -> String {
    let dot = |level: u8| {
        if level < completed {
            "<i class=\"on\"></i>"
        } else {
            "<i></i>"
        }
    };
    format!(
        "<span class=\"dots\" aria-hidden=\"true\">{}</span>",
        (0..levels).map(dot).collect::<String>()
    )
}

/// Renders an RFC 3339 time as a `<time>` element, to the minute.
pub(crate) fn time(rfc3339: &str) -> String {
    let short: String = rfc3339.replace('T', " ").chars().take(16).collect();
    format!(
        "<time datetime=\"{}\">{} UTC</time>",
        Escaped(rfc3339),
        Escaped(&short)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_has_no_inline_script_or_style() {
        let (script, preload) = (Some("watch_play.js"), Some("/replay/\"/film"));
        let page = Page {
            title: "<b>",
            nav: NavItem::Watch,
            viewer: Viewer::KeyHolder,
            script,
            preload,
            body: "text".to_owned(),
        }
        .html();
        assert_eq!(page.matches("<script").count(), 2);
        assert!(page.contains("<script src=\"/assets/theme.js\"></script>"));
        assert!(page.contains("<script type=\"module\" src=\"/assets/watch_play.js\"></script>"));
        assert!(
            page.contains("href=\"/assets/strip.js\"")
                && page.contains("href=\"/replay/&quot;/film\"")
        );
        for forbidden in ["<style", " style=", " onclick", "<b>", "javascript:"] {
            assert!(!page.contains(forbidden), "{forbidden}");
        }
        assert!(page.contains("href=\"/watch\" aria-current=\"page\""));
    }
}
