//! The complete tables.

use rhae_protocol::{
    AttemptRule, ExclusionBasis, StudyChain, StudyRecord, StudyStage, rfc3339_utc,
};

use super::ExportTable;
use super::columns::{TableBuilder, optional};
use crate::canonical::canonical_json;
use crate::rows::live_attempts;
use crate::state::{AssignmentState, Consent, Exclusion, Sitting, StudyState};

pub(super) fn participants(state: &StudyState) -> ExportTable {
    let mut table = TableBuilder::new(
        "participants",
        &[
            ("participant", "random pseudonym"),
            ("stage", "test, pilot or live"),
            ("arm", "group of participants with one pool of environments"),
            ("site", "place or recruiting platform"),
            ("source", "how the person was recruited"),
            ("enrolled", "UTC time"),
            ("consent", "given, declined or empty"),
            ("publish_replays", "whether replays may be published"),
            ("withdrawn", "UTC time of withdrawal"),
            ("keyboard", "whether the person has a keyboard"),
            ("pointer", "whether the person has a pointing device"),
            ("colours_distinguished", "result of the colour check"),
        ],
    );
    let questions = questions(state);
    for question in &questions {
        table.column(question, "answer in bands");
    }
    for (id, person) in &state.participants {
        let (consent, publish) = match &person.consent {
            Some(Consent::Given {
                publish_replays, ..
            }) => ("given", publish_replays.to_string()),
            Some(Consent::Declined) => ("declined", String::new()),
            None => ("", String::new()),
        };
        let mut cells = vec![
            id.to_string(),
            person.stage.name().to_owned(),
            person.arm.to_string(),
            person.site.to_string(),
            person.source.clone(),
            rfc3339_utc(person.enrolled_ms),
            consent.to_owned(),
            publish,
            optional(person.withdrawn.as_ref().map(|one| rfc3339_utc(one.at_ms))),
            optional(person.devices.map(|devices| devices.keyboard)),
            optional(person.devices.map(|devices| devices.pointer)),
            optional(person.colours_distinguished),
        ];
        cells.extend(
            questions
                .iter()
                .map(|question| optional(person.answers.get(question))),
        );
        table.row(id.to_string(), cells);
    }
    table.finish()
}

pub(super) fn questions(state: &StudyState) -> Vec<String> {
    let questions = state.protocol().map(|(_, protocol)| &protocol.demographics);
    let questions = questions.into_iter().flatten();
    questions.map(|question| question.id.clone()).collect()
}

pub(super) fn sittings(state: &StudyState) -> ExportTable {
    let mut table = TableBuilder::new(
        "sittings",
        &[
            ("sitting", "id of the sitting"),
            ("participant", "random pseudonym"),
            ("stage", "test, pilot or live"),
            ("site", "place or recruiting platform"),
            ("seat", "seat in the testing room"),
            ("protocol", "SHA-256 of the protocol"),
            ("started", "UTC time"),
            ("end_reason", "why the sitting ended"),
            ("play_ms", "play time, without pauses and outages"),
            ("pause_ms", "time in pauses"),
            ("outage_ms", "time in outages"),
            ("excluded", "whether the sitting is excluded"),
            (
                "exclusions",
                "all exclusions with their basis, also undone ones",
            ),
            ("comments", "comments of the participant"),
        ],
    );
    for (id, sitting) in &state.sittings {
        let excluded = sitting
            .active_exclusions()
            .any(|one| one.position.is_none());
        let exclusions: Vec<String> = sitting.exclusions.iter().map(exclusion_text).collect();
        table.row(
            id.to_string(),
            vec![
                id.to_string(),
                sitting.participant.to_string(),
                sitting.stage.name().to_owned(),
                sitting.site.to_string(),
                optional(sitting.seat),
                sitting.protocol.to_string(),
                rfc3339_utc(sitting.started_ms),
                optional(sitting.ending.as_ref().map(|ending| ending.reason.name())),
                optional(sitting.ending.as_ref().map(|ending| ending.clock_ms)),
                sitting.clock.pause_used_ms.to_string(),
                sitting.clock.outage_used_ms.to_string(),
                excluded.to_string(),
                exclusions.join("; "),
                sitting.comments.join("; "),
            ],
        );
    }
    table.finish()
}

fn exclusion_text(exclusion: &Exclusion) -> String {
    let basis = match &exclusion.basis {
        ExclusionBasis::Rule { id, version } => format!("rule {id} version {version}"),
        ExclusionBasis::Person { by, reason } => format!("{by}: {reason}"),
    };
    let undone = match &exclusion.undone {
        Some((by, reason)) => format!(", undone by {by}: {reason}"),
        None => String::new(),
    };
    format!("{} ({basis}; {}{undone})", exclusion.id, exclusion.evidence)
}

pub(super) fn assignments(state: &StudyState) -> ExportTable {
    let mut table = TableBuilder::new(
        "assignments",
        &[
            ("sitting", "id of the sitting"),
            ("position", "place in the sitting, from 1"),
            ("environment", "environment version"),
            ("reserved", "UTC time"),
            ("state", "reserved, started, ended or released"),
        ],
    );
    for (id, sitting) in &state.sittings {
        for (assignment, position) in sitting.assignments.iter().zip(1_u32..) {
            let state = match assignment.state {
                AssignmentState::Reserved => "reserved",
                AssignmentState::Started(_) => "started",
                AssignmentState::Ended(_) => "ended",
                AssignmentState::Released(_) => "released",
            };
            table.row(
                format!("{id}/{position}"),
                vec![
                    id.to_string(),
                    position.to_string(),
                    assignment.environment.to_string(),
                    rfc3339_utc(assignment.reserved_ms),
                    state.to_owned(),
                ],
            );
        }
    }
    table.finish()
}

