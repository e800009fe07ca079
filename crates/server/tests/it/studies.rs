//! Taking part in a study, and running one.

use std::collections::BTreeSet;

use rhae_engine::Action;
use serde_json::{Value, json};

use crate::study_client::{
    Person, STUDY, act, change_study, check_device, enrol, open_study, playing,
};
use crate::test_server::TestServer;

const GAMES: [&str; 3] = ["kq19-v1", "ny40-v1", "ym39-v1"];

fn verified(server: &TestServer) {
    let found = server
        .client("k")
        .get(&format!("{STUDY}/verification"))
        .success();
    assert_eq!(found["findings"], json!([]));
}

/// Asserts that a response to a participant names no environment.
fn assert_private(view: &Value) {
    let text = view.to_string();
    for game in GAMES {
        assert!(!text.contains(&game[..4]), "{text}");
    }
}

#[test]
fn person_plays_from_consent_to_completion_code() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start_studies(folder.path());
    let client = server.client("k");
    open_study(&client, &GAMES, |_| {});
    let code = json!({"complete": {"code": "C1", "redirect": "https://example.org/?cc=C1"}});
    change_study(
        &client,
        &json!({"command": "set_recruiter", "site": "online", "recruiter": "prolific", "codes": code}),
    );
    let person = Person::new(&client, &enrol(&client, 1)[0]);
    // Looking at the link reserves nothing.
    assert_eq!(person.view()["step"], "consent");
    assert_eq!(client.get(&format!("{STUDY}/live")).success(), json!([]));
    person.prepare();

    let first = person.start_next();
    assert_eq!(first["environment"], 1);
    assert_eq!(first["clock"]["attempt_ms"], 0);
    assert_private(&first);
    let game = playing(&client);
    server.clock.forward_ms(2_000);
    let moved = person.act(1, Action::Action1).success();
    assert_eq!(
        (&moved["guid"], &moved["state"]),
        (&"".into(), &"NOT_FINISHED".into())
    );
    // A RESET with nothing done since the last one is ignored, so that it cannot restart the game.
    person.act(1, Action::Reset).success();
    assert_eq!(person.act(1, Action::Reset).success()["counted"], false);
    person.solve(1, &game);
    let view = person.view();
    assert_eq!(
        (&view["step"], &view["last_outcome"], &view["finished"]),
        (&"between".into(), &"solved".into(), &1.into())
    );

    person.start_next();
    assert_ne!(playing(&client), game);
    let leave = json!({"command": "leave", "environment": 2});
    let left = person.step(&leave, "between");
    assert_eq!(left["last_outcome"], "left");
    assert!(left.get("completion").is_none());
    // A repeated request to leave does not leave the next environment.
    person.start_next();
    person.step(&leave, "environment");
    person.step(&json!({"command": "leave", "environment": 3}), "between");
    let end = person.step(&json!({"command": "next"}), "ended");
    assert_private(&end);
    assert_eq!(end["end"]["reason"], "nothing_left");
    assert_eq!(
        (&end["end"]["solved"], &end["end"]["total_minor"]),
        (&1.into(), &13_500.into())
    );
    assert_eq!(
        end["completion"],
        json!({"kind": "complete", "code": "C1", "redirect": "https://example.org/?cc=C1"})
    );
    person.step(
        &json!({"command": "comment", "text": "It was fun."}),
        "ended",
    );
    // A second sitting is not allowed.
    person.step(&json!({"command": "next"}), "ended");
    verified(&server);
}

