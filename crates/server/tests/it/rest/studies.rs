//! Responses about studies: to participants, and to researchers.

use std::path::Path;

use rhae_engine::Action;
use rhae_server::Config;
use rhae_store::{GameSet, SqliteOptions};
use serde_json::{Value, json};

use super::exchange::Exchanges;
use crate::client::Client;
use crate::study_client::{Person, STUDY, act, change_study, check_device, open_study};
use crate::test_server::{Access, TestServer};

const UNKNOWN: &str = "/s/0123456789012345678901234567890123456789";
const GAMES: [&str; 2] = ["kq19-v1", "ny40-v1"];

/// Enrols a person with an external id, whose link is always the same.
fn person(client: &Client, external_id: &str) -> (String, Person) {
    let body = json!({"site": "online", "external_ids": [external_id]});
    let links = client
        .post(&format!("{STUDY}/participants"), &body)
        .success();
    let link = links[0]["path"].as_str().unwrap().to_owned();
    (link.clone(), Person::new(client, &link))
}

/// Sends a participant's request and compares the exchange.
fn participant(exchanges: &Exchanges, name: &str, person: &Person, body: &Value) {
    exchanges.post(name, &person.client, "/api/sitting/commands", body);
}

#[test]
fn sitting_from_consent_to_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start_studies(folder.path());
    let (client, exchanges) = (server.client("k"), Exchanges::default());
    open_study(&client, &GAMES, |_| {});
    let (_, person) = person(&client, "5f01");
    let view = exchanges.get(
        "sitting_consent",
        &person.client,
        "/api/sitting?language=de",
    );
    let hash = &view.success()["consent"]["hash"];
    let consent = json!({"command": "consent", "language": "de", "text": hash,
        "publish_replays": true, "later_contact": false});
    participant(&exchanges, "sitting_consented", &person, &consent);
    let describe = json!({"command": "describe", "answers": {"age": "25-34"}});
    participant(&exchanges, "sitting_described", &person, &describe);
    participant(&exchanges, "sitting_checked", &person, &check_device());
    participant(
        &exchanges,
        "sitting_reserved",
        &person,
        &json!({"command": "next"}),
    );
    let start = json!({"command": "start", "environment": 1});
    participant(&exchanges, "sitting_started", &person, &start);
    let pause = json!({"command": "pause"});
    participant(&exchanges, "sitting_pause_refused", &person, &pause);
    let action = "/api/sitting/actions/ACTION4";
    let body = json!({"environment": 1});
    exchanges.post("sitting_action", &person.client, action, &body);
    let once = person.client.with_idempotency_key("a");
    act(&once, 1, Action::Action4).success();
    let reused = json!({"environment": 2});
    exchanges.post(
        "sitting_action_key_reused",
        &once,
        "/api/sitting/actions/ACTION3",
        &reused,
    );
    exchanges.post("sitting_action_elsewhere", &person.client, action, &reused);
    exchanges.post(
        "sitting_action_without_number",
        &person.client,
        action,
        &json!({}),
    );
    exchanges.send(
        "sitting_action_not_json",
        &person.client,
        "POST",
        action,
        Some("text/plain"),
        "{}",
    );
    let leave = json!({"command": "leave", "environment": 1});
    participant(&exchanges, "sitting_left", &person, &leave);
    participant(
        &exchanges,
        "sitting_finished",
        &person,
        &json!({"command": "finish"}),
    );
    participant(
        &exchanges,
        "sitting_unknown_command",
        &person,
        &json!({"command": "cheat"}),
    );
    withdrawal_and_unknown_links(&exchanges, &client, &person);
}

/// Withdraws a person and uses the link afterwards, then a link that does not exist.
fn withdrawal_and_unknown_links(exchanges: &Exchanges, client: &Client, person: &Person) {
    let keep = json!({"command": "withdraw", "data": "keep"});
    let withdrawn = person.send(&keep);
    let receipt = withdrawn.success()["receipt"].as_str().unwrap().to_owned();
    exchanges.hide(&receipt, "receipt");
    exchanges.get("sitting_withdrawn", &person.client, "/api/sitting");
    let delete = json!({"command": "withdraw", "data": "delete"});
    participant(exchanges, "sitting_deleted", person, &delete);
    participant(
        exchanges,
        "sitting_command_after_deletion",
        person,
        &check_device(),
    );
    let commands = "/api/sitting/commands";
    exchanges.send(
        "sitting_command_not_json",
        &person.client,
        "POST",
        commands,
        Some("text/plain"),
        "{}",
    );
    let stranger = Person::new(client, UNKNOWN);
    exchanges.get("sitting_unknown_link", &stranger.client, "/api/sitting");
    participant(
        exchanges,
        "sitting_command_unknown_link",
        &stranger,
        &check_device(),
    );
    exchanges.post(
        "sitting_action_unknown_link",
        &stranger.client,
        "/api/sitting/actions/ACTION4",
        &json!({"environment": 1}),
    );
}

