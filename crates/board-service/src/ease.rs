//! The order of ease of a set, which a board freezes for tiered runs.
//!
//! If a human study has measured all environments, the share of people who completed an environment
//! orders them. Otherwise the proved chances of random play do.

use std::cmp::Ordering;

use rhae_protocol::{
    BaselineFile, BoardDefinition, BoardSet, EnvironmentBaselines, PeopleCompletion,
    TierEnvironment, TierFile,
};

use crate::BoardError;

/// Units of a chance.
const NANO: f64 = 1e9;

/// Orders environments by the share of people who completed them in a human study, the largest first.
/// Equal shares keep their order.
///
/// # Errors
///
/// Returns [`BoardError::People`] if the study has no people for one of the environments.
pub fn order_by_people(order: &mut TierFile, study: &BaselineFile) -> Result<(), BoardError> {
    for one in &mut order.environments {
        let mut measured = study.environments.iter();
        let found = measured.find(|measured| measured.environment.as_str() == one.id);
        one.people = found.and_then(completion);
        if one.people.is_none() {
            return Err(BoardError::People(one.id.clone()));
        }
    }
    order.environments.sort_by(|one, other| {
        let (one, other) = (
            one.people.unwrap_or_default(),
            other.people.unwrap_or_default(),
        );
        match (one.is_at_least(other), other.is_at_least(one)) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            _ => Ordering::Greater,
        }
    });
    Ok(())
}

/// Returns how many people completed the last level; `None` if no people were tested.
fn completion(environment: &EnvironmentBaselines) -> Option<PeopleCompletion> {
    let last = environment.levels.last().filter(|last| last.people > 0)?;
    Some(PeopleCompletion {
        completed: last.completed as u64,
        tested: last.people as u64,
    })
}

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
        environment.people = ordered.and_then(|one| one.people);
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
                people: one.people,
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
