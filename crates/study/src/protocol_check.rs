//! Validation of a study protocol.
//!
//! Every violation is reported, not only the first one, so that a researcher can correct the file in
//! one pass.

use std::collections::BTreeSet;
use std::fmt;

use rhae_protocol::{AssignmentDesign, STUDY_PROTOCOL_VERSION, StudyProtocol};
use rhae_scoring::Method;

use crate::preset::{ANALYSIS_VERSION, NO_ANSWER};

/// A field of a protocol that is not valid.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProtocolViolation {
    /// The path of the field, for example `limits.hard_s`.
    pub field: String,
    /// What is expected, and what was found.
    pub message: String,
}

impl fmt::Display for ProtocolViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message)
    }
}

/// Returns all violations of a protocol; a valid protocol has none.
///
/// # Examples
///
/// ```
/// use rhae_study::{Preset, check_protocol};
///
/// let violations = check_protocol(&Preset::Rhae1.protocol());
/// assert_eq!(violations[0].to_string(), "consent.en: expected a text, found none");
/// ```
pub fn check_protocol(protocol: &StudyProtocol) -> Vec<ProtocolViolation> {
    let mut found = Violations::default();
    if protocol.format != STUDY_PROTOCOL_VERSION {
        let expected = format!(
            "expected {STUDY_PROTOCOL_VERSION}, found {}",
            protocol.format
        );
        found.push("format", expected);
    }
    for (field, value) in [
        ("version", protocol.version),
        ("target", protocol.target),
        ("pass_solves", protocol.pass_solves),
        ("sittings_per_person", protocol.sittings_per_person),
        ("k_anonymity", protocol.k_anonymity),
        ("low_effort.version", protocol.low_effort.version),
        (
            "low_effort.min_quick_quits",
            protocol.low_effort.min_quick_quits,
        ),
    ] {
        if value == 0 {
            found.push(field, "expected a number above 0, found 0");
        }
    }
    if protocol.pass_solves > protocol.target {
        let message = format!(
            "expected at most the target of {}, found {}",
            protocol.target, protocol.pass_solves
        );
        found.push("pass_solves", message);
    }
    if protocol.low_effort.min_share_percent > 100 {
        let message = format!(
            "expected at most 100, found {}",
            protocol.low_effort.min_share_percent
        );
        found.push("low_effort.min_share_percent", message);
    }
    if protocol.design == (AssignmentDesign::Fixed { per_sitting: 0 }) {
        found.push(
            "design.fixed.per_sitting",
            "expected a number above 0, found 0",
        );
    }
    check_limits(protocol, &mut found);
    check_money(protocol, &mut found);
    check_texts(protocol, &mut found);
    check_analysis(protocol, &mut found);
    found.0
}

#[derive(Default)]
struct Violations(Vec<ProtocolViolation>);

impl Violations {
    fn push(&mut self, field: impl Into<String>, message: impl Into<String>) {
        self.0.push(ProtocolViolation {
            field: field.into(),
            message: message.into(),
        });
    }
}

fn check_limits(protocol: &StudyProtocol, found: &mut Violations) {
    let limits = &protocol.limits;
    for (field, value) in [
        ("limits.sitting_s", limits.sitting_s),
        ("limits.hard_s", limits.hard_s),
        ("limits.outage_grace_s", limits.outage_grace_s),
        ("limits.reservation_s", limits.reservation_s),
    ] {
        if value == 0 {
            found.push(field, "expected a number above 0, found 0");
        }
    }
    let at_most = |field: &str, value: u64, limit: u64, of: &str, found: &mut Violations| {
        if value > limit {
            let message = format!("expected at most `{of}` ({limit}), found {value}");
            found.push(field, message);
        }
    };
    at_most(
        "limits.hard_s",
        limits.hard_s,
        limits.sitting_s,
        "limits.sitting_s",
        found,
    );
    at_most(
        "limits.min_remaining_s",
        limits.min_remaining_s,
        limits.sitting_s,
        "limits.sitting_s",
        found,
    );
    if !limits.prompts_s.is_sorted_by(|one, next| one < next) {
        found.push("limits.prompts_s", "expected ascending times");
    }
    if let Some(last) = limits
        .prompts_s
        .last()
        .filter(|&&last| last >= limits.hard_s)
    {
        let message = format!(
            "expected times below `limits.hard_s` ({}), found {last}",
            limits.hard_s
        );
        found.push("limits.prompts_s", message);
    }
    // Longer times would overflow when they are converted to milliseconds.
    let longest = [
        limits.sitting_s,
        limits.outage_total_s,
        limits.pause_total_s,
        limits.reservation_s,
    ];
    if longest.into_iter().any(|value| value > MAX_LIMIT_S) {
        found.push(
            "limits",
            format!("expected times of at most {MAX_LIMIT_S} seconds"),
        );
    }
}

/// The longest limit, in seconds: 30 days.
const MAX_LIMIT_S: u64 = 30 * 24 * 60 * 60;

/// The highest fee or bonus, in minor units.
pub(crate) const MAX_AMOUNT_MINOR: u64 = 1_000_000_000;

