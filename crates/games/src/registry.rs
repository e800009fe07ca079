//! The lookup of a game by name, and generic code that runs on a game chosen at run time.

use rhae_engine::{Environment, Facts, Game, GameId, NativeEnvironment, UnknownGame};
use strsim::levenshtein;

/// A registered game with its type erased.
#[derive(Clone, Copy)]
pub struct Entry {
    pub facts: &'static Facts,
    open: fn(u64) -> Box<dyn Environment>,
}

impl Entry {
    pub(crate) const fn of<G: Game>() -> Self {
        Self {
            facts: const { &G::FACTS },
            open: |seed| Box::new(NativeEnvironment::<G>::new(seed)),
        }
    }

    /// Starts a play in the state after its first RESET.
    pub fn open(&self, seed: u64) -> Box<dyn Environment> {
        (self.open)(seed)
    }

    /// Returns the id, including its version.
    pub fn id(&self) -> GameId {
        self.facts.game_id()
    }
}

/// Code that is generic over the game, such as a search. [`visit`](crate::visit) runs it on the
/// game with a given id.
///
/// # Examples
///
/// ```
/// use rhae_engine::Game;
/// use rhae_games::Visitor;
///
/// /// Returns the size of a game's board in bytes.
/// struct BoardSize;
///
/// impl Visitor for BoardSize {
///     type Output = usize;
///
///     fn visit<G: Game>(self) -> usize {
///         size_of::<G::Board>()
///     }
/// }
///
/// assert!(rhae_games::visit("kq19-v1", BoardSize).is_some_and(|bytes| bytes > 0));
/// assert_eq!(rhae_games::visit("zz99-v1", BoardSize), None);
/// ```
pub trait Visitor {
    type Output;

    fn visit<G: Game>(self) -> Self::Output;
}

/// Returns the game with this id, or the newest version of the game with these four characters.
/// Case is ignored.
///
/// # Errors
///
/// Returns [`UnknownGame`]. It suggests the most similar registered id if the edit distance of that
/// id from the name, with or without its version, is at most two.
///
/// # Examples
///
/// ```
/// assert_eq!(rhae_games::find("KQ19")?.id().as_str(), "kq19-v1");
/// let error = rhae_games::find("kq91").err().expect("there is no such game");
/// assert_eq!(error.nearest.as_deref(), Some("kq19-v1"));
/// # Ok::<(), rhae_engine::UnknownGame>(())
/// ```
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
            levenshtein(name, entry.facts.id).min(levenshtein(name, &entry.facts.id[..4]))
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

macro_rules! registry {
    ($($module:ident :: $game:ident),* $(,)?) => {
        /// Every game. Older versions of a game come before newer ones.
        pub const ALL: &[Entry] = &[$(Entry::of::<$module::$game>()),*];

        /// Returns the source files of a game's rules as text, its main file first, for comparing
        /// games with each other. Returns an empty list if the id is not registered.
        pub fn rule_sources(id: &str) -> Vec<&'static str> {
            let mut sources = Vec::new();
            $(if <$module::$game as rhae_engine::Game>::FACTS.id == id {
                sources.push(include_str!(concat!(stringify!($module), ".rs")));
            })*
            sources.extend(sources::further_sources(id));
            sources
        }

        /// Runs generic code on the game with this full id, or returns `None` if it is not
        /// registered.
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