#[test]
fn arrivals_and_links() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start_studies(folder.path());
    let (client, exchanges) = (server.client("k"), Exchanges::default());
    open_study(&client, &GAMES, |_| {});
    let links = exchanges.get("study_links", &client, &format!("{STUDY}/links"));
    let links = links.success();
    let path = links["arrivals"][0]["path"].as_str().unwrap();
    let token = path.trim_start_matches("/s/");
    let body = json!({"link": token, "external_id": "5f01", "session_ref": "s"});
    exchanges.post("arrival", &client, "/api/arrivals", &body);
    let unknown = json!({"link": "0", "external_id": "5f01"});
    exchanges.post("arrival_unknown_link", &client, "/api/arrivals", &unknown);
    exchanges.send(
        "arrival_not_json",
        &client,
        "POST",
        "/api/arrivals",
        Some("text/plain"),
        "{}",
    );
    let shared = Person::new(&client, path);
    exchanges.get("sitting_arrival", &shared.client, "/api/sitting");
    let seat = Person::new(&client, links["seats"][0]["path"].as_str().unwrap());
    exchanges.get("sitting_seat_free", &seat.client, "/api/sitting");
    change_study(&client, &json!({"command": "pause", "reason": "holiday"}));
    let late = json!({"link": token, "external_id": "5f02"});
    exchanges.post("arrival_at_paused_study", &client, "/api/arrivals", &late);
    let participants = format!("{STUDY}/participants");
    let new = json!({"site": "online", "count": 1});
    exchanges.post("participants_of_paused_study", &client, &participants, &new);
    let external = json!({"site": "online", "stage": "pilot", "external_ids": ["5f03"]});
    exchanges.post("participants", &client, &participants, &external);
    let elsewhere = json!({"site": "nowhere", "stage": "pilot", "count": 1});
    exchanges.post(
        "participants_unknown_site",
        &client,
        &participants,
        &elsewhere,
    );
    exchanges.send(
        "participants_not_json",
        &client,
        "POST",
        &participants,
        Some("text/plain"),
        "{}",
    );
}

/// A server that requires keys, with an owner of the study `lab`, site staff and a visitor.
struct Keys {
    server: TestServer,
    owner: Client,
    staff: Client,
    author: Client,
}

fn start_with_keys(folder: &Path, studies: bool) -> Keys {
    let access = Access {
        keys: true,
        studies,
        ..Access::default()
    };
    let server =
        TestServer::start_with_access(folder, Config::default(), SqliteOptions::default(), &access);
    let [owner, staff, author] = [(); 3].map(|()| server.key(&[GameSet::Public]));
    if studies {
        let owner = server.client(&owner);
        open_study(&owner, &GAMES, |_| {});
        for (key, role) in [(&staff, "site_staff"), (&author, "author")] {
            let id = key.split('_').nth(1).unwrap();
            change_study(
                &owner,
                &json!({"command": "grant", "key": id, "role": role}),
            );
        }
    }
    Keys {
        owner: server.client(&owner),
        staff: server.client(&staff),
        author: server.client(&author),
        server,
    }
}

#[test]
fn researchers_read_a_study() {
    let folder = tempfile::tempdir().unwrap();
    let keys = start_with_keys(folder.path(), true);
    let exchanges = Exchanges::default();
    let (_, person) = person(&keys.owner, "5f01");
    person.prepare();
    person.start_next();
    exchanges.get("study_live", &keys.owner, &format!("{STUDY}/live"));
    person.solve(1, &crate::study_client::playing(&keys.owner));
    person.step(&json!({"command": "finish"}), "ended");
    let rows = keys.owner.get(&format!("{STUDY}/sittings")).success();
    let play = rows[0]["attempts"][0]["play"].as_str().unwrap();
    change_study(&keys.owner, &json!({"command": "publish_baselines"}));
    let listings = [
        ("live", format!("{STUDY}/live")),
        ("coverage", format!("{STUDY}/coverage")),
        ("results", format!("{STUDY}/results?environment=kq19-v1")),
        ("clicks", format!("{STUDY}/clicks?environment=kq19-v1")),
        ("report", format!("{STUDY}/report?environment=kq19-v1")),
        ("sittings", format!("{STUDY}/sittings")),
        ("payments", format!("{STUDY}/payments")),
        ("payment_list", format!("{STUDY}/payments/list")),
        ("verification", format!("{STUDY}/verification")),
        ("recording", format!("{STUDY}/plays/{play}/recording")),
        ("baselines", format!("{STUDY}/baselines")),
        ("published", format!("{STUDY}/baselines/1")),
        ("log", format!("{STUDY}/log?after=20")),
        ("export", format!("{STUDY}/export?public=true")),
        ("links", format!("{STUDY}/links")),
    ];
    for (name, path) in &listings {
        match *name {
            // The recording is as long as the game, the report contains the scripts of the player, the
            // archive contains times of files, and the hashes of the log depend on random keys.
            "recording" | "report" | "export" | "log" => {
                let answer = keys.owner.get(path);
                assert_eq!(answer.status, 200, "{answer:?}");
                let short = crate::client::Answer {
                    text: format!("\"[{name}]\""),
                    ..answer
                };
                exchanges.check(&format!("study_{name}"), &format!("> GET {path}\n"), &short);
            }
            "links" | "live" => {}
            _ => drop(exchanges.get(&format!("study_{name}"), &keys.owner, path)),
        }
        let refused = match *name {
            "live" | "links" => &keys.author,
            _ => &keys.staff,
        };
        exchanges.get(&format!("study_{name}_forbidden"), refused, path);
        let unknown = path.replace("/lab/", "/nothing/");
        exchanges.get(&format!("study_{name}_unknown"), &keys.owner, &unknown);
    }
    let text = keys.owner.get(&listings[4].1).text;
    assert!(
        text.contains("valid attempt") && text.contains("Drop-off"),
        "{text}"
    );
    let text = keys.owner.get(&format!("{STUDY}/export")).text;
    assert!(text.contains("lab/manifest.json") && text.contains("table-attempts"));
}

