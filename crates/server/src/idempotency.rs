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

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::http::HeaderMap;
use rhae_store::{
    CardId, CompletedRequest, IdempotencyKey, Owner, RequestOutcome, Store, StoreError,
};
use sha2::{Digest, Sha256};

use crate::{ApiError, Clock};

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

/// The requests that were executed with an idempotency key.
pub(crate) struct Idempotency {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
}

impl Idempotency {
    pub(crate) fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock }
    }

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

    /// Returns the outcome of an earlier request with this key, or `None` if there was none.
    pub(crate) async fn earlier_outcome(
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

    /// Deletes idempotency keys older than 24 hours and returns their number.
    pub(crate) async fn delete_expired(&self) -> Result<u64, StoreError> {
        self.store
            .delete_idempotency_keys(RETENTION_MS, self.clock.now_ms())
            .await
    }
}
