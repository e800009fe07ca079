//! HTML: the one place where text from outside becomes safe, and the frame of a page.

use std::fmt;

use crate::{PLOT_STYLE, player_script};

/// Text from outside, shown as it is: nothing in it can be read as markup, in an element or in a quoted attribute.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a>(pub &'a str);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some(at) = rest.find(['&', '<', '>', '"', '\'']) {
            f.write_str(&rest[..at])?;
            f.write_str(match rest.as_bytes()[at] {
                b'&' => "&amp;",
                b'<' => "&lt;",
                b'>' => "&gt;",
                b'"' => "&quot;",
                _ => "&#39;",
            })?;
            rest = &rest[at + 1..];
        }
        f.write_str(rest)
    }
}

/// A whole page with style and the player's script. The policy in its head forbids every request.
pub(crate) fn page(title: &str, class: &str, body: &str) -> String {
    format!(
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'">
<title>{title}</title>
<style>
{style}{PLOT_STYLE}</style>
</head>
<body class="{class}">
{body}
<script type="module">
{script}</script>
</body>
</html>
"#,
        title = Text(title),
        style = include_str!("../assets/page.css"),
        script = player_script(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_shown_as_it_is() {
        assert_eq!(Text("plain – ünïcode").to_string(), "plain – ünïcode");
        assert_eq!(
            Text(r#"<b onclick='x'>"&"#).to_string(),
            "&lt;b onclick=&#39;x&#39;&gt;&quot;&amp;"
        );
    }
}
