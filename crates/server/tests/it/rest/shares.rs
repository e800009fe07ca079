//! Responses about links that publish scorecards and replays.

use std::collections::HashMap;

use rhae_engine::{Catalog, GameId};
use rhae_games::Builtin;
use rhae_server::{Config, Limits};
use rhae_store::{GameSet, SqliteOptions};
use serde_json::json;

use super::exchange::Exchanges;
use crate::client::Answer;
use crate::test_server::{Access, TestServer};

const UNKNOWN: &str = "00000000-0000-0000-0000-000000000000";

/// Starts a server with keys on which `ym39` is private and a key may have two links.
fn start(folder: &std::path::Path) -> TestServer {
    let set = |id: &GameId| match id.base() {
        "ym39" => GameSet::Private,
        _ => GameSet::Public,
    };
    let sets: HashMap<GameId, GameSet> = Builtin
        .list()
        .into_iter()
        .map(|info| (info.id.clone(), set(&info.id)))
        .collect();
    let limits = Limits {
        links_per_key: 2,
        ..Limits::default()
    };
    let config = Config {
        limits,
        ..Config::default()
    };
    let access = Access {
        keys: true,
        sets: Some(sets),
        ..Access::default()
    };
    TestServer::start_with_access(folder, config, SqliteOptions::default(), &access)
}

/// Hides the id and the token of a new link, and returns them.
fn hide(exchanges: &Exchanges, created: &Answer) -> (String, String) {
    let body = created.success();
    let text = |field: &str| body[field].as_str().unwrap().to_owned();
    let (id, path) = (text("id"), text("path"));
    let token = path.strip_prefix("/shared/").unwrap().to_owned();
    exchanges.hide(&token, "token");
    exchanges.hide(&id, "link-id");
    (id, path)
}

#[test]
fn links_are_created_listed_and_revoked() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path());
    let both = [GameSet::Public, GameSet::Private];
    let (client, exchanges) = (server.client(&server.key(&both)), Exchanges::default());
    let card = exchanges.open_card(&client, &json!({}));
    let guid = exchanges.open_play(&client, &card, "kq19");
    let create = |name: &str, body: &serde_json::Value| {
        let answer = client.post("/api/shares", body);
        let link = (answer.status == 200).then(|| hide(&exchanges, &answer));
        let request = format!("> POST /api/shares\n> {body}\n");
        exchanges.check(name, &request, &answer);
        link
    };
    let (of_card, card_path) = create("share_card", &json!({"card_id": card})).unwrap();
    // The newest link is listed first.
    server.clock.forward_minutes(1);
    let (_, play_path) = create("share_play", &json!({"guid": guid})).unwrap();
    create("share_over_limit", &json!({"guid": guid}));
    create("share_unknown_card", &json!({"card_id": UNKNOWN}));
    create("share_nothing", &json!({}));
    create("share_both", &json!({"card_id": card, "guid": guid}));
    let json = Some("text/plain");
    exchanges.send("share_not_json", &client, "POST", "/api/shares", json, "{}");
    let secret = exchanges.open_play(&client, &card, "ym39");
    create("share_not_public", &json!({"guid": secret}));

    let anyone = server.client("").with_cookie(None);
    // The card has a private environment now, so its link shows nothing.
    assert_eq!(anyone.get(&card_path).status, 404);
    exchanges.get("shared_replay", &anyone, &play_path);
    exchanges.get("shared_film", &anyone, &format!("{play_path}/film"));
    exchanges.get("shared_times", &anyone, &format!("{play_path}/times"));
    let reasoning = format!("{play_path}/reasoning?from=0");
    exchanges.get("shared_reasoning", &anyone, &reasoning);

    let path = format!("/api/shares/{of_card}");
    exchanges.send("share_revoke", &client, "DELETE", &path, None, "");
    exchanges.get("share_list", &client, "/api/shares");
    let unknown_page = "/api/shares?after=0000000000000000";
    exchanges.get("share_list_after_unknown_link", &client, unknown_page);
    let unknown = "/api/shares/0000000000000000";
    exchanges.send("share_revoke_unknown", &client, "DELETE", unknown, None, "");
}

#[test]
fn published_card_and_the_page_of_links() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path());
    let client = server.client(&server.key(&[GameSet::Public]));
    let exchanges = Exchanges::default();
    let card = exchanges.open_card(&client, &json!({}));
    let guid = exchanges.open_play(&client, &card, "kq19");
    client.solve("kq19", &guid, 0);
    exchanges.get("page_links_empty", &client, "/links");
    let created = client.post("/api/shares", &json!({"card_id": card}));
    let (id, path) = hide(&exchanges, &created);
    let anyone = server.client("").with_cookie(None);
    exchanges.get("shared_card", &anyone, &path);
    let json = format!("{path}/scorecard.json");
    exchanges.get("shared_card_json", &anyone, &json);
    let csv = format!("{path}/scorecard.csv");
    exchanges.get("shared_card_csv", &anyone, &csv);
    exchanges.get("shared_card_has_no_film", &anyone, &format!("{path}/film"));
    exchanges.get("page_links", &client, "/links");
    let (form, id) = ("application/x-www-form-urlencoded", format!("id={id}"));
    let revoke = "/links/revoke";
    exchanges.send(
        "page_links_revoke",
        &client,
        "POST",
        revoke,
        Some(form),
        &id,
    );
    exchanges.get("shared_revoked", &anyone, &path);
    let publish = format!("guid={guid}");
    let published = client.send("POST", "/links", Some(form), publish.as_bytes());
    assert_eq!(published.status, 201, "{published:?}");
    assert!(
        published
            .text
            .contains("shown only once: <a href=\"/shared/")
    );
}
