//! A scorecard as CSV for spreadsheets and scripts.

use rhae_protocol::{EnvironmentScore, RunScore, Scorecard};

use crate::card_page::baseline;

const COLUMNS: [&str; 11] = [
    "environment",
    "guid",
    "state",
    "run_score",
    "run_actions",
    "level",
    "completed",
    "actions",
    "baseline",
    "baseline_source",
    "level_score",
];

/// Renders every level of every run as CSV. Free-form text of the author is not included.
pub fn card_csv(card: &Scorecard) -> String {
    const IN_MEMORY: &str = "writing to memory does not fail";
    let mut writer = csv::WriterBuilder::new()
        .terminator(csv::Terminator::CRLF)
        .from_writer(Vec::new());
    writer.write_record(COLUMNS).expect(IN_MEMORY);
    for environment in &card.environments {
        for run in &environment.runs {
            for level in 0..run.level_actions.len() {
                let record = record(environment, run, level);
                writer.write_record(record).expect(IN_MEMORY);
            }
        }
    }
    let bytes = writer.into_inner().expect(IN_MEMORY);
    String::from_utf8(bytes).expect("all fields are UTF-8")
}

fn record(environment: &EnvironmentScore, run: &RunScore, level: usize) -> [String; 11] {
    let baseline = baseline(run, level).map(|actions| actions.to_string());
    let source = environment.baseline_source.get(level);
    let score = run.level_scores.get(level).copied().unwrap_or(0.0);
    [
        environment.id.clone(),
        run.guid.clone(),
        run.state.name().to_owned(),
        run.score.to_string(),
        run.actions.to_string(),
        (level + 1).to_string(),
        (level < run.levels_completed as usize).to_string(),
        run.level_actions[level].to_string(),
        baseline.unwrap_or_default(),
        source.cloned().unwrap_or_default(),
        score.to_string(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card_page::tests::view;

    #[test]
    fn csv_has_one_line_per_level_and_run() {
        let text = card_csv(&view().card);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert_eq!(
            lines[1],
            "ab12-v1,g1,NOT_FINISHED,62.5,19,1,true,12,10,solver,81.25"
        );
    }

    #[test]
    fn fields_with_commas_are_quoted() {
        let mut card = view().card;
        card.environments[0].baseline_source[0] = "humans, n = 12".to_owned();
        assert!(card_csv(&card).contains(",10,\"humans, n = 12\",81.25\r\n"));
    }
}
