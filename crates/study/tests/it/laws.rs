//! Random commands: whatever happens, the invariants of a study hold.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use rhae_protocol::{StudyStage, WithdrawnData};
use rhae_study::{
    AssignmentState, Command, EndRequest, Moment, PersonCommand, Preset, ReviewCommand,
    SetupCommand, SittingCommand, Study, StudyState, books_balance, environment_counts,
    verify_study,
};

use crate::lab::{Lab, protocol, solved, unsolved};

const PEOPLE: usize = 8;
const TARGET: u32 = 2;
/// The kind of step that erases a person.
const ERASE: u8 = 99;

/// One random step: a command of a person, and the time that passes before it.
#[derive(Clone, Debug)]
struct Step {
    person: usize,
    kind: u8,
    actions: u32,
    wait_ms: u64,
    in_contact: bool,
}

fn any_step() -> impl Strategy<Value = Step> {
    let wait = prop_oneof![
        60 => 0_u64..60_000,
        10 => 60_000_u64..600_000,
        1 => 600_000_u64..2_400_000,
    ];
    (
        0..PEOPLE,
        0_u8..100,
        0_u32..60,
        wait,
        prop::bool::weighted(0.9),
    )
        .prop_map(|(person, kind, actions, wait_ms, in_contact)| Step {
            person,
            kind,
            actions,
            wait_ms,
            in_contact,
        })
}

fn command(step: &Step) -> Command {
    let id = format!("p{}", step.person);
    let on_sitting = |command| Command::Sitting(format!("s-{id}").as_str().into(), command);
    let on_person = |command| Command::Person(id.as_str().into(), command);
    let review = |command| Command::Review(format!("s-{id}").as_str().into(), command);
    let counts = || {
        if step.actions.is_multiple_of(3) {
            solved(&[step.actions + 1])
        } else {
            unsolved(&[step.actions])
        }
    };
    match step.kind {
        0..=27 => on_sitting(SittingCommand::Next),
        28..=49 => on_sitting(SittingCommand::StartAttempt {
            play: format!("play-{id}-{}", step.actions),
        }),
        50..=76 => on_sitting(SittingCommand::EndAttempt {
            leave: step.actions.is_multiple_of(2),
            counts: counts(),
        }),
        77..=82 => on_sitting(SittingCommand::Contact),
        83..=84 => on_sitting(SittingCommand::SetFocus {
            hidden: step.actions.is_multiple_of(2),
        }),
        85..=86 => on_sitting(SittingCommand::StartPause),
        87..=89 => on_sitting(SittingCommand::EndPause),
        90..=91 => on_sitting(SittingCommand::End {
            request: if step.actions.is_multiple_of(2) {
                EndRequest::Participant
            } else {
                EndRequest::Due
            },
            counts: Some(counts()),
        }),
        92 => on_person(PersonCommand::Withdraw {
            data: WithdrawnData::Keep,
            receipt: "r".to_owned(),
            counts: Some(counts()),
        }),
        93..=94 => review(ReviewCommand::Exclude {
            exclusion: format!("x{}", step.actions % 8).as_str().into(),
            position: (step.actions.is_multiple_of(2)).then_some(1),
            by: "ann".to_owned(),
            reason: "test".to_owned(),
            evidence: String::new(),
        }),
        95..=97 => review(ReviewCommand::Undo {
            exclusion: format!("x{}", step.actions % 8).as_str().into(),
            by: "ann".to_owned(),
            reason: "test".to_owned(),
        }),
        98 => Command::Setup(SetupCommand::WithdrawEnvironment {
            environment: "aa11-v1".into(),
            reason: "test".to_owned(),
        }),
        ERASE.. => Command::Erase(id.as_str().into()),
    }
}

/// Counts what random commands reach, so that the laws do not hold for lack of events.
#[test]
fn random_commands_reach_every_kind_of_event() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let steps = prop::collection::vec(any_step(), 200);
    let mut kinds: BTreeMap<String, u32> = BTreeMap::new();
    for at in 0..40 {
        let preset = Preset::ALL[at % 2];
        let steps = steps.new_tree(&mut runner).unwrap().current();
        for record in run(preset, &steps).unwrap().log {
            let event = serde_json::to_value(&record.event).unwrap();
            let outcome = event
                .get("outcome")
                .or(event.get("reason"))
                .and_then(|one| one.as_str());
            let kind = event["kind"].as_str().unwrap();
            *kinds
                .entry(format!("{kind} {}", outcome.unwrap_or("")))
                .or_default() += 1;
        }
    }
    let expected = [
        "attempt_ended solved",
        "attempt_ended left",
        "attempt_ended hard_limit",
        "attempt_ended lost",
        "attempt_ended withdrawn",
        "sitting_ended left",
        "sitting_ended time_up",
        "sitting_ended nothing_left",
        "sitting_ended lost",
        "sitting_ended withdrawn",
        "released sitting_ended",
        "released expired",
        "released environment_withdrawn",
        "outage ",
        "heartbeat ",
        "pause_ended ",
        "focus ",
        "excluded ",
        "exclusion_undone test",
        "erased ",
        "payment_due ",
    ];
    let missing: Vec<_> = expected
        .iter()
        .filter(|&&kind| !kinds.contains_key(kind))
        .collect();
    assert!(missing.is_empty(), "{missing:?} of {kinds:?}");
}

