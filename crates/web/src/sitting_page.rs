//! The pages of a participant of a human study: from the welcome to the completion code.
//!
//! The address `/s/{token}` always shows the page of the current step, so a participant who opens the
//! link again continues at the same place. The pages contain no ids, titles or numbers of the pool,
//! and no hints about an environment.

use askama::Template;
use rhae_protocol::{AttemptOutcome, SittingEndReason, SittingStep, SittingView, money_text};

use crate::page::{NavItem, Page, Viewer, render};
use crate::play_page::PAD;

/// The part of a participant's pages that an address shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// `/s/{token}`: the page of the current step.
    Home,
    /// `/s/{token}/consent`: the consent text, after the welcome.
    Consent,
    /// `/s/{token}/withdraw`.
    Withdraw,
}

impl Place {
    const fn name(self) -> &'static str {
        match self {
            Self::Home => "home",
            Self::Consent => "consent",
            Self::Withdraw => "withdraw",
        }
    }
}

/// The speed of animations. It is the same for all environments, so that it does not reveal which one
/// is played.
const FRAMES_PER_SECOND: u16 = 20;

/// A row of the colour check: squares of one colour, and one of another.
struct ColourRow {
    name: &'static str,
    common: &'static str,
    different: &'static str,
    /// The place of the different square, from 1.
    odd: u8,
}

/// Pairs of colours of environments that people with colour vision deficiencies confuse.
const COLOUR_ROWS: [ColourRow; 5] = [
    ColourRow {
        name: "red",
        common: "#F93C31",
        different: "#FF851B",
        odd: 3,
    },
    ColourRow {
        name: "green",
        common: "#FF851B",
        different: "#4FCC30",
        odd: 1,
    },
    ColourRow {
        name: "blue",
        common: "#1E93FF",
        different: "#A356D6",
        odd: 4,
    },
    ColourRow {
        name: "pink",
        common: "#88D8F1",
        different: "#FF7BCC",
        odd: 2,
    },
    ColourRow {
        name: "maroon",
        common: "#333333",
        different: "#921231",
        odd: 3,
    },
];
/// The number of squares in a row of the colour check.
const SQUARES: u8 = 4;

#[derive(Template)]
#[template(path = "sitting.html")]
struct SittingPage<'a> {
    page: Page<'a>,
    view: &'a SittingView,
    token: &'a str,
    place: Place,
}

#[derive(Template)]
#[template(path = "sitting_play.html")]
struct SittingPlay<'a> {
    page: Page<'a>,
    view: &'a SittingView,
    token: &'a str,
    environment: u32,
    frames_per_second: u16,
}

/// Renders the page of a participant. `token` is the part of the address that names the
/// participant.
pub fn sitting_page(view: &SittingView, token: &str, place: Place) -> String {
    let page = |title, script| Page {
        title,
        nav: NavItem::Other,
        viewer: Viewer::Anonymous,
        script: Some(script),
        preload: None,
    };
    if let (Place::Home, SittingStep::Environment, Some(environment)) =
        (place, view.step, view.environment)
    {
        return render(&SittingPlay {
            page: page("Environment", "sitting_play.js"),
            view,
            token,
            environment,
            frames_per_second: FRAMES_PER_SECOND,
        });
    }
    let script = if place == Place::Home && view.step == SittingStep::Check {
        "sitting_check.js"
    } else {
        "sitting_page.js"
    };
    // The consent text is part of its step only.
    let place = if place == Place::Consent && view.consent.is_none() {
        Place::Home
    } else {
        place
    };
    render(&SittingPage {
        page: page(title(view.step, place), script),
        view,
        token,
        place,
    })
}

const fn title(step: SittingStep, place: Place) -> &'static str {
    match (place, step) {
        (Place::Consent, _) => "Your consent",
        (Place::Withdraw, _) => "Withdraw",
        (Place::Home, SittingStep::About) => "About you",
        (Place::Home, SittingStep::Check) => "Check your device",
        (Place::Home, SittingStep::Between | SittingStep::Ready) => "Between environments",
        (Place::Home, SittingStep::Environment) => "Environment",
        (Place::Home, SittingStep::Paused) => "Pause",
        (Place::Home, SittingStep::Ended) => "Thank you",
        (Place::Home, SittingStep::Declined) => "You did not take part",
        (Place::Home, SittingStep::Withdrawn | SittingStep::Erased) => "You have withdrawn",
        (Place::Home, SittingStep::Unavailable) => "Not available now",
        (Place::Home, SittingStep::SeatFree) => "Please wait",
        (Place::Home, SittingStep::Consent | SittingStep::Arrival) => "Welcome",
    }
}

