//! The overlay of the replay page: what perception sees after each action.

use rhae_engine::{Action, Catalog};
use rhae_games::Builtin;
use rhae_report::Perceiver;
use rhae_server::Config;
use rhae_store::{GameSet, SqliteOptions};
use serde_json::{Value, json};

use crate::test_server::{Access, TestServer};

const ACTIONS: [Action; 6] = [
    Action::Action1,
    Action::Action4,
    Action::Action1,
    Action::Action2,
    Action::Reset,
    Action::Action3,
];

/// Returns what perception sees in a play of the environment in this process.
fn expected(game: &str) -> Vec<Value> {
    let mut environment = Builtin.open(game, 0).unwrap();
    let mut perceiver = Perceiver::default();
    let mut perceive = |observation: &rhae_engine::Observation| {
        let levels = observation.levels_completed;
        let action = observation.action;
        let seen = perceiver.observe(
            action,
            observation.settled(),
            levels,
            observation.full_reset,
        );
        seen.to_json()
    };
    let mut seen = vec![perceive(environment.observation())];
    for action in ACTIONS {
        environment.act(action).unwrap();
        seen.push(perceive(environment.observation()));
    }
    seen
}

#[test]
fn perception_of_a_play_is_that_of_the_library_and_private() {
    let folder = tempfile::tempdir().unwrap();
    let access = Access {
        keys: true,
        ..Access::default()
    };
    let (config, options) = (Config::default(), SqliteOptions::default());
    let server = TestServer::start_with_access(folder.path(), config, options, &access);
    let owner = server.client(&server.key(&[GameSet::Public]));
    let card = owner.open_card(&json!({}));
    let guid = owner.open_play(&card, "hk26");
    for action in ACTIONS {
        owner.act("hk26", &guid, action).success();
    }
    let path = format!("/replay/{guid}/perception");
    let seen = owner.get(&path).success();
    assert_eq!(seen, Value::from(expected("hk26")));
    let texts = seen.as_array().unwrap().iter();
    assert!(texts.clone().any(|one| one["text"] != ""), "{seen}");
    assert!(texts.clone().any(|one| one["boxes"] != json!([])), "{seen}");

    let other = server.client(&server.key(&[GameSet::Public]));
    assert_eq!(other.get(&path).status, 404);
    let published = owner.post("/api/shares", &json!({"guid": guid})).success();
    let shared = format!("{}/perception", published["path"].as_str().unwrap());
    let anyone = server.client("").with_cookie(None);
    assert_eq!(anyone.get(&shared).success(), seen);
    let id = published["id"].as_str().unwrap();
    owner.send("DELETE", &format!("/api/shares/{id}"), None, &[]);
    assert_eq!(anyone.get(&shared).status, 404);
}
