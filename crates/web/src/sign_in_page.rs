//! The sign-in page, the invitation page, and error pages.

use rhae_report::Escaped;

use crate::page::{NavItem, Page, Viewer};

/// Renders the page on which a visitor signs in with a key; `reason` says why the last key was
/// rejected.
pub fn sign_in_page(viewer: Viewer, reason: Option<&str>) -> String {
    let reason = reason.map_or_else(String::new, |text| {
        format!("<p class=\"error\" role=\"alert\">{}</p>\n", Escaped(text))
    });
    let body = format!(
        r#"<div class="panel"><h1>Sign in with a key</h1>
<p class="quiet">This server requires a key from its operator, or an invitation link. With a key you can play and see your scorecards and replays. If you have an invitation link, open it instead.</p>
<form method="post" action="/enter">{reason}<label for="key">Key</label>
<input id="key" name="key" type="password" autocomplete="current-password" spellcheck="false" required maxlength="200">
<button class="button strong">Sign in</button></form></div>
"#
    );
    Page {
        title: "Sign in",
        nav: NavItem::Other,
        viewer,
        script: None,
        preload: None,
        body,
    }
    .html()
}

/// Renders the page behind an invitation link. Accepting takes a button press, so that programs
/// that preview links do not use up the invitation.
pub fn invitation_page(token: &str) -> String {
    let body = format!(
        r#"<div class="panel"><h1>You are invited to play</h1>
<p class="quiet">A cookie remembers your progress, so that you can continue later in this browser. No other information is required.</p>
<form method="post" action="/invite/{}"><button class="button strong">Accept invitation</button></form></div>
"#,
        Escaped(token)
    );
    Page {
        title: "Invitation",
        nav: NavItem::Other,
        viewer: Viewer::OpenAccess,
        script: None,
        preload: None,
        body,
    }
    .html()
}

/// Renders an error as a page. `wait_seconds` is the time after which a retry may succeed, if
/// known.
pub fn error_page(viewer: Viewer, status: u16, message: &str, wait_seconds: Option<u64>) -> String {
    let title = match status {
        404 => "Not found",
        401 | 403 => "Access denied",
        429 => "Too many requests",
        _ => "Something went wrong",
    };
    let mut sentence = message.to_owned();
    if let Some(first) = sentence.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    // A link with an empty `href` reloads the current page.
    let (wait, retry) = wait_seconds.map_or_else(Default::default, |seconds| {
        (
            format!(" Try again in {}.", duration(seconds)),
            "<a class=\"button\" href=\"\">Try again</a> ",
        )
    });
    let body = format!(
        "<div class=\"panel\"><h1>{title}</h1>\n<p class=\"quiet\">{}.{wait}</p>\n\
         <p>{retry}<a class=\"button\" href=\"/\">All environments</a></p></div>\n",
        Escaped(&sentence)
    );
    Page {
        title,
        nav: NavItem::Other,
        viewer,
        script: None,
        preload: None,
        body,
    }
    .html()
}

/// Formats a waiting time.
fn duration(seconds: u64) -> String {
    match seconds {
        0 | 1 => "1 second".to_owned(),
        2..=90 => format!("{seconds} seconds"),
        _ => format!("{} minutes", seconds.div_ceil(60)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_page_says_when_to_retry() {
        let page = |wait| error_page(Viewer::KeyHolder, 429, "slow <down>", wait);
        for (seconds, words) in [
            (1, "in 1 second."),
            (45, "in 45 seconds."),
            (600, "in 10 minutes."),
        ] {
            assert!(
                page(Some(seconds)).contains(&format!("Slow &lt;down&gt;. Try again {words}")),
                "{seconds}"
            );
        }
        assert!(!page(None).contains("again"));
    }
}
