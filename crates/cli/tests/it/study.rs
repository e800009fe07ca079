//! `rhae study` on a database file.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::rhae::{Outcome, command};
use crate::study_fixture;

fn study(folder: &Path, arguments: &[&str]) -> Outcome {
    let arguments: Vec<&str> = ["study"].iter().chain(arguments).copied().collect();
    command(folder, &arguments).output().unwrap().into()
}

#[test]
fn draft_is_corrected_frozen_opened_and_closed() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    study(at, &["status"]).failed_with("the database `rhae.db` does not exist");
    let new = ["new", "lab", "--title", "Lab", "--games", "kq19"];
    let write = ["--write-protocol", "p.json"];
    study(at, &[&new[..], &write].concat()).succeeded();
    study(at, &new).failed_with("the study `lab` exists already");
    study(at, &["new", "Lab 1", "--title", "x"]).failed_with("is not the id of a study");
    study(at, &["freeze", "lab"]).failed_with("consent.en: expected a text");
    study(at, &["open", "lab"]).failed_with("the protocol is not frozen");

    let mut protocol: Value =
        serde_json::from_str(&fs::read_to_string(at.join("p.json")).unwrap()).unwrap();
    protocol["consent"]["en"]["text"] = "You play games.".into();
    fs::write(at.join("p.json"), protocol.to_string()).unwrap();
    let checked = study(at, &["check", "lab", "--protocol", "p.json"]).succeeded();
    assert!(
        checked.out.contains("15 sittings for 1 environment,"),
        "{}",
        checked.out
    );
    study(at, &["freeze", "lab", "--protocol", "p.json"]).succeeded();
    study(at, &["freeze", "lab", "--protocol", "p.json"]).failed_with("the protocol is frozen");
    protocol["version"] = 2.into();
    protocol["target"] = 12.into();
    fs::write(at.join("p.json"), protocol.to_string()).unwrap();
    let amend = ["--protocol", "p.json", "--amend", "more people"];
    study(at, &[&["freeze", "lab"], &amend[..]].concat()).succeeded();
    study(at, &["open", "lab"]).succeeded();
    study(at, &["open", "lab", "--pause", "a holiday"]).succeeded();
    let status = study(at, &["status", "lab", "--json"]).succeeded().json();
    assert_eq!(status["phase"], "paused");
    assert_eq!(status["protocol"]["frozen"][1]["reason"], "more people");
    let added = study(at, &["assign", "lab", "--add", "ny40", "--json"]).succeeded();
    assert_eq!(added.json()[1]["need_tenths"], 120);
    study(at, &["assign", "lab", "--add", "ny40"]).failed_with("already in use");
    study(at, &["close", "lab"]).succeeded();
    study(at, &["open", "lab"]).failed_with("the study is closed");
    study(at, &["status", "none"]).failed_with("there is no study `none`");
}

#[test]
fn exclusions_change_results_but_never_pay() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    study_fixture::create(at);
    let report = |exclusions: bool| {
        let report = study(at, &["report", "lab", "--json"]).succeeded().json();
        let summaries = report["summaries"].as_array().unwrap().clone();
        let wanted =
            |one: &&Value| one["attempt_rule"] == "rhae-1" && one["exclusions"] == exclusions;
        summaries.iter().find(wanted).unwrap()["attempts"].clone()
    };
    let money = || study(at, &["pay", "lab", "--json"]).succeeded().json()["money"].clone();
    let before = money();
    assert_eq!((report(true), report(false)), (3.into(), 3.into()));
    let by = ["--by", "ada", "--reason", "staff helped"];
    let exclude = ["exclude", "lab", "--sitting", "s2", "--attempt", "1"];
    study(at, &[&exclude[..], &by].concat()).succeeded();
    assert_eq!((report(true), report(false)), (2.into(), 3.into()));
    assert_eq!(money(), before);
    let undo = ["exclude", "lab", "--undo", "s2/exclusion-1"];
    study(at, &[&undo[..], &by].concat()).succeeded();
    assert_eq!(report(true), 3);
    study(at, &[&undo[..], &by].concat()).failed_with("is already undone");
    let unknown = ["exclude", "lab", "--sitting", "s9"];
    study(at, &[&unknown[..], &by].concat()).failed_with("unknown sitting `s9`");
    let table = study(at, &["report", "lab", "--environment", "kq19-v1"])
        .succeeded()
        .out;
    assert!(table.contains("stopped in level 2 (left"), "{table}");
}