#[test]
fn person_continues_elsewhere_without_losing_or_doubling_an_action() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start_studies(folder.path());
    let client = server.client("k");
    open_study(&client, &GAMES[..1], |_| {});
    let link = &enrol(&client, 1)[0];
    let person = Person::new(&client, link);
    person.prepare();
    person.start_next();
    let once = person.client.with_idempotency_key("press-1");
    let first = act(&once, 1, Action::Action4);
    // The response was lost, so the page repeats the request.
    assert_eq!(act(&once, 1, Action::Action4).text, first.text);
    act(&once, 1, Action::Action3).assert_error(422, "IDEMPOTENCY_KEY_REUSED");
    let elsewhere = Person::new(&server.client("other"), link);
    let view = elsewhere.view();
    assert_eq!(view["step"], "environment");
    elsewhere.act(1, Action::Action4).success();
    let newest = elsewhere.view()["frame"]["packed"].clone();
    assert_ne!(newest, view["frame"]["packed"]);
    assert_eq!(person.view()["frame"]["packed"], newest);
    // The start of an environment is repeated after a reload, and shows the newest frame.
    let start = json!({"command": "start", "environment": 1});
    let again = person.step(&start, "environment");
    assert_eq!(again["frame"]["packed"], newest);
    person.step(&json!({"command": "leave", "environment": 1}), "between");
    // A repeated action gets its response even after the end of the environment.
    assert_eq!(act(&once, 1, Action::Action4).text, first.text);
    let rows = client.get(&format!("{STUDY}/sittings")).success();
    assert_eq!(rows[0]["attempts"][0]["actions"], 2);
    act(&person.client, 1, Action::Action4).assert_error(409, "STUDY_LIMIT_REACHED");
    verified(&server);
}

#[test]
fn hard_limit_refuses_actions_to_the_millisecond() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start_studies(folder.path());
    let client = server.client("k");
    open_study(&client, &GAMES[..2], |_| {});
    let person = Person::new(&client, &enrol(&client, 1)[0]);
    person.prepare();
    person.start_next();
    // Contact every 10 s keeps the clock running.
    for _ in 0..179 {
        server.clock.forward_ms(10_000);
        person.request(&json!({"command": "contact"}));
    }
    server.clock.forward_ms(9_999);
    person.act(1, Action::Action4).success();
    let view = person.view();
    assert_eq!(view["clock"]["attempt_ms"], 1_799_999);
    server.clock.forward_ms(1);
    act(&person.client, 1, Action::Action4).assert_error(409, "STUDY_LIMIT_REACHED");
    let view = person.view();
    assert_eq!(
        (&view["step"], &view["last_outcome"]),
        (&"between".into(), &"hard_limit".into())
    );
    let records = client.get(&format!("{STUDY}/log")).success();
    let prompts = records.as_array().unwrap().iter();
    let prompts = prompts.filter(|record| record["event"]["kind"] == "prompted");
    assert_eq!(prompts.count(), 2);
    verified(&server);
}

#[test]
fn lost_sitting_is_ended_by_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start_studies(folder.path());
    let client = server.client("k");
    open_study(&client, &GAMES[..1], |_| {});
    let person = Person::new(&client, &enrol(&client, 1)[0]);
    person.prepare();
    person.start_next();
    server.clock.forward_minutes(5);
    let live = client.get(&format!("{STUDY}/live")).success();
    assert_eq!(
        (&live[0]["connected"], &live[0]["level"]),
        (&false.into(), &1.into())
    );
    // An outage of five minutes stopped the clock, and the person continues.
    person.act(1, Action::Action4).success();
    assert_eq!(person.view()["clock"]["attempt_ms"], 15_000);
    server.clock.forward_minutes(11);
    server.settle();
    assert_eq!(client.get(&format!("{STUDY}/live")).success(), json!([]));
    let view = person.view();
    assert_eq!(
        (
            &view["step"],
            &view["last_outcome"],
            &view["completion"]["kind"]
        ),
        (&"ended".into(), &"lost".into(), &"technical".into())
    );
    verified(&server);
}