#[test]
fn researchers_change_a_study() {
    let folder = tempfile::tempdir().unwrap();
    let keys = start_with_keys(folder.path(), true);
    let exchanges = Exchanges::default();
    let (owner, staff) = (&keys.owner, &keys.staff);
    let body = json!({"id": "two", "title": "Two", "environments": ["kq19"], "preset": "paper"});
    // The owner's key is random.
    let created = owner.post("/api/studies", &body).success();
    let members = created["members"].as_object().unwrap();
    members.keys().for_each(|key| exchanges.hide(key, "key-id"));
    exchanges.get("studies", owner, "/api/studies");
    exchanges.get("study", owner, "/api/studies/two");
    exchanges.get("study_unknown", owner, "/api/studies/nothing");
    exchanges.get("study_of_staff", staff, STUDY);
    exchanges.post("study_taken", owner, "/api/studies", &body);
    let unknown = json!({"id": "three", "title": "Three", "environments": ["zz99"]});
    exchanges.post("study_unknown_environment", owner, "/api/studies", &unknown);
    let invalid = json!({"id": "A b", "title": "t"});
    exchanges.post("study_invalid_id", owner, "/api/studies", &invalid);
    let third = json!({"id": "created", "title": "Created", "environments": ["kq19"]});
    exchanges.post("study_created", owner, "/api/studies", &third);
    exchanges.send(
        "study_not_json",
        owner,
        "POST",
        "/api/studies",
        Some("text/plain"),
        "{}",
    );
    let visitor = keys.server.visitor_key();
    let visitor = keys.server.client(&visitor);
    exchanges.post("study_of_visitor", &visitor, "/api/studies", &body);
    let text = Some("text/plain");
    for (name, path, body, refused) in [
        ("check", "check", json!({"per_sitting": 3}), staff),
        (
            "command",
            "commands",
            json!({"command": "pause", "reason": "holiday"}),
            staff,
        ),
        (
            "participants",
            "participants",
            json!({"site": "online"}),
            &keys.author,
        ),
    ] {
        let route = format!("{STUDY}/{path}");
        if name != "participants" {
            exchanges.post(&format!("study_{name}"), owner, &route, &body);
        }
        exchanges.post(&format!("study_{name}_forbidden"), refused, &route, &body);
        let unknown = format!("/api/studies/nothing/{path}");
        exchanges.post(&format!("study_{name}_unknown"), owner, &unknown, &body);
        exchanges.send(
            &format!("study_{name}_not_json"),
            owner,
            "POST",
            &route,
            text,
            "{}",
        );
    }
    let commands = format!("{STUDY}/commands");
    let freeze = json!({"command": "freeze"});
    exchanges.post("study_command_rejected", owner, &commands, &freeze);
    let draft = "/api/studies/two/baselines";
    exchanges.get("study_baselines_of_draft", owner, draft);
}

#[test]
fn server_without_identity_key_or_studies_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start_studies_without_identities(folder.path());
    let (client, exchanges) = (server.client("k"), Exchanges::default());
    open_study(&client, &GAMES, |_| {});
    let links = format!("{STUDY}/links");
    exchanges.get("study_links_without_identity_key", &client, &links);
    let folder = tempfile::tempdir().unwrap();
    let keys = start_with_keys(folder.path(), false);
    keys.owner
        .get("/api/studies")
        .assert_error(404, "NOT_FOUND");
    keys.staff.get(STUDY).assert_error(404, "NOT_FOUND");
    let person = Person::new(&keys.author, UNKNOWN);
    person
        .client
        .get("/api/sitting")
        .assert_error(404, "NOT_FOUND");
}
