//! The list of agents that users choose by name.
//!
//! An agent is one module with an [`AgentEntry`], and one line in [`AGENTS`]. Help texts, error
//! messages and the tables in `docs/agents.md` follow from the list. A variant of an agent has an
//! separate entry, `NAME:VARIANT`, after that of the agent.

use std::fmt;

use crate::{Agent, blind_squirrel, explorer, just_explore, model, random, replay};

/// Every agent that has a name, in the order of help texts. The first is the default of `rhae run`.
pub const AGENTS: &[AgentEntry] = &[
    explorer::ENTRY,
    random::ENTRY,
    just_explore::ENTRY,
    blind_squirrel::ENTRY,
    blind_squirrel::FAITHFUL,
    model::ENTRY,
    replay::ENTRY,
];

/// An agent that users choose by name.
#[derive(Clone, Copy)]
pub struct AgentEntry {
    /// The name, which results contain.
    pub name: &'static str,
    /// The name with its argument, as users write it: `random` or `replay:FILE`.
    pub form: &'static str,
    /// One line that says how the agent plays.
    pub summary: &'static str,
    pub(crate) constructor: Constructor,
}

/// How an agent is created.
#[derive(Clone, Copy)]
pub(crate) enum Constructor {
    /// From the seed of a play.
    FromSeed(fn(u64) -> Box<dyn Agent>),
    /// From an argument after the name, such as the file in `replay:FILE`. The caller loads it and
    /// creates the [`AgentSpec`](crate::AgentSpec).
    FromArgument,
}

impl AgentEntry {
    /// Creates the entry of an agent that another crate implements and that needs an argument.
    pub const fn with_argument(
        name: &'static str,
        form: &'static str,
        summary: &'static str,
    ) -> Self {
        Self {
            name,
            form,
            summary,
            constructor: Constructor::FromArgument,
        }
    }

    /// Returns whether the agent needs nothing but a seed.
    pub const fn needs_only_a_seed(&self) -> bool {
        matches!(self.constructor, Constructor::FromSeed(_))
    }
}

impl fmt::Debug for AgentEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_can_be_written_in_a_flag() {
        for (index, entry) in AGENTS.iter().enumerate() {
            let is_unique = AGENTS[..index].iter().all(|other| other.name != entry.name);
            assert!(is_unique, "{entry:?}");
            let fine = |letter: char| letter.is_ascii_lowercase() || letter == '-';
            let (name, variant) = entry
                .name
                .split_once(':')
                .unwrap_or((entry.name, "default"));
            assert!(name.chars().chain(variant.chars()).all(fine), "{entry:?}");
            if entry.name != name {
                let agent = AGENTS[..index].iter().find(|other| other.name == name);
                assert!(agent.is_some(), "{entry:?} must follow its agent");
            }
            let argument = entry.form.strip_prefix(entry.name).unwrap();
            assert_eq!(argument.is_empty(), entry.needs_only_a_seed(), "{entry:?}");
            assert!(
                argument.is_empty() || argument.starts_with(':'),
                "{entry:?}"
            );
        }
    }

    /// `docs/agents.md` describes every agent.
    #[test]
    fn documentation_lists_every_agent() {
        let text = include_str!("../../../docs/agents.md");
        for entry in AGENTS {
            let row = format!("| `{}` | {} |", entry.form, entry.summary);
            assert!(text.contains(&row), "docs/agents.md needs the row\n{row}");
        }
    }
}