#[test]
fn report_for_the_author_shows_where_people_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    study_fixture::create(at);
    // Two people solved the environment, so it was accepted, and no author needs a report.
    let returned = study(at, &["report", "lab", "--pages", "returned"]).succeeded();
    assert!(
        returned.err.contains("no environment was returned"),
        "{}",
        returned.err
    );
    assert_eq!(fs::read_dir(at.join("returned")).unwrap().count(), 0);
    let page = [
        "report",
        "lab",
        "--environment",
        "kq19-v1",
        "--pages",
        "pages",
    ];
    study(at, &page).succeeded();
    study(at, &page).failed_with("cannot write `pages/kq19-v1.html`");
    let page = fs::read_to_string(at.join("pages/kq19-v1.html")).unwrap();
    let expected = [
        "2 of 3 valid attempts solved all levels",
        "Play 1: stopped on level 2",
        "left by choice",
        "after 48 actions; the replay shows the last 48",
    ];
    for text in expected {
        assert!(page.contains(text), "{text}");
    }
    // The film of the third person, whose play is shorter than the maximum, with its times.
    let data = page
        .split("<script type=\"application/json\">")
        .nth(1)
        .unwrap();
    let film: Value = serde_json::from_str(data.split("</script>").next().unwrap()).unwrap();
    let times: Vec<u64> = serde_json::from_value(film["times"].clone()).unwrap();
    assert_eq!(times.len(), 49);
    assert_eq!(times[48], 48 * 2000);
    for person in ["p1", "p2", "p3", "s3"] {
        assert!(!page.contains(&format!(">{person}<")), "{person}");
    }
}

#[test]
fn payments_are_listed_sent_once_and_confirmed() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    study_fixture::create(at);
    let list = [
        "pay",
        "lab",
        "--list",
        "due.csv",
        "--identity-key",
        "identity.key",
    ];
    study(at, &list).failed_with("--identity-key needs --by");
    study(at, &[&list[..], &["--by", "ada"]].concat()).succeeded();
    let csv = fs::read_to_string(at.join("due.csv")).unwrap();
    assert!(
        csv.starts_with("participant,amount,currency,lines,external_id\n"),
        "{csv}"
    );
    assert!(csv.contains("p1,") && csv.contains(",ext-1\n"), "{csv}");
    let prolific = ["--prolific", "--by", "ada"];
    let list = [
        "pay",
        "lab",
        "--list",
        "bonus.txt",
        "--identity-key",
        "identity.key",
    ];
    study(at, &[&list[..], &prolific].concat()).succeeded();
    let lines = fs::read_to_string(at.join("bonus.txt")).unwrap();
    assert_eq!(lines.lines().count(), 3);
    assert!(lines.starts_with("ext-1,"), "{lines}");
    study(at, &["pay", "lab", "--list", "due.csv"]).failed_with("cannot write `due.csv`");

    study(at, &["pay", "lab", "--confirm", "monday"]).failed_with("no payment was sent");
    let sent = study(at, &["pay", "lab", "--send", "monday", "--json"])
        .succeeded()
        .json();
    assert_eq!(sent["money"]["due_minor"], 0);
    let again = study(at, &["pay", "lab", "--send", "tuesday", "--json"])
        .succeeded()
        .json();
    assert_eq!(sent, again);
    let confirmed = study(at, &["pay", "lab", "--confirm", "monday", "--json"])
        .succeeded()
        .json();
    assert_eq!(
        confirmed["money"]["confirmed_minor"],
        sent["money"]["sent_minor"]
    );
    assert_eq!(confirmed["money"]["books_balance"], true);
}

