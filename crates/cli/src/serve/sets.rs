//! `sets.toml`: which environments are public, semi-private and private.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
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

/// Reads the file and returns the set of each listed environment.
pub(crate) fn read(path: &Path, catalog: &dyn Catalog) -> Result<HashMap<GameId, GameSet>> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read `{}`", path.display()))?;
    parse(&text, catalog).with_context(|| format!("in `{}`", path.display()))
}

fn parse(text: &str, catalog: &dyn Catalog) -> Result<HashMap<GameId, GameSet>> {
    let file: File = toml::from_str(text)?;
    let mut sets = HashMap::new();
    for (set, names) in GameSet::ALL
        .into_iter()
        .zip([file.public, file.semi_private, file.private])
    {
        for name in names {
            let line = text[..name.span().start].matches('\n').count() + 1;
            let info = catalog
                .find(name.get_ref())
                .map_err(|error| anyhow!("line {line}: {error}"))?;
            match sets.entry(info.id) {
                Entry::Vacant(place) => drop(place.insert(set)),
                // A duplicate is an error, because the intended set is ambiguous.
                Entry::Occupied(place) => {
                    let (id, set) = (place.key(), place.get().name());
                    return Err(anyhow!(
                        "line {line}: `{id}` is already in the set `{set}`; list each environment once"
                    ));
                }
            }
        }
    }
    ensure!(
        !sets.is_empty(),
        "the file lists no environment; expected lists `public`, `semi-private`, `private`"
    );
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
            let error = format!("{:#}", parse(text, &Builtin).unwrap_err());
            assert!(error.contains(line) && error.contains(reason), "{error}");
        }
    }
}
