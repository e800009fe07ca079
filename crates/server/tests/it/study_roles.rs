//! Who may do what in a study: every role against every route and command.

use rhae_server::Config;
use rhae_store::{GameSet, SqliteOptions};
use rhae_study::{Permission, Role, allows};
use serde_json::{Value, json};

use crate::client::Client;
use crate::study_client::{Person, STUDY, change_study, enrol, open_study};
use crate::test_server::{Access, TestServer};

/// Every request that needs a permission, with a body for POST.
fn requests() -> Vec<(Permission, String, Option<Value>)> {
    use Permission as P;
    let get = |permission, path: &str| (permission, format!("{STUDY}/{path}"), None);
    let mut requests = vec![
        get(P::RunSittings, "live"),
        get(P::RunSittings, "links"),
        get(P::ReadOwnResults, "coverage"),
        get(P::ReadOwnResults, "results"),
        get(P::ReadOwnResults, "clicks?environment=kq19-v1"),
        get(P::ReadOwnResults, "report?environment=kq19-v1"),
        get(P::ReadResults, "sittings"),
        get(P::ReadPayments, "payments"),
        get(P::Pay, "payments/list"),
        get(P::ReadIdentities, "payments/list?form=prolific"),
        get(P::ReadResults, "baselines"),
        get(P::ReadLog, "log"),
        get(P::ReadLog, "verification"),
        get(P::ExportPrivate, "export"),
        get(P::ReadResults, "export?public=true"),
    ];
    let post = |permission, path: &str, body| (permission, format!("{STUDY}/{path}"), Some(body));
    requests.push(post(P::ChangeProtocol, "check", json!({})));
    requests.push(post(
        P::RunSittings,
        "participants",
        json!({"site": "nowhere"}),
    ));
    for (permission, command) in commands() {
        requests.push(post(permission, "commands", command));
    }
    requests
}

/// Every command with its permission. It fails for a member who has the permission, so that the
/// study stays the same.
fn commands() -> Vec<(Permission, Value)> {
    use Permission as P;
    vec![
        (P::ChangeProtocol, json!({"command": "freeze"})),
        (P::ChangeProtocol, json!({"command": "open"})),
        (P::ChangeProtocol, json!({"command": "pause", "reason": ""})),
        (
            P::ManagePool,
            json!({"command": "withdraw_environment", "environment": "zz99-v1", "reason": "r"}),
        ),
        (
            P::ManagePool,
            json!({"command": "add_environment", "environment": "zz99-v1"}),
        ),
        (
            P::ManagePool,
            json!({"command": "add_site", "site": "online"}),
        ),
        (
            P::RunSittings,
            json!({"command": "extend", "sitting": "s", "seconds": 1, "reason": "r"}),
        ),
        (
            P::RunSittings,
            json!({"command": "end_sitting", "sitting": "s", "reason": ""}),
        ),
        (
            P::RunSittings,
            json!({"command": "book", "participant": "p", "session": "s"}),
        ),
        (
            P::RunSittings,
            json!({"command": "check_in", "participant": "p", "session": "s", "seat": 1}),
        ),
        (
            P::Review,
            json!({"command": "exclude", "sitting": "s", "reason": "r"}),
        ),
        (
            P::Review,
            json!({"command": "undo", "exclusion": "e", "reason": "r"}),
        ),
        (
            P::Review,
            json!({"command": "mark_helped", "sitting": "s", "position": 1, "reason": "r"}),
        ),
        (P::Pay, json!({"command": "confirm_payments", "batch": "b"})),
        (P::Erase, json!({"command": "erase", "participant": "p"})),
        (
            P::ManageMembers,
            json!({"command": "revoke", "key": "0000000000000000"}),
        ),
        (
            P::ManageMembers,
            json!({"command": "grant", "key": "k", "role": "owner"}),
        ),
    ]
}

fn start(folder: &std::path::Path) -> TestServer {
    let access = Access {
        keys: true,
        studies: true,
        ..Access::default()
    };
    TestServer::start_with_access(folder, Config::default(), SqliteOptions::default(), &access)
}

/// The public id within the text of a key.
fn key_id(key: &str) -> &str {
    key.split('_').nth(1).unwrap()
}

