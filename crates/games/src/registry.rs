//! Finding a game by name, and running generic code on it.

use rhae_engine::{Environment, Facts, Game, GameId, Native};

/// A registered game with its type erased.
#[derive(Clone, Copy)]
pub struct Entry {
    /// What is known of it without playing.
    pub facts: &'static Facts,
    open: fn(u64) -> Box<dyn Environment>,
}

impl Entry {
    pub(crate) const fn of<G: Game>() -> Self {
        Self {
            facts: const { &G::FACTS },
            open: |seed| Box::new(Native::<G>::new(seed)),
        }
    }

    /// A new play under a seed, as after its first RESET.
    pub fn open(&self, seed: u64) -> Box<dyn Environment> {
        (self.open)(seed)
    }

    /// The id with its version.
    pub fn id(&self) -> GameId {
        self.facts.game_id()
    }
}

/// Code that is generic over the game, such as a search: [`visit`](crate::visit) runs it on one chosen by its id.
pub trait Visitor {
    /// What it gives.
    type Output;

    /// Runs on the game.
    fn visit<G: Game>(self) -> Self::Output;
}

/// No registered game has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no environment `{name}`{}; `rhae games list` shows all{hint}", .nearest.as_ref().map_or_else(String::new, |nearest| format!(", the nearest is `{nearest}`")))]
pub struct UnknownGame {
    /// The name asked for.
    pub name: String,
    /// The registered id that differs least, if it differs in two characters at most.
    pub nearest: Option<String>,
    /// What else a caller could do, to stand behind the rest; empty if nothing.
    pub hint: &'static str,
}

/// The game with this id, or the newest version of the game with these four characters; upper case is no matter.
pub fn find(name: &str) -> Result<&'static Entry, UnknownGame> {
    let name = &*name.to_ascii_lowercase();
    let exact = crate::ALL.iter().find(|entry| entry.facts.id == name);
    let newest = || {
        crate::ALL
            .iter()
            .rev()
            .find(|entry| entry.facts.id[..4] == *name)
    };
    exact.or_else(newest).ok_or_else(|| {
        let distance = |entry: &&Entry| {
            edit_distance(name, entry.facts.id).min(edit_distance(name, &entry.facts.id[..4]))
        };
        let nearest = crate::ALL
            .iter()
            .min_by_key(distance)
            .filter(|entry| distance(entry) <= 2);
        UnknownGame {
            name: name.to_owned(),
            nearest: nearest.map(|entry| entry.facts.id.to_owned()),
            hint: "",
        }
    })
}

/// How many characters must be inserted, removed or replaced to turn one text into the other.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

macro_rules! registry {
    ($($module:ident :: $game:ident),* $(,)?) => {
        /// Every game, older versions of one before newer ones.
        pub const ALL: &[Entry] = &[$(Entry::of::<$module::$game>()),*];

        /// The source files of a game's rules, its main file first; none for an id that is not registered.
        pub fn rule_sources(id: &str) -> Vec<&'static str> {
            let mut sources = Vec::new();
            $(if <$module::$game as rhae_engine::Game>::FACTS.id == id {
                sources.push(include_str!(concat!(stringify!($module), ".rs")));
            })*
            sources.extend(sources::further_sources(id));
            sources
        }

        /// Runs generic code on the game with this full id.
        pub fn visit<V: Visitor>(id: &str, visitor: V) -> Option<V::Output> {
            $(if <$module::$game as rhae_engine::Game>::FACTS.id == id {
                return Some(visitor.visit::<$module::$game>());
            })*
            let _ = (id, visitor);
            None
        }
    };
}
pub(crate) use registry;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_edits() {
        assert_eq!(edit_distance("kq19", "kq19"), 0);
        assert_eq!(edit_distance("kq91", "kq19"), 2);
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("kitten", "sitting"), 3);
    }
}
