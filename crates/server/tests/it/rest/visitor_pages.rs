//! Pages for visitors of a server with keys: entering, leaving, invitations.

use std::path::Path;

use rhae_server::{ApiKey, Config, Visitors};
use rhae_store::{GameSet, GameSets, Invitation, Key, KeyLimits, KeyStore, Scopes, SqliteOptions};
use serde_json::json;

use super::exchange::Exchanges;
use crate::client::{Answer, Client};
use crate::test_server::{Access, TestServer};

const FORM: Option<&str> = Some("application/x-www-form-urlencoded");

fn with_visitors(folder: &Path, visitors: Visitors) -> TestServer {
    let config = Config {
        visitors,
        ..Config::default()
    };
    let access = Access {
        keys: true,
        ..Access::default()
    };
    TestServer::start_with_access(folder, config, SqliteOptions::default(), &access)
}

/// Returns the client with the cookie of a response.
fn with_cookie(client: &Client, answer: &Answer) -> Client {
    let cookie = answer
        .headers
        .iter()
        .find(|(name, _)| name == "set-cookie")
        .and_then(|(_, value)| value.split(';').next());
    client.with_cookie(cookie)
}

#[test]
fn visitor_of_a_public_server_gets_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let server = with_visitors(folder.path(), Visitors::Public);
    let exchanges = Exchanges::default();
    let browser = server.client("").with_cookie(None);
    exchanges.get("visitor_gallery_without_key", &browser, "/");
    exchanges.get("visitor_scorecards_without_key", &browser, "/scorecards");
    let visit = exchanges.send("visitor_visit", &browser, "POST", "/visit", None, "");
    let visitor = with_cookie(&browser, &visit);
    exchanges.send("visitor_visit_again", &visitor, "POST", "/visit", None, "");
    exchanges.get("visitor_gallery", &visitor, "/");
    let card = exchanges.open_card(&visitor, &json!({"tags": ["human", "browser"]}));
    exchanges.get(
        "visitor_scorecard",
        &visitor,
        &format!("/scorecards/{card}"),
    );
    exchanges.send("visitor_leave", &visitor, "POST", "/leave", None, "");
}

#[test]
fn known_key_enters_and_unknown_key_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let server = with_visitors(folder.path(), Visitors::Off);
    let exchanges = Exchanges::default();
    let browser = server.client("").with_cookie(None);
    exchanges.get("entrance_redirect", &browser, "/scorecards");
    exchanges.get("entrance_page", &browser, "/enter");
    exchanges.send(
        "entrance_visit_refused",
        &browser,
        "POST",
        "/visit",
        None,
        "",
    );
    let wrong = "key=rhae_0";
    exchanges.send(
        "entrance_wrong_key",
        &browser,
        "POST",
        "/enter",
        FORM,
        wrong,
    );
    let key = server.key(&[GameSet::Public]);
    exchanges.hide(&key, "key");
    let form = format!("key={key}");
    let entered = exchanges.send("entrance_entered", &browser, "POST", "/enter", FORM, &form);
    let visitor = with_cookie(&browser, &entered);
    exchanges.get("entrance_page_with_key", &visitor, "/enter");
}

/// Creates an invitation for one visitor and returns its text.
fn invitation(server: &TestServer) -> String {
    let key = ApiKey::generate().unwrap();
    let stored = Key {
        id: key.id(),
        hash: key.hash(),
        name: "class".to_owned(),
        scopes: Scopes {
            sets: GameSets::PUBLIC,
            sources: false,
            admin: false,
            visitor: true,
        },
        created_ms: 1,
        revoked_ms: None,
        expires_ms: None,
        limits: KeyLimits::default(),
        invitation: Some(Invitation {
            left: 1,
            until_ms: u64::MAX >> 1,
            key_lifetime_ms: None,
        }),
    };
    let store = server.reopen_store();
    server.runtime.block_on(store.create_key(stored)).unwrap();
    key.reveal().to_owned()
}

#[test]
fn invitation_gives_one_key() {
    let folder = tempfile::tempdir().unwrap();
    let server = with_visitors(folder.path(), Visitors::Invite);
    let exchanges = Exchanges::default();
    let browser = server.client("").with_cookie(None);
    let token = invitation(&server);
    exchanges.hide(&token, "invitation");
    let path = format!("/invite/{token}");
    exchanges.get("invitation_page", &browser, &path);
    let accepted = exchanges.send("invitation_accepted", &browser, "POST", &path, None, "");
    let visitor = with_cookie(&browser, &accepted);
    exchanges.get("invitation_gallery", &visitor, "/");
    exchanges.send("invitation_used_up", &browser, "POST", &path, None, "");
    exchanges.get("invitation_unknown", &browser, "/invite/no-such-token");
}
