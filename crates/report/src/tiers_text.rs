//! Tiers of environments as plain text for a terminal.

use std::fmt::Write as _;

use rhae_protocol::{TierFile, TierSummary};
use rhae_stats::tier_ends;

use crate::plain;

/// Formats the order of ease, one line for each environment.
pub fn tiers_text(file: &TierFile) -> String {
    let ends = tier_ends(file.environments.len());
    let has_people = file.environments.iter().any(|one| one.people.is_some());
    let mut text = format!("{:>4}  {:12} {:>12}", "tier", "environment", "chance");
    text.push_str(if has_people { "  people\n" } else { "\n" });
    for (index, environment) in file.environments.iter().enumerate() {
        let tier = ends.partition_point(|end| *end <= index) + 1;
        let (id, chance) = (plain(&environment.id), environment.chance);
        let _ = write!(text, "{tier:>4}  {id:12} {chance:>12.3e}");
        if let Some(people) = environment.people {
            let _ = write!(text, "  {} of {}", people.completed, people.tested);
        }
        text.push('\n');
    }
    let budget = plain(&file.budget);
    let _ = write!(
        text,
        "chance: a proved upper bound of the probability that random play completes a level within {budget}"
    );
    if has_people {
        text.push_str(
            "\npeople: how many completed the environment in a study, which orders the tiers",
        );
    }
    text
}

/// Formats what the tiers of a run showed.
pub fn tier_summary_text(summary: &TierSummary) -> String {
    let mut text = String::new();
    for (tier, number) in summary.tiers.iter().zip(1..) {
        let count = tier.environments.len();
        let _ = match (tier.completed, tier.luck_p) {
            (Some(completed), Some(p)) => writeln!(
                text,
                "tier {number}: a level completed in {completed} of {count} environments, p = {p:.3} by luck"
            ),
            _ if count == 1 => writeln!(text, "tier {number}: 1 environment not played"),
            _ => writeln!(text, "tier {number}: {count} environments not played"),
        };
    }
    let (played, environments) = (summary.played, summary.environments);
    let _ = write!(text, "{played} of {environments} environments played");
    if let (Some(lower), Some(upper), true) = (summary.lower, summary.upper, played < environments)
    {
        let _ = write!(
            text,
            ": the score of all of them is at least {lower:.2} % and at most {upper:.2} %"
        );
    }
    if let Some(saved) = summary.saved_usd.filter(|saved| *saved > 0.0) {
        let _ = write!(
            text,
            "\nabout {saved:.2} USD saved by the environments that were not played"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use rhae_protocol::{PeopleCompletion, TierEnvironment, TierResult};

    use super::*;

    #[test]
    fn stopped_evaluation_says_what_it_covers() {
        let tier = |played: bool| TierResult {
            environments: vec!["a-v1".to_owned(); 3],
            played,
            completed: played.then_some(1),
            luck_p: played.then_some(0.37),
        };
        let summary = TierSummary {
            tiers: vec![tier(true), tier(false)],
            played: 8,
            environments: 55,
            lower: Some(102.0 / 55.0),
            upper: Some(87.309),
            played_mean: Some(12.75),
            saved_usd: Some(12.345),
        };
        assert_eq!(
            tier_summary_text(&summary),
            "tier 1: a level completed in 1 of 3 environments, p = 0.370 by luck\n\
             tier 2: 3 environments not played\n\
             8 of 55 environments played: the score of all of them is at least 1.85 % and at most 87.31 %\n\
             about 12.35 USD saved by the environments that were not played"
        );
    }

    #[test]
    fn environments_are_listed_with_their_tiers() {
        let environment = |number: usize| TierEnvironment {
            id: format!("g{number}-v1"),
            chance: 0.5,
            people: None,
        };
        let file = TierFile {
            version: 1,
            budget: "5x".to_owned(),
            environments: (0..9).map(environment).collect(),
        };
        let text = tiers_text(&file);
        let tiers: Vec<&str> = text.lines().skip(1).map(|line| line[..4].trim()).collect();
        assert_eq!(tiers[..9], ["1", "1", "1", "2", "2", "2", "2", "2", "3"]);
        assert!(!text.contains("people"));
        let mut measured = file;
        measured.environments[0].people = Some(PeopleCompletion {
            completed: 9,
            tested: 10,
        });
        let text = tiers_text(&measured);
        assert!(text.contains("5.000e-1  9 of 10\n"), "{text}");
        assert!(text.contains("which orders the tiers"));
    }
}
