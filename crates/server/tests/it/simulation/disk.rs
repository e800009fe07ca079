//! The simulated disk: what is committed survives every crash.

use std::collections::BTreeMap;

use rhae_protocol::Entry;
use rhae_store::{
    Card, CardId, CardKey, CompletedRequest, IdempotencyKey, LogEntry, NewCard, NewPlay, Owner,
    PlayFacts, PlayId, PlayKey, RequestOutcome, RunCounts, Snapshot, StoreError, StoredPlay,
};

use super::world::Flaw;

/// The committed state. Every method is one transaction.
#[derive(Default)]
pub(super) struct Disk {
    pub(super) cards: Vec<Card>,
    pub(super) plays: Vec<DiskPlay>,
    requests: BTreeMap<([u8; 32], String), CompletedRequest>,
    pub(super) commits: u64,
}

pub(super) struct DiskPlay {
    pub(super) stored: StoredPlay,
    pub(super) log: Vec<LogEntry>,
    /// The idempotency key of each entry.
    pub(super) keys: Vec<Option<String>>,
    pub(super) snapshots: Vec<Snapshot>,
}

impl DiskPlay {
    pub(super) fn entries(&self) -> Vec<Entry> {
        self.log.iter().map(|logged| logged.entry.clone()).collect()
    }
}

impl Disk {
    pub(super) fn card(&self, key: CardKey) -> Result<&Card, StoreError> {
        let index = usize::try_from(key.0).unwrap();
        self.cards.get(index).ok_or(StoreError::CardNotOpen)
    }

    pub(super) fn find_card(&self, id: CardId) -> Option<Card> {
        self.cards.iter().find(|card| card.id == id).cloned()
    }

    pub(super) fn play(&self, key: PlayKey) -> &DiskPlay {
        &self.plays[usize::try_from(key.0).unwrap()]
    }

    pub(super) fn play_mut(&mut self, key: PlayKey) -> &mut DiskPlay {
        &mut self.plays[usize::try_from(key.0).unwrap()]
    }

    pub(super) fn find_play(&self, id: PlayId) -> Option<&DiskPlay> {
        self.plays.iter().find(|play| play.stored.id == id)
    }

    pub(super) fn facts(&self, id: PlayId) -> Option<PlayFacts> {
        let play = self.find_play(id)?;
        let card = self.card(play.stored.card).ok()?;
        let (first, last) = (play.log.first()?, play.log.last()?);
        let runs = RunCounts::of_log(&play.entries());
        Some(PlayFacts {
            play: play.stored.clone(),
            card: card.id,
            competition: card.competition,
            closed_ms: card.closed_ms,
            opened_ms: first.at_ms,
            last_ms: last.at_ms,
            entries: u32::try_from(play.log.len()).unwrap(),
            state: last.entry.state,
            levels_completed: last.entry.levels_completed,
            actions: runs.iter().map(RunCounts::actions).sum(),
        })
    }

    pub(super) fn open_card(
        &mut self,
        card: NewCard,
        key: Option<&IdempotencyKey>,
        flaw: Option<Flaw>,
    ) -> Result<(), StoreError> {
        let id = card.id;
        self.claim(key, RequestOutcome::Card(id), flaw)?;
        let key = CardKey(i64::try_from(self.cards.len()).unwrap());
        self.cards.push(Card {
            key,
            id,
            owner: card.owner,
            tags: card.tags,
            source_url: card.source_url,
            opaque: card.opaque,
            competition: card.competition,
            games: card.games,
            opened_ms: card.opened_ms,
            used_ms: card.opened_ms,
            closed_ms: None,
        });
        self.commits += 1;
        Ok(())
    }

    pub(super) fn open_play(
        &mut self,
        play: NewPlay,
        key: Option<&IdempotencyKey>,
        flaw: Option<Flaw>,
    ) -> Result<PlayKey, StoreError> {
        let owner = self.open_owner(play.card)?;
        let outcome = RequestOutcome::Entry {
            play: play.id,
            entry: 0,
        };
        self.claim(key, outcome, flaw)?;
        let play_key = PlayKey(i64::try_from(self.plays.len()).unwrap());
        self.plays.push(DiskPlay {
            stored: StoredPlay {
                key: play_key,
                id: play.id,
                card: play.card,
                owner,
                game_id: play.game_id,
                seed: play.seed,
                rule: play.rule,
                win_levels: play.win_levels,
                source_digest: play.source_digest,
            },
            log: vec![LogEntry {
                index: 0,
                entry: play.opening,
                at_ms: play.at_ms,
            }],
            keys: vec![key.map(|key| key.key.clone())],
            snapshots: Vec::new(),
        });
        self.commits += 1;
        Ok(play_key)
    }

    pub(super) fn append(
        &mut self,
        (play, card): (PlayKey, CardKey),
        logged: LogEntry,
        key: Option<&IdempotencyKey>,
        flaw: Option<Flaw>,
    ) -> Result<(), StoreError> {
        self.open_owner(card)?;
        let id = self.play(play).stored.id;
        let head = u32::try_from(self.play(play).log.len()).unwrap();
        if logged.index != head && flaw != Some(Flaw::IgnoresIndex) {
            return Err(StoreError::Conflict(logged.index));
        }
        let outcome = RequestOutcome::Entry {
            play: id,
            entry: head,
        };
        self.claim(key, outcome, flaw)?;
        let play = self.play_mut(play);
        play.log.push(LogEntry {
            index: head,
            ..logged
        });
        play.keys.push(key.map(|key| key.key.clone()));
        self.commits += 1;
        Ok(())
    }

    pub(super) fn completed(&self, owner: Owner, key: &str) -> Option<CompletedRequest> {
        self.requests.get(&(owner.0, key.to_owned())).copied()
    }

    /// Returns the owner of a card if it is open.
    fn open_owner(&self, card: CardKey) -> Result<Owner, StoreError> {
        let card = self.card(card)?;
        if card.closed_ms.is_some() {
            return Err(StoreError::CardNotOpen);
        }
        Ok(card.owner)
    }

    /// Records an idempotency key, or rejects the request if the key is taken.
    fn claim(
        &mut self,
        key: Option<&IdempotencyKey>,
        outcome: RequestOutcome,
        flaw: Option<Flaw>,
    ) -> Result<(), StoreError> {
        let Some(key) = key.filter(|_| flaw != Some(Flaw::ForgetsKeys)) else {
            return Ok(());
        };
        let name = (key.owner.0, key.key.clone());
        if self.requests.contains_key(&name) {
            return Err(StoreError::KeyUsed);
        }
        let digest = key.digest;
        self.requests
            .insert(name, CompletedRequest { digest, outcome });
        Ok(())
    }
}
