//! What all pages have in common: head, navigation, policy, icons.

use std::fmt::Write as _;

use rhae_report::Text;

use crate::asset::imports;

/// What a page may load and do: its own scripts, styles and pictures, and nothing else. Pictures that a page makes itself (a GIF to be
/// saved) are blobs.
pub const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; \
                          form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Where a page is in the navigation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The environments.
    Gallery,
    /// Plays under way.
    Watch,
    /// Replays.
    Replay,
    /// Scorecards.
    Cards,
    /// Nowhere.
    Elsewhere,
}

/// Who looks at a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// Somebody whom nobody knows yet.
    Nobody,
    /// Somebody with a key in a cookie.
    Known,
    /// Anybody, where access is open.
    Open,
}

/// A page of the site.
pub(crate) struct Page<'a> {
    pub(crate) title: &'a str,
    pub(crate) place: Place,
    pub(crate) who: Who,
    /// The module that brings it to life.
    pub(crate) script: Option<&'static str>,
    /// What that module asks for first, so that a browser asks for it at once.
    pub(crate) asks: Option<&'a str>,
    pub(crate) body: String,
}

impl Page<'_> {
    /// The whole page with its navigation.
    pub(crate) fn html(&self) -> String {
        let links = [
            (Place::Gallery, "/", "Play"),
            (Place::Watch, "/watch", "Watch"),
            (Place::Replay, "/replay", "Replay"),
        ];
        let links = links
            .into_iter()
            .chain([(Place::Cards, "/scorecards", "Scorecards")])
            .map(|(place, path, name)| {
                let current = if place == self.place {
                    " aria-current=\"page\""
                } else {
                    ""
                };
                format!("<a href=\"{path}\"{current}>{name}</a>")
            });
        let leave = match self.who {
            Who::Known => {
                "<form method=\"post\" action=\"/leave\"><button class=\"plain\">Leave</button></form>"
            }
            Who::Nobody => "<a href=\"/enter\">Enter with a key</a>",
            Who::Open => "",
        };
        let body = format!(
            "<header class=\"top\">\n<a class=\"brand\" href=\"/\">{MARK}Rhae</a>\n<nav aria-label=\"Pages\">{}</nav>\n\
             <div class=\"who\">{leave}{}</div>\n</header>\n<main id=\"main\">\n{}</main>",
            links.collect::<String>(),
            theme_switch(),
            self.body
        );
        document(
            &Head {
                title: self.title,
                class: "site",
                script: self.script,
                asks: self.asks,
            },
            &body,
        )
    }
}

/// What stands before the body of a document.
pub(crate) struct Head<'a> {
    pub(crate) title: &'a str,
    pub(crate) class: &'static str,
    pub(crate) script: Option<&'static str>,
    pub(crate) asks: Option<&'a str>,
}

/// A whole document. The theme is set by a script that is no module, because those wait for the page to be there, which would be seen.
pub(crate) fn document(head: &Head<'_>, body: &str) -> String {
    let Head {
        title,
        class,
        script,
        asks,
    } = head;
    let mut links = String::new();
    if let Some(path) = asks {
        let _ = writeln!(
            links,
            "<link rel=\"preload\" as=\"fetch\" href=\"{}\" crossorigin>",
            Text(path)
        );
    }
    if let Some(name) = script {
        // Each module names the next, so without this a browser would learn of the last only after the others.
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
<a class="skip" href="#main">Skip to the content</a>
{body}
</body>
</html>
"##,
        title = Text(title),
    )
}

/// The button that changes between the system's theme, the light and the dark one. It says which one is on; without a script there is
/// nothing to press.
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

/// The sign before the name: three cells on their way.
const MARK: &str = "<svg viewBox=\"0 0 16 16\" aria-hidden=\"true\"><path d=\"M1 10h5v5H1zM6 5h5v5H6zM11 0h5v5h-5z\"/></svg>";

/// An icon drawn by strokes in a field of 16 × 16.
pub(crate) fn icon(path: &str) -> String {
    format!(
        "<svg class=\"icon\" viewBox=\"0 0 16 16\" aria-hidden=\"true\"><path d=\"{path}\"/></svg>"
    )
}

/// Levels as dots, those that were completed filled. What they say is said in words beside them.
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

/// A time for people, of what RFC 3339 says.
pub(crate) fn time(rfc3339: &str) -> String {
    let short: String = rfc3339.replace('T', " ").chars().take(16).collect();
    format!(
        "<time datetime=\"{}\">{} UTC</time>",
        Text(rfc3339),
        Text(&short)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_no_script_or_style_of_its_own() {
        let (script, asks) = (Some("watching.js"), Some("/replay/\"/film"));
        let page = Page {
            title: "<b>",
            place: Place::Watch,
            who: Who::Known,
            script,
            asks,
            body: "text".to_owned(),
        }
        .html();
        assert_eq!(page.matches("<script").count(), 2);
        assert!(page.contains("<script src=\"/assets/theme.js\"></script>"));
        assert!(page.contains("<script type=\"module\" src=\"/assets/watching.js\"></script>"));
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
