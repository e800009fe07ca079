//! A finished study in a database file: three people who played one environment.
//!
//! Times and ids are fixed, so that hashes and exports are the same in every run.

use std::collections::BTreeSet;
use std::path::Path;

use rhae_engine::{Action, Catalog, LevelIndex};
use rhae_games::Builtin;
use rhae_protocol::{Details, ResetRule, SittingId, StudyStage};
use rhae_session::Play;
use rhae_store::{
    CardId, Database, NewCard, NewPlay, Owner, PlayId, SealedIdentity, Store, default_identities,
    open_identities,
};
use rhae_study::{
    Command, EndRequest, Moment, PersonCommand, Preset, SetupCommand, SittingCommand, text_digest,
};
use rhae_study_service::{
    Contact, IdentityKey, NewSite, NewStudy, StudyService, count_play, create_study,
};
use uuid::Uuid;

const START_MS: u64 = 1_794_000_000_000;
const GAME: &str = "kq19-v1";
const CONSENT: &str = "You play games for 90 minutes.";
/// The time of one action.
const ACTION_MS: u64 = 2_000;

/// The study in the making.
struct Lab {
    service: StudyService,
    now_ms: u64,
}

impl Lab {
    async fn run(&self, command: Command) {
        let moment = Moment {
            now_ms: self.now_ms,
            contact_ms: Some(self.now_ms),
        };
        let text = format!("{command:?}");
        let executed = self.service.execute(&"lab".into(), moment, &command).await;
        executed.unwrap_or_else(|error| panic!("{text}: {error}"));
    }
}

/// Creates the study `lab` in `rhae.db`: two people solve the environment, the third one leaves it
/// in the second level. All have contact data, encrypted with `identity.key`.
pub(crate) fn create(folder: &Path) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let db = folder.join("rhae.db");
        let database = Database::open(&db).await.unwrap();
        let mut lab = Lab {
            service: StudyService::new(database.studies()),
            now_ms: START_MS,
        };
        set_up(&lab).await;
        let identities = open_identities(&default_identities(&db)).await.unwrap();
        let key = IdentityKey::create(&folder.join("identity.key")).unwrap();
        let store = database.store();
        for (number, levels, detour) in [(1, 8, 0), (2, 8, 12), (3, 1, 20)] {
            visit(&mut lab, store.as_ref(), number, levels, detour).await;
            let (study, participant) = ("lab".into(), format!("p{number}").as_str().into());
            let contact = Contact::from([("external_id".to_owned(), format!("ext-{number}"))]);
            let sealed = key.seal(&study, &participant, &contact).unwrap();
            let identity = SealedIdentity {
                study,
                participant,
                sealed,
                stored_ms: START_MS,
            };
            identities.put_identity(identity).await.unwrap();
        }
        drop((store, lab));
        database.close().await;
    });
}

async fn set_up(lab: &Lab) {
    let mut protocol = Preset::Rhae1.protocol();
    protocol.target = 3;
    protocol.consent.get_mut("en").unwrap().text = CONSENT.to_owned();
    let new = NewStudy {
        id: "lab".into(),
        title: "A study".to_owned(),
        seed: 7,
        protocol,
        environments: vec![Builtin.find(GAME).unwrap()],
        sites: vec![NewSite {
            site: "online".into(),
            seats: 0,
        }],
    };
    let moment = Moment::at(lab.now_ms);
    create_study(&lab.service, moment, &new).await.unwrap();
    lab.run(Command::Setup(SetupCommand::Freeze)).await;
    lab.run(Command::Setup(SetupCommand::Open)).await;
}

