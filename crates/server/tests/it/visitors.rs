//! Those who come in a browser: keys in cookies, limits, and cards that wait for them.

use rhae_engine::Action;
use rhae_server::{Config, Limits, Visitors};
use rhae_store::{GameSet, SqliteOptions};
use serde_json::json;

use crate::client::{Answer, Client};
use crate::running::{Access, Running};

fn started(folder: &std::path::Path, visitors: Visitors, limits: Limits) -> Running {
    let config = Config {
        visitors,
        limits,
        ..Config::default()
    };
    Running::start_as(
        folder,
        config,
        SqliteOptions::default(),
        &Access {
            keys: true,
            sets: None,
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

/// A new visitor, by what a page does before the first command.
fn visit(running: &Running) -> Client {
    let nobody = running.client("").browser(None);
    let answer = nobody.send("POST", "/visit", None, &[]);
    assert_eq!(answer.status, 204, "{answer:?}");
    let cookie = header(&answer, "set-cookie").unwrap();
    assert!(
        cookie.contains("HttpOnly; SameSite=Lax") && !cookie.contains("Secure"),
        "{cookie}"
    );
    nobody.browser(cookie.split(';').next())
}

#[test]
fn a_visitors_card_waits_for_them_and_an_agents_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let running = started(folder.path(), Visitors::Public, Limits::default());
    let (agent, visitor) = (
        running.client(&running.key(&[GameSet::Public])),
        visit(&running),
    );
    let [left, kept] = [&agent, &visitor].map(|client| {
        let card = client.open_card(&json!({"tags": ["human", "browser"]}));
        (client.open_play(&card, "kq19"), card)
    });
    visitor.act("kq19", &kept.0, Action::Action1).fine();
    let state = || visitor.get("/play/kq19/state").fine();
    assert_eq!(
        (
            state()["actions"].as_u64(),
            state()["reset_starts_anew"].as_bool()
        ),
        (Some(1), Some(false))
    );
    for _ in 0..3 {
        running.clock.forward_minutes(20 * 60);
        running
            .runtime
            .block_on(running.server.close_stale())
            .unwrap();
    }
    agent
        .act("kq19", &left.0, Action::Action1)
        .refused(400, "SERVER_ERROR");
    visitor.act("kq19", &kept.0, Action::Action1).fine();
    assert_eq!(
        (
            state()["answer"]["guid"].as_str(),
            state()["actions"].as_u64()
        ),
        (Some(kept.0.as_str()), Some(2))
    );
    assert_eq!(state()["card_id"].as_str(), Some(kept.1.as_str()));
    // A second visit is by the same.
    assert!(header(&visitor.send("POST", "/visit", None, &[]), "set-cookie").is_none());
}

#[test]
fn visitors_have_a_rate_of_their_own_and_nobody_gets_in_where_they_are_not_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        requests_per_minute: Some(1000),
        visitor_requests_per_minute: Some(3),
        ..Limits::default()
    };
    let running = started(folder.path(), Visitors::Public, limits);
    let visitor = visit(&running);
    for _ in 0..3 {
        visitor.get("/api/games").fine();
    }
    let refusal = visitor.get("/api/games");
    refusal.refused(429, "RATE_LIMIT_EXCEEDED");
    // A person is told in words, on a page; programs and scripts are not, wherever they ask, and the API never is.
    let person = visitor.accepting("text/html,application/xhtml+xml,*/*;q=0.8");
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
            "in a second".to_owned()
        } else {
            format!("in {seconds} seconds")
        };
        assert!(
            page.text.contains(&format!("You can try again {words}.")),
            "{}",
            page.text
        );
        assert!(header(&page, "content-security-policy").is_some() && !page.request_id.is_empty());
        visitor.get(path).refused(429, "RATE_LIMIT_EXCEEDED");
    }
    person.get("/api/games").refused(429, "RATE_LIMIT_EXCEEDED");
    let agent = running.client(&running.key(&[GameSet::Public]));
    for _ in 0..5 {
        agent.get("/api/games").fine();
    }
    running.stop();

    let folder = tempfile::tempdir().unwrap();
    let running = started(folder.path(), Visitors::Off, Limits::default());
    let nobody = running.client("").browser(None);
    nobody
        .send("POST", "/visit", None, &[])
        .refused(401, "UNAUTHORIZED");
    for path in ["/", "/play/kq19", "/replay", "/watch", "/scorecards"] {
        let answer = nobody.get(path);
        assert_eq!(
            (answer.status, header(&answer, "location")),
            (303, Some("/enter")),
            "{path}"
        );
    }
    let key = running.key(&[GameSet::Public]);
    let form = Some("application/x-www-form-urlencoded");
    let entered = nobody.send("POST", "/enter", form, format!("key={key}").as_bytes());
    let cookie = header(&entered, "set-cookie")
        .unwrap()
        .split(';')
        .next()
        .unwrap()
        .to_owned();
    let page = nobody.browser(Some(&cookie)).get("/");
    assert_eq!(
        (page.status, page.content_type.as_str()),
        (200, "text/html; charset=utf-8")
    );
    assert!(page.text.contains("/play/kq19-v1"));
    assert_eq!(
        nobody.send("POST", "/enter", form, b"key=rhae_0").status,
        401
    );
    // A page says what is missing to people, the API to programs.
    let missing = nobody.browser(Some(&cookie)).get("/play/zz99");
    assert_eq!(
        (missing.status, missing.content_type.as_str()),
        (404, "text/html; charset=utf-8")
    );
    for (client, status, code) in [
        (nobody.browser(Some(&cookie)), 404, "NOT_FOUND"),
        (nobody, 401, "UNAUTHORIZED"),
    ] {
        let nowhere = client.accepting("text/html").get("/nowhere");
        assert_eq!(
            (nowhere.status, nowhere.content_type.as_str()),
            (status, "text/html; charset=utf-8")
        );
        assert!(!nowhere.text.contains("X-API-Key"), "{}", nowhere.text);
        client.get("/nowhere").refused(status, code);
    }
    let policy = header(&missing, "content-security-policy").unwrap();
    assert!(
        policy.starts_with("default-src 'none'; script-src 'self';"),
        "{policy}"
    );
}

#[test]
fn a_page_gets_the_same_answer_packed_also_when_it_asks_again() {
    let folder = tempfile::tempdir().unwrap();
    let running = started(folder.path(), Visitors::Public, Limits::default());
    let visitor = visit(&running);
    let card = visitor.open_card(&json!({}));
    let guid = visitor.open_play(&card, "kq19");
    let compact = visitor
        .accepting("application/vnd.rhae.compact+json")
        .once("a");
    let first = compact.act("kq19", &guid, Action::Action1).fine();
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
    assert_eq!(compact.act("kq19", &guid, Action::Action1).fine(), first);
    assert_eq!(visitor.card(&card)["total_actions"], 1);
}