#[test]
fn every_request_follows_the_matrix_of_roles() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path());
    let owner = server.client(&server.key(&[GameSet::Public]));
    open_study(&owner, &["kq19-v1"], |_| {});
    let stranger = server.client(&server.key(&[GameSet::Public]));
    for (_, path, body) in requests() {
        send(&stranger, &path, body.as_ref()).assert_error(404, "NOT_FOUND");
    }
    assert_eq!(stranger.get("/api/studies").success(), json!([]));
    for role in Role::ALL {
        let key = server.key(&[GameSet::Public]);
        let grant = json!({"command": "grant", "key": key_id(&key), "role": role.name()});
        change_study(&owner, &grant);
        let member = server.client(&key);
        assert_eq!(member.get(STUDY).success()["role"], role.name());
        for (permission, path, body) in requests() {
            let answer = send(&member, &path, body.as_ref());
            let refused = answer.status == 403;
            assert_eq!(
                refused,
                !allows(role, permission),
                "{role:?} {path} {body:?} {answer:?}"
            );
        }
    }
    let listed = server.client(&server.admin_key()).get("/api/studies");
    assert_eq!(listed.success()[0]["study"], "lab");
}

fn send(client: &Client, path: &str, body: Option<&Value>) -> crate::client::Answer {
    match body {
        Some(body) => client.post(path, body),
        None => client.get(path),
    }
}

#[test]
fn author_sees_only_own_environments() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path());
    let owner = server.client(&server.key(&[GameSet::Public]));
    open_study(&owner, &["kq19-v1", "ny40-v1"], |_| {});
    let key = server.key(&[GameSet::Public]);
    let grant = json!({"command": "grant", "key": key_id(&key), "role": "author",
        "environments": ["ny40-v1"]});
    change_study(&owner, &grant);
    let author = server.client(&key);
    let coverage = author.get(&format!("{STUDY}/coverage")).success();
    assert_eq!(coverage.as_array().unwrap().len(), 1);
    assert_eq!(coverage[0]["environment"], "ny40-v1");
    let own = author.get(&format!("{STUDY}/results?environment=ny40-v1"));
    let own = own.success();
    assert_eq!(
        (
            &own["summaries"],
            own["environments"].as_array().unwrap().len()
        ),
        (&json!([]), 1)
    );
    author
        .get(&format!("{STUDY}/results?environment=kq19-v1"))
        .assert_error(404, "SERVER_ERROR");
    let clicks = |id: &str| author.get(&format!("{STUDY}/clicks?environment={id}"));
    assert_eq!(clicks("ny40-v1").success(), json!([]));
    clicks("kq19-v1").assert_error(404, "SERVER_ERROR");
    let report = |id: &str| author.get(&format!("{STUDY}/report?environment={id}"));
    assert_eq!(report("ny40-v1").status, 200);
    report("kq19-v1").assert_error(404, "SERVER_ERROR");
    let revoke = json!({"command": "revoke", "key": key_id(&key)});
    change_study(&owner, &revoke);
    author.get(STUDY).assert_error(404, "NOT_FOUND");
}

#[test]
fn participant_needs_no_key_and_plays_private_environments() {
    let folder = tempfile::tempdir().unwrap();
    let access = Access {
        keys: true,
        studies: true,
        sets: Some([("kq19-v1".parse().unwrap(), GameSet::Private)].into()),
        ..Access::default()
    };
    let server = TestServer::start_with_access(
        folder.path(),
        Config::default(),
        SqliteOptions::default(),
        &access,
    );
    let outsider = server.client(&server.key(&[GameSet::Public]));
    let body = json!({"id": "lab", "title": "t", "environments": ["kq19-v1"]});
    outsider
        .post("/api/studies", &body)
        .assert_error(404, "SERVER_ERROR");
    let owner = server.client(&server.key(&[GameSet::Private]));
    open_study(&owner, &["kq19-v1"], |_| {});
    let person = Person::new(&owner, &enrol(&owner, 1)[0]);
    person.prepare();
    let frame = &person.start_next()["frame"];
    assert_eq!((&frame["guid"], &frame["level"]), (&"".into(), &1.into()));
    // The token of a link is no API key.
    assert_eq!(person.client.get("/api/studies").status, 401);
}
