//! `rhae study simulate`: studies with simulated people, on server processes that are killed.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;

use rhae_protocol::{AttemptRule, StudySimulation, StudyVerdict};
use rhae_testkit::Postgres;

use crate::rhae::{Outcome, command, rhae};
use crate::study_fixture;

fn run(folder: &Path, arguments: &str) -> Outcome {
    let arguments: Vec<&str> = ["study", "simulate"]
        .into_iter()
        .chain(arguments.split(' '))
        .collect();
    rhae(folder, &arguments)
}

/// Simulates a study that must be sound.
fn simulated(arguments: &str) -> StudySimulation {
    let folder = tempfile::tempdir().unwrap();
    let outcome = run(folder.path(), &format!("{arguments} --json")).succeeded();
    let result: StudySimulation = serde_json::from_str(&outcome.out).unwrap();
    assert!(result.is_sound(), "{result:?}");
    StudySimulation {
        wall_seconds: 0.0,
        ..result
    }
}

#[test]
fn study_of_40_people_loses_and_doubles_nothing() {
    let result = simulated("--people 40 --environments 30 --seed 1 --kills 3");
    assert_eq!(result.kills, 3);
    let incidents = [
        result.double_clicks,
        result.lost_responses,
        result.reloads,
        result.crashes,
        result.pauses,
    ];
    assert!(incidents.iter().all(|&count| count > 0), "{incidents:?}");
    let summary = &result.summary;
    assert_eq!(summary.attempt_rule, AttemptRule::Paper);
    // All people take part until the last environment has its ten people.
    assert!((36..=40).contains(&summary.participants), "{summary:?}");
    // An attempt has more than 30 actions, which many plays of the short environments do not reach.
    assert!((150..=240).contains(&summary.attempts), "{summary:?}");
    for verdict in [StudyVerdict::Accepted, StudyVerdict::Returned] {
        assert!(summary.environments[&verdict] > 0, "{summary:?}");
    }
    assert!((0.35..=0.65).contains(&summary.solved_share.unwrap()));
    let median = summary.median_minutes.all.unwrap();
    assert!((5.5..=9.5).contains(&median), "{median}");
    let actions = result.median_actions.unwrap();
    assert!(actions >= 150.0, "{actions}");
}

#[test]
fn equal_seeds_give_equal_studies_although_servers_are_killed() {
    let study = |seed| {
        simulated(&format!(
            "--people 2 --environments 10 --seed {seed} --kills 2"
        ))
    };
    let first = study(5);
    assert_eq!(first.kills, 2);
    assert_eq!(first, study(5));
    assert_ne!(first.summary, study(6).summary);
}

#[test]
fn two_servers_share_a_database_and_are_killed() {
    let Some(postgres) = Postgres::start() else {
        return;
    };
    let database = format!("--db {} --servers 2", postgres.url());
    let result = simulated(&format!(
        "--people 3 --environments 3 --seed 5 --kills 3 {database}"
    ));
    assert_eq!(result.servers, 2);
    assert!(result.kills > 0, "{result:?}");
    assert!(result.summary.attempts > 3, "{result:?}");
    // The times of plays are those of the simulated clock, also in the shared database.
    let median = result.summary.median_minutes.all.unwrap();
    assert!((2.0..=25.0).contains(&median), "{median}");
}

#[test]
fn sizes_and_databases_of_simulations_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    run(at, "--people 0 --environments 3").failed_with("people is 0: expected 1 to 100000");
    run(at, "--servers 2").failed_with("2 servers need a shared database");
    run(at, "--people 1 --environments 2 --kills 0 --db kept.db").succeeded();
    run(at, "--db kept.db").failed_with("exists: name a new file");
    // Other commands show a study that was kept.
    let report = rhae(at, &["study", "report", "simulated", "--db", "kept.db"]);
    report.succeeded();
}

#[test]
fn simulation_server_follows_its_parent_and_refuses_a_real_database() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let server = |db: &str| {
        let arguments = ["study", "simulation-server", "--now-ms", "1000", "--db", db];
        let mut command = command(at, &arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    study_fixture::create(at);
    let refused = Outcome::from(server("rhae.db").wait_with_output().unwrap());
    refused.failed_with("a simulation needs an empty one");

    let mut started = server("new.db");
    let mut input = started.stdin.take().unwrap();
    let mut lines = BufReader::new(started.stdout.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    assert!(
        first.starts_with("listening at http://127.0.0.1:"),
        "{first}"
    );
    writeln!(input, "2000").unwrap();
    assert_eq!(lines.next().unwrap().unwrap(), "settled");
    // It ends together with the process that started it.
    drop(input);
    assert!(started.wait().unwrap().success());
    // A server that was killed is started again on the same database.
    let mut again = server("new.db");
    drop(again.stdin.take());
    assert!(again.wait().unwrap().success());
}
