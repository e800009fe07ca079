//! Checks of what a board fixes.

use std::collections::BTreeSet;

use rhae_protocol::{BOARD_RULES, BoardDefinition, BoardKind, BoardTasks, PeopleCompletion};
use rhae_scoring::Method;

use crate::rejection::Rejection;

/// The budget of the official leaderboard: five times the baseline of a level.
const OFFICIAL_BUDGET: &str = "5x";
/// The budget of static tasks, which have attempts instead of actions.
const TASK_BUDGET: &str = "none";
/// The maximum number of attempts at a test.
const MAX_ATTEMPTS: u32 = 1_000;
/// 1 in units of 1e-9.
const CERTAIN_NANO: u64 = 1_000_000_000;

/// Checks the definition of a board by the rules B1, B2, B10 and B15.
///
/// # Errors
///
/// Returns the first reason why the definition is not accepted.
pub fn check_definition(definition: &BoardDefinition) -> Result<(), Rejection> {
    let invalid = |text: &str| Err(Rejection::Definition(text.to_owned()));
    if definition.rules_version != BOARD_RULES {
        return invalid("the version of the rules is not known");
    }
    if definition.title.trim().is_empty() || definition.title.contains(char::is_control) {
        return invalid("expected a title on one line");
    }
    if let Some(tasks) = &definition.set.tasks {
        return check_tasks(definition, tasks);
    }
    if definition.method.parse::<Method>().is_err() {
        return invalid("the scoring method is not known");
    }
    if definition.set.environments.is_empty() {
        return invalid("the set has no environments");
    }
    let mut ids = BTreeSet::new();
    for environment in &definition.set.environments {
        if !ids.insert(environment.id.family()) {
            return invalid("an environment is in the set twice");
        }
        if environment.levels.is_empty()
            || environment.levels.iter().any(|level| level.baseline == 0)
        {
            return invalid("every environment needs levels with baselines above 0");
        }
    }
    check_order(definition)?;
    if definition.kind == BoardKind::Official {
        check_official(definition)?;
    }
    Ok(())
}

/// Checks that the frozen chances are those of an order of ease.
fn check_order(definition: &BoardDefinition) -> Result<(), Rejection> {
    let invalid = |text: &str| Err(Rejection::Definition(text.to_owned()));
    let environments = &definition.set.environments;
    let chances: Vec<u64> = environments
        .iter()
        .filter_map(|one| one.luck_nano)
        .collect();
    if !chances.is_empty() && chances.len() < environments.len() {
        return invalid("some environments have a chance `luck_nano` and others have none");
    }
    if chances.iter().any(|&chance| chance > CERTAIN_NANO) {
        return invalid("a chance `luck_nano` is above 1000000000");
    }
    let people: Vec<PeopleCompletion> = environments.iter().filter_map(|one| one.people).collect();
    if people.is_empty() {
        return Ok(());
    }
    if people.len() < environments.len() || chances.is_empty() {
        return invalid("some environments have `people` and others have none, or no `luck_nano`");
    }
    if people
        .iter()
        .any(|one| one.tested == 0 || one.completed > one.tested)
    {
        return invalid("in `people`, expected `tested` above 0 and `completed` up to `tested`");
    }
    if !people.is_sorted_by(|one, next| one.is_at_least(*next)) {
        return invalid("the environments are not in the order of the share of `people`");
    }
    Ok(())
}

fn check_tasks(definition: &BoardDefinition, tasks: &BoardTasks) -> Result<(), Rejection> {
    let invalid = |text: &str| Err(Rejection::Definition(text.to_owned()));
    if definition.kind != BoardKind::Community {
        return invalid("a board of static tasks is a community board");
    }
    if !definition.set.environments.is_empty() {
        return invalid("the set has both environments and tasks");
    }
    if definition.method != tasks.method() || definition.budget != TASK_BUDGET {
        return invalid("the method or the budget is not that of the protocol");
    }
    if !(1..=MAX_ATTEMPTS).contains(&tasks.attempts) {
        return invalid("expected 1 to 1000 attempts");
    }
    let has_order = |tests: &Vec<u32>| !tests.is_empty() && tests.is_sorted_by(|a, b| a < b);
    if tasks.tests.is_empty() || !tasks.tests.values().all(has_order) {
        return invalid("every task needs tests in ascending order");
    }
    Ok(())
}

fn check_official(definition: &BoardDefinition) -> Result<(), Rejection> {
    if !definition.set.visibility.is_hidden() {
        return Err(Rejection::PublicSet);
    }
    for environment in &definition.set.environments {
        if environment.built_in {
            return Err(Rejection::BuiltIn(environment.id.clone()));
        }
        if environment.levels.iter().any(|level| level.provisional) {
            return Err(Rejection::ProvisionalBaselines(environment.id.clone()));
        }
    }
    let invalid = |text: &str| Err(Rejection::Definition(text.to_owned()));
    if definition.prompt_sha256.is_none() {
        return invalid("an official board needs the hash of its system prompt");
    }
    if definition.budget != OFFICIAL_BUDGET {
        return invalid("an official board has the budget 5x");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rhae_protocol::SetVisibility;

    use super::*;
    use crate::fixtures::{community, official};
    use crate::rule::Rule;

    #[test]
    fn b1_definitions_are_complete() {
        assert_eq!(check_definition(&community()), Ok(()));
        let refused = |change: fn(&mut BoardDefinition)| {
            let mut changed = community();
            change(&mut changed);
            let rule = check_definition(&changed).map_err(|rejection| rejection.rule());
            assert_eq!(rule, Err(Rule::B1), "{changed:?}");
        };
        refused(|one| one.rules_version = 9);
        refused(|one| one.method = "mine".to_owned());
        refused(|one| one.set.environments.clear());
        refused(|one| one.set.environments[1].id = one.set.environments[0].id.clone());
        refused(|one| one.set.environments[0].levels[0].baseline = 0);
    }

    #[test]
    fn b10_order_of_people_is_complete_and_descending() {
        let ordered = |people: &[(u64, u64)]| {
            let mut definition = community();
            let environments = definition.set.environments.iter_mut();
            for (index, environment) in environments.enumerate() {
                environment.luck_nano = Some(0);
                environment.people = people
                    .get(index)
                    .map(|&(completed, tested)| PeopleCompletion { completed, tested });
            }
            check_definition(&definition)
        };
        let count = community().set.environments.len();
        let mut people = vec![(1, 10); count];
        people[0] = (9, 10);
        people[1] = (18, 20);
        assert_eq!(ordered(&people), Ok(()));
        for wrong in [(10, 10), (11, 10), (0, 0)] {
            people[1] = wrong;
            assert!(ordered(&people).is_err(), "{wrong:?}");
        }
        assert!(ordered(&[(9, 10)]).is_err());
    }

    #[test]
    fn b2_official_boards_refuse_public_sets_and_provisional_baselines() {
        assert_eq!(check_definition(&official()), Ok(()));
        let mut public = official();
        public.set.visibility = SetVisibility::Public;
        assert_eq!(check_definition(&public), Err(Rejection::PublicSet));
        let mut provisional = official();
        provisional.set.environments[0].levels[0].provisional = true;
        assert!(matches!(
            check_definition(&provisional),
            Err(Rejection::ProvisionalBaselines(_))
        ));
        let mut built_in = official();
        built_in.set.environments[1].built_in = true;
        assert!(matches!(
            check_definition(&built_in),
            Err(Rejection::BuiltIn(_))
        ));
        let mut budget = official();
        budget.budget = "none".to_owned();
        assert!(check_definition(&budget).is_err());
    }
}
