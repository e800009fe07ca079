//! The tables that may be published.

use std::collections::BTreeMap;

use rhae_protocol::{AttemptRule, ParticipantId, SittingId, StudyStage};
use rhae_stats::k_anonymous;

use super::ExportTable;
use super::columns::{TableBuilder, optional};
use super::tables::{level_rows, questions};
use crate::preset::NO_ANSWER;
use crate::state::{Consent, Participant, Sitting, StudyState};

/// Returns the public tables of the live rows: `participants`, `attempts` and `levels`.
///
/// Only people who consented and have not withdrawn are part of them. A combination of answers is
/// released only if at least k people share it; otherwise answers are removed in the order of the
/// protocol. Participants and sittings are numbered, so that a row cannot be linked to another
/// export.
pub fn public_tables(state: &StudyState) -> Vec<ExportTable> {
    let released: Vec<(&ParticipantId, &Participant)> = state
        .participants
        .iter()
        .filter(|(_, person)| {
            person.stage == StudyStage::Live
                && person.withdrawn.is_none()
                && matches!(person.consent, Some(Consent::Given { .. }))
        })
        .collect();
    let numbers: BTreeMap<&ParticipantId, usize> = released
        .iter()
        .zip(1..)
        .map(|((id, _), number)| (*id, number))
        .collect();
    let sittings: BTreeMap<&SittingId, &Sitting> = state
        .sittings
        .iter()
        .filter(|(_, sitting)| numbers.contains_key(&sitting.participant))
        .collect();
    let sitting_numbers: BTreeMap<&SittingId, usize> = sittings
        .keys()
        .zip(1..)
        .map(|(id, number)| (*id, number))
        .collect();
    let name = |id: &&SittingId| format!("s{}", sitting_numbers[*id]);
    vec![
        participants(state, &released),
        attempts(&sittings, &numbers, name),
        level_rows(
            sittings.iter().map(|(id, sitting)| (id, *sitting)),
            |id, _| name(id),
        ),
    ]
}

fn participants(state: &StudyState, released: &[(&ParticipantId, &Participant)]) -> ExportTable {
    let questions = questions(state);
    let mut table = TableBuilder::new("participants", &[("participant", "number in this export")]);
    for question in &questions {
        table.column(
            question,
            "answer in bands; empty if it was removed for anonymity",
        );
    }
    let k = state
        .protocol()
        .map_or(5, |(_, protocol)| protocol.k_anonymity);
    let answer = |person: &Participant, question: &String| {
        let answer = person.answers.get(question);
        answer.cloned().unwrap_or_else(|| NO_ANSWER.to_owned())
    };
    let rows: Vec<Vec<String>> = released
        .iter()
        .map(|(_, person)| {
            questions
                .iter()
                .map(|question| answer(person, question))
                .collect()
        })
        .collect();
    let order: Vec<usize> = (0..questions.len()).collect();
    let anonymous = k_anonymous(&rows, &order, usize::try_from(k).unwrap_or(usize::MAX));
    for (row, number) in anonymous.into_iter().zip(1_usize..) {
        // A suppressed person keeps a row without answers, because the attempts refer to it.
        let answers = row.unwrap_or_else(|| vec![None; questions.len()]);
        let mut cells = vec![format!("p{number}")];
        cells.extend(answers.into_iter().map(optional));
        table.row(format!("p{number}"), cells);
    }
    table.finish()
}

fn attempts(
    sittings: &BTreeMap<&SittingId, &Sitting>,
    numbers: &BTreeMap<&ParticipantId, usize>,
    name: impl Fn(&&SittingId) -> String,
) -> ExportTable {
    let mut table = TableBuilder::new(
        "attempts",
        &[
            ("sitting", "number in this export"),
            ("position", "place in the sitting, from 1"),
            ("participant", "number in this export"),
            ("environment", "environment version"),
            (
                "start_minutes",
                "minutes of play time from the start of the sitting",
            ),
            ("duration_ms", "play time of the attempt"),
            ("outcome", "how the attempt ended"),
            ("levels_completed", "number of completed levels"),
            ("actions", "actions on all levels, level resets included"),
            (
                "standing_paper",
                "what the attempt counts as under the rule paper",
            ),
            (
                "standing_rhae_1",
                "what the attempt counts as under the rule rhae-1",
            ),
            ("excluded", "whether the attempt or its sitting is excluded"),
        ],
    );
    for (id, sitting) in sittings {
        for (position, assignment, attempt) in sitting.ended() {
            table.row(
                format!("{}/{position}", name(id)),
                vec![
                    name(id),
                    position.to_string(),
                    format!("p{}", numbers[&sitting.participant]),
                    assignment.environment.to_string(),
                    (attempt.start_clock_ms / 60_000).to_string(),
                    attempt.duration_ms.to_string(),
                    attempt.outcome.name().to_owned(),
                    attempt.counts.completed_levels().to_string(),
                    attempt.counts.actions().to_string(),
                    attempt.standing(AttemptRule::Paper).name().to_owned(),
                    attempt.standing(AttemptRule::Rhae1).name().to_owned(),
                    sitting.is_excluded(position).to_string(),
                ],
            );
        }
    }
    table.finish()
}
