//! Failures of environments: they are attributed to the environment, and the total is reported over
//! all results and over the valid ones.

use rhae_engine::{Action, EnvironmentError, PlayState};
use rhae_harness::{RunRequest, assemble, load_plays};
use rhae_protocol::{Ending, Recording, ValidResults};
use rhae_scoring::Method;

use crate::scripted::{Script, Scripts, ending, execute, run_agent};

fn failed<T>(reason: &str) -> Result<T, EnvironmentError> {
    Err(EnvironmentError::Failed(reason.to_owned()))
}

/// ACTION1 wins.
const GOOD: Script = Script {
    open: |_| Ok(()),
    react: |next, action| {
        if action == Action::Action1 {
            (next.state, next.levels_completed) = (PlayState::Win, 1);
        }
        Ok(())
    },
};

fn games() -> Scripts {
    let games = [
        ("good-v1", GOOD),
        (
            "open-v1",
            Script {
                open: |_| failed("`open-v1`: the game raised SyntaxError"),
                ..GOOD
            },
        ),
        (
            "acts-v1",
            Script {
                react: |_, _| failed("`acts-v1`: the game did not respond within 8 s"),
                ..GOOD
            },
        ),
        (
            "opnp-v1",
            Script {
                open: |_| panic!("a defect in opening"),
                ..GOOD
            },
        ),
        (
            "actp-v1",
            Script {
                react: |_, _| panic!("a defect in acting"),
                ..GOOD
            },
        ),
    ];
    Scripts::new(games)
}

#[test]
fn failures_of_environments_are_not_failures_of_the_agent() {
    let temp = tempfile::tempdir().unwrap();
    let out = temp.path().join("run");
    let results = run_agent(&games(), "explorer", &out);
    assert_eq!(ending(&results, "good-v1").0, Ending::Won);
    for (id, reason) in [
        ("open-v1", "`open-v1`: the game raised SyntaxError"),
        ("acts-v1", "`acts-v1`: the game did not respond within 8 s"),
        ("opnp-v1", "the environment panicked: a defect in opening"),
        ("actp-v1", "the environment panicked: a defect in acting"),
    ] {
        let expected = (Ending::EnvironmentFailed, reason.to_owned());
        assert_eq!(ending(&results, id), expected);
    }
    let summary = &results.summary;
    assert!(summary.finished);
    assert_eq!((summary.failed_plays, summary.failed_environments), (0, 4));
    // The environment has one level, so the win scores 100 at most.
    let won = summary.environments[2].score;
    assert!(won > 0.0 && summary.environments[2].game_id == "good-v1");
    assert_eq!(summary.score, won / 5.0);
    let valid = ValidResults {
        score: Some(won),
        n: 1,
        of: 5,
    };
    assert_eq!(summary.valid_results, Some(valid));
    let recording = std::fs::read_to_string(out.join("recordings/1-acts-v1.jsonl")).unwrap();
    let recording = Recording::parse(&recording).unwrap();
    assert_eq!(recording.ending, Some(Ending::EnvironmentFailed));
    assert!(recording.failure().unwrap().contains("did not respond"));
    // The journal determines the same totals.
    let (_, config) = rhae_harness::open_run(&out).unwrap();
    let plays = load_plays(&out).unwrap();
    let again = assemble(&config, Method::DEFAULT, &games(), &plays).unwrap();
    assert_eq!(again.summary.valid_results, summary.valid_results);
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("4 plays ended because the environment failed."));
    assert!(!page.contains("because the agent failed"));
}

#[test]
fn failed_agent_is_a_valid_result_and_an_interrupted_play_is_not() {
    let temp = tempfile::tempdir().unwrap();
    let out = temp.path().join("run");
    let request = RunRequest {
        agent_cmd: Some("exit 3".to_owned()),
        games: Some("good-v1,open-v1".to_owned()),
        repeat: 2,
        out: Some(out.clone()),
        ..RunRequest::default()
    };
    let results = execute(&games(), request);
    let valid = ValidResults {
        score: Some(0.0),
        n: 2,
        of: 4,
    };
    assert_eq!(results.summary.valid_results, Some(valid));
    assert_eq!(results.summary.failed_plays, 2);
    // Of an unfinished run, only some plays are in the journal.
    let (_, config) = rhae_harness::open_run(&out).unwrap();
    let assembled = assemble(&config, Method::DEFAULT, &games(), &[]).unwrap();
    let none = ValidResults {
        score: None,
        n: 0,
        of: 4,
    };
    assert_eq!(assembled.summary.valid_results, Some(none));
    assert_eq!(assembled.summary.score, 0.0);
}
