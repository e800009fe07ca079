//! Studies of 40 people and 30 environments, of the size that is rehearsed first.

use rhae_protocol::StudySimulation;
use rhae_study_sim::{SimulationOptions, simulate};

fn simulated(people: u32, environments: u32, seed: u64) -> StudySimulation {
    let options = SimulationOptions {
        people,
        environments,
        seed,
        database: None,
    };
    simulate(&options).expect("the server responds as its API promises")
}

#[test]
fn study_of_40_people_loses_and_doubles_nothing() {
    let result = simulated(40, 30, 1);
    assert_eq!(
        (
            result.lost_actions,
            result.doubled_actions,
            result.wrong_responses
        ),
        (0, 0, 0)
    );
    assert_eq!(result.findings, [""; 0]);
    assert!(result.is_sound(), "{result:?}");
    let incidents = [
        result.double_clicks,
        result.lost_responses,
        result.reloads,
        result.crashes,
        result.pauses,
    ];
    assert!(incidents.iter().all(|&count| count > 0), "{incidents:?}");
    let summary = &result.summary;
    assert_eq!(summary.attempt_rule, "paper");
    // Everybody takes part until the last environment has its ten people.
    assert!((36..=40).contains(&summary.participants), "{summary:?}");
    // An attempt has more than 30 actions, which many plays of the short environments do not reach.
    assert!((150..=240).contains(&summary.attempts), "{summary:?}");
    assert!(summary.environments["accepted"] > 0 && summary.environments["returned"] > 0);
    assert!((0.35..=0.65).contains(&summary.solved_share.unwrap()));
    let median = summary.median_minutes.all.unwrap();
    assert!((5.5..=9.5).contains(&median), "{median}");
}

#[test]
fn equal_seeds_give_equal_studies() {
    let without_time = |result| StudySimulation {
        wall_seconds: 0.0,
        ..result
    };
    let first = without_time(simulated(3, 15, 5));
    assert_eq!(first, without_time(simulated(3, 15, 5)));
    assert_ne!(first.summary, simulated(3, 15, 6).summary);
}

#[test]
fn sizes_and_databases_are_checked() {
    let options = SimulationOptions {
        people: 0,
        environments: 3,
        seed: 1,
        database: None,
    };
    let message = simulate(&options).unwrap_err().to_string();
    assert_eq!(message, "people is 0: expected 1 to 100000");
    let folder = tempfile::tempdir().unwrap();
    let existing = folder.path().join("rhae.db");
    std::fs::write(&existing, "").unwrap();
    let options = SimulationOptions {
        people: 1,
        database: Some(existing),
        ..options
    };
    let message = simulate(&options).unwrap_err().to_string();
    assert!(message.ends_with("exists: name a new file"), "{message}");
}
