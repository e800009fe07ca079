//! The prior weight of an action that was not tried at a state.

use super::identities::Identity;

/// The least prior of an action.
const MIN_PRIOR: f64 = 0.1;

/// Counts the results of each action index on a level.
#[derive(Clone, Debug, Default)]
pub(super) struct Priors {
    /// How often each action had a bad and a good result.
    counts: Vec<(u32, u32)>,
}

impl Priors {
    /// Counts a result.
    pub(super) fn count(&mut self, identity: Identity, is_good: bool) {
        let index = usize::from(identity.id);
        if self.counts.len() <= index {
            self.counts.resize(index + 1, (0, 0));
        }
        let (bad, good) = &mut self.counts[index];
        *(if is_good { good } else { bad }) += 1;
    }

    /// Returns the weight of an action with unknown result. The share of good results counts if there
    /// was one. Otherwise each bad result halves the weight, which begins with 1 for a simple action
    /// and is halved with each rank of an object.
    pub(super) fn weight(&self, identity: Identity) -> f64 {
        let (bad, good) = self
            .counts
            .get(usize::from(identity.id))
            .copied()
            .unwrap_or_default();
        let weight = if good > 0 {
            f64::from(good) / f64::from(good + bad)
        } else {
            0.5_f64.powi((u32::from(identity.rank) + bad).min(64) as i32)
        };
        weight.max(MIN_PRIOR) / f64::from(identity.twins)
    }
}
