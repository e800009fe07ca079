//! Two servers on one database. Each command of a play goes to one of them.

use rhae_engine::{Action, LevelIndex};
use serde_json::json;

use crate::test_server::TestServer;

#[test]
fn client_can_switch_servers_between_commands() {
    let folder = tempfile::tempdir().unwrap();
    let servers = [(); 2].map(|()| TestServer::start(folder.path()));
    let clients = [0, 1].map(|index| servers[index].client("k"));
    let card = clients[0].open_card(&json!({}));
    let guid = clients[1].open_play(&card, "kq19");
    let mut turn = 0;
    let mut last = json!(null);
    for level in 0..8 {
        for action in rhae_games::find("kq19")
            .unwrap()
            .facts
            .solution(LevelIndex(level))
        {
            // The split is uneven, so that a server's copy is sometimes several entries behind.
            turn += 1;
            last = clients[usize::from(turn % 5 < 2)]
                .act("kq19", &guid, action)
                .success();
        }
    }
    assert_eq!(last["state"], "WIN");
    // Both servers have a copy of the play. The server whose copy is stale must not rely on it.
    for client in &clients {
        client
            .act("kq19", &guid, Action::Action1)
            .assert_error(400, "GAME_NOT_STARTED_ERROR");
    }
    clients[0].act("kq19", &guid, Action::Reset).success();
    for client in [&clients[1], &clients[0], &clients[1]] {
        client.act("kq19", &guid, Action::Action1).success();
    }
    assert_eq!(clients[0].card(&card), clients[1].card(&card));
    clients[0].close(&card);
    clients[1]
        .act("kq19", &guid, Action::Action1)
        .assert_error(400, "SERVER_ERROR");
}

#[test]
fn concurrent_commands_on_two_servers_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let servers = [(); 2].map(|()| TestServer::start(folder.path()));
    let card = servers[0].client("k").open_card(&json!({}));
    let guid = servers[0].client("k").open_play(&card, "kq19");
    let answered: usize = std::thread::scope(|scope| {
        let player = |server: &TestServer| {
            let (client, guid) = (server.client("k"), guid.clone());
            scope.spawn(move || {
                let mut answered = 0;
                while answered < 40 {
                    let answer = client.act(
                        "kq19",
                        &guid,
                        [Action::Action1, Action::Action3][answered % 2],
                    );
                    match answer.status {
                        200 => answered += 1,
                        // The request failed because the other server appended first several times
                        // in a row.
                        _ => answer.assert_error(503, "SERVICE_UNAVAILABLE"),
                    }
                }
                answered
            })
        };
        let players = [player(&servers[0]), player(&servers[1])];
        players
            .into_iter()
            .map(|player| player.join().unwrap())
            .sum()
    });
    assert_eq!(
        servers[0].client("k").card(&card)["total_actions"],
        answered
    );
}
