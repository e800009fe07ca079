//! The outline of an HTML page, for snapshots.

/// Returns an HTML page with one tag per line, so that a snapshot shows its structure and its text
/// but not the layout of its source.
///
/// * Adjacent tags are on separate lines, whatever space is between them. Other space is one blank.
/// * The contents of `<script>` and `<style>` elements and of `data:` addresses are replaced by
///   `…`.
///
/// The page must not contain `<` or `>` in attribute values. Our templates escape both.
///
/// ```
/// let page = "<p class=x><b>one</b>  <i>two</i> and\n three</p><style>p { color: red }</style>";
/// assert_eq!(
///     rhae_testkit::page_outline(page),
///     "<p class=x>\n<b>one</b>\n<i>two</i> and three</p>\n<style>…</style>\n"
/// );
/// ```
pub fn page_outline(page: &str) -> String {
    let mut outline = String::new();
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        let text = &rest[..start];
        let end = rest[start..]
            .find('>')
            .map_or(rest.len(), |at| start + at + 1);
        let tag = &rest[start..end];
        if text.trim().is_empty() {
            if !outline.is_empty() {
                outline.push('\n');
            }
        } else {
            push_text(&mut outline, text);
        }
        push_text(&mut outline, &without_data(tag));
        rest = &rest[end..];
        for element in ["script", "style"] {
            let closing = format!("</{element}>");
            if let Some(content) = rest.find(&closing)
                && tag[1..].starts_with(element)
                && content > 0
            {
                outline.push('…');
                outline.push_str(&closing);
                rest = &rest[content + closing.len()..];
            }
        }
    }
    push_text(&mut outline, rest.trim_end());
    outline + "\n"
}

/// Appends text with each run of white space replaced by one blank.
fn push_text(outline: &mut String, text: &str) {
    let mut in_space = false;
    for char in text.chars() {
        let space = char.is_ascii_whitespace();
        match (space, in_space) {
            (true, false) => outline.push(' '),
            (true, true) => {}
            (false, _) => outline.push(char),
        }
        in_space = space;
    }
}

/// Replaces the content of `data:` addresses in a tag.
fn without_data(tag: &str) -> String {
    let mut parts = tag.split(";base64,");
    let mut short = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find('"').unwrap_or(part.len());
        short.push_str(";base64,…");
        short.push_str(&part[end..]);
    }
    short
}
