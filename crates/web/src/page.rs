//! What all pages have in common: head, navigation, policy, icons.

use rhae_report::Text;

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
    pub(crate) body: String,
}

impl Page<'_> {
    /// The whole page with its navigation.
    pub(crate) fn html(&self) -> String {
        let links = [(Place::Gallery, "/", "Play"), (Place::Watch, "/watch", "Watch"), (Place::Replay, "/replay", "Replay")];
        let links = links.into_iter().chain([(Place::Cards, "/scorecards", "Scorecards")]).map(|(place, path, name)| {
            let current = if place == self.place { " aria-current=\"page\"" } else { "" };
            format!("<a href=\"{path}\"{current}>{name}</a>")
        });
        let leave = match self.who {
            Who::Known => "<form method=\"post\" action=\"/leave\"><button class=\"plain\">Leave</button></form>",
            Who::Nobody => "<a href=\"/enter\">Enter with a key</a>",
            Who::Open => "",
        };
        let body = format!(
            "<header class=\"top\">\n<a class=\"brand\" href=\"/\">{MARK}Rhae</a>\n<nav aria-label=\"Pages\">{}</nav>\n\
             <div class=\"who\">{leave}</div>\n</header>\n<main id=\"main\">\n{}</main>",
            links.collect::<String>(),
            self.body
        );
        document(self.title, "site", self.script, &body)
    }
}

/// A whole document.
pub(crate) fn document(title: &str, class: &str, script: Option<&str>, body: &str) -> String {
    let script = script.map_or_else(String::new, |name| format!("<script type=\"module\" src=\"/assets/{name}\"></script>\n"));
    format!(
        r##"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title} · Rhae</title>
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/site.css">
{script}</head>
<body class="{class}">
<a class="skip" href="#main">Skip to the content</a>
{body}
</body>
</html>
"##,
        title = Text(title),
    )
}

/// The sign before the name: three cells on their way.
const MARK: &str = "<svg viewBox=\"0 0 16 16\" aria-hidden=\"true\"><path d=\"M1 10h5v5H1zM6 5h5v5H6zM11 0h5v5h-5z\"/></svg>";

/// An icon drawn by strokes in a field of 16 × 16.
pub(crate) fn icon(path: &str) -> String {
    format!("<svg class=\"icon\" viewBox=\"0 0 16 16\" aria-hidden=\"true\"><path d=\"{path}\"/></svg>")
}

/// Levels as dots, those that were completed filled. What they say is said in words beside them.
pub(crate) fn dots(completed: u8, levels: u8) -> String {
    let dot = |level: u8| if level < completed { "<i class=\"on\"></i>" } else { "<i></i>" };
    format!("<span class=\"dots\" aria-hidden=\"true\">{}</span>", (0..levels).map(dot).collect::<String>())
}

/// A time for people, of what RFC 3339 says.
pub(crate) fn time(rfc3339: &str) -> String {
    let short: String = rfc3339.replace('T', " ").chars().take(16).collect();
    format!("<time datetime=\"{}\">{} UTC</time>", Text(rfc3339), Text(&short))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_no_script_or_style_of_its_own() {
        let page =
            Page { title: "<b>", place: Place::Watch, who: Who::Known, script: Some("watch.js"), body: "text".to_owned() }.html();
        assert_eq!(page.matches("<script").count(), 1);
        for forbidden in ["<style", " style=", " onclick", "<b>", "javascript:"] {
            assert!(!page.contains(forbidden), "{forbidden}");
        }
        assert!(page.contains("href=\"/watch\" aria-current=\"page\""));
    }
}
