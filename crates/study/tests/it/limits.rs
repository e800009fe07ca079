use rhae_protocol::{AttemptOutcome, SittingEndReason, StudyEvent};
use rhae_study::{
    AssignmentState, Command, EndRequest, Limit, Moment, Obligation, Preset, Rejection,
    ReviewCommand, SittingCommand, obligations,
};

use crate::lab::{Lab, MINUTE, protocol, solved, unsolved};

const POOL: [(&str, u32); 4] = [
    ("aa11-v1", 1),
    ("bb22-v1", 1),
    ("cc33-v1", 1),
    ("dd44-v1", 1),
];

fn lab() -> Lab {
    Lab::open(protocol(Preset::Rhae1), &POOL)
}

fn due(lab: &Lab, sitting: &str) -> Option<Obligation> {
    obligations(lab.study.state(), &sitting.into(), lab.moment())
}

fn end_attempt(leave: bool) -> SittingCommand {
    SittingCommand::EndAttempt {
        leave,
        counts: unsolved(&[80]),
    }
}

fn last_outcome(lab: &Lab, sitting: &str) -> (AttemptOutcome, u64) {
    let assignments = &lab.study.state().sittings[&sitting.into()].assignments;
    match &assignments.last().unwrap().state {
        AssignmentState::Ended(attempt) => (attempt.outcome, attempt.duration_ms),
        other => panic!("{other:?}"),
    }
}

#[test]
fn prompts_are_due_at_twenty_and_twenty_five_minutes() {
    let mut lab = lab();
    let sitting = lab.sit("p1");
    lab.begin(&sitting);
    lab.wait(20 * MINUTE - 1);
    assert_eq!(due(&lab, &sitting), None);
    assert_eq!(lab.sitting(&sitting, SittingCommand::Prompt), []);
    lab.wait(1);
    assert_eq!(due(&lab, &sitting), Some(Obligation::Prompt));
    assert_eq!(lab.sitting(&sitting, SittingCommand::Prompt).len(), 1);
    assert_eq!(due(&lab, &sitting), None);
    lab.wait(5 * MINUTE);
    let records = lab.sitting(&sitting, SittingCommand::Prompt);
    let shown = StudyEvent::Prompted {
        position: 1,
        prompt: 2,
    };
    assert_eq!(records[0].event, shown);
}

#[test]
fn commands_are_refused_from_thirty_minutes_on() {
    let mut lab = lab();
    let sitting = lab.sit("p1");
    lab.begin(&sitting);
    lab.wait(30 * MINUTE - 1);
    lab.sitting(&sitting, SittingCommand::Contact);
    assert_eq!(
        lab.study
            .clock(lab.moment(), &sitting.as_str().into())
            .unwrap()
            .limit,
        None
    );
    lab.wait(1);
    let reading = lab
        .study
        .clock(lab.moment(), &sitting.as_str().into())
        .unwrap();
    assert_eq!(reading.limit, Some(Limit::Attempt));
    let contact = Command::Sitting("s-p1".into(), SittingCommand::Contact);
    assert_eq!(
        lab.attempt(&contact).unwrap_err(),
        Rejection::LimitReached(Limit::Attempt)
    );
    // The server closes the attempt later; the time of the limit counts.
    lab.wait(7000);
    assert_eq!(
        due(&lab, &sitting),
        Some(Obligation::EndAttempt(AttemptOutcome::HardLimit))
    );
    lab.sitting(&sitting, end_attempt(true));
    assert_eq!(
        last_outcome(&lab, &sitting),
        (AttemptOutcome::HardLimit, 30 * MINUTE)
    );
    assert!(lab.next(&sitting).is_some());
}

#[test]
fn win_before_the_limit_counts_even_if_it_is_recorded_later() {
    let mut lab = lab();
    let sitting = lab.sit("p1");
    lab.begin(&sitting);
    lab.wait(31 * MINUTE);
    let mut counts = solved(&[80]);
    counts.levels[0].completed_ms = Some(29 * MINUTE);
    let end = SittingCommand::EndAttempt {
        leave: false,
        counts,
    };
    lab.sitting(&sitting, end);
    assert_eq!(
        last_outcome(&lab, &sitting),
        (AttemptOutcome::Solved, 29 * MINUTE)
    );
}

