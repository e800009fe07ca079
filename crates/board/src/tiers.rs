//! How far a tiered run went, by the order of ease that the set of a board freezes.
//!
//! *Invariant:* whether a run may stop follows from the replayed plays and from the chances of the
//! board, never from what the run claims.

use std::collections::{BTreeMap, BTreeSet};

use rhae_protocol::{BoardPlay, BoardRun, BoardSet};
use rhae_stats::{tier_ends, tier_promotes};

/// Units of a chance.
const NANO: f64 = 1e9;

/// Returns the repeats of a tiered run and how many environments, from the easiest on, it had to play;
/// `None` unless it played exactly whole tiers and the last one did not lead to the next.
pub(crate) fn played_tiers(set: &BoardSet, run: &BoardRun) -> Option<(usize, usize)> {
    if !run.tiered {
        return None;
    }
    let seeds: BTreeSet<u64> = run.plays.iter().map(|play| play.seed).collect();
    let mut plays: BTreeMap<&str, Vec<&BoardPlay>> = BTreeMap::new();
    for play in &run.plays {
        plays
            .entry(play.environment.as_str())
            .or_default()
            .push(play);
    }
    let played = |index: usize| {
        let plays = plays.get(set.environments[index].id.as_str());
        plays.map_or(&[][..], Vec::as_slice)
    };
    let mut start = 0;
    for end in tier_ends(set.environments.len()) {
        let tier = start..end;
        if !tier.clone().all(|index| played(index).len() == seeds.len()) {
            return None;
        }
        let completed = tier.clone().filter(|&index| has_progress(played(index)));
        let chances: Option<Vec<f64>> = tier
            .clone()
            .map(|index| set.environments[index].luck_nano)
            .map(|luck| luck.map(|luck| in_some_repeat(luck as f64 / NANO, seeds.len())))
            .collect();
        let is_reached = tier_promotes(&chances?, completed.count());
        if end == set.environments.len() || !is_reached {
            let is_last = (end..set.environments.len()).all(|index| played(index).is_empty());
            return is_last.then_some((seeds.len(), end));
        }
        start = end;
    }
    None
}

fn has_progress(plays: &[&BoardPlay]) -> bool {
    let mut counts = plays.iter().flat_map(|play| &play.runs).flatten();
    counts.any(|count| count.completed)
}

/// Returns the probability that random play completes a level in at least one repeat.
fn in_some_repeat(chance: f64, repeats: usize) -> f64 {
    let repeats = i32::try_from(repeats).unwrap_or(i32::MAX);
    1.0 - (1.0 - chance.clamp(0.0, 1.0)).powi(repeats)
}
