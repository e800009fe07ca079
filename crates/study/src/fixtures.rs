//! Small parts of studies for the tests of this crate.

use rhae_protocol::{AttemptOutcome, LevelPlay, PlayCounts, StudyProtocol, StudyStage};

use crate::clock::PlayClock;
use crate::preset::Preset;
use crate::state::{Assignment, AssignmentState, EndedAttempt, OpenAttempt, Sitting};

/// Returns the protocol of a preset with a consent text.
pub(crate) fn protocol(preset: Preset) -> StudyProtocol {
    let mut protocol = preset.protocol();
    if let Some(consent) = protocol.consent.get_mut("en") {
        "You play games for 90 minutes.".clone_into(&mut consent.text);
    }
    protocol
}

/// Returns a sitting with an attempt that started with the sitting, at a time of one hour.
pub(crate) fn open_sitting() -> Sitting {
    let start_ms = 3_600_000;
    let mut clock = PlayClock::new(start_ms);
    clock.start(start_ms);
    Sitting {
        participant: "p1".into(),
        site: "web".into(),
        seat: None,
        protocol: "".into(),
        block: 0,
        stage: StudyStage::Live,
        started_ms: start_ms,
        clock,
        extension_ms: 0,
        assignments: vec![Assignment {
            environment: "ab12-v1".into(),
            reserved_ms: start_ms,
            state: AssignmentState::Started(OpenAttempt {
                play: "play-1".to_owned(),
                started_ms: start_ms,
                start_clock_ms: 0,
                prompts: 0,
            }),
            helped: None,
        }],
        exclusions: Vec::new(),
        comments: Vec::new(),
        ending: None,
    }
}

/// Returns an ended attempt with the given actions on each level. If it is solved, all levels are
/// completed, else all but the last one.
pub(crate) fn attempt(outcome: AttemptOutcome, actions: &[u32], duration_ms: u64) -> EndedAttempt {
    let solved = outcome == AttemptOutcome::Solved;
    let last = actions.len().saturating_sub(1);
    let level = |(at, &actions): (usize, &u32)| LevelPlay {
        actions,
        effective: actions,
        actions_last_try: actions,
        completed: solved || at < last,
        ..LevelPlay::default()
    };
    EndedAttempt {
        play: "play-1".to_owned(),
        started_ms: 0,
        start_clock_ms: 0,
        ended_ms: duration_ms,
        outcome,
        duration_ms,
        counts: PlayCounts {
            levels: actions.iter().enumerate().map(level).collect(),
            solved,
        },
    }
}
