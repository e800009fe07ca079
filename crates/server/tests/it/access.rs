//! API keys, sets of environments, and what a key may see.

use std::collections::HashMap;
use std::time::Duration;

use rhae_engine::{Action, Catalog};
use rhae_games::Builtin;
use rhae_server::Config;
use rhae_store::{GameSet, KeyStore, SqliteOptions};
use serde_json::json;

use crate::client::{Answer, Client};
use crate::test_server::{Access, TestServer};

const BOTH: &[GameSet] = &[GameSet::Public, GameSet::SemiPrivate];

/// Starts a server with keys on which `ny40` is semi-private and `ym39` is private.
fn server_with_keys(folder: &std::path::Path) -> TestServer {
    let set = |id: &str| match &id[..4] {
        "ny40" => GameSet::SemiPrivate,
        "ym39" => GameSet::Private,
        _ => GameSet::Public,
    };
    let sets: HashMap<_, _> = Builtin
        .list()
        .into_iter()
        .map(|info| (info.id.clone(), set(info.id.as_str())))
        .collect();
    TestServer::start_with_access(
        folder,
        Config::default(),
        SqliteOptions::default(),
        &Access {
            keys: true,
            sets: Some(sets),
            ..Access::default()
        },
    )
}

#[test]
fn every_invalid_key_gets_the_same_401() {
    let folder = tempfile::tempdir().unwrap();
    let server = server_with_keys(folder.path());
    let key = server.key(&[GameSet::Public]);
    let other = server.key(&[GameSet::Public]);
    let mixed = format!("{}{}", &key[..22], &other[22..]);
    let wrong = [
        "",
        "k",
        &key[..key.len() - 1],
        &mixed,
        "rhae_0000000000000000_",
    ];
    for wrong in wrong {
        let client = server.client(wrong);
        let answers: Vec<Answer> = vec![
            client.get("/api/games"),
            client.get("/api/games/kq19"),
            client.get("/api/scorecard/x"),
            client.get("/no/such/path"),
            client.post("/api/scorecard/open", &json!({})),
            client.post("/api/cmd/RESET", &json!({"game_id": "kq19"})),
            client.send("POST", "/api/cmd/ACTION1", None, &vec![b'x'; 300_000]),
        ];
        for answer in &answers {
            answer.assert_error(401, "UNAUTHORIZED");
            assert_eq!(answer.text, answers[0].text);
        }
        assert_eq!(client.get("/api/healthcheck").text, "okay");
        client
            .get("/api/games/anonkey")
            .assert_error(403, "FORBIDDEN");
    }
    let client = server.client(&key);
    let card = client.open_card(&json!({}));
    client.open_play(&card, "kq19");
    // A card of another owner is not found.
    server
        .client(&other)
        .get(&format!("/api/scorecard/{card}"))
        .assert_error(404, "SERVER_ERROR");
}

