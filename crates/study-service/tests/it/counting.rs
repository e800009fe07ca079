//! Counts of real plays.

use rhae_engine::{Action, Catalog, LevelIndex};
use rhae_games::Builtin;
use rhae_protocol::{Details, PlayCounts};
use rhae_session::{Play, ResetRule};
use rhae_store::{CardId, NewCard, NewPlay, Owner, PlayId, Store};
use rhae_study::{Command, Preset, Sitting, SittingCommand};
use rhae_study_service::{CountError, count_play};
use uuid::Uuid;

use crate::fixture::{
    Fixture, START_MS, arrive, lab, on_both_databases, open_study, protocol, run, sql,
};

const GAME: &str = "kq19-v1";

on_both_databases!(play_is_counted_from_its_replay);

/// Stores a play of the given actions, one in each second.
pub(crate) async fn store_play(store: &dyn Store, actions: &[Action]) -> String {
    store_play_of(store, GAME, actions).await
}

/// Stores a play of an environment.
pub(crate) async fn store_play_of(store: &dyn Store, game: &str, actions: &[Action]) -> String {
    let card = CardId(Uuid::new_v4());
    let new_card = NewCard {
        id: card,
        owner: Owner([7; 32]),
        tags: Vec::new(),
        source_url: None,
        opaque: None,
        competition: false,
        games: Vec::new(),
        only_one: false,
        max_open: None,
        lasting: true,
        opened_ms: START_MS,
    };
    store.open_card(new_card).await.unwrap();
    let card = store.card(card).await.unwrap().unwrap().key;
    let mut play = Play::new(Builtin.open(game, 0).unwrap(), ResetRule::LevelsOnly);
    let id = PlayId(Uuid::new_v4());
    let new_play = NewPlay {
        id,
        card,
        game_id: game.parse().unwrap(),
        seed: 0,
        rule: ResetRule::LevelsOnly,
        win_levels: play.current().observation.win_levels,
        source_digest: None,
        only_one: false,
        max_plays: None,
        opening: play.current().entry(Action::Reset, Details::default()),
        at_ms: START_MS,
    };
    let key = store.open_play(new_play).await.unwrap();
    for (&action, index) in actions.iter().zip(1_u32..) {
        let entry = play
            .command(action)
            .unwrap()
            .entry(action, Details::default());
        let at_ms = START_MS + 1_000 * u64::from(index);
        store.append(key, card, index, entry, at_ms).await.unwrap();
    }
    id.to_string()
}

/// Returns the stored solution of a level.
pub(crate) fn solution(level: u8) -> Vec<Action> {
    let game = rhae_games::find(GAME).unwrap();
    game.facts.solution(LevelIndex(level))
}

/// Returns a sitting with an attempt that started with the play.
async fn sitting(fixture: &Fixture, play: &str) -> Sitting {
    let service = fixture.server(0);
    open_study(service, protocol(Preset::Rhae1), &[(GAME, 6)]).await;
    let sitting = arrive(service, START_MS, "p1").await;
    let start = SittingCommand::StartAttempt {
        play: play.to_owned(),
    };
    for command in [SittingCommand::Next, start] {
        let command = Command::Sitting(sitting.clone(), command);
        run(service, START_MS, command).await;
    }
    // An outage of 40 s, of which the grace of 15 s counts as play time.
    let contact = Command::Sitting(sitting.clone(), SittingCommand::Contact);
    let moment = rhae_study::Moment {
        now_ms: START_MS + 40_000,
        contact_ms: None,
    };
    service.execute(&lab(), moment, &contact).await.unwrap();
    service
        .read(&lab(), |study| study.state().sittings[&sitting].clone())
        .await
        .unwrap()
}

async fn count(fixture: &Fixture, play: &str, sitting: &Sitting) -> Result<PlayCounts, CountError> {
    let store = fixture.database().store();
    count_play(store.as_ref(), &Builtin, play, sitting, START_MS).await
}

async fn play_is_counted_from_its_replay(fixture: &Fixture) {
    let mut actions = vec![solution(0)[0], Action::Reset];
    actions.extend(solution(0));
    actions.extend(&solution(1)[..2]);
    let play = store_play(fixture.database().store().as_ref(), &actions).await;
    let sitting = sitting(fixture, &play).await;
    let counts = count(fixture, &play, &sitting).await.unwrap();
    assert_eq!((counts.levels.len(), counts.solved), (2, false));
    let (first, second) = (counts.levels[0], counts.levels[1]);
    let solved = u32::try_from(solution(0).len()).unwrap();
    assert_eq!(
        (first.actions, first.actions_last_try),
        (solved + 2, solved)
    );
    assert_eq!((first.resets, first.completed), (1, true));
    assert_eq!((second.actions, second.completed), (2, false));
    let unknown = count(fixture, &Uuid::nil().to_string(), &sitting).await;
    assert!(matches!(unknown, Err(CountError::UnknownPlay(_))));
}

#[tokio::test]
async fn outages_are_not_play_time_and_changed_logs_are_reported() {
    let fixture = Fixture::sqlite().await;
    let padding = std::iter::repeat_n(Action::Reset, 60);
    let mut actions = vec![solution(0)[0]];
    actions.extend(padding);
    actions.extend(solution(0));
    let play = store_play(fixture.database().store().as_ref(), &actions).await;
    let sitting = sitting(&fixture, &play).await;
    let counts = count(&fixture, &play, &sitting).await.unwrap();
    let last_ms = 1_000 * actions.len() as u64;
    assert_eq!(counts.levels[0].completed_ms, Some(last_ms - 25_000));

    sql(
        &fixture.db(),
        "UPDATE log SET hash = hash + 1 WHERE entry = 1",
    );
    let refused = count(&fixture, &play, &sitting).await;
    assert!(matches!(refused, Err(CountError::Replay { .. })));
    sql(&fixture.db(), "DELETE FROM log WHERE entry = 1");
    let refused = count(&fixture, &play, &sitting).await;
    assert!(matches!(refused, Err(CountError::Missing { entry: 1, .. })));
}
