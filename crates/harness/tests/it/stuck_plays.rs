//! Plays in which commands have no effect. No built-in agent may fail on them.

use rhae_engine::{Action, ActionKind, ActionSet, Frame, FrameBuffer, Observation, PlayState};
use rhae_protocol::Ending;

use crate::scripted::{Script, Scripts, ending, run_agent};

/// Every agent that a user can name without a file.
const AGENTS: [&str; 3] = ["explorer", "random", "model:words"];

fn show(observation: &mut Observation, color: u8) {
    observation.frames = FrameBuffer::from(vec![Frame::filled(color)]);
    observation.changed = true;
}

/// Every action is counted, and none has an effect.
const NOTHING_CHANGES: Script = Script {
    open: |_| Ok(()),
    react: |_, _| Ok(()),
};

/// Nothing but RESET has an effect: after it, ACTION1 wins.
const WAITS_FOR_RESET: Script = Script {
    react: |next, action| {
        let awake = next.settled() == &Frame::filled(5);
        if action == Action::Reset {
            show(next, 5);
        } else if awake && action == Action::Action1 {
            (next.state, next.levels_completed) = (PlayState::Win, 1);
        }
        Ok(())
    },
    ..NOTHING_CHANGES
};

/// The frame after RESET is never that at the beginning of the level.
const RESETS_ELSEWHERE: Script = Script {
    react: |next, action| {
        show(next, if action == Action::Reset { 7 } else { 3 });
        Ok(())
    },
    ..NOTHING_CHANGES
};

/// No action is offered, neither at first nor after RESET.
const OFFERS_NOTHING: Script = Script {
    open: |first| {
        first.available = ActionSet::default();
        Ok(())
    },
    ..NOTHING_CHANGES
};

/// After an action nothing is offered. RESET offers the actions again.
const OFFERS_ONE_ACTION: Script = Script {
    react: |next, action| {
        next.available = if action == Action::Reset {
            ActionSet::ARROWS
        } else {
            ActionSet::default()
        };
        next.changed = true;
        Ok(())
    },
    ..NOTHING_CHANGES
};

/// After the first action nothing is offered any more.
const STOPS_OFFERING: Script = Script {
    react: |next, _| {
        next.available = ActionSet::default();
        Ok(())
    },
    ..NOTHING_CHANGES
};

const OFFERS_UNDO: Script = Script {
    open: |first| {
        first.available = ActionSet::of(&[ActionKind::Action7]);
        Ok(())
    },
    ..NOTHING_CHANGES
};

const OFFERS_CLICKS: Script = Script {
    open: |first| {
        first.available = ActionSet::of(&[ActionKind::Action6]);
        Ok(())
    },
    ..NOTHING_CHANGES
};

/// The level is lost before the first action.
const STARTS_LOST: Script = Script {
    open: |first| {
        first.state = PlayState::GameOver;
        Ok(())
    },
    react: |next, action| {
        next.counted = action == Action::Reset;
        Ok(())
    },
};

/// The first action loses the level, and RESET does not restart it.
const STAYS_LOST: Script = Script {
    react: |next, _| {
        next.state = PlayState::GameOver;
        Ok(())
    },
    ..NOTHING_CHANGES
};

/// Nothing is counted, although the level is in progress.
const COUNTS_NOTHING: Script = Script {
    react: |next, _| {
        next.counted = false;
        Ok(())
    },
    ..NOTHING_CHANGES
};

fn games() -> Scripts {
    Scripts::new([
        ("noth-v1", NOTHING_CHANGES),
        ("rset-v1", WAITS_FOR_RESET),
        ("else-v1", RESETS_ELSEWHERE),
        ("none-v1", OFFERS_NOTHING),
        ("once-v1", OFFERS_ONE_ACTION),
        ("gone-v1", STOPS_OFFERING),
        ("undo-v1", OFFERS_UNDO),
        ("clck-v1", OFFERS_CLICKS),
        ("lost-v1", STARTS_LOST),
        ("dead-v1", STAYS_LOST),
    ])
}

#[test]
fn no_built_in_agent_fails_in_a_play_that_does_not_react() {
    let games = games();
    for agent in AGENTS {
        let temp = tempfile::tempdir().unwrap();
        let results = run_agent(&games, agent, &temp.path().join("run"));
        let ended = |id: &str| ending(&results, id);
        assert_eq!(results.summary.failed_plays, 0, "{agent}");
        for id in ["noth-v1", "else-v1", "once-v1", "undo-v1", "clck-v1"] {
            assert_eq!(ended(id), (Ending::Budget, String::new()), "{agent}, {id}");
        }
        for id in ["none-v1", "gone-v1"] {
            let (ending, message) = ended(id);
            assert_eq!(ending, Ending::Stopped, "{agent}, {id}");
            assert!(message.contains("offers no action"), "{agent}: {message}");
        }
        for (id, reason) in [
            ("lost-v1", "level 1 is lost before its first action"),
            ("dead-v1", "level 1 is lost before its first action"),
        ] {
            let (ending, message) = ended(id);
            assert_eq!(ending, Ending::EnvironmentFailed, "{agent}, {id}");
            assert!(message.contains(reason), "{agent}: {message}");
        }
        // The explorer tries RESET; the others need not.
        let expected = if agent == "explorer" {
            Ending::Won
        } else {
            Ending::Budget
        };
        assert_eq!(ended("rset-v1").0, expected, "{agent}");
    }
}

#[test]
fn environment_that_counts_nothing_is_at_fault() {
    let games = Scripts::new([("zero-v1", COUNTS_NOTHING)]);
    for agent in ["explorer", "random"] {
        let temp = tempfile::tempdir().unwrap();
        let results = run_agent(&games, agent, &temp.path().join("run"));
        let (ending, message) = ending(&results, "zero-v1");
        assert_eq!(ending, Ending::EnvironmentFailed, "{agent}");
        let reason = "counted none of 1000 consecutive commands";
        assert!(message.contains(reason), "{agent}: {message}");
    }
}

#[test]
fn replay_of_such_a_play_does_not_fail() {
    let games = games();
    let temp = tempfile::tempdir().unwrap();
    run_agent(&games, "explorer", &temp.path().join("run"));
    for id in ["noth-v1", "gone-v1", "else-v1"] {
        let file = temp.path().join(format!("run/recordings/1-{id}.jsonl"));
        let agent = format!("replay:{}", file.display());
        let results = run_agent(&games, &agent, &temp.path().join(id));
        assert_eq!(results.summary.failed_plays, 0, "{id}");
        assert_eq!(results.summary.failed_environments, 0, "{id}");
    }
}

#[test]
fn agent_that_repeats_reset_fails() {
    let temp = tempfile::tempdir().unwrap();
    let games = Scripts::new([("noth-v1", NOTHING_CHANGES)]);
    let request = rhae_harness::RunRequest {
        agent_cmd: Some("while read -r line; do echo '{\"action\":0}'; done".to_owned()),
        out: Some(temp.path().join("run")),
        ..rhae_harness::RunRequest::default()
    };
    let results = crate::scripted::execute(&games, request);
    let (ending, message) = ending(&results, "noth-v1");
    assert_eq!(ending, Ending::Failed);
    assert!(
        message.contains("the agent sent 1000 consecutive commands"),
        "{message}"
    );
}