#[test]
fn pause_stops_the_clock_between_environments() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start_studies(folder.path());
    let client = server.client("k");
    open_study(&client, &GAMES[..2], |_| {});
    let person = Person::new(&client, &enrol(&client, 1)[0]);
    person.prepare();
    person.start_next();
    let pause = json!({"command": "pause"});
    person.send(&pause).assert_error(409, "STUDY_REJECTED");
    server.clock.forward_ms(5_000);
    person.step(&json!({"command": "leave", "environment": 1}), "between");
    person.step(&pause, "paused");
    server.clock.forward_minutes(3);
    let paused = person.view();
    assert_eq!(paused["clock"]["sitting_ms"], 5_000);
    assert_eq!(paused["clock"]["pause_left_ms"], 12 * 60_000);
    person.step(&json!({"command": "resume"}), "between");
    person.step(&json!({"command": "resume"}), "between");
    person.start_next();
}

#[test]
fn deleted_person_leaves_a_verifiable_log() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start_studies(folder.path());
    let client = server.client("k");
    open_study(&client, &GAMES[..2], |_| {});
    let links = enrol(&client, 2);
    let people: Vec<Person> = links
        .iter()
        .map(|path| Person::new(&client, path))
        .collect();
    for person in &people {
        person.prepare();
        person.start_next();
        person.act(1, Action::Action4).success();
    }
    let rows = client.get(&format!("{STUDY}/sittings")).success();
    let play = rows[0]["attempts"][0]["play"].as_str().unwrap().to_owned();
    let keep = people[0].step(&json!({"command": "withdraw", "data": "keep"}), "withdrawn");
    assert_eq!(people[0].view()["receipt"], keep["receipt"]);
    let delete = json!({"command": "withdraw", "data": "delete"});
    // Somebody who kept the data can still have it deleted.
    for person in &people {
        let erased = person.step(&delete, "erased");
        assert!(erased["receipt"].as_str().unwrap().starts_with("W-"));
        assert_eq!(person.view()["step"], "erased");
    }
    let recording = format!("{STUDY}/plays/{play}/recording");
    client.get(&recording).assert_error(404, "SERVER_ERROR");
    assert_eq!(
        client.get(&format!("{STUDY}/sittings")).success(),
        json!([])
    );
    verified(&server);
}

#[test]
fn two_hundred_arrivals_get_exactly_the_planned_reservations() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start_studies(folder.path());
    let client = server.client("k");
    open_study(&client, &GAMES[..1], |protocol| {
        protocol["demographics"] = json!([]);
    });
    let links = enrol(&client, 200);
    let steps: Vec<String> = std::thread::scope(|scope| {
        let arrivals: Vec<_> = links
            .chunks(10)
            .map(|links| {
                let client = &client;
                scope.spawn(move || {
                    let people = links.iter().map(|path| {
                        let person = Person::new(client, path);
                        let hash = &person.view()["consent"]["hash"];
                        let consent = json!({"command": "consent", "language": "en", "text": hash,
                            "publish_replays": true, "later_contact": false});
                        person.step(&consent, "check");
                        person.step(&check_device(), "between");
                        let next = person.request(&json!({"command": "next"}));
                        next["step"].as_str().unwrap().to_owned()
                    });
                    people.collect::<Vec<_>>()
                })
            })
            .collect();
        let joined = arrivals.into_iter().map(|one| one.join().unwrap());
        joined.flatten().collect()
    });
    let count = |step: &str| steps.iter().filter(|one| *one == step).count();
    assert_eq!((count("ready"), count("ended")), (15, 185));
    let coverage = client.get(&format!("{STUDY}/coverage")).success();
    assert_eq!(coverage[0]["reserved"], 15);
}

#[test]
fn plays_of_participants_are_hidden_from_everybody_else() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start_studies(folder.path());
    let client = server.client("k");
    open_study(&client, &GAMES[..1], |_| {});
    let person = Person::new(&client, &enrol(&client, 1)[0]);
    person.prepare();
    person.start_next();
    person.act(1, Action::Action4).success();
    person.step(&json!({"command": "leave", "environment": 1}), "between");
    let rows = client.get(&format!("{STUDY}/sittings")).success();
    let play = rows[0]["attempts"][0]["play"].as_str().unwrap();
    let page = client.with_cookie(None);
    for path in ["/scorecards", "/watch", "/"] {
        let text = page.get(path).text;
        assert!(!text.contains(play) && !text.contains("study</"), "{path}");
    }
    client
        .get(&format!("/api/plays/{play}"))
        .assert_error(404, "SERVER_ERROR");
    client
        .get(&format!("/api/plays/{play}/recording"))
        .assert_error(404, "SERVER_ERROR");
    assert_eq!(page.get(&format!("/replay/{play}")).status, 404);
    let recording = client.get(&format!("{STUDY}/plays/{play}/recording"));
    assert_eq!(recording.text.lines().count(), 2);
}

