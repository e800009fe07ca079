//! Visitors in a browser: keys in cookies, limits, and cards that do not expire.

use rhae_engine::Action;
use rhae_server::{Config, Limits, Visitors};
use rhae_store::{GameSet, Invitation, SqliteOptions};
use serde_json::json;

use crate::client::{Answer, Client};
use crate::test_server::{Access, TestServer};

fn started(folder: &std::path::Path, visitors: Visitors, limits: Limits) -> TestServer {
    let config = Config {
        visitors,
        limits,
        ..Config::default()
    };
    TestServer::start_with_access(
        folder,
        config,
        SqliteOptions::default(),
        &Access {
            keys: true,
            ..Access::default()
        },
    )
}

fn header<'a>(answer: &'a Answer, name: &str) -> Option<&'a str> {
    answer
        .headers
        .iter()
        .find(|(found, _)| found == name)
        .map(|(_, value)| value.as_str())
}

/// Creates a visitor in the way a page does before the first command.
fn visit(server: &TestServer) -> Client {
    let anonymous = server.client("").with_cookie(None);
    let answer = anonymous.send("POST", "/visit", None, &[]);
    assert_eq!(answer.status, 204, "{answer:?}");
    let cookie = header(&answer, "set-cookie").unwrap();
    assert!(
        cookie.contains("HttpOnly; SameSite=Lax") && !cookie.contains("Secure"),
        "{cookie}"
    );
    anonymous.with_cookie(cookie.split(';').next())
}

#[test]
fn visitor_card_does_not_expire_but_agent_card_does() {
    let folder = tempfile::tempdir().unwrap();
    let server = started(folder.path(), Visitors::Public, Limits::default());
    let (agent, visitor) = (
        server.client(&server.key(&[GameSet::Public])),
        visit(&server),
    );
    let [left, kept] = [&agent, &visitor].map(|client| {
        let card = client.open_card(&json!({"tags": ["human", "browser"]}));
        (client.open_play(&card, "kq19"), card)
    });
    visitor.act("kq19", &kept.0, Action::Action1).success();
    let state = || visitor.get("/play/kq19/state").success();
    assert_eq!(
        (
            state()["actions"].as_u64(),
            state()["reset_starts_anew"].as_bool()
        ),
        (Some(1), Some(false))
    );
    for _ in 0..3 {
        server.clock.forward_minutes(20 * 60);
        server.runtime.block_on(server.inner.close_stale()).unwrap();
    }
    agent
        .act("kq19", &left.0, Action::Action1)
        .assert_error(400, "SERVER_ERROR");
    visitor.act("kq19", &kept.0, Action::Action1).success();
    assert_eq!(
        (
            state()["answer"]["guid"].as_str(),
            state()["actions"].as_u64()
        ),
        (Some(kept.0.as_str()), Some(2))
    );
    assert_eq!(state()["card_id"].as_str(), Some(kept.1.as_str()));
    // A second visit keeps the identity.
    assert!(header(&visitor.send("POST", "/visit", None, &[]), "set-cookie").is_none());
}

#[test]
fn looking_at_an_environment_opens_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let server = started(folder.path(), Visitors::Public, Limits::default());
    let (anonymous, visitor) = (server.client("").with_cookie(None), visit(&server));
    let preview = |client: &Client| {
        assert_eq!(client.get("/play/kq19").status, 200);
        client.get("/play/kq19/state").success()
    };
    let seen = preview(&anonymous);
    assert_eq!(seen["preview"]["guid"], "");
    assert_eq!(seen, preview(&visitor));
    let card = visitor.open_card(&json!({"tags": ["human", "browser"]}));
    let guid = visitor.open_play(&card, "ny40");
    visitor.act("ny40", &guid, Action::Action1).success();
    // The page offers the card for the first command, but the card has no other environment.
    let offered = preview(&visitor);
    assert_eq!(offered["card_id"].as_str(), Some(card.as_str()));
    assert_eq!(offered["preview"], seen["preview"]);
    assert_eq!(visitor.card(&card)["total_environments"], 1);
    // The preview shows what the opening RESET shows.
    let compact = visitor.with_accept("application/vnd.rhae.compact+json");
    let body = json!({"card_id": card, "game_id": "kq19"});
    let opened = compact.post("/api/cmd/RESET", &body).success();
    assert_eq!(opened["packed"], seen["preview"]["packed"]);
    let closed = started_without_visitors();
    let stranger = closed.1.client("").with_cookie(None);
    let refused = stranger.get("/play/kq19/state");
    refused.assert_error(401, "UNAUTHORIZED");
}

fn started_without_visitors() -> (tempfile::TempDir, TestServer) {
    let folder = tempfile::tempdir().unwrap();
    let server = started(folder.path(), Visitors::Off, Limits::default());
    (folder, server)
}

#[test]
fn used_or_expired_invitation_still_works_with_the_cookie_that_it_gave() {
    let folder = tempfile::tempdir().unwrap();
    let server = started(folder.path(), Visitors::Invite, Limits::default());
    let anonymous = server.client("").with_cookie(None);
    let link = server.invitation(Invitation {
        left: 1,
        until_ms: 1_800_000_000_000 + 60_000,
        key_lifetime_ms: None,
    });
    assert_eq!(anonymous.get(&link).status, 200);
    let accepted = anonymous.send("POST", &link, None, &[]);
    let cookie = header(&accepted, "set-cookie").unwrap().split(';').next();
    let visitor = anonymous.with_cookie(cookie);
    let returns = |client: &Client| {
        for method in ["GET", "POST"] {
            let again = client.send(method, &link, None, &[]);
            let seen = (again.status, header(&again, "location"));
            assert_eq!(seen, (303, Some("/")), "{method} {again:?}");
            assert_eq!(header(&again, "set-cookie"), None);
        }
    };
    // The only place is taken, then the link has also expired.
    returns(&visitor);
    assert_eq!(anonymous.get(&link).status, 404);
    server.clock.forward_minutes(2);
    returns(&visitor);
    assert_eq!(anonymous.get(&link).status, 404);
    assert_eq!(anonymous.send("POST", &link, None, &[]).status, 404);
    // A link that was never valid does not become valid with a cookie.
    assert_eq!(visitor.get("/invite/rhae_0").status, 404);
}

