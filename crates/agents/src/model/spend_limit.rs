//! The spend limit of a run.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rhae_protocol::ModelUsage;

/// The spend limit of a run, which all its plays share, and the usage so far.
///
/// The limit applies to measured costs, never to estimates: the tokens that the provider reports
/// times the configured prices or, without prices, the cost that the provider reports. Requests
/// that are in flight when the limit is reached can therefore exceed it. No further request is
/// sent.
///
/// # Examples
///
/// ```
/// use rhae_agents::SpendLimit;
/// use rhae_protocol::ModelUsage;
///
/// // A resumed run starts with the usage of its earlier processes.
/// let earlier = ModelUsage { calls: 3, cost_usd: Some(0.25), ..ModelUsage::default() };
/// let limit = SpendLimit::new(Some(1.0), earlier);
/// assert_eq!(limit.spent().cost_usd, Some(0.25));
/// ```
#[derive(Debug, Default)]
pub struct SpendLimit {
    limit_usd: Option<f64>,
    spent: Mutex<ModelUsage>,
}

impl SpendLimit {
    /// Creates a limit in US dollars; `None` means no limit. `spent` is the usage of earlier
    /// processes of the same run.
    pub fn new(limit_usd: Option<f64>, spent: ModelUsage) -> Self {
        Self {
            limit_usd,
            spent: Mutex::new(spent),
        }
    }

    /// Returns the usage so far, including that of earlier processes.
    pub fn spent(&self) -> ModelUsage {
        *self.lock()
    }

    /// Returns an error message if the limit is reached.
    pub(super) fn check(&self) -> Result<(), String> {
        let spent = self.lock().cost_usd.unwrap_or(0.0);
        match self.limit_usd {
            Some(limit) if spent >= limit => Err(format!(
                "the spend limit is reached: ${spent:.4} of ${limit} are spent"
            )),
            _ => Ok(()),
        }
    }

    pub(super) fn add(&self, spent: ModelUsage) {
        *self.lock() += spent;
    }

    fn lock(&self) -> MutexGuard<'_, ModelUsage> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
