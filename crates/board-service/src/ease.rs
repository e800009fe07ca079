//! The order of ease of a set, which a board freezes for tiered runs.

use rhae_protocol::{BoardDefinition, BoardSet, TierEnvironment, TierFile};

/// Units of a chance.
const NANO: f64 = 1e9;

/// Arranges the environments of a set as a file of tiers does, and freezes their chances. They are
/// rounded up, so that they stay upper bounds.
pub fn freeze_order(set: &mut BoardSet, order: &TierFile) {
    let place = |id: &str| order.environments.iter().position(|one| one.id == id);
    set.environments
        .sort_by_key(|one| place(one.id.as_str()).unwrap_or(usize::MAX));
    for environment in &mut set.environments {
        let ordered = place(environment.id.as_str()).map(|place| &order.environments[place]);
        let nano = |one: &TierEnvironment| (one.chance.clamp(0.0, 1.0) * NANO).ceil() as u64;
        environment.luck_nano = Some(ordered.map_or(NANO as u64, nano));
    }
}

/// Returns the order of ease that a board has frozen, if it has.
pub fn frozen_order(definition: &BoardDefinition) -> Option<TierFile> {
    let environments = &definition.set.environments;
    let ordered: Option<Vec<TierEnvironment>> = environments
        .iter()
        .map(|one| {
            Some(TierEnvironment {
                id: one.id.to_string(),
                chance: one.luck_nano? as f64 / NANO,
            })
        })
        .collect();
    let environments = ordered.filter(|ordered| !ordered.is_empty())?;
    Some(TierFile {
        version: 1,
        budget: definition.budget.clone(),
        environments,
    })
}