#[test]
fn revoked_key_is_refused_by_a_running_server() {
    let folder = tempfile::tempdir().unwrap();
    let server = server_with_keys(folder.path());
    let key = server.key(&[GameSet::Public]);
    let client = server.client(&key);
    client.get("/api/games").success();
    let store = server.reopen_store();
    assert!(
        server
            .runtime
            .block_on(store.revoke_key(key[5..21].parse().unwrap(), 1))
            .unwrap()
    );
    // The key may be cached for a second. The wait is bounded, and any other error fails the test.
    for _ in 0..1000 {
        let answer = client.get("/api/games");
        if answer.status == 401 {
            return answer.assert_error(401, "UNAUTHORIZED");
        }
        answer.success();
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("a revoked key is still accepted");
}

#[test]
fn key_sees_its_sets_and_admin_sees_everything() {
    let folder = tempfile::tempdir().unwrap();
    let server = server_with_keys(folder.path());
    let listed = |key: &str| -> Vec<String> {
        let games = server.client(key).get("/api/games").success();
        games
            .as_array()
            .unwrap()
            .iter()
            .map(|game| game["game_id"].as_str().unwrap()[..4].to_owned())
            .collect()
    };
    let all: Vec<String> = Builtin
        .list()
        .iter()
        .map(|info| info.id.base().to_owned())
        .collect();
    let without = |hidden: &[&str]| {
        all.iter()
            .filter(|id| !hidden.contains(&id.as_str()))
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(
        listed(&server.key(&[GameSet::Public])),
        without(&["ny40", "ym39"])
    );
    assert_eq!(listed(&server.key(BOTH)), without(&["ym39"]));
    assert_eq!(listed(&server.key(&[GameSet::Private])), ["ym39"]);
    assert_eq!(listed(&server.key(&[])), [""; 0]);
    let admin = server.admin_key();
    assert_eq!(listed(&admin), all);
    // A competition counts the environments that its key may see.
    let client = server.client(&server.key(BOTH));
    let card = client.open_card(&json!({"competition_mode": true}));
    server
        .client(&admin)
        .get(&format!("/api/scorecard/{card}"))
        .assert_error(403, "SERVER_ERROR");
    assert_eq!(client.close(&card)["total_environments"], all.len() - 1);
    // An administrator can read the cards of others, but not change them.
    let mut seen = server.client(&admin).card(&card);
    assert!(seen.as_object_mut().unwrap().remove("owner").is_some());
    assert_eq!(seen, client.card(&card));
    let card = client.open_card(&json!({}));
    let guid = client.open_play(&card, "kq19");
    server
        .client(&admin)
        .act("kq19", &guid, Action::Action1)
        .assert_error(400, "SERVER_ERROR");
    server
        .client(&admin)
        .post("/api/scorecard/close", &json!({"card_id": card}))
        .assert_error(404, "VALIDATION_ERROR");
}

#[test]
fn source_download_requires_its_scope() {
    let folder = tempfile::tempdir().unwrap();
    let server = server_with_keys(folder.path());
    let source = |key: &str, id: &str| server.client(key).get(&format!("/api/games/{id}/source"));
    let key = server.key(&[GameSet::Public]);
    source(&key, "kq19").assert_error(403, "FORBIDDEN");
    source(&key, "ny40").assert_error(404, "SERVER_ERROR");
    source(&server.admin_key(), "kq19").assert_error(404, "SERVER_ERROR");
}

/// Sends every kind of request that names an environment and returns the responses.
fn requests(client: &Client, card: &str, guid: &str, id: &str) -> Vec<Answer> {
    let mut answers = vec![
        client.get(&format!("/api/games/{id}")),
        client.get(&format!("/api/games/{id}/source")),
        client.get(&format!("/api/scorecard/{card}/{id}")),
        client.post("/api/cmd/RESET", &json!({"game_id": id, "card_id": card})),
        client.post(
            "/api/cmd/RESET",
            &json!({"game_id": id, "card_id": "no card"}),
        ),
        client.post("/api/cmd/RESET", &json!({"game_id": id})),
        client.post("/api/cmd/RESET", &json!({"game_id": id, "guid": guid})),
        client.post(
            "/api/cmd/RESET",
            &json!({"game_id": id, "guid": "no guid", "card_id": card}),
        ),
        client.post("/api/cmd/ACTION6", &json!({"game_id": id, "guid": guid})),
        client.post(
            "/api/cmd/ACTION6",
            &json!({"game_id": id, "guid": guid, "x": 1, "y": 1}),
        ),
    ];
    for action in [1, 2, 3, 4, 5, 7] {
        answers.push(client.post(
            &format!("/api/cmd/ACTION{action}"),
            &json!({"game_id": id, "guid": guid}),
        ));
    }
    answers.push(client.get("/api/games"));
    answers.push(client.get(&format!("/api/scorecard/{card}")));
    answers.push(client.get(&format!("/api/plays/{guid}")));
    answers.push(client.get(&format!("/api/plays/{guid}/recording")));
    answers
}

#[test]
fn hidden_environment_gets_the_same_response_as_a_missing_one() {
    let folder = tempfile::tempdir().unwrap();
    let server = server_with_keys(folder.path());
    let key = server.key(BOTH);
    let client = server.client(&key);
    let card = client.open_card(&json!({}));
    let (seen, hidden) = (
        client.open_play(&card, "kq19"),
        client.open_play(&card, "ny40"),
    );
    client.act("ny40", &hidden, Action::Action1).success();
    let before = client.card(&card);
    drop(client);
    server.stop();
    // Start servers on the same database twice: first the environment is in a set that the key may
    // not see, then it is not served at all.
    let public = |id: &str| !["ny40", "ym39"].contains(&&id[..4]);
    let mut answers = Vec::new();
    for served in [true, false] {
        let mut sets: HashMap<_, _> = Builtin
            .list()
            .into_iter()
            .map(|info| (info.id, GameSet::Public))
            .collect();
        sets.retain(|id, set| {
            if !public(id.as_str()) {
                *set = GameSet::Private;
            }
            public(id.as_str()) || served
        });
        let access = Access {
            keys: true,
            sets: Some(sets),
            ..Access::default()
        };
        let server = TestServer::start_with_access(
            folder.path(),
            Config::default(),
            SqliteOptions::default(),
            &access,
        );
        let client = server.client(&key);
        let mut seen_here = Vec::new();
        for id in ["ny40", "ny40-v1", "ym39", "ym39-v1", "zz99"] {
            for guid in [&seen, &hidden] {
                seen_here.extend(requests(&client, &card, guid, id));
            }
        }
        // Results stay on their card; only the play accepts no further commands.
        assert_eq!(client.card(&card), before);
        client
            .act("ny40", &hidden, Action::Action1)
            .assert_error(400, "SERVER_ERROR");
        client.get(&format!("/api/scorecard/{card}/ny40")).success();
        client
            .get(&format!("/api/plays/{hidden}"))
            .assert_error(404, "SERVER_ERROR");
        client
            .get(&format!("/api/plays/{hidden}/events"))
            .assert_error(404, "SERVER_ERROR");
        answers.push(seen_here);
        drop(client);
        server.stop();
    }
    assert_eq!(answers[0].len(), answers[1].len());
    for (hidden, missing) in answers[0].iter().zip(&answers[1]) {
        assert_eq!(
            (hidden.status, &hidden.text, &hidden.headers),
            (missing.status, &missing.text, &missing.headers)
        );
    }
    // The response for an environment that never existed differs only in the name.
    let per_id = answers[0].len() / 5;
    let (never_played, never_made) = (
        &answers[0][2 * per_id..3 * per_id],
        &answers[0][4 * per_id..],
    );
    for (hidden, missing) in never_played.iter().zip(never_made) {
        assert_eq!(
            (hidden.status, hidden.text.replace("ym39", "zz99")),
            (missing.status, missing.text.clone())
        );
    }
}

#[test]
fn open_access_sees_only_the_public_set() {
    let folder = tempfile::tempdir().unwrap();
    let sets = HashMap::from([
        ("kq19-v1".parse().unwrap(), GameSet::Public),
        ("ny40-v1".parse().unwrap(), GameSet::Private),
    ]);
    let access = Access {
        sets: Some(sets),
        ..Access::default()
    };
    let server = TestServer::start_with_access(
        folder.path(),
        Config::default(),
        SqliteOptions::default(),
        &access,
    );
    let client = server.client("k");
    assert_eq!(
        client.get("/api/games").success().as_array().unwrap().len(),
        1
    );
    client
        .get("/api/games/ny40")
        .assert_error(404, "SERVER_ERROR");
}

#[test]
fn key_is_refused_once_it_has_expired() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start_with_access(
        folder.path(),
        Config::default(),
        SqliteOptions::default(),
        &Access {
            keys: true,
            ..Access::default()
        },
    );
    let client = server.client(&server.expiring_key(1_800_000_000_000 + 60_000));
    client.get("/api/games").success();
    server.clock.forward_minutes(1);
    client.get("/api/games").assert_error(401, "UNAUTHORIZED");
}

#[test]
fn cards_name_their_owner_for_an_administrator_only() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start_with_access(
        folder.path(),
        Config::default(),
        SqliteOptions::default(),
        &Access {
            keys: true,
            ..Access::default()
        },
    );
    let key = server.key(&[GameSet::Public]);
    let (agent, admin) = (server.client(&key), server.client(&server.admin_key()));
    let card = agent.open_card(&json!({}));
    agent.open_play(&card, "kq19");
    let id = &key[5..21];
    for path in [
        format!("/api/scorecard/{card}"),
        format!("/api/scorecard/{card}/kq19"),
    ] {
        let owner = admin.get(&path).success()["owner"].clone();
        assert_eq!(owner, json!({"key_id": id, "name": "test"}));
        assert_eq!(agent.get(&path).success().get("owner"), None);
    }
    for path in ["/scorecards".to_owned(), format!("/scorecards/{card}")] {
        assert!(admin.get(&path).text.contains(id), "{path}");
        assert!(!agent.get(&path).text.contains(id), "{path}");
    }
}