impl SittingPage<'_> {
    /// Returns the name of the step, by which scripts recognise that it has changed.
    fn step(&self) -> String {
        let name = serde_json::to_value(self.view.step).unwrap_or_default();
        name.as_str().unwrap_or_default().to_owned()
    }

    const fn may_withdraw(&self) -> bool {
        !matches!(
            self.view.step,
            SittingStep::Arrival
                | SittingStep::SeatFree
                | SittingStep::Declined
                | SittingStep::Withdrawn
                | SittingStep::Erased
        ) && !matches!(self.place, Place::Withdraw)
    }

    fn may_pause(&self) -> bool {
        let clock = self.view.clock.as_ref();
        clock.is_some_and(|clock| clock.pause_left_ms > 0)
    }

    fn fee(&self) -> Option<String> {
        let fee = self.view.fee.as_ref()?;
        Some(money_text(
            i64::try_from(fee.amount_minor).unwrap_or(i64::MAX),
            &fee.currency,
        ))
    }

    fn money(&self, minor: &i64) -> String {
        let end = self.view.end.as_ref();
        money_text(*minor, end.map_or("", |end| end.currency.as_str()))
    }

    /// Returns the paragraphs of the consent text, which blank lines separate.
    fn paragraphs(&self) -> Vec<&str> {
        let text = self
            .view
            .consent
            .as_ref()
            .map_or("", |consent| &consent.text);
        let paragraphs = text.split("\n\n").map(str::trim);
        paragraphs.filter(|one| !one.is_empty()).collect()
    }

    fn end_text(&self) -> &'static str {
        let end = self.view.end.as_ref();
        match end.map(|end| end.reason) {
            Some(SittingEndReason::TimeUp) => "The time of the session is over.",
            Some(SittingEndReason::NothingLeft) => {
                "There is no further environment for you in this study."
            }
            Some(SittingEndReason::Lost) => {
                "The session ended because the connection was lost for too long."
            }
            Some(SittingEndReason::Staff) => "The staff ended the session.",
            _ => "The session is over.",
        }
    }
}

/// Returns what happened to an environment that was not completed.
const fn closed_text(outcome: &AttemptOutcome) -> &'static str {
    match outcome {
        AttemptOutcome::Left => "You left this environment.",
        AttemptOutcome::HardLimit => "The time for this environment is over.",
        AttemptOutcome::Lost => "The connection was lost for too long.",
        _ => "This environment is closed.",
    }
}

/// Returns the question of a demographic field.
fn question_text(id: &str) -> String {
    match id {
        "age" => "How old are you?".to_owned(),
        "work" => "What do you do at present?".to_owned(),
        "education" => "What is your highest education?".to_owned(),
        "gaming" => "How often do you play video games?".to_owned(),
        "colour_vision" => "How do you see colours?".to_owned(),
        other => {
            let mut text = other.replace('_', " ");
            if let Some(first) = text.get_mut(..1) {
                first.make_ascii_uppercase();
            }
            text
        }
    }
}

/// Formats a time that is left, rounded up to whole minutes.
fn minutes(ms: &u64) -> String {
    format!("{} min", ms.div_ceil(60_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOCK: &str = r#""clock":{"now_ms":0,"sitting_ms":1000,"remaining_ms":4620000,"attempt_ms":1200000,"hard_ms":1800000,"prompts_ms":[1200000],"stopped":false,"pause_left_ms":900000},"#;

    fn view(step: &str, more: &str) -> SittingView {
        let json = format!(
            r#"{{"step":"{step}","title":"<Study>","kiosk":false,"languages":["de","en"],"sitting_minutes":90,"fee":{{"amount_minor":13000,"currency":"USD"}},{more}"finished":2}}"#
        );
        serde_json::from_str(&json).unwrap()
    }

    fn home(step: &str, more: &str) -> String {
        sitting_page(&view(step, more), "0a", Place::Home)
    }

    #[test]
    fn every_step_has_a_page_and_the_title_is_escaped() {
        for step in [
            "arrival",
            "seat_free",
            "unavailable",
            "consent",
            "declined",
            "about",
            "check",
            "between",
            "paused",
            "ready",
            "ended",
            "withdrawn",
            "erased",
        ] {
            let page = home(step, "");
            assert_eq!(page.matches("<h1>").count(), 1, "{step}");
            assert!(page.contains(&format!("data-step=\"{step}\"")), "{step}");
            assert!(
                !page.contains("<Study>") && !page.contains("Rhae"),
                "{step}"
            );
        }
    }

    #[test]
    fn consent_page_outside_its_step_shows_the_current_step() {
        let page = sitting_page(&view("about", ""), "0a", Place::Consent);
        assert!(page.contains("<h1>About you</h1>"));
    }

    #[test]
    fn pause_is_offered_only_while_time_for_it_is_left() {
        let used = CLOCK.replace("900000", "0");
        let last = r#""last_outcome":"left","#;
        assert!(home("between", &format!("{CLOCK}{last}")).contains("data-command=\"pause\""));
        assert!(!home("between", &format!("{used}{last}")).contains("data-command=\"pause\""));
    }
}