#[test]
fn arrivals_of_one_person_share_a_link_and_never_repeat_an_environment() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start_studies(folder.path());
    let client = server.client("k");
    open_study(&client, &GAMES[..1], |_| {});
    let links = client.get(&format!("{STUDY}/links")).success();
    let online = links["arrivals"].as_array().unwrap().iter();
    let online = online
        .clone()
        .find(|link| link["site"] == "online")
        .unwrap();
    let path = online["path"].as_str().unwrap();
    let shared = Person::new(&client, path);
    assert_eq!(shared.view()["step"], "arrival");
    let token = path.trim_start_matches("/s/");
    let arrive = |id: &str| {
        let body = json!({"link": token, "external_id": id, "session_ref": "s"});
        client.post("/api/arrivals", &body).success()["path"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let paths: BTreeSet<String> = ["5f01", "5f02", "5f01"].map(arrive).into();
    assert_eq!(paths.len(), 2);
    let person = Person::new(&client, &arrive("5f01"));
    person.prepare();
    person.start_next();
    person.step(&json!({"command": "finish"}), "ended");
    // The same person in another study with the same environment gets none.
    let body = json!({"id": "next", "title": "Next", "environments": GAMES[..1],
        "consent": {"en": "Again."}});
    client.post("/api/studies", &body).success();
    for command in ["freeze", "open"] {
        let command = json!({"command": command});
        client
            .post("/api/studies/next/commands", &command)
            .success();
    }
    let links = client.get("/api/studies/next/links").success();
    let path = links["arrivals"][0]["path"].as_str().unwrap();
    let body = json!({"link": path.trim_start_matches("/s/"), "external_id": "5f01"});
    let arrived = client.post("/api/arrivals", &body).success();
    let person = Person::new(&client, arrived["path"].as_str().unwrap());
    person.prepare();
    let end = person.step(&json!({"command": "next"}), "ended");
    assert_eq!(end["completion"]["kind"], "screened_out");
}

#[test]
fn seat_belongs_to_whoever_is_checked_in() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start_studies(folder.path());
    let client = server.client("k");
    open_study(&client, &GAMES[..2], |_| {});
    let links = client.get(&format!("{STUDY}/links")).success();
    let seat = Person::new(&client, links["seats"][1]["path"].as_str().unwrap());
    assert_eq!(seat.view()["step"], "seat_free");
    seat.send(&json!({"command": "next"}))
        .assert_error(409, "STUDY_REJECTED");
    for (session, starts_ms) in [("monday", 1), ("wednesday", 2)] {
        let schedule = json!({"command": "schedule_session", "session": session, "site": "room",
            "starts_ms": starts_ms, "capacity": 2});
        change_study(&client, &schedule);
        let body = json!({"site": "room", "external_ids": [session]});
        let people = client
            .post(&format!("{STUDY}/participants"), &body)
            .success();
        let check_in = json!({"command": "check_in", "session": session, "seat": 2,
            "participant": people[0]["participant"]});
        change_study(&client, &check_in);
        let view = seat.view();
        assert_eq!(
            (&view["step"], &view["kiosk"], &view["seat"]),
            (&"consent".into(), &true.into(), &2.into())
        );
        seat.prepare();
        seat.start_next();
        let live = client.get(&format!("{STUDY}/live")).success();
        assert_eq!(live[0]["seat"], 2);
        seat.step(&json!({"command": "finish"}), "ended");
    }
}
