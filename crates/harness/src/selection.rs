//! The environments that a user selects by names and named sets.

use rhae_engine::Catalog;

use crate::HarnessError;

/// The text that selects every environment.
pub(crate) const ALL: &str = "all";
/// The named set that is selected by default.
const DEMO: &str = "demo";

/// Returns the ids of the environments that a user selects: those named in `names`, see
/// [`select_games`]. By default they are those of the set `demo`, or all if the catalogue has no such
/// set, or only the hosted games if the user named folders of games (`hosted_only`).
///
/// # Errors
///
/// Returns the errors of [`select_games`], and an error if the folders contain no game.
pub fn selected_games(
    catalog: &dyn Catalog,
    names: Option<&str>,
    hosted_only: bool,
) -> Result<Vec<String>, HarnessError> {
    match names {
        Some(names) => select_games(catalog, names),
        None if hosted_only => {
            let hosted = catalog.hosted_games();
            if hosted.is_empty() {
                return Err(HarnessError::Request(
                    "there is no game in the folder of --games-dir that can be loaded; a game is a folder with a \
                     `metadata.json` (docs/hosting.md)"
                        .to_owned(),
                ));
            }
            Ok(hosted.iter().map(|game| game.id.to_string()).collect())
        }
        None if catalog.named_set(DEMO).is_some() => select_games(catalog, DEMO),
        None => select_games(catalog, ALL),
    }
}

/// Resolves names of environments and of named sets, separated by commas, to ids. `all` selects every
/// environment. An environment that is named twice is an error; one that several sets contain is
/// selected once. A name that is both an environment's and a set's means the environment.
///
/// # Errors
///
/// Returns an error if a name is unknown or occurs twice, or if no name is given.
///
/// # Examples
///
/// ```
/// use rhae_games::Builtin;
/// use rhae_harness::select_games;
///
/// let easy = select_games(&Builtin, "easy")?;
/// assert_eq!(select_games(&Builtin, "easy,ym39")?, easy);
/// assert!(select_games(&Builtin, "kq19,kq19-v1").is_err());
/// # Ok::<(), rhae_harness::HarnessError>(())
/// ```
pub fn select_games(catalog: &dyn Catalog, names: &str) -> Result<Vec<String>, HarnessError> {
    if names == ALL {
        return Ok(catalog
            .list()
            .iter()
            .map(|info| info.id.to_string())
            .collect());
    }
    let (mut ids, mut named): (Vec<String>, Vec<String>) = Default::default();
    for name in names
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
    {
        let id = match (catalog.find(name), catalog.named_set(name)) {
            (Ok(info), _) => info.id.to_string(),
            (Err(_), Some(set)) => {
                let missing = set.iter().map(ToString::to_string);
                let missing: Vec<String> = missing.filter(|id| !ids.contains(id)).collect();
                ids.extend(missing);
                continue;
            }
            (Err(error), None) => return Err(error.into()),
        };
        if named.contains(&id) {
            let message = format!("`{id}` is named twice in --games");
            return Err(HarnessError::Request(message));
        }
        named.push(id.clone());
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    if ids.is_empty() {
        return Err(HarnessError::Request(
            "--games names no environment; `rhae games list` shows all".to_owned(),
        ));
    }
    Ok(ids)
}
