//! Finds the plays of a row on scorecards of the organiser's server.
//!
//! *Invariant:* a play is found only if its actions on every level are those of the recording that
//! the board replayed, on a closed card in competition mode that counts the whole set and was opened
//! after the registration.

use rhae_board::{BoardState, Entry};
use rhae_protocol::{BoardPlay, EntryId};
use rhae_store::{Card, CardId, PlayLog, Store};

use crate::BoardError;
use crate::run_check::level_logs;

/// Checks that every play of a row is on one of the cards.
pub(crate) async fn find_plays(
    state: &BoardState,
    entry: &EntryId,
    cards: &[String],
    store: &dyn Store,
) -> Result<(), BoardError> {
    let unknown = || rhae_board::Rejection::UnknownEntry(entry.clone());
    let row = state.entries.get(entry).ok_or_else(unknown)?;
    let mut logs = Vec::new();
    for name in cards {
        let id: Option<CardId> = name.parse().ok();
        let card = match id {
            Some(id) => store.card(id).await?,
            None => None,
        };
        let missing = || BoardError::Witness(format!("this server has no card `{name}`"));
        let card = card.ok_or_else(missing)?;
        check_card(state, row, name, &card)?;
        logs.extend(store.card_log(card.key).await?);
    }
    for play in row.runs.iter().flat_map(|run| &run.plays) {
        let found = logs.iter().position(|log| is_same(play, log));
        let missing = || {
            let (environment, seed) = (&play.environment, play.seed);
            BoardError::Witness(format!(
                "the play of `{environment}` with the seed {seed} is on none of the cards"
            ))
        };
        logs.swap_remove(found.ok_or_else(missing)?);
    }
    Ok(())
}

fn check_card(state: &BoardState, row: &Entry, name: &str, card: &Card) -> Result<(), BoardError> {
    let refuse = |reason: &str| Err(BoardError::Witness(format!("the card `{name}` {reason}")));
    if !card.competition {
        return refuse("is not in competition mode");
    }
    if card.closed_ms.is_none() {
        return refuse("is still open");
    }
    let registration = row.registration.as_ref();
    let registered = registration.and_then(|id| state.registrations.get(id));
    if registered.is_none_or(|registered| card.opened_ms < registered.at_ms) {
        return refuse("was opened before the runs were registered");
    }
    let counts = |id: &str| card.games.iter().any(|game| game.as_str() == id);
    let mut environments = state.definition.set.environments.iter();
    match environments.find(|environment| !counts(environment.id.as_str())) {
        Some(environment) => refuse(&format!("does not count `{}`", environment.id)),
        None => Ok(()),
    }
}

/// Returns whether a play on the server has the actions of a recording.
fn is_same(play: &BoardPlay, log: &PlayLog) -> bool {
    log.play.game_id.as_str() == play.environment.as_str() && level_logs(&log.entries) == play.logs
}