#[test]
fn published_baselines_are_verified_and_survive_an_erasure() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    study_fixture::create(at);
    let publish = ["baselines", "lab", "--publish", "b1.json", "--json"];
    let first = study(at, &publish).succeeded().json();
    assert_eq!(first["revision"], 1);
    let written: Value =
        serde_json::from_str(&fs::read_to_string(at.join("b1.json")).unwrap()).unwrap();
    assert_eq!(written, first);
    study(at, &publish).failed_with("exists already");
    let same = ["baselines", "lab", "--publish", "b2.json"];
    study(at, &same).failed_with("revision 1 contains the same baselines");
    assert!(!at.join("b2.json").exists());
    study(at, &["verify", "lab"]).succeeded();

    study(at, &["erase", "lab", "--participant", "p2"]).succeeded();
    study(at, &["erase", "lab", "--participant", "p2"]).failed_with("unknown participant `p2`");
    let status = study(at, &["status", "lab", "--json"]).succeeded().json();
    assert_eq!(status["publications"][0]["inputs_erased"], 1);
    let verified = study(at, &["verify", "lab", "--json"]).succeeded().json();
    assert_eq!(verified["replayed"], 2);
    let second = study(at, &[&same[..], &["--json"]].concat())
        .succeeded()
        .json();
    assert_eq!(second["revision"], 2);
    study(at, &["verify", "lab"]).succeeded();

    // A changed play, and a changed published file, are found.
    let database = rusqlite::Connection::open(at.join("rhae.db")).unwrap();
    let change = "UPDATE log SET hash = hash + 1 WHERE play = 1 AND entry = 3;
                  UPDATE study_files SET content = replace(content, '\"people\":2', '\"people\":9');";
    database.execute_batch(change).unwrap();
    let found = study(at, &["verify", "lab"]);
    assert_eq!(found.code, Some(1), "{}", found.out);
    assert!(found.out.contains("cannot be replayed"), "{}", found.out);
    assert!(found.out.contains("has another hash"), "{}", found.out);
}

#[test]
fn public_export_contains_only_what_may_be_published() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    study_fixture::create(at);
    study(at, &["export", "lab", "private"]).succeeded();
    study(at, &["export", "lab", "public", "--public"]).succeeded();
    study(at, &["export", "lab", "public", "--public"]).failed_with("is not empty");
    let read = |name: &str| fs::read_to_string(at.join(name)).unwrap();
    let private = read("private/data/study-lab_table-participants_data.csv");
    assert!(private.contains("\np1,p1,live,"), "{private}");
    let humans = at.join("private/data/study-lab_table-humans_data.csv");
    let humans = humans.to_str().unwrap();
    let scored: Outcome = command(at, &["score", "humans", humans])
        .output()
        .unwrap()
        .into();
    assert!(scored.out.contains("kq19"), "{}{}", scored.out, scored.err);
    // The third person did not agree to the publication of replays.
    let names = |name: &str| fs::read_dir(at.join(name)).unwrap().count();
    assert_eq!(
        (names("private/recordings"), names("public/recordings")),
        (3, 2)
    );
    let recording = read("public/recordings/play-00001.jsonl");
    assert!(!recording.contains("00000000-0000-0000"), "{recording}");
    let file = "public/recordings/play-00001.jsonl";
    let replayed: Outcome = command(at, &["score", "recording", file])
        .output()
        .unwrap()
        .into();
    replayed.succeeded();
    let manifest: Value = serde_json::from_str(&read("public/manifest.json")).unwrap();
    assert_eq!(manifest["public"], true);
}
