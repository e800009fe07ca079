//! The header `Idempotency-Key`: a request that is repeated gets the first answer again and is not carried out twice.
//!
//! A request with a key is carried out like any other, and its commit is refused if the key is taken. Only then, or when it is refused for
//! another reason (the play has ended, because the first attempt won it), is it looked up; so a key costs no reading as long as nothing is
//! repeated. The answer is made again from the log.
//!
//! **Invariant:** a key is taken by the commit of what was asked for and by nothing else. A request that was refused has done nothing, and is
//! judged anew when it is repeated.

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::http::HeaderMap;
use rhae_store::{CardId, Kept, Once, Outcome, Owner, PlayId, StoreError};
use sha2::{Digest, Sha256};

use crate::live::{Command, frame_answer};
use crate::rebuild::blocking;
use crate::{ApiError, Server};

const HEADER: &str = "idempotency-key";
/// The most characters of a key.
const MOST_CHARACTERS: usize = 255;
/// How long keys are kept.
const KEPT_MS: u64 = 24 * 60 * 60 * 1000;

/// The request's key, if it has one. A repetition has the same path and the same bytes.
pub(crate) fn once(
    headers: &HeaderMap,
    owner: Owner,
    path: &str,
    body: &Result<Bytes, BytesRejection>,
) -> Result<Option<Once>, ApiError> {
    let mut keys = headers.get_all(HEADER).iter();
    let Some(key) = keys.next() else {
        return Ok(None);
    };
    let text = key
        .to_str()
        .ok()
        .filter(|text| (1..=MOST_CHARACTERS).contains(&text.len()));
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
    Ok(Some(Once {
        owner,
        key: text.to_owned(),
        digest,
    }))
}

impl Server {
    /// What a request with this key led to when it was carried out before. Another request with the same key is an error.
    async fn recall(&self, once: &Once) -> Result<Option<Outcome>, ApiError> {
        match self.store.recall(once.owner, &once.key).await? {
            None => Ok(None),
            Some(Kept { digest, outcome }) if digest == once.digest => Ok(Some(outcome)),
            Some(_) => Err(ApiError::KeyReused(once.key.clone())),
        }
    }

    /// The card that a request opened before, or the error that it met this time.
    pub(crate) async fn card_again(
        &self,
        once: Option<Once>,
        error: ApiError,
    ) -> Result<CardId, ApiError> {
        match self.before(once, &error).await? {
            Some(Outcome::Card(card)) => Ok(card),
            _ => Err(error),
        }
    }

    /// The body that a command was answered with before, or the error that it met this time.
    pub(crate) async fn answer_again(
        &self,
        once: Option<Once>,
        command: &Command,
        error: ApiError,
    ) -> Result<Vec<u8>, ApiError> {
        match self.before(once, &error).await? {
            Some(Outcome::Entry { play, entry }) => {
                self.replayed_answer(play, entry, command).await
            }
            _ => Err(error),
        }
    }

    async fn before(
        &self,
        once: Option<Once>,
        error: &ApiError,
    ) -> Result<Option<Outcome>, ApiError> {
        let Some(once) = once else {
            return Ok(None);
        };
        match self.recall(&once).await {
            // That the database cannot be asked is no better reason than the first.
            Err(ApiError::Unavailable(_)) => Err(error.clone()),
            outcome => outcome,
        }
    }

    /// Makes an answer again. The request is the same as the first, so what it named and what it added are the same.
    async fn replayed_answer(
        &self,
        play: PlayId,
        entry: u32,
        command: &Command,
    ) -> Result<Vec<u8>, ApiError> {
        let gone = || ApiError::Failed(format!("the play {play} is gone"));
        let stored = self.store.play(play).await?.ok_or_else(gone)?;
        let guid = play.to_string();
        if entry == 0 {
            let replica = self.beginning(&stored).await?.map_err(ApiError::Frozen)?;
            return Ok(frame_answer(
                &replica.into_play().opening(),
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
            .ok_or_else(gone)?
            .entry;
        let (mut again, command) = (replica.into_play(), command.clone());
        blocking(move || {
            let answer = again
                .command(recorded.action)
                .map_err(|error| ApiError::Failed(error.to_string()))?;
            if answer.entry(recorded.action, recorded.details.clone()) != recorded {
                return Err(ApiError::Frozen(format!(
                    "entry {entry} of its log gives other frames than it gave"
                )));
            }
            Ok(frame_answer(
                &answer,
                &command,
                &guid,
                Some(recorded.action),
            ))
        })
        .await?
    }

    /// Forgets keys that nobody will use again.
    pub async fn forget_keys(&self) -> Result<u64, StoreError> {
        self.store.forget(KEPT_MS, self.clock.now_ms()).await
    }
}
