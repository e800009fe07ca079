use rhae_protocol::AttemptOutcome;

use super::*;
use crate::fixtures::{open_sitting, protocol};
use crate::preset::Preset;

const MINUTE: u64 = 60_000;

fn limits() -> StudyLimits {
    protocol(Preset::Rhae1).limits
}

/// Reads the clock `at_ms` after the first frame, with the last contact `contact_ms` after it.
fn read(sitting: &Sitting, at_ms: u64, contact_ms: u64) -> ClockReading {
    let first = sitting.clock.first_frame_ms.unwrap();
    let moment = Moment {
        now_ms: first + at_ms,
        contact_ms: Some(first + contact_ms),
    };
    read_clock(sitting, &limits(), moment)
}

#[test]
fn hard_limit_is_reached_at_exactly_thirty_minutes() {
    let sitting = open_sitting();
    let before = read(&sitting, 30 * MINUTE - 1, 30 * MINUTE - 1);
    assert_eq!(
        (before.attempt_ms, before.limit),
        (Some(30 * MINUTE - 1), None)
    );
    let at = read(&sitting, 30 * MINUTE, 30 * MINUTE);
    assert_eq!(at.limit, Some(Limit::Attempt));
    // A late reading shows the limit, not the time of the reading.
    let late = read(&sitting, 40 * MINUTE, 40 * MINUTE);
    assert_eq!(
        (late.attempt_ms, late.limit),
        (Some(30 * MINUTE), Some(Limit::Attempt))
    );
    assert_eq!(Limit::Attempt.outcome(), AttemptOutcome::HardLimit);
}

#[test]
fn clock_stops_after_fifteen_seconds_without_contact() {
    let sitting = open_sitting();
    assert_eq!(
        read(&sitting, 5 * MINUTE + 15_000, 5 * MINUTE).sitting_ms,
        5 * MINUTE + 15_000
    );
    let stopped = read(&sitting, 9 * MINUTE, 5 * MINUTE);
    assert_eq!(
        (stopped.sitting_ms, stopped.stopped),
        (5 * MINUTE + 15_000, true)
    );
    assert_eq!(stopped.limit, None);
}

#[test]
fn sitting_is_lost_after_ten_minutes_of_outage() {
    let sitting = open_sitting();
    let lost_at = 5 * MINUTE + 15_000 + 10 * MINUTE;
    assert_eq!(read(&sitting, lost_at - 1, 5 * MINUTE).limit, None);
    let lost = read(&sitting, lost_at, 5 * MINUTE);
    assert_eq!(
        (lost.limit, lost.sitting_ms),
        (Some(Limit::Contact), 5 * MINUTE + 15_000)
    );
}

#[test]
fn earlier_outages_reduce_the_allowance() {
    let mut sitting = open_sitting();
    let first = sitting.clock.first_frame_ms.unwrap();
    let (from, to) = (first + MINUTE, first + 5 * MINUTE + 15_000);
    sitting.clock.end_outage(&limits(), from, to);
    assert_eq!(sitting.clock.outage_used_ms, 4 * MINUTE);
    // The clock continues where it stopped.
    assert_eq!(
        read(&sitting, 6 * MINUTE + 15_000, 6 * MINUTE + 15_000).sitting_ms,
        2 * MINUTE + 15_000
    );
    let base = 5 * MINUTE + 15_000;
    assert_eq!(
        read(&sitting, base + 15_000 + 6 * MINUTE, base).limit,
        Some(Limit::Contact)
    );
}

#[test]
fn hidden_page_does_not_stop_the_clock() {
    let mut sitting = open_sitting();
    sitting.clock.hidden = true;
    let hidden = read(&sitting, 29 * MINUTE, 0);
    assert_eq!(
        (hidden.sitting_ms, hidden.stopped, hidden.limit),
        (29 * MINUTE, false, None)
    );
    assert_eq!(read(&sitting, 31 * MINUTE, 0).limit, Some(Limit::Attempt));
}

#[test]
fn limit_that_is_reached_first_counts() {
    let mut sitting = open_sitting();
    let start = |sitting: &mut Sitting, clock_ms| {
        if let crate::state::AssignmentState::Started(attempt) = &mut sitting.assignments[0].state {
            attempt.start_clock_ms = clock_ms;
        }
    };
    start(&mut sitting, 61 * MINUTE);
    assert_eq!(
        read(&sitting, 95 * MINUTE, 95 * MINUTE).limit,
        Some(Limit::Sitting)
    );
    start(&mut sitting, 60 * MINUTE);
    assert_eq!(
        read(&sitting, 95 * MINUTE, 95 * MINUTE).limit,
        Some(Limit::Attempt)
    );
    // Without contact since minute 70, the clock stopped before either limit.
    assert_eq!(
        read(&sitting, 95 * MINUTE, 70 * MINUTE).limit,
        Some(Limit::Contact)
    );
}

#[test]
fn pause_stops_the_clock_up_to_its_total() {
    let mut sitting = open_sitting();
    let first = sitting.clock.first_frame_ms.unwrap();
    sitting.clock.paused_since_ms = Some(first + 10 * MINUTE);
    assert_eq!(
        read(&sitting, 20 * MINUTE, 20 * MINUTE).sitting_ms,
        10 * MINUTE
    );
    assert_eq!(
        read(&sitting, 27 * MINUTE, 27 * MINUTE).sitting_ms,
        12 * MINUTE
    );
    sitting.clock.end_pause(&limits(), first + 27 * MINUTE);
    assert_eq!(sitting.clock.pause_used_ms, 15 * MINUTE);
    assert_eq!(
        read(&sitting, 27 * MINUTE, 27 * MINUTE).sitting_ms,
        12 * MINUTE
    );
}
