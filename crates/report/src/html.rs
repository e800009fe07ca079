//! HTML: escaping of untrusted text, and the skeleton of a page.

use std::fmt;

use crate::{PLOT_STYLE, player_script};

/// Displays untrusted text with HTML metacharacters escaped.
///
/// The output is safe inside an element and inside a quoted attribute.
///
/// # Examples
///
/// ```
/// use rhae_report::Escaped;
///
/// assert_eq!(Escaped("<b>Tom & Jerry</b>").to_string(), "&lt;b&gt;Tom &amp; Jerry&lt;/b&gt;");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Escaped<'a>(pub &'a str);

impl fmt::Display for Escaped<'_> {
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

/// Returns a complete page with the style sheet and the script of the player. Its content security
/// policy forbids every network request.
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
        title = Escaped(title),
        style = include_str!("../assets/page.css"),
        script = player_script(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metacharacters_are_escaped() {
        assert_eq!(Escaped("plain – ünïcode").to_string(), "plain – ünïcode");
        assert_eq!(
            Escaped(r#"<b onclick='x'>"&"#).to_string(),
            "&lt;b onclick=&#39;x&#39;&gt;&quot;&amp;"
        );
    }
}