/// Opens a study with two versions of one family and starts a sitting for each person.
fn crowded(preset: Preset) -> Lab {
    let mut protocol = protocol(preset);
    protocol.target = TARGET;
    protocol.pass_solves = 1;
    let pool = [
        ("aa11-v1", 1),
        ("aa11-v2", 1),
        ("bb22-v1", 1),
        ("cc33-v1", 1),
    ];
    let mut lab = Lab::open(protocol, &pool);
    for at in 0..PEOPLE {
        let stage = match at {
            0 => StudyStage::Pilot,
            1 => StudyStage::Test,
            _ => StudyStage::Live,
        };
        lab.enrol(&format!("p{at}"), stage);
        lab.start(&format!("p{at}"));
    }
    lab
}

fn check(state: &StudyState, preset: Preset) -> Result<(), TestCaseError> {
    let mut families: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
    let mut open = BTreeSet::new();
    for sitting in state.sittings.values() {
        for assignment in sitting.started() {
            let seen = families.entry(&sitting.participant).or_default();
            prop_assert!(
                seen.insert(assignment.environment.family().to_owned()),
                "twice in a family"
            );
        }
        if sitting.is_open() {
            prop_assert!(open.insert(&sitting.participant), "two open sittings");
        }
        let unfinished = sitting.assignments.iter().rev().skip(1).all(|assignment| {
            matches!(
                assignment.state,
                AssignmentState::Ended(_) | AssignmentState::Released(_)
            )
        });
        prop_assert!(unfinished, "only the last assignment is current");
        if !sitting.is_open() {
            prop_assert!(
                sitting.current().is_none(),
                "an ended sitting plays nothing"
            );
        }
    }
    let rule = state.protocol().unwrap().1.attempt_rule;
    let selection = rhae_study::Selection {
        rule,
        exclusions: false,
    };
    for count in environment_counts(state, selection).values() {
        match preset {
            // Every start counts, so that the target is the bound.
            Preset::Paper => {
                prop_assert!(count.completed_starts + count.playing + count.reserved <= TARGET);
            }
            // 20 − 7 · live > 0 admits three people to an empty environment. Exclusions and plays
            // that do not count admit more later.
            Preset::Rhae1 => {
                prop_assert!(count.reserved + count.playing <= 3);
            }
        }
    }
    prop_assert!(books_balance(state));
    Ok(())
}

fn run(preset: Preset, steps: &[Step]) -> Result<Lab, TestCaseError> {
    let mut lab = crowded(preset);
    for step in steps {
        lab.wait(step.wait_ms);
        let moment = Moment {
            now_ms: lab.now_ms,
            contact_ms: step.in_contact.then_some(lab.now_ms),
        };
        let unchanged = lab.study.clone();
        let erased = match lab.try_at(moment, &command(step)) {
            Ok(_) => step.kind == ERASE,
            Err(_) => {
                prop_assert_eq!(&lab.study, &unchanged, "a refused command changes nothing");
                false
            }
        };
        if erased {
            let chains = lab
                .study
                .chains_of(&format!("p{}", step.person).as_str().into());
            lab.log.retain(|record| !chains.contains(&record.chain));
        }
        check(lab.study.state(), preset)?;
    }
    Ok(lab)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn invariants_hold_after_any_commands(
        paper in any::<bool>(),
        steps in prop::collection::vec(any_step(), 1..250),
    ) {
        let preset = if paper { Preset::Paper } else { Preset::Rhae1 };
        let lab = run(preset, &steps)?;
        let replayed = Study::replay(&lab.log).unwrap();
        prop_assert_eq!(&replayed, &lab.study);
        prop_assert_eq!(verify_study(&lab.log, &[]), []);
        // A second run is identical.
        let again = run(preset, &steps)?;
        prop_assert_eq!(&again.log, &lab.log);
    }

    #[test]
    fn records_of_one_server_can_be_committed_by_another(steps in prop::collection::vec(any_step(), 1..40)) {
        let mut lab = crowded(Preset::Rhae1);
        let mut other = lab.study.clone();
        for step in &steps {
            lab.wait(step.wait_ms);
            let moment = lab.moment();
            if let Ok(records) = lab.try_at(moment, &command(step)) {
                other = other.extended(&records).unwrap();
                prop_assert_eq!(&other, &lab.study);
                if !records.is_empty() {
                    let again = other.clone().extended(&records);
                    prop_assert!(again.is_err(), "records are applied once");
                }
            }
        }
    }
}