#[test]
fn attempt_does_not_end_by_itself_before_a_limit() {
    let mut lab = lab();
    let sitting = lab.sit("p1");
    lab.begin(&sitting);
    lab.wait(MINUTE);
    let end = Command::Sitting("s-p1".into(), end_attempt(false));
    assert_eq!(lab.attempt(&end).unwrap_err(), Rejection::NotDue);
    let due = SittingCommand::End {
        request: EndRequest::Due,
        counts: Some(unsolved(&[80])),
    };
    let due = Command::Sitting("s-p1".into(), due);
    assert_eq!(lab.attempt(&due).unwrap_err(), Rejection::NotDue);
}

#[test]
fn end_of_the_sitting_censors_the_last_attempt() {
    let mut lab = lab();
    let sitting = lab.sit("p1");
    for _ in 0..2 {
        lab.solve(&sitting, &[40], 29 * MINUTE);
    }
    lab.solve(&sitting, &[40], 20 * MINUTE);
    lab.begin(&sitting);
    lab.wait(13 * MINUTE);
    assert_eq!(
        due(&lab, &sitting),
        Some(Obligation::EndAttempt(AttemptOutcome::SittingEnd))
    );
    lab.sitting(&sitting, end_attempt(false));
    assert_eq!(
        last_outcome(&lab, &sitting),
        (AttemptOutcome::SittingEnd, 12 * MINUTE)
    );
    let ending = lab.study.state().sittings[&"s-p1".into()]
        .ending
        .clone()
        .unwrap();
    assert_eq!(
        (ending.reason, ending.clock_ms),
        (SittingEndReason::TimeUp, 90 * MINUTE)
    );
}

#[test]
fn nothing_is_offered_with_less_than_five_minutes_left() {
    for (left, offered) in [(5 * MINUTE, true), (5 * MINUTE - 1, false)] {
        let mut lab = lab();
        let sitting = lab.sit("p1");
        for _ in 0..2 {
            lab.solve(&sitting, &[40], 29 * MINUTE);
        }
        lab.solve(&sitting, &[40], 32 * MINUTE - left - MINUTE);
        lab.wait(MINUTE);
        assert_eq!(lab.next(&sitting).is_some(), offered);
        let ending = &lab.study.state().sittings[&"s-p1".into()].ending;
        assert_eq!(
            ending.as_ref().map(|ending| ending.reason),
            (!offered).then_some(SittingEndReason::TimeUp)
        );
    }
}

#[test]
fn outage_stops_the_clock_and_resumes_in_the_same_place() {
    let mut lab = lab();
    let sitting = lab.sit("p1");
    let environment = lab.begin(&sitting);
    lab.wait(10 * MINUTE);
    lab.sitting(&sitting, SittingCommand::Contact);
    // Eight minutes without contact, then the participant is back on another machine.
    let last = lab.now_ms;
    lab.wait(8 * MINUTE);
    let back = Moment {
        now_ms: lab.now_ms,
        contact_ms: Some(last),
    };
    let contact = Command::Sitting("s-p1".into(), SittingCommand::Contact);
    let records = lab.try_at(back, &contact).unwrap();
    assert_eq!(records[0].event, StudyEvent::Outage { from_ms: last });
    assert_eq!(lab.next(&sitting), Some(environment));
    let reading = lab
        .study
        .clock(lab.moment(), &sitting.as_str().into())
        .unwrap();
    assert_eq!(reading.attempt_ms, Some(10 * MINUTE + 15_000));
    // The allowance of ten minutes has 2:15 left.
    let last = lab.now_ms;
    lab.wait(2 * MINUTE + 30_000);
    let lost = Moment {
        now_ms: lab.now_ms,
        contact_ms: Some(last),
    };
    let state = lab.study.state();
    assert_eq!(
        obligations(state, &sitting.as_str().into(), lost),
        Some(Obligation::EndAttempt(AttemptOutcome::Lost))
    );
    let end = Command::Sitting("s-p1".into(), end_attempt(false));
    lab.try_at(lost, &end).unwrap();
    assert_eq!(last_outcome(&lab, &sitting).0, AttemptOutcome::Lost);
    let state = lab.study.state();
    assert_eq!(
        state.sittings[&"s-p1".into()]
            .ending
            .as_ref()
            .unwrap()
            .reason,
        SittingEndReason::Lost
    );
    // A technical failure is paid in full.
    assert_eq!(state.ledger.total_of(&"p1".into()), 13_000);
}

