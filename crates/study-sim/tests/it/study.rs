//! Studies of 40 people and 30 environments, of the size that is rehearsed first.

use rhae_protocol::{StudySimulation, StudyVerdict};
use rhae_study_sim::{SimulationOptions, simulate};
use rhae_testkit::Postgres;

fn options(people: u32, environments: u32, seed: u64) -> SimulationOptions {
    SimulationOptions {
        people,
        environments,
        seed,
        database: None,
        servers: 1,
        kills: 0,
    }
}

#[test]
fn study_of_40_people_loses_and_doubles_nothing() {
    let options = SimulationOptions {
        kills: 3,
        ..options(40, 30, 1)
    };
    let result = simulate(&options).expect("the server responds as its API promises");
    assert_eq!(result.kills, 3);
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
    assert_eq!(summary.attempt_rule.name(), "paper");
    // Everybody takes part until the last environment has its ten people.
    assert!((36..=40).contains(&summary.participants), "{summary:?}");
    // An attempt has more than 30 actions, which many plays of the short environments do not reach.
    assert!((150..=240).contains(&summary.attempts), "{summary:?}");
    for verdict in [StudyVerdict::Accepted, StudyVerdict::Returned] {
        assert!(summary.environments[&verdict] > 0, "{summary:?}");
    }
    assert!((0.35..=0.65).contains(&summary.solved_share.unwrap()));
    let median = summary.median_minutes.all.unwrap();
    assert!((5.5..=9.5).contains(&median), "{median}");
}

fn without_time(result: StudySimulation) -> StudySimulation {
    StudySimulation {
        wall_seconds: 0.0,
        ..result
    }
}

#[test]
fn equal_seeds_give_equal_studies_although_servers_are_killed() {
    let study = |seed| {
        let options = SimulationOptions {
            kills: 2,
            ..options(2, 10, seed)
        };
        without_time(simulate(&options).unwrap())
    };
    let first = study(5);
    assert_eq!(first.kills, 2);
    assert!(first.is_sound(), "{first:?}");
    assert_eq!(first, study(5));
    assert_ne!(first.summary, study(6).summary);
}

#[test]
fn two_servers_share_a_database_and_are_killed() {
    let Some(postgres) = Postgres::start() else {
        return;
    };
    let options = SimulationOptions {
        database: Some(postgres.url().into()),
        servers: 2,
        kills: 3,
        ..options(3, 3, 5)
    };
    let result = simulate(&options).unwrap();
    assert_eq!(result.servers, 2);
    assert!(result.kills > 0, "{result:?}");
    assert!(result.is_sound(), "{result:?}");
    assert!(result.summary.attempts > 3, "{result:?}");
    // The times of plays are those of the simulated clock, also in the shared database.
    let median = result.summary.median_minutes.all.unwrap();
    assert!((2.0..=25.0).contains(&median), "{median}");
}

#[test]
fn sizes_and_databases_are_checked() {
    let message = |options: &SimulationOptions| simulate(options).unwrap_err().to_string();
    assert_eq!(
        message(&options(0, 3, 1)),
        "people is 0: expected 1 to 100000"
    );
    let folder = tempfile::tempdir().unwrap();
    let existing = folder.path().join("rhae.db");
    std::fs::write(&existing, "").unwrap();
    let kept = SimulationOptions {
        database: Some(existing),
        ..options(1, 3, 1)
    };
    assert!(message(&kept).ends_with("exists: name a new file"));
    let shared = SimulationOptions {
        servers: 2,
        ..options(1, 3, 1)
    };
    assert!(message(&shared).starts_with("2 servers need a shared database"));
}