pub(super) fn attempts(state: &StudyState) -> ExportTable {
    let mut table = TableBuilder::new(
        "attempts",
        &[
            ("sitting", "id of the sitting"),
            ("position", "place in the sitting, from 1"),
            ("participant", "random pseudonym"),
            ("stage", "test, pilot or live"),
            ("environment", "environment version"),
            ("play", "id of the play"),
            ("started", "UTC time of the first frame"),
            (
                "start_clock_ms",
                "play time of the sitting at the first frame",
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
            ("helped", "whether another person helped"),
            ("excluded", "whether the attempt or its sitting is excluded"),
            ("hash", "SHA-256 of the attempt"),
        ],
    );
    for (id, sitting) in &state.sittings {
        for (position, assignment, attempt) in sitting.ended() {
            table.row(
                format!("{id}/{position}"),
                vec![
                    id.to_string(),
                    position.to_string(),
                    sitting.participant.to_string(),
                    sitting.stage.name().to_owned(),
                    assignment.environment.to_string(),
                    attempt.play.clone(),
                    rfc3339_utc(attempt.started_ms),
                    attempt.start_clock_ms.to_string(),
                    attempt.duration_ms.to_string(),
                    attempt.outcome.name().to_owned(),
                    attempt.counts.completed_levels().to_string(),
                    attempt.counts.actions().to_string(),
                    attempt.standing(AttemptRule::Paper).name().to_owned(),
                    attempt.standing(AttemptRule::Rhae1).name().to_owned(),
                    assignment.helped.is_some().to_string(),
                    sitting.is_excluded(position).to_string(),
                    attempt.hash().to_string(),
                ],
            );
        }
    }
    table.finish()
}

pub(super) fn levels(state: &StudyState) -> ExportTable {
    level_rows(state.sittings.iter(), |id, _| id.to_string())
}

/// Returns the levels of sittings, in which `name` gives the name of the sitting.
pub(super) fn level_rows<'a, K: 'a>(
    sittings: impl Iterator<Item = (&'a K, &'a Sitting)>,
    name: impl Fn(&K, &Sitting) -> String,
) -> ExportTable {
    let mut table = TableBuilder::new(
        "levels",
        &[
            ("sitting", "id of the sitting"),
            ("position", "place in the sitting, from 1"),
            ("environment", "environment version"),
            ("level", "number of the level, from 1"),
            ("actions", "actions over all tries, level resets included"),
            ("effective", "actions that changed the state"),
            (
                "actions_last_try",
                "actions since the last reset; never a baseline",
            ),
            ("resets", "number of level resets"),
            ("deaths", "how often the level was lost"),
            ("completed", "whether the level was completed"),
            (
                "completed_ms",
                "time of the attempt at which the level was completed",
            ),
        ],
    );
    for (id, sitting) in sittings {
        let id = name(id, sitting);
        for (position, assignment, attempt) in sitting.ended() {
            for (level, number) in attempt.counts.levels.iter().zip(1_u32..) {
                table.row(
                    format!("{id}/{position}/{number}"),
                    vec![
                        id.clone(),
                        position.to_string(),
                        assignment.environment.to_string(),
                        number.to_string(),
                        level.actions.to_string(),
                        level.effective.to_string(),
                        level.actions_last_try.to_string(),
                        level.resets.to_string(),
                        level.deaths.to_string(),
                        level.completed.to_string(),
                        optional(level.completed_ms),
                    ],
                );
            }
        }
    }
    table.finish()
}

pub(super) fn events(records: &[StudyRecord]) -> ExportTable {
    let mut table = TableBuilder::new(
        "events",
        &[
            (
                "chain",
                "study, or the participant or sitting to which the event belongs",
            ),
            ("position", "place in the chain, from 1"),
            ("time", "UTC time of the server"),
            ("event", "the event as canonical JSON"),
            ("hash", "SHA-256 of the record"),
        ],
    );
    for record in records {
        let chain = match &record.chain {
            StudyChain::Study => "study".to_owned(),
            StudyChain::Participant(id) => format!("participant {id}"),
            StudyChain::Sitting(id) => format!("sitting {id}"),
            StudyChain::Memory(id) => format!("memory {id}"),
        };
        table.row(
            record.seq.to_string(),
            vec![
                chain,
                record.position.to_string(),
                rfc3339_utc(record.at_ms),
                canonical_json(&record.event),
                record.hash.to_string(),
            ],
        );
    }
    table.finish()
}

/// The table that `rhae score humans` reads: the levels of live attempts that count under the rule of
/// the protocol and are not excluded.
pub(super) fn humans(state: &StudyState) -> ExportTable {
    let mut table = TableBuilder::new(
        "humans",
        &[
            ("participant", "random pseudonym"),
            ("environment", "environment version"),
            ("level", "number of the level, from 1"),
            ("actions", "actions over all tries, level resets included"),
            ("completed", "whether the level was completed"),
        ],
    );
    let Some((_, protocol)) = state.protocol() else {
        return table.finish();
    };
    let selection = crate::verdict::applied(protocol.attempt_rule);
    for row in live_attempts(state) {
        debug_assert_eq!(row.sitting.stage, StudyStage::Live);
        if !row.standing(selection).contributes() {
            continue;
        }
        let censored = row.attempt.outcome.is_censored();
        for (level, number) in row.attempt.counts.levels.iter().zip(1_u32..) {
            // A level in which the person was interrupted was neither completed nor failed.
            if censored && !level.completed {
                continue;
            }
            table.row(
                format!("{}/{}/{number}", row.sitting_id, row.position),
                vec![
                    row.participant.to_string(),
                    row.environment.to_string(),
                    number.to_string(),
                    level.actions.to_string(),
                    level.completed.to_string(),
                ],
            );
        }
    }
    table.finish()
}
