//! Who can publish, read and revoke by links.

use rhae_engine::Action;
use rhae_server::Config;
use rhae_store::{GameSet, SqliteOptions};
use serde_json::json;

use crate::client::Client;
use crate::test_server::{Access, TestServer};

fn start(folder: &std::path::Path) -> TestServer {
    let access = Access {
        keys: true,
        ..Access::default()
    };
    TestServer::start_with_access(folder, Config::default(), SqliteOptions::default(), &access)
}

/// Publishes something and returns the id and the path of the link.
fn publish(client: &Client, body: &serde_json::Value) -> (String, String) {
    let created = client.post("/api/shares", body).success();
    let text = |field: &str| created[field].as_str().unwrap().to_owned();
    (text("id"), text("path"))
}

#[test]
fn link_is_read_only_and_ends_when_it_is_revoked() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path());
    let owner = server.client(&server.key(&[GameSet::Public]));
    let card = owner.open_card(&json!({}));
    let guid = owner.open_play(&card, "kq19");
    owner.act("kq19", &guid, Action::Action1).success();
    let (id, path) = publish(&owner, &json!({"guid": guid}));
    let anyone = server.client("").with_cookie(None);
    let recording = anyone.get(&format!("{path}/recording.jsonl"));
    let own = owner.get(&format!("/api/plays/{guid}/recording"));
    assert_eq!((recording.status, &recording.text), (200, &own.text));
    let page = anyone.get(&path);
    assert_eq!(page.status, 200);
    for private in [card.as_str(), "/watch/", "/api/"] {
        assert!(!page.text.contains(private), "{private}");
    }
    let robots = page.headers.iter().find(|(name, _)| name == "x-robots-tag");
    assert_eq!(robots.unwrap().1, "noindex");
    // Neither the token nor the play gives access to anything else.
    let token = path.strip_prefix("/shared/").unwrap();
    for path in [format!("/replay/{guid}"), format!("/scorecards/{card}")] {
        assert_eq!(anyone.get(&path).status, 303, "{path}");
    }
    let holder = server.client(token);
    let refused = holder.get(&format!("/api/plays/{guid}"));
    refused.assert_error(401, "UNAUTHORIZED");
    for method in ["POST", "DELETE"] {
        let refused = anyone.send(method, &path, None, &[]);
        assert_eq!(refused.status, 405, "{method}");
    }
    // The published play follows the original until the link is revoked.
    owner.act("kq19", &guid, Action::Action2).success();
    let times = anyone.get(&format!("{path}/times")).success();
    assert_eq!(times.as_array().unwrap().len(), 3);
    let revoked = owner.send("DELETE", &format!("/api/shares/{id}"), None, &[]);
    assert!(revoked.success()["revoked_at"].is_string());
    for below in [
        "",
        "/film",
        "/times",
        "/recording.jsonl",
        "/reasoning?from=0",
    ] {
        assert_eq!(anyone.get(&format!("{path}{below}")).status, 404, "{below}");
    }
    let listed = owner.get("/api/shares").success();
    assert_eq!(listed[0]["guid"], guid.as_str());
    assert_eq!(listed[0].get("path"), None);
    let log = server.inner.metrics();
    assert!(!log.contains(token), "a metric contains the token");
}

#[test]
fn list_of_links_has_pages() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path());
    let owner = server.client(&server.key(&[GameSet::Public]));
    let card = owner.open_card(&json!({}));
    for _ in 0..101 {
        publish(&owner, &json!({"card_id": card}));
    }
    let first = owner.get("/api/shares");
    let next = first.headers.iter().find(|(name, _)| name == "link");
    let next = next.unwrap().1.strip_prefix('<').unwrap();
    let (next, _) = next.split_once(">; rel=\"next\"").unwrap();
    let first = first.success();
    let first = first.as_array().unwrap();
    let second = owner.get(next);
    assert!(second.headers.iter().all(|(name, _)| name != "link"));
    let second = second.success();
    assert_eq!((first.len(), second.as_array().unwrap().len()), (100, 1));
    assert!(!first.contains(&second[0]));
    // Links of others are not known to a key.
    let other = server.client(&server.key(&[GameSet::Public]));
    other.get(next).assert_error(404, "SERVER_ERROR");
    let unknown = owner.get("/api/shares?after=5");
    unknown.assert_error(404, "SERVER_ERROR");
}

#[test]
fn only_the_owner_publishes_and_only_the_owner_or_an_administrator_revokes() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path());
    let [owner, other] = [(); 2].map(|()| server.client(&server.key(&[GameSet::Public])));
    let admin = server.client(&server.admin_key());
    let card = owner.open_card(&json!({}));
    let guid = owner.open_play(&card, "kq19");
    for stranger in [&other, &admin] {
        for body in [json!({"card_id": card}), json!({"guid": guid})] {
            let refused = stranger.post("/api/shares", &body);
            refused.assert_error(404, "SERVER_ERROR");
        }
    }
    let (first, path) = publish(&owner, &json!({"card_id": card}));
    let (second, _) = publish(&owner, &json!({"card_id": card}));
    assert_eq!(other.get("/api/shares").success(), json!([]));
    let revoke =
        |client: &Client, id: &str| client.send("DELETE", &format!("/api/shares/{id}"), None, &[]);
    revoke(&other, &first).assert_error(404, "SERVER_ERROR");
    let anyone = server.client("").with_cookie(None);
    assert_eq!(anyone.get(&path).status, 200);
    assert_eq!(
        admin.get("/api/shares").success().as_array().unwrap().len(),
        2
    );
    assert_eq!(revoke(&admin, &first).status, 200);
    assert_eq!(anyone.get(&path).status, 404);
    // Revoking twice changes nothing.
    let once = revoke(&owner, &second).success();
    server.clock.forward_minutes(1);
    assert_eq!(revoke(&owner, &second).success(), once);
    let anonymous = anyone.get("/api/shares");
    anonymous.assert_error(401, "UNAUTHORIZED");
    assert_eq!(anyone.get("/links").status, 303);
}

#[test]
fn card_of_a_competition_is_published_after_it_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path());
    let owner = server.client(&server.key(&[GameSet::Public]));
    let card = owner.open_card(&json!({"competition_mode": true}));
    let body = json!({"card_id": card});
    let early = owner.post("/api/shares", &body);
    early.assert_error(403, "SERVER_ERROR");
    owner.close(&card);
    let (_, path) = publish(&owner, &body);
    let anyone = server.client("").with_cookie(None);
    let json = anyone.get(&format!("{path}/scorecard.json")).success();
    assert_eq!(json["card_id"], card.as_str());
    assert_eq!(json.get("owner"), None);
}