#[test]
fn visitors_have_their_own_rate_limit() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        requests_per_minute: Some(1000),
        visitor_requests_per_minute: Some(3),
        ..Limits::default()
    };
    let server = started(folder.path(), Visitors::Public, limits);
    let visitor = visit(&server);
    for _ in 0..3 {
        visitor.get("/api/games").success();
    }
    let refusal = visitor.get("/api/games");
    refusal.assert_error(429, "RATE_LIMIT_EXCEEDED");
    // A browser gets an error page. Programs and scripts get JSON, and the API always answers with
    // JSON.
    let person = visitor.with_accept("text/html,application/xhtml+xml,*/*;q=0.8");
    for path in [
        "/",
        "/replay",
        "/watch",
        "/scorecards",
        "/play/kq19",
        "/pictures/kq19.png",
    ] {
        let page = person.get(path);
        assert_eq!(
            (page.status, page.content_type.as_str()),
            (429, "text/html; charset=utf-8"),
            "{path}"
        );
        let seconds: u64 = page.retry_after.as_deref().unwrap().parse().unwrap();
        let words = if seconds == 1 {
            "in 1 second".to_owned()
        } else {
            format!("in {seconds} seconds")
        };
        assert!(
            page.text.contains(&format!("Try again {words}.")),
            "{}",
            page.text
        );
        assert!(header(&page, "content-security-policy").is_some() && !page.request_id.is_empty());
        visitor.get(path).assert_error(429, "RATE_LIMIT_EXCEEDED");
    }
    person
        .get("/api/games")
        .assert_error(429, "RATE_LIMIT_EXCEEDED");
    let agent = server.client(&server.key(&[GameSet::Public]));
    for _ in 0..5 {
        agent.get("/api/games").success();
    }
}

#[test]
fn visitors_are_refused_where_not_admitted() {
    let folder = tempfile::tempdir().unwrap();
    let server = started(folder.path(), Visitors::Off, Limits::default());
    let anonymous = server.client("").with_cookie(None);
    anonymous
        .send("POST", "/visit", None, &[])
        .assert_error(401, "UNAUTHORIZED");
    for path in ["/", "/play/kq19", "/replay", "/watch", "/scorecards"] {
        let answer = anonymous.get(path);
        assert_eq!(
            (answer.status, header(&answer, "location")),
            (303, Some("/enter")),
            "{path}"
        );
    }
    let key = server.key(&[GameSet::Public]);
    let form = Some("application/x-www-form-urlencoded");
    let entered = anonymous.send("POST", "/enter", form, format!("key={key}").as_bytes());
    let cookie = header(&entered, "set-cookie")
        .unwrap()
        .split(';')
        .next()
        .unwrap()
        .to_owned();
    let page = anonymous.with_cookie(Some(&cookie)).get("/");
    assert_eq!(
        (page.status, page.content_type.as_str()),
        (200, "text/html; charset=utf-8")
    );
    assert!(page.text.contains("/play/kq19-v1"));
    assert_eq!(
        anonymous.send("POST", "/enter", form, b"key=rhae_0").status,
        401
    );
    // A missing page is an HTML error for a browser and a JSON error for a program.
    let missing = anonymous.with_cookie(Some(&cookie)).get("/play/zz99");
    assert_eq!(
        (missing.status, missing.content_type.as_str()),
        (404, "text/html; charset=utf-8")
    );
    for (client, status, code) in [
        (anonymous.with_cookie(Some(&cookie)), 404, "NOT_FOUND"),
        (anonymous, 401, "UNAUTHORIZED"),
    ] {
        let missing_path = client.with_accept("text/html").get("/nowhere");
        assert_eq!(
            (missing_path.status, missing_path.content_type.as_str()),
            (status, "text/html; charset=utf-8")
        );
        assert!(
            !missing_path.text.contains("X-API-Key"),
            "{}",
            missing_path.text
        );
        client.get("/nowhere").assert_error(status, code);
    }
    let policy = header(&missing, "content-security-policy").unwrap();
    assert!(
        policy.starts_with("default-src 'none'; script-src 'self';"),
        "{policy}"
    );
}

#[test]
fn page_gets_the_same_packed_response_when_it_repeats_a_command() {
    let folder = tempfile::tempdir().unwrap();
    let server = started(folder.path(), Visitors::Public, Limits::default());
    let visitor = visit(&server);
    let card = visitor.open_card(&json!({}));
    let guid = visitor.open_play(&card, "kq19");
    let compact = visitor
        .with_accept("application/vnd.rhae.compact+json")
        .with_idempotency_key("a");
    let first = compact.act("kq19", &guid, Action::Action1).success();
    assert_eq!(
        (
            first["counted"].as_bool(),
            first["level"].as_u64(),
            first.get("frame")
        ),
        (Some(true), Some(1), None)
    );
    assert!(
        first["packed"]
            .as_str()
            .is_some_and(|packed| !packed.is_empty())
    );
    assert_eq!(compact.act("kq19", &guid, Action::Action1).success(), first);
    assert_eq!(visitor.card(&card)["total_actions"], 1);
}
