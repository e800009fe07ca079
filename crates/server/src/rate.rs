//! How many requests a key may send in a minute.
//!
//! The minute begins with a key's first request and is followed by another, so that the answer to "when may I go on?" is exact. The
//! time is passed in. Each server counts by itself.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rhae_store::KeyId;

const MINUTE: Duration = Duration::from_secs(60);
/// From so many keys on, those whose minute is over are forgotten.
const MANY: usize = 4096;

/// The minutes of all keys.
#[derive(Default)]
pub(crate) struct Rates(Mutex<HashMap<KeyId, Minute>>);

struct Minute {
    begun: Duration,
    requests: u32,
}

impl Rates {
    /// Counts a request at a time since the server's start; the error is the number of seconds until the next may be sent.
    pub(crate) fn count(&self, key: KeyId, most: u32, now: Duration) -> Result<(), u64> {
        let mut minutes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if minutes.len() >= MANY && !minutes.contains_key(&key) {
            minutes.retain(|_, minute| now < minute.begun + MINUTE);
        }
        let minute = minutes.entry(key).or_insert(Minute {
            begun: now,
            requests: 0,
        });
        if now >= minute.begun + MINUTE {
            *minute = Minute {
                begun: now,
                requests: 0,
            };
        }
        if minute.requests >= most {
            return Err((minute.begun + MINUTE).saturating_sub(now).as_secs() + 1);
        }
        minute.requests += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_has_so_many_requests_and_the_next_has_them_again() {
        let rates = Rates::default();
        let at = |key: u64, ms: u64| rates.count(KeyId(key), 3, Duration::from_millis(ms));
        assert_eq!([0, 10, 59_000].map(|ms| at(1, ms)), [Ok(()); 3]);
        assert_eq!((at(1, 59_000), at(1, 59_999)), (Err(2), Err(1)));
        // Others are not concerned.
        assert_eq!(at(2, 59_500), Ok(()));
        assert_eq!([60_000, 60_001, 60_002].map(|ms| at(1, ms)), [Ok(()); 3]);
        assert_eq!(at(1, 60_003), Err(60));
    }

    #[test]
    fn keys_that_are_not_used_are_forgotten() {
        let rates = Rates::default();
        for key in 0..MANY as u64 {
            rates.count(KeyId(key), 1, Duration::ZERO).unwrap();
        }
        rates.count(KeyId(u64::MAX), 1, MINUTE).unwrap();
        assert_eq!(rates.0.lock().unwrap().len(), 1);
    }
}
