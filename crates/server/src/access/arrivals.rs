//! Limits how often people may arrive at a study by a shared link.

use rhae_throttle::KeyedRateLimiter;

use super::Access;
use super::keys::per_minute;
use crate::ApiError;
use crate::network::ClientAddress;

/// The maximum number of arrivals per minute from one address. Several people may share an address,
/// but a single owner of the link could otherwise fill a study with invented people.
pub(super) const MAX_ARRIVALS_PER_ADDRESS: u32 = 120;

/// Counts the arrivals from each address.
pub(super) type ArrivalLimiter = KeyedRateLimiter<ClientAddress>;

impl Access {
    /// Counts an arrival against the limit of its address.
    pub(crate) fn count_arrival(&self, address: ClientAddress) -> Result<(), ApiError> {
        let max = MAX_ARRIVALS_PER_ADDRESS;
        let now = self.started.elapsed();
        let counted = self
            .arrival_limiter
            .try_acquire(address, per_minute(max), now);
        counted.map_err(|retry_seconds| ApiError::RateLimit { max, retry_seconds })
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;
    use std::sync::Arc;

    use super::*;
    use crate::{Limits, SystemClock, Visitors};

    #[test]
    fn one_address_cannot_fill_a_study() {
        let access = Access::open(Visitors::Off, Limits::default(), Arc::new(SystemClock));
        let address = |text: &str| ClientAddress::from(text.parse::<IpAddr>().unwrap());
        for _ in 0..MAX_ARRIVALS_PER_ADDRESS {
            access.count_arrival(address("192.0.2.7")).unwrap();
        }
        assert!(matches!(
            access.count_arrival(address("192.0.2.7")),
            Err(ApiError::RateLimit {
                max: MAX_ARRIVALS_PER_ADDRESS,
                ..
            })
        ));
        access.count_arrival(address("192.0.2.8")).unwrap();
    }
}
