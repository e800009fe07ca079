//! The interface of a spend limit that all calls of a run share.

use crate::{Attempt, CostBound};

/// A spend limit that covers requests before they are sent.
///
/// A caller reserves the worst case of every transmission before it is sent, retries included, and
/// settles the reservation when the transmission has ended. Each transmission may be billed, so each
/// retry needs another reservation. The crate `rhae-runs` implements the limit of a run; `()`
/// has no limit.
pub trait SpendGuard: Send + Sync {
    /// Reserves the worst case of one transmission.
    ///
    /// Blocks while the worst case does not fit but would fit if a transmission in flight turns out
    /// to be cheaper than its own worst case. `cancelled` is checked while the call waits.
    ///
    /// # Errors
    ///
    /// Returns [`SpendRefusal::Limit`] if the worst case cannot fit, and
    /// [`SpendRefusal::Cancelled`] if `cancelled` returned true.
    fn reserve(&self, worst: &CostBound, cancelled: &dyn Fn() -> bool) -> Result<(), SpendRefusal>;

    /// Checks, before anything is sent, whether a transmission with this worst case can fit.
    ///
    /// # Errors
    ///
    /// Returns a message that names the smallest limit under which the transmission can be sent.
    fn check_first(&self, worst: &CostBound) -> Result<(), String> {
        let _ = worst;
        Ok(())
    }

    /// Replaces a reservation by what the transmission cost. `None` means that nothing was sent.
    /// If the cost of an attempt is not fully known, the rest of its worst case counts as possibly
    /// paid.
    fn settle(&self, worst: &CostBound, attempt: Option<&Attempt>);

    /// Stores a line of the log of calls where the limit is kept, if that is another process. A caller
    /// continues only after the line is stored, so that nothing is paid that only this process knows.
    ///
    /// # Errors
    ///
    /// Returns the reason why the line is not stored.
    fn keep(&self, line: &str) -> Result<(), String> {
        let _ = line;
        Ok(())
    }
}

/// The reason why a [`SpendGuard`] refuses a transmission.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpendRefusal {
    /// The worst case does not fit into the rest of the limit. Contains a message for the user.
    #[error("{0}")]
    Limit(String),
    /// The call was cancelled while it waited.
    #[error("the call was cancelled")]
    Cancelled,
}

impl CostBound {
    /// Returns the part of the worst case that an attempt may have cost in addition to its known
    /// cost, in US dollars: 0 if the cost is known or there is no bound.
    pub fn possibly_paid_usd(&self, attempt: &Attempt) -> f64 {
        match self.usd {
            Ok(usd) if attempt.is_uncounted() => (usd - attempt.cost_usd.unwrap_or(0.0)).max(0.0),
            _ => 0.0,
        }
    }

    /// Returns the part of the worst case that an attempt may have used in addition to its known
    /// tokens.
    pub fn possibly_used_tokens(&self, attempt: &Attempt) -> u64 {
        if attempt.is_uncounted() {
            let known = attempt.usage.map_or(0, |usage| usage.total_tokens());
            self.tokens().unwrap_or(0).saturating_sub(known)
        } else {
            0
        }
    }
}

/// No limit.
impl SpendGuard for () {
    fn reserve(&self, _: &CostBound, _: &dyn Fn() -> bool) -> Result<(), SpendRefusal> {
        Ok(())
    }

    fn settle(&self, _: &CostBound, _: Option<&Attempt>) {}
}
