//! The door: entering with a key, accepting an invitation, and what is said to those who come in vain.

use rhae_report::Text;

use crate::page::{Page, Place, Who};

/// The page that takes a key; `reason` says why the last one was not taken.
pub fn entrance_page(who: Who, reason: Option<&str>) -> String {
    let reason = reason.map_or_else(String::new, |text| {
        format!("<p class=\"error\" role=\"alert\">{}</p>\n", Text(text))
    });
    let body = format!(
        r#"<div class="door"><h1>Enter with a key</h1>
<p class="quiet">This server is for those who have a key of its operator, or an invitation link. With a key you see its scorecards, its replays and its plays under way.</p>
<form method="post" action="/enter">{reason}<label for="key">Key</label>
<input id="key" name="key" type="password" autocomplete="current-password" spellcheck="false" required maxlength="200">
<button class="button strong">Enter</button></form></div>
"#
    );
    Page {
        title: "Enter",
        place: Place::Elsewhere,
        who,
        script: None,
        asks: None,
        body,
    }
    .html()
}

/// The page behind an invitation link. Coming in takes a press, so that programs that look at links in messages use none up.
pub fn invitation_page(token: &str) -> String {
    let body = format!(
        r#"<div class="door"><h1>You are invited to play</h1>
<p class="quiet">A cookie keeps your place, so that you can come back with this browser and go on. Nothing else is asked.</p>
<form method="post" action="/invite/{}"><button class="button strong">Come in</button></form></div>
"#,
        Text(token)
    );
    Page {
        title: "Invitation",
        place: Place::Elsewhere,
        who: Who::Open,
        script: None,
        asks: None,
        body,
    }
    .html()
}

/// What is said instead of a page, and in how many seconds it may be had, if that is known.
pub fn refusal_page(who: Who, status: u16, message: &str, wait_seconds: Option<u64>) -> String {
    let title = match status {
        404 => "Not found",
        401 | 403 => "Not for you",
        429 => "Too fast",
        _ => "That did not work",
    };
    let mut sentence = message.to_owned();
    if let Some(first) = sentence.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    // A link without a path leads to the page that was asked for.
    let (wait, again) = wait_seconds.map_or_else(Default::default, |seconds| {
        (
            format!(" You can try again in {}.", duration(seconds)),
            "<a class=\"button\" href=\"\">Try again</a> ",
        )
    });
    let body = format!(
        "<div class=\"door\"><h1>{title}</h1>\n<p class=\"quiet\">{}.{wait}</p>\n\
         <p>{again}<a class=\"button\" href=\"/\">All environments</a></p></div>\n",
        Text(&sentence)
    );
    Page {
        title,
        place: Place::Elsewhere,
        who,
        script: None,
        asks: None,
        body,
    }
    .html()
}

/// A time to wait in words.
fn duration(seconds: u64) -> String {
    match seconds {
        0 | 1 => "a second".to_owned(),
        2..=90 => format!("{seconds} seconds"),
        _ => format!("{} minutes", seconds.div_ceil(60)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_when_to_come_back_if_that_is_known() {
        let page = |wait| refusal_page(Who::Known, 429, "slow <down>", wait);
        for (seconds, words) in [
            (1, "in a second."),
            (45, "in 45 seconds."),
            (600, "in 10 minutes."),
        ] {
            assert!(
                page(Some(seconds))
                    .contains(&format!("Slow &lt;down&gt;. You can try again {words}")),
                "{seconds}"
            );
        }
        assert!(!page(None).contains("again"));
    }
}
