//! Checks of what authors state: the description of a system, and a claim.

use rhae_protocol::{BoardClaim, BoardSystem};
use unicode_normalization::UnicodeNormalization;

use crate::rejection::Rejection;

/// The maximum number of characters of a name, and of any other text.
const MAX_NAME: usize = 100;
const MAX_TEXT: usize = 2_000;
const MAX_AUTHORS: usize = 100;
/// 100 points in units of 1e-9 points.
const MAX_SCORE_NANO: u64 = 100_000_000_000;

/// Returns a name in the form in which names are compared: composed (NFC), without differences of case,
/// and with single spaces.
///
/// # Examples
///
/// ```
/// use rhae_board::folded_name;
///
/// assert_eq!(folded_name(" Cafe\u{301}  AGENT"), folded_name("café agent"));
/// assert_eq!(folded_name("Straße"), folded_name("STRASSE"));
/// ```
pub fn fold(name: &str) -> String {
    // The upper case has no variants of a letter, such as `ß` or the final sigma.
    let lower = name.nfc().collect::<String>().to_uppercase().to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    words.join(" ").nfc().collect()
}

pub(crate) fn check_system(system: &BoardSystem) -> Result<(), Rejection> {
    let invalid = |text: &str| Err(Rejection::System(text.to_owned()));
    let names = system.authors.iter().map(|author| &author.name);
    let mut names = names
        .chain([&system.name, &system.version])
        .chain(&system.models);
    if !names.all(|name| is_text(name, MAX_NAME)) {
        return invalid("names and versions need 1 to 100 characters on one line");
    }
    if system.authors.is_empty() || system.authors.len() > MAX_AUTHORS {
        return invalid("expected 1 to 100 authors");
    }
    if system.models.is_empty() || system.models.len() > MAX_AUTHORS {
        return invalid("expected the models, or `none`");
    }
    if !is_text(&system.description, MAX_TEXT) {
        return invalid(
            "expected a description of at most 2000 characters without control characters",
        );
    }
    let optional = [&system.hardware, &system.paper_url];
    if !optional
        .into_iter()
        .flatten()
        .all(|text| is_text(text, MAX_TEXT))
    {
        return invalid("the hardware or the link to a paper is not a line of text");
    }
    let links = system.authors.iter().map(|author| &author.link);
    let mut links = links.chain([&system.code_url]).chain(&system.paper_url);
    if !links.all(|link| is_link(link)) {
        return invalid(
            "every author and the code need a link that starts with https:// or http://",
        );
    }
    Ok(())
}

/// Checks a claim at a day such as `2026-11-18`.
pub(crate) fn check_claim(claim: &BoardClaim, today: &str) -> Result<(), Rejection> {
    let invalid = |text: &str| Err(Rejection::Claim(text.to_owned()));
    if claim.score_nano.is_some_and(|score| score > MAX_SCORE_NANO) {
        return invalid("the score is not between 0 and 100");
    }
    if claim
        .scorecard_url
        .as_ref()
        .is_some_and(|link| !is_link(link))
    {
        return invalid("the scorecard is not a link");
    }
    match &claim.date {
        Some(date) if !is_date(date) => invalid("the date is not of the form 2026-11-18"),
        Some(date) if date.as_str() > today => invalid("the date is in the future"),
        _ => Ok(()),
    }
}

fn is_text(text: &str, max: usize) -> bool {
    let is_hidden = |letter: char| letter.is_control() || is_invisible(letter);
    !text.trim().is_empty() && text.chars().count() <= max && !text.contains(is_hidden)
}

/// Returns whether a character is invisible or reverses the text around it, so that different names look
/// the same. The joiners, which some scripts need, are allowed.
const fn is_invisible(letter: char) -> bool {
    matches!(
        letter,
        '\u{ad}'
            | '\u{200b}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
    )
}

fn is_link(link: &str) -> bool {
    let rest = link
        .strip_prefix("https://")
        .or_else(|| link.strip_prefix("http://"));
    let plain =
        |letter: char| letter.is_ascii_graphic() && !matches!(letter, '"' | '<' | '>' | '\\');
    link.len() <= MAX_TEXT && rest.is_some_and(|rest| !rest.is_empty() && rest.chars().all(plain))
}

/// Returns whether a text is a date of the Gregorian calendar in the form `2026-11-18`.
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let digits = |text: &str, count: usize| {
        let all = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
        all.then(|| text.parse::<u32>().ok()).flatten()
    };
    let [year, month, day] = parts[..] else {
        return false;
    };
    let (Some(year), Some(month), Some(day)) = (digits(year, 4), digits(month, 2), digits(day, 2))
    else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::system;

    #[test]
    fn b4_incomplete_systems_are_refused() {
        assert_eq!(check_system(&system("a", "Ada")), Ok(()));
        let refused = |change: fn(&mut BoardSystem)| {
            let mut changed = system("a", "Ada");
            change(&mut changed);
            assert!(check_system(&changed).is_err(), "{changed:?}");
        };
        refused(|one| one.name = "  ".to_owned());
        refused(|one| one.name = "x".repeat(101));
        refused(|one| one.authors.clear());
        refused(|one| one.authors[0].link = "javascript:alert(1)".to_owned());
        refused(|one| one.description.clear());
        refused(|one| one.code_url = "ftp://example.org".to_owned());
        refused(|one| one.code_url = "https://a\"b".to_owned());
        refused(|one| one.models.clear());
        refused(|one| one.models = vec!["a\nb".to_owned()]);
        refused(|one| one.name = "a\u{200b}".to_owned());
        refused(|one| one.authors[0].name = "\u{202e}adA".to_owned());
    }

    #[test]
    fn b4_impossible_claims_are_refused() {
        let check = |claim: BoardClaim| check_claim(&claim, "2026-11-18").is_ok();
        let score = |points: u64| BoardClaim {
            score_nano: Some(points * 1_000_000_000),
            ..BoardClaim::default()
        };
        assert!(check(score(100)) && !check(score(101)));
        let date = |date: &str| BoardClaim {
            date: Some(date.to_owned()),
            ..BoardClaim::default()
        };
        assert!(check(date("2026-11-18")) && check(date("2024-02-29")));
        for wrong in [
            "2026-11-19",
            "2025-02-29",
            "2025-13-01",
            "yesterday",
            "2025-1-01",
        ] {
            assert!(!check(date(wrong)), "{wrong}");
        }
    }
}
