//! `sets.toml`: which environments are public, semi-private and private.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};

use rhae_engine::{Catalog, GameId};
use rhae_store::GameSet;
use serde::Deserialize;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[derive(Default)]
struct File {
    public: Vec<Spanned<String>>,
    semi_private: Vec<Spanned<String>>,
    private: Vec<Spanned<String>>,
}

/// The reason why a file of sets cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SetsError {
    /// The file cannot be read.
    #[error("cannot read `{}`: {error}", path.display())]
    Read {
        path: PathBuf,
        error: std::io::Error,
    },
    /// The content is invalid.
    #[error("in `{}`: {reason}", path.display())]
    Content { path: PathBuf, reason: String },
}

/// Reads the file and returns the set of each listed environment.
///
/// # Errors
///
/// Returns an error if the file cannot be read, is not valid, lists an unknown environment, or lists
/// an environment twice.
pub fn read_game_sets(
    path: &Path,
    catalog: &dyn Catalog,
) -> Result<HashMap<GameId, GameSet>, SetsError> {
    let text = std::fs::read_to_string(path).map_err(|error| SetsError::Read {
        path: path.to_owned(),
        error,
    })?;
    parse(&text, catalog).map_err(|reason| SetsError::Content {
        path: path.to_owned(),
        reason,
    })
}

/// Parses the file. The error is a sentence that names the line.
fn parse(text: &str, catalog: &dyn Catalog) -> Result<HashMap<GameId, GameSet>, String> {
    let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
    let mut sets = HashMap::new();
    for (set, names) in GameSet::ALL
        .into_iter()
        .zip([file.public, file.semi_private, file.private])
    {
        for name in names {
            let line = text[..name.span().start].matches('\n').count() + 1;
            let info = catalog
                .find(name.get_ref())
                .map_err(|error| format!("line {line}: {error}"))?;
            match sets.entry(info.id) {
                Entry::Vacant(place) => drop(place.insert(set)),
                // A duplicate is an error, because the intended set is ambiguous.
                Entry::Occupied(place) => {
                    let (id, set) = (place.key(), place.get().name());
                    return Err(format!(
                        "line {line}: `{id}` is already in the set `{set}`; list each environment once"
                    ));
                }
            }
        }
    }
    if sets.is_empty() {
        return Err(
            "the file lists no environment; expected lists `public`, `semi-private`, `private`"
                .to_owned(),
        );
    }
    Ok(sets)
}

#[cfg(test)]
mod tests {
    use rhae_games::Builtin;

    use super::*;

    #[test]
    fn file_assigns_environments_to_sets() {
        let sets = parse(
            "public = ['kq19', 'ny40-v1']\nprivate = [\n  'ym39',\n]",
            &Builtin,
        )
        .unwrap();
        let set = |id: &str| sets.get(&id.parse::<GameId>().unwrap()).copied();
        assert_eq!(
            (set("kq19-v1"), set("ny40-v1")),
            (Some(GameSet::Public), Some(GameSet::Public))
        );
        assert_eq!(
            (set("ym39-v1"), set("bx20-v1"), sets.len()),
            (Some(GameSet::Private), None, 3)
        );
    }

    #[test]
    fn invalid_file_is_rejected_with_line_and_reason() {
        for (text, line, reason) in [
            (
                "public = ['kq19']\nsecret = ['ny40']",
                "line 2",
                "unknown field `secret`",
            ),
            (
                "public = [\n  'kq19',\n  'zz99',\n]",
                "line 3",
                "there is no environment `zz99`",
            ),
            (
                "public = ['kq19']\nprivate = ['kq19-v1']",
                "line 2",
                "`kq19-v1` is already in the set `public`",
            ),
            ("public = 'kq19'", "line 1", "expected a sequence"),
            ("public = [7]", "line 1", "expected a string"),
            ("public = ['kq19'", "line 1", "unclosed array"),
            ("", "no environment", "expected lists"),
        ] {
            let error = parse(text, &Builtin).unwrap_err();
            assert!(error.contains(line) && error.contains(reason), "{error}");
        }
    }
}