/// A person arrives, plays, and ends the sitting.
async fn visit(lab: &mut Lab, store: &dyn Store, number: u32, levels: u8, detour: usize) {
    let person = |command| Command::Person(format!("p{number}").as_str().into(), command);
    let id = SittingId::from(format!("s{number}").as_str());
    let sitting = |command| Command::Sitting(id.clone(), command);
    lab.now_ms += 60_000;
    lab.run(person(PersonCommand::Enrol {
        person_key: format!("key-{number}").as_str().into(),
        site: "online".into(),
        source: "prolific".to_owned(),
        stage: StudyStage::Live,
        families_seen: BTreeSet::new(),
    }))
    .await;
    lab.run(person(PersonCommand::Consent {
        text: text_digest(CONSENT),
        language: "en".to_owned(),
        publish_replays: number != 3,
        later_contact: false,
    }))
    .await;
    lab.run(person(PersonCommand::CheckDevice {
        devices: rhae_protocol::Devices {
            keyboard: true,
            pointer: true,
        },
        colours_distinguished: true,
    }))
    .await;
    let participant = format!("p{number}").as_str().into();
    let start = SittingCommand::Start {
        participant,
        seat: None,
    };
    lab.run(sitting(start)).await;
    lab.run(sitting(SittingCommand::Next)).await;
    let play = Uuid::from_u128(number.into()).to_string();
    let start = SittingCommand::StartAttempt { play: play.clone() };
    lab.run(sitting(start)).await;
    let started_ms = lab.now_ms;
    for action in store_play(store, number, started_ms, levels, detour).await {
        assert!(action > 0);
        lab.now_ms += ACTION_MS;
        if action % 5 == 0 {
            lab.run(sitting(SittingCommand::Contact)).await;
        }
    }
    let read = lab
        .service
        .read(&"lab".into(), |study| study.state().sittings[&id].clone())
        .await;
    let state = read.unwrap();
    let counts = count_play(store, &Builtin, &play, &state, started_ms).await;
    let end = SittingCommand::EndAttempt {
        leave: true,
        counts: counts.unwrap(),
    };
    lab.run(sitting(end)).await;
    let end = SittingCommand::End {
        request: EndRequest::Participant,
        counts: None,
    };
    lab.run(sitting(end)).await;
}

/// Stores a play of the first levels with a detour in the first one, and returns the numbers of its
/// actions.
async fn store_play(
    store: &dyn Store,
    number: u32,
    started_ms: u64,
    levels: u8,
    detour: usize,
) -> Vec<u32> {
    let facts = rhae_games::find(GAME).unwrap().facts;
    let mut actions = Vec::new();
    if detour > 0 {
        let first = facts.solution(LevelIndex(0))[0];
        actions.extend(std::iter::repeat_n(first, detour));
        actions.push(Action::Reset);
    }
    for level in 0..levels {
        actions.extend(facts.solution(LevelIndex(level)));
    }
    let last = facts.solution(LevelIndex(1))[0];
    actions.extend(std::iter::repeat_n(last, if levels == 1 { 20 } else { 0 }));
    let id = Uuid::from_u128(number.into());
    let card = NewCard {
        id: CardId(id),
        owner: Owner([7; 32]),
        tags: Vec::new(),
        source_url: None,
        opaque: None,
        competition: false,
        games: Vec::new(),
        only_one: false,
        max_open: None,
        lasting: true,
        opened_ms: started_ms,
    };
    store.open_card(card).await.unwrap();
    let card = store.card(CardId(id)).await.unwrap().unwrap().key;
    let mut play = Play::new(Builtin.open(GAME, 0).unwrap(), ResetRule::LevelsOnly);
    let new_play = NewPlay {
        id: PlayId(id),
        card,
        game_id: GAME.parse().unwrap(),
        seed: 0,
        rule: ResetRule::LevelsOnly,
        win_levels: play.current().observation.win_levels,
        source_digest: None,
        only_one: false,
        max_plays: None,
        opening: play.current().entry(Action::Reset, Details::default()),
        at_ms: started_ms,
    };
    let key = store.open_play(new_play).await.unwrap();
    let mut numbers = Vec::new();
    for (&action, index) in actions.iter().zip(1_u32..) {
        let step = play.command(action).unwrap();
        let entry = step.entry(action, Details::default());
        let at_ms = started_ms + ACTION_MS * u64::from(index);
        store.append(key, card, index, entry, at_ms).await.unwrap();
        numbers.push(index);
    }
    numbers
}
