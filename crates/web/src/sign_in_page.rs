//! The sign-in page, the invitation page, and error pages.

use askama::Template;

use crate::page::{NavItem, Page, Viewer, render};

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignIn<'a> {
    page: Page<'a>,
    reason: Option<&'a str>,
}

/// Renders the page on which a visitor signs in with a key; `reason` says why the last key was
/// rejected.
pub fn sign_in_page(viewer: Viewer, reason: Option<&str>) -> String {
    render(&SignIn {
        page: plain_page("Sign in", viewer),
        reason,
    })
}

#[derive(Template)]
#[template(path = "invitation.html")]
struct Invitation<'a> {
    page: Page<'a>,
    token: &'a str,
}

/// Renders the page behind an invitation link. Accepting takes a button press, so that programs
/// that preview links do not use up the invitation.
pub fn invitation_page(token: &str) -> String {
    render(&Invitation {
        page: plain_page("Invitation", Viewer::OpenAccess),
        token,
    })
}

#[derive(Template)]
#[template(path = "error.html")]
struct ErrorPage<'a> {
    page: Page<'a>,
    message: String,
    /// The time after which a retry may succeed, if known.
    wait: Option<String>,
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
    let mut message = message.to_owned();
    if let Some(first) = message.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    render(&ErrorPage {
        page: plain_page(title, viewer),
        message,
        wait: wait_seconds.map(duration),
    })
}

/// A page without a script that is not part of the navigation.
fn plain_page(title: &str, viewer: Viewer) -> Page<'_> {
    Page {
        title,
        nav: NavItem::Other,
        viewer,
        script: None,
        preload: None,
    }
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
    fn outlines() {
        let outline = |page: &str| rhae_testkit::page_outline(page);
        insta::assert_snapshot!(
            "sign_in",
            outline(&sign_in_page(Viewer::Anonymous, Some("<wrong> key")))
        );
        insta::assert_snapshot!("invitation", outline(&invitation_page("\"token\"")));
        let page = error_page(Viewer::KeyHolder, 429, "slow <down>", Some(45));
        insta::assert_snapshot!("error", outline(&page));
    }

    #[test]
    fn error_page_says_when_to_retry() {
        let page = |wait| error_page(Viewer::KeyHolder, 429, "slow <down>", wait);
        for (seconds, words) in [
            (1, "in 1 second."),
            (45, "in 45 seconds."),
            (600, "in 10 minutes."),
        ] {
            assert!(
                page(Some(seconds)).contains(&format!("Slow &#60;down&#62;. Try again {words}")),
                "{seconds}"
            );
        }
        assert!(!page(None).contains("again"));
    }
}
