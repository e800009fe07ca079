//! The named sets of environments in `sets.toml`.
//!
//! A named set selects environments, for example for a run. It deliberately says nothing about who
//! may see an environment; that is the access class, which the operator of a server assigns.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use rhae_engine::{GameId, UnknownGame};
use serde::Deserialize;

/// In a list of games, stands for every registered game.
const ALL: &str = "all";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    sets: BTreeMap<String, Table>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    games: Vec<String>,
}

static SETS: LazyLock<BTreeMap<String, Vec<GameId>>> =
    LazyLock::new(|| parse(include_str!("../sets.toml")).expect("a test parses the file"));

#[derive(Debug, thiserror::Error)]
enum NamedSetsError {
    #[error(transparent)]
    Toml(#[from] toml::de::Error),
    #[error("in the set `{set}`: {error}")]
    Game { set: String, error: UnknownGame },
}

/// Returns the named sets with the ids of their environments, in the order of the registry.
///
/// # Examples
///
/// ```
/// let sets = rhae_games::named_sets();
/// assert_eq!(sets["demo"].len(), rhae_games::ALL.len());
/// assert!(sets["easy"].iter().any(|id| id.as_str() == "ym39-v1"));
/// ```
pub fn named_sets() -> &'static BTreeMap<String, Vec<GameId>> {
    &SETS
}

fn parse(text: &str) -> Result<BTreeMap<String, Vec<GameId>>, NamedSetsError> {
    let file: File = toml::from_str(text)?;
    let mut sets = BTreeMap::new();
    for (set, Table { games }) in file.sets {
        let mut listed = Vec::new();
        for name in games.iter().filter(|name| *name != ALL) {
            let entry = crate::find(name).map_err(|error| NamedSetsError::Game {
                set: set.clone(),
                error,
            })?;
            listed.push(entry.facts.id);
        }
        let is_listed = |id: &str| listed.contains(&id) || games.iter().any(|name| name == ALL);
        let ids = crate::ALL.iter().filter(|entry| is_listed(entry.facts.id));
        sets.insert(set, ids.map(|entry| entry.id()).collect());
    }
    Ok(sets)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(wanted: impl Fn(&crate::Entry) -> bool) -> Vec<GameId> {
        let entries = crate::ALL.iter().filter(|entry| wanted(entry));
        entries.map(crate::Entry::id).collect()
    }

    #[test]
    fn shipped_sets_contain_the_environments_that_their_names_promise() {
        let sets = parse(include_str!("../sets.toml")).unwrap();
        assert_eq!(sets["demo"], ids(|_| true));
        assert_eq!(sets["seeded"], ids(|entry| entry.facts.seeded));
        assert!(sets.values().all(|set| !set.is_empty()));
    }

    #[test]
    fn set_keeps_the_order_of_the_registry_and_may_overlap_with_another() {
        let text = "[sets.one]\ngames = ['ym39', 'kq19-v1']\n[sets.two]\ngames = ['kq19']";
        let sets = parse(text).unwrap();
        let names: Vec<&str> = sets["one"].iter().map(GameId::as_str).collect();
        assert_eq!(names, ["kq19-v1", "ym39-v1"]);
        assert_eq!(sets["two"], sets["one"][..1]);
    }

    #[test]
    fn unknown_environment_is_reported_with_its_set() {
        let error = parse("[sets.one]\ngames = ['qq00']").unwrap_err();
        assert!(error.to_string().contains("in the set `one`: "), "{error}");
    }
}
