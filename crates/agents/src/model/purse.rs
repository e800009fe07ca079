//! What may be spent in a run, and what was.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rhae_protocol::Spent;

/// One purse for all plays of a run. What is counted is what providers reported and prices say, never an estimate; so the limit can be
/// passed by the requests that are under way when it is reached, and by no other.
#[derive(Debug, Default)]
pub struct Purse {
    limit_usd: Option<f64>,
    spent: Mutex<Spent>,
}

impl Purse {
    /// A purse with a limit, of which something may have been spent before.
    pub fn new(limit_usd: Option<f64>, spent: Spent) -> Self {
        Self {
            limit_usd,
            spent: Mutex::new(spent),
        }
    }

    /// What was spent so far.
    pub fn spent(&self) -> Spent {
        *self.lock()
    }

    /// Whether anything may still be sent.
    pub(super) fn check(&self) -> Result<(), String> {
        let spent = self.lock().cost_usd.unwrap_or(0.0);
        match self.limit_usd {
            Some(limit) if spent >= limit => {
                Err(format!("${spent:.4} of at most ${limit} are spent"))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn add(&self, spent: Spent) {
        *self.lock() += spent;
    }

    fn lock(&self) -> MutexGuard<'_, Spent> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
