//! The prompts of agents: files that are embedded in the program and can be replaced.
//!
//! A prompt is a Markdown text with places such as `{{actions}}`, which the agent fills. The digest
//! of all prompts of an agent is part of the configuration of a run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// An embedded prompt: its name and its text.
pub(crate) type EmbeddedPrompt = (&'static str, &'static str);

/// The reason why prompts cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    #[error("cannot read `{}`: {error}", path.display())]
    File {
        path: PathBuf,
        error: std::io::Error,
    },
    #[error("`{}` is not a prompt of this agent: expected {expected}", path.display())]
    Unknown { path: PathBuf, expected: String },
    #[error("`{}` has no folder `{agent}` with prompts", folder.display())]
    NoFolder { folder: PathBuf, agent: String },
}

/// The prompts of one agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptSet {
    texts: BTreeMap<String, String>,
}

impl PromptSet {
    pub(crate) fn embedded(prompts: &[EmbeddedPrompt]) -> Self {
        let owned = |(name, text): &EmbeddedPrompt| ((*name).to_owned(), (*text).to_owned());
        Self {
            texts: prompts.iter().map(owned).collect(),
        }
    }

    /// Loads the prompts of an agent. Files `AGENT/NAME.md` below `folder` replace embedded prompts.
    pub(crate) fn load(
        agent: &str,
        embedded: &[EmbeddedPrompt],
        folder: Option<&Path>,
    ) -> Result<Self, PromptError> {
        let mut set = Self::embedded(embedded);
        let Some(folder) = folder else {
            return Ok(set);
        };
        let own = folder.join(agent);
        if !own.is_dir() {
            return Err(PromptError::NoFolder {
                folder: folder.to_owned(),
                agent: agent.to_owned(),
            });
        }
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |error| PromptError::File { path, error }
        };
        for entry in std::fs::read_dir(&own).map_err(failed(&own))? {
            let path = entry.map_err(failed(&own))?.path();
            let name = path.file_stem().and_then(|name| name.to_str());
            let is_markdown = path.extension().is_some_and(|extension| extension == "md");
            let known = name.filter(|name| is_markdown && set.texts.contains_key(*name));
            let Some(name) = known.map(str::to_owned) else {
                let names: Vec<String> = set
                    .texts
                    .keys()
                    .map(|name| format!("`{name}.md`"))
                    .collect();
                return Err(PromptError::Unknown {
                    path,
                    expected: names.join(", "),
                });
            };
            let text = std::fs::read_to_string(&path).map_err(failed(&path))?;
            set.texts.insert(name, text);
        }
        Ok(set)
    }

    /// Returns all texts.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        self.texts.values().map(String::as_str)
    }

    /// Returns the SHA-256 hash of all names and texts as 64 hexadecimal digits.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        for (name, text) in &self.texts {
            for part in [name, text] {
                hash.update((part.len() as u64).to_le_bytes());
                hash.update(part.as_bytes());
            }
        }
        hex::encode(hash.finalize())
    }

    /// Returns a prompt with its places filled. A place without a value stays as it is, because the
    /// values may contain anything.
    ///
    /// # Panics
    ///
    /// Panics if the agent has no such prompt.
    pub(crate) fn fill(&self, name: &str, values: &[(&str, &str)]) -> String {
        let text = self.texts.get(name).expect("the agent embeds this prompt");
        let mut filled = String::with_capacity(text.len());
        let mut rest = text.trim();
        while let Some(start) = rest.find("{{") {
            filled.push_str(&rest[..start]);
            let place = &rest[start + 2..];
            let end = place.find("}}");
            let value = end.and_then(|end| {
                let name = &place[..end];
                let value = values.iter().find(|(known, _)| *known == name)?;
                Some((value.1, end))
            });
            match value {
                Some((value, end)) => {
                    filled.push_str(value);
                    rest = &place[end + 2..];
                }
                None => {
                    filled.push_str("{{");
                    rest = place;
                }
            }
        }
        filled.push_str(rest);
        filled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMBEDDED: [EmbeddedPrompt; 2] = [("a", "Go to {{place}} {{now}}.\n"), ("b", "B")];

    #[test]
    fn places_are_filled_once() {
        let set = PromptSet::embedded(&EMBEDDED);
        assert_eq!(
            set.fill("a", &[("place", "{{now}}"), ("other", "x")]),
            "Go to {{now}} {{now}}."
        );
        assert_eq!(set.fill("a", &[("place", "x"), ("now", "y")]), "Go to x y.");
    }

    #[test]
    fn files_replace_prompts_and_change_the_digest() {
        let folder = tempfile::tempdir().unwrap();
        let load = || PromptSet::load("duck", &EMBEDDED, Some(folder.path()));
        assert!(load().unwrap_err().to_string().contains("no folder `duck`"));
        std::fs::create_dir(folder.path().join("duck")).unwrap();
        let embedded = PromptSet::embedded(&EMBEDDED);
        assert_eq!(load().unwrap(), embedded);
        std::fs::write(folder.path().join("duck/b.md"), "C").unwrap();
        let replaced = load().unwrap();
        assert_eq!(replaced.fill("b", &[]), "C");
        assert_ne!(replaced.digest(), embedded.digest());
        assert_eq!(embedded.digest().len(), 64);
        std::fs::write(folder.path().join("duck/c.md"), "C").unwrap();
        let error = load().unwrap_err().to_string();
        assert!(error.contains("expected `a.md`, `b.md`"), "{error}");
    }
}