fn check_money(protocol: &StudyProtocol, found: &mut Violations) {
    let currency = &protocol.money.currency;
    if currency.len() != 3 || !currency.bytes().all(|byte| byte.is_ascii_uppercase()) {
        let message = format!("expected an ISO 4217 code such as `USD`, found `{currency}`");
        found.push("money.currency", message);
    }
    for (field, amount) in [
        ("money.fee_minor", protocol.money.fee_minor),
        ("money.bonus_minor", protocol.money.bonus_minor),
    ] {
        if amount > MAX_AMOUNT_MINOR {
            found.push(
                field,
                format!("expected at most {MAX_AMOUNT_MINOR}, found {amount}"),
            );
        }
    }
}

fn check_texts(protocol: &StudyProtocol, found: &mut Violations) {
    if protocol.consent.is_empty() {
        found.push(
            "consent",
            "expected a text in at least one language, found none",
        );
    }
    for (language, consent) in &protocol.consent {
        if consent.text.trim().is_empty() {
            found.push(format!("consent.{language}"), "expected a text, found none");
        }
        if let Some(placeholder) = placeholder(&consent.text) {
            let message =
                format!("expected a complete text, found the placeholder `{placeholder}`");
            found.push(format!("consent.{language}"), message);
        }
        if consent.version == 0 {
            found.push(
                format!("consent.{language}.version"),
                "expected a number above 0, found 0",
            );
        }
    }
    let mut ids = BTreeSet::new();
    for question in &protocol.demographics {
        let field = format!("demographics.{}", question.id);
        if !ids.insert(&question.id) {
            found.push(&field, "expected a unique id, found it twice");
        }
        if !question.bands.iter().any(|band| band == NO_ANSWER) {
            found.push(&field, format!("expected the band `{NO_ANSWER}`"));
        }
        let bands: BTreeSet<_> = question.bands.iter().collect();
        if bands.len() != question.bands.len() {
            found.push(&field, "expected unique bands, found one twice");
        }
    }
}

/// Finds what a template leaves to be replaced: words in capital letters in brackets.
fn placeholder(text: &str) -> Option<&str> {
    let is_capital = |byte: u8| byte.is_ascii_uppercase() || matches!(byte, b' ' | b',');
    text.match_indices('[').find_map(|(start, _)| {
        let end = start + text[start..].find(']')?;
        let inner = &text.as_bytes()[start + 1..end];
        (inner.len() > 1 && inner.iter().copied().all(is_capital)).then(|| &text[start..=end])
    })
}

fn check_analysis(protocol: &StudyProtocol, found: &mut Violations) {
    if let Err(error) = protocol.analysis.method.parse::<Method>() {
        found.push("analysis.method", error.to_string());
    }
    if protocol.analysis.version != ANALYSIS_VERSION {
        let message = format!(
            "expected {ANALYSIS_VERSION}, the version of this software, found {}",
            protocol.analysis.version
        );
        found.push("analysis.version", message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::protocol;
    use crate::preset::Preset;

    fn messages(change: impl FnOnce(&mut StudyProtocol)) -> Vec<String> {
        let mut protocol = protocol(Preset::Rhae1);
        change(&mut protocol);
        check_protocol(&protocol)
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn completed_presets_are_valid() {
        for preset in Preset::ALL {
            assert_eq!(check_protocol(&protocol(preset)), []);
        }
    }

    #[test]
    fn violations_name_the_field_and_both_values() {
        assert_eq!(
            messages(|protocol| protocol.limits.hard_s = 6000),
            ["limits.hard_s: expected at most `limits.sitting_s` (5400), found 6000"]
        );
        assert_eq!(
            messages(|protocol| protocol.limits.prompts_s = vec![1200, 1800]),
            ["limits.prompts_s: expected times below `limits.hard_s` (1800), found 1800"]
        );
        assert_eq!(
            messages(|protocol| protocol.pass_solves = 11),
            ["pass_solves: expected at most the target of 10, found 11"]
        );
        assert_eq!(
            messages(|protocol| protocol.money.currency = "usd".to_owned()),
            ["money.currency: expected an ISO 4217 code such as `USD`, found `usd`"]
        );
        assert_eq!(
            messages(|protocol| protocol.demographics[0]
                .bands
                .retain(|band| band != NO_ANSWER)),
            ["demographics.colour_vision: expected the band `rather not say`"]
        );
    }

    #[test]
    fn template_of_the_consent_text_must_be_completed() {
        let of = |text: &str| {
            messages(|protocol| {
                let consent = protocol.consent.values_mut().next().unwrap();
                consent.text = text.to_owned();
            })
        };
        let template = include_str!("../../../docs/templates/study-consent.md");
        let expected = "consent.en: expected a complete text, found the placeholder";
        let (_, text) = template.split_once("---").unwrap();
        assert_eq!(of(text), [format!("{expected} `[INSTITUTION]`")]);
        assert_eq!(
            of("Ask [NAME, EMAIL]."),
            [format!("{expected} `[NAME, EMAIL]`")]
        );
        for complete in ["You [and others] take part.", "See [A] and [12] [", "]["] {
            assert_eq!(of(complete), [""; 0]);
        }
    }

    #[test]
    fn all_violations_are_reported_together() {
        let found = messages(|protocol| {
            protocol.target = 0;
            protocol.pass_solves = 0;
            protocol.analysis.method = "best".to_owned();
        });
        assert_eq!(found.len(), 3);
        assert!(found[2].starts_with("analysis.method: `best` is not a scoring method"));
    }
}
