//! The response to a repeated command, regenerated from the log.

use rhae_store::{IdempotencyKey, PlayId, RequestOutcome};

use super::Plays;
use super::command::Command;
use super::response::frame_response;
use crate::ApiError;

impl Plays {
    /// Returns the response to an earlier command with this key, or `error` if there was none.
    pub(crate) async fn recover_response(
        &self,
        key: Option<IdempotencyKey>,
        command: &Command,
        error: ApiError,
    ) -> Result<Vec<u8>, ApiError> {
        match self.idempotency.earlier_outcome(key, &error).await? {
            Some(RequestOutcome::Entry { play, entry }) => {
                self.replayed_response(play, entry, command).await
            }
            _ => Err(error),
        }
    }

    /// Regenerates the response to an earlier command by replaying its log entry. The repeated
    /// request has the same body, so its game id and reasoning are the original ones.
    async fn replayed_response(
        &self,
        play: PlayId,
        entry: u32,
        command: &Command,
    ) -> Result<Vec<u8>, ApiError> {
        let missing = || ApiError::Failed(format!("play `{play}` is missing from the store"));
        let stored = self.store.play(play).await?.ok_or_else(missing)?;
        let guid = play.to_string();
        if entry == 0 {
            let replica = self
                .rebuilder
                .opening_replica(&stored)
                .await?
                .map_err(ApiError::Frozen)?;
            return Ok(frame_response(
                &replica.into_play().current(),
                command,
                &guid,
                None,
            ));
        }
        let replica = self
            .rebuilder
            .replica(&stored, entry)
            .await?
            .map_err(ApiError::Frozen)?;
        let recorded = self.store.log_from(stored.key, entry, 1).await?.pop();
        let recorded = recorded
            .filter(|recorded| recorded.index == entry && replica.next() == entry)
            .ok_or_else(missing)?
            .entry;
        let (mut play, command) = (replica.into_play(), command.clone());
        self.games
            .run(&stored.game_id, move || {
                let answer = play
                    .command(recorded.action)
                    .map_err(|error| ApiError::Failed(error.to_string()))?;
                if answer.entry(recorded.action, recorded.details.clone()) != recorded {
                    return Err(ApiError::Frozen(format!(
                        "replaying log entry {entry} gives other frames than were recorded"
                    )));
                }
                Ok(frame_response(
                    &answer,
                    &command,
                    &guid,
                    Some(recorded.action),
                ))
            })
            .await?
    }
}