#[test]
fn contact_is_written_once_a_minute() {
    let mut lab = lab();
    let sitting = lab.sit("p1");
    lab.begin(&sitting);
    let mut written = 0;
    for _ in 0..120 {
        lab.wait(5_000);
        let before = lab.log.len();
        let moment = Moment {
            now_ms: lab.now_ms,
            contact_ms: Some(lab.now_ms - 5_000),
        };
        let contact = Command::Sitting("s-p1".into(), SittingCommand::Contact);
        lab.try_at(moment, &contact).unwrap();
        written += lab.log.len() - before;
    }
    assert_eq!(written, 10);
    let reading = lab
        .study
        .clock(lab.moment(), &sitting.as_str().into())
        .unwrap();
    assert_eq!(reading.sitting_ms, 10 * MINUTE);
}

#[test]
fn hidden_page_keeps_the_clock_running() {
    let mut lab = lab();
    let sitting = lab.sit("p1");
    lab.begin(&sitting);
    lab.wait(MINUTE);
    lab.sitting(&sitting, SittingCommand::SetFocus { hidden: true });
    let last = lab.now_ms;
    lab.wait(10 * MINUTE);
    let back = Moment {
        now_ms: lab.now_ms,
        contact_ms: Some(last),
    };
    let shown = Command::Sitting("s-p1".into(), SittingCommand::SetFocus { hidden: false });
    lab.try_at(back, &shown).unwrap();
    let reading = lab
        .study
        .clock(lab.moment(), &sitting.as_str().into())
        .unwrap();
    assert_eq!(reading.sitting_ms, 11 * MINUTE);
}

#[test]
fn pauses_are_possible_between_environments_up_to_their_total() {
    let mut lab = lab();
    let sitting = lab.sit("p1");
    lab.begin(&sitting);
    let pause = Command::Sitting("s-p1".into(), SittingCommand::StartPause);
    assert_eq!(lab.attempt(&pause).unwrap_err(), Rejection::AttemptOpen);
    lab.wait(10 * MINUTE);
    lab.sitting(&sitting, end_attempt(true));
    lab.sitting(&sitting, SittingCommand::StartPause);
    assert_eq!(lab.attempt(&pause).unwrap_err(), Rejection::AlreadyPaused);
    let next = Command::Sitting("s-p1".into(), SittingCommand::Next);
    assert_eq!(lab.attempt(&next).unwrap_err(), Rejection::AlreadyPaused);
    lab.wait(14 * MINUTE);
    lab.sitting(&sitting, SittingCommand::EndPause);
    let reading = lab
        .study
        .clock(lab.moment(), &sitting.as_str().into())
        .unwrap();
    assert_eq!(reading.sitting_ms, 10 * MINUTE);
    // Of the second pause, one minute stops the clock.
    lab.sitting(&sitting, SittingCommand::StartPause);
    lab.wait(3 * MINUTE);
    lab.sitting(&sitting, SittingCommand::EndPause);
    let reading = lab
        .study
        .clock(lab.moment(), &sitting.as_str().into())
        .unwrap();
    assert_eq!(reading.sitting_ms, 12 * MINUTE);
    assert_eq!(lab.attempt(&pause).unwrap_err(), Rejection::NoPauseLeft);
}

#[test]
fn staff_extends_a_sitting_with_a_reason() {
    let mut lab = lab();
    let sitting = lab.sit("p1");
    lab.begin(&sitting);
    let extend = ReviewCommand::Extend {
        seconds: 600,
        by: "staff".to_owned(),
        reason: "fire drill".to_owned(),
    };
    lab.run(&Command::Review("s-p1".into(), extend));
    let reading = lab
        .study
        .clock(lab.moment(), &sitting.as_str().into())
        .unwrap();
    assert_eq!(reading.remaining_ms, 100 * MINUTE);
}

#[test]
fn clock_of_the_server_that_runs_backwards_is_held() {
    let mut lab = lab();
    let sitting = lab.sit("p1");
    lab.begin(&sitting);
    let last = lab.log.last().unwrap().at_ms;
    let records = lab
        .study
        .prepare(
            Moment::at(last - 5000),
            &Command::Sitting("s-p1".into(), end_attempt(true)),
        )
        .unwrap();
    assert!(records.iter().all(|record| record.at_ms == last));
}
