//! The `Idempotency-Key` header: a repeated request gets the first response again and is not
//! executed twice.
//!
//! A request with a key is executed like any other, and its commit is refused if the key is already
//! used. The key is looked up only then, or when the request is refused for another reason (for
//! example because the first attempt won the game). A key therefore costs no read unless the
//! request is repeated or refused. The response to a repeated command is regenerated from the log.
//!
//! **Invariant:** a key is recorded in the same transaction as the effect of its request, and never
//! otherwise. A refused request has no effect and is evaluated again when it is repeated.

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::http::HeaderMap;
use rhae_store::{
    CardId, CompletedRequest, IdempotencyKey, Owner, PlayId, RequestOutcome, StoreError,
};
use sha2::{Digest, Sha256};

use crate::live_play::{Command, frame_response};
use crate::rebuild::blocking;
use crate::{ApiError, Server};

const HEADER: &str = "idempotency-key";
const MAX_KEY_LEN: usize = 255;
/// How long a key is remembered.
const RETENTION_MS: u64 = 24 * 60 * 60 * 1000;

/// Parses the request's idempotency key, if it has one. The digest covers the path and the body,
/// which a retry must repeat exactly.
pub(crate) fn idempotency_key(
    headers: &HeaderMap,
    owner: Owner,
    path: &str,
    body: &Result<Bytes, BytesRejection>,
) -> Result<Option<IdempotencyKey>, ApiError> {
    let mut keys = headers.get_all(HEADER).iter();
    let Some(key) = keys.next() else {
        return Ok(None);
    };
    let text = key
        .to_str()
        .ok()
        .filter(|text| (1..=MAX_KEY_LEN).contains(&text.len()));
    let text = text.filter(|text| text.bytes().all(|byte| byte.is_ascii_graphic()));
    let (Some(text), None) = (text, keys.next()) else {
        return Err(ApiError::Field {
            field: "Idempotency-Key",
            expected: "one header of 1 to 255 visible ASCII characters",
        });
    };
    let body = body.as_ref().map_or(&[][..], AsRef::as_ref);
    let digest = Sha256::new()
        .chain_update(path)
        .chain_update([0])
        .chain_update(body)
        .finalize()
        .into();
    Ok(Some(IdempotencyKey {
        owner,
        key: text.to_owned(),
        digest,
    }))
}

impl Server {
    /// Returns the outcome of an earlier request with this key, or an error if that request had a
    /// different path or body.
    async fn completed_outcome(
        &self,
        key: &IdempotencyKey,
    ) -> Result<Option<RequestOutcome>, ApiError> {
        match self.store.completed_request(key.owner, &key.key).await? {
            None => Ok(None),
            Some(CompletedRequest { digest, outcome }) if digest == key.digest => Ok(Some(outcome)),
            Some(_) => Err(ApiError::IdempotencyKeyReused(key.key.clone())),
        }
    }

    /// Returns the card that an earlier request with this key opened, or `error` if there was none.
    pub(crate) async fn recover_card(
        &self,
        key: Option<IdempotencyKey>,
        error: ApiError,
    ) -> Result<CardId, ApiError> {
        match self.earlier_outcome(key, &error).await? {
            Some(RequestOutcome::Card(card)) => Ok(card),
            _ => Err(error),
        }
    }

    /// Returns the response to an earlier command with this key, or `error` if there was none.
    pub(crate) async fn recover_response(
        &self,
        key: Option<IdempotencyKey>,
        command: &Command,
        error: ApiError,
    ) -> Result<Vec<u8>, ApiError> {
        match self.earlier_outcome(key, &error).await? {
            Some(RequestOutcome::Entry { play, entry }) => {
                self.replayed_response(play, entry, command).await
            }
            _ => Err(error),
        }
    }

    async fn earlier_outcome(
        &self,
        key: Option<IdempotencyKey>,
        error: &ApiError,
    ) -> Result<Option<RequestOutcome>, ApiError> {
        let Some(key) = key else {
            return Ok(None);
        };
        match self.completed_outcome(&key).await {
            // If the lookup fails too, the first error is the more useful one.
            Err(ApiError::Unavailable(_)) => Err(error.clone()),
            outcome => outcome,
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
            .replica(&stored, entry)
            .await?
            .map_err(ApiError::Frozen)?;
        let recorded = self.store.log_from(stored.key, entry, 1).await?.pop();
        let recorded = recorded
            .filter(|recorded| recorded.index == entry && replica.next() == entry)
            .ok_or_else(missing)?
            .entry;
        let (mut play, command) = (replica.into_play(), command.clone());
        blocking(move || {
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

    /// Deletes idempotency keys older than 24 hours and returns their number.
    /// [`serve`](crate::serve) calls it every few seconds.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be written.
    pub async fn delete_expired_keys(&self) -> Result<u64, StoreError> {
        self.store
            .delete_idempotency_keys(RETENTION_MS, self.clock.now_ms())
            .await
    }
}
