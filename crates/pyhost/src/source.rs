//! The Python source of a game: its file and the class that implements the game.
//!
//! The official toolkit finds both by the class name in the metadata. Folders in the wild also name
//! the file after the id, or omit the class name although it differs from the default. Nothing is
//! executed here: the class is found by reading the text.

use std::fs;
use std::path::{Path, PathBuf};

use crate::folder::failed;
use crate::metadata::is_class_name;
use crate::{HostError, Metadata};

/// The class of the official engine that games extend.
const BASE_CLASS: &str = "ARCBaseGame";

/// Finds the source file of a game. The candidates are, in this order, the names that the toolkit
/// tries (the class name in lower case, then as written), the id without its version, and the only
/// Python file of the folder.
pub(crate) fn source_file(folder: &Path, metadata: &Metadata) -> Result<PathBuf, HostError> {
    let expected = format!("{}.py", metadata.class_name.to_ascii_lowercase());
    let names = [
        expected.clone(),
        format!("{}.py", metadata.class_name),
        format!("{}.py", metadata.id.base()),
    ];
    // A symbolic link counts as present, so that reading it reports the error.
    let named = names
        .into_iter()
        .map(|name| folder.join(name))
        .find(|file| fs::symlink_metadata(file).is_ok());
    if let Some(file) = named {
        return Ok(file);
    }
    let mut sources = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed("read", folder))? {
        let entry = entry.map_err(failed("read", folder))?;
        let name = entry.file_name();
        let is_source = name
            .to_str()
            .is_some_and(|name| name.ends_with(".py") && !name.starts_with(['_', '.']));
        if is_source && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            sources.push(entry.path());
        }
    }
    match sources.as_slice() {
        [only] => Ok(only.clone()),
        _ => Err(HostError::NoSource {
            folder: folder.to_owned(),
            expected,
        }),
    }
}

/// Returns the name of the class that implements the game: `expected` if the source defines it, or
/// the only class that extends the engine's game. If the text does not settle it, `expected` is
/// returned, and the game's process reports the missing class.
pub(crate) fn game_class(source: &str, expected: &str) -> String {
    if defines(source, expected) {
        return expected.to_owned();
    }
    let mut games: Vec<&str> = vec![BASE_CLASS];
    games.extend(alias(source));
    let first = games.len();
    let mut bases_of_games: Vec<&str> = Vec::new();
    for (name, bases) in classes(source) {
        let bases: Vec<&str> = bases
            .split(',')
            .filter_map(|base| base.trim().rsplit('.').next())
            .collect();
        if bases.iter().any(|base| games.contains(base)) {
            games.push(name);
            bases_of_games.extend(bases);
        }
    }
    let mut found = games[first..]
        .iter()
        .filter(|name| !bases_of_games.contains(name) && is_class_name(name));
    match (found.next(), found.next()) {
        (Some(only), None) => (*only).to_owned(),
        _ => expected.to_owned(),
    }
}

/// Returns whether a line at the top level defines, assigns or imports the name.
fn defines(source: &str, name: &str) -> bool {
    let starts_with_name = |text: &str| {
        text.strip_prefix(name)
            .is_some_and(|rest| !rest.starts_with(is_word))
    };
    source.lines().any(|line| {
        if let Some(rest) = line.strip_prefix("class ") {
            return starts_with_name(rest.trim_start());
        }
        if line.starts_with("from ") || line.starts_with("import ") {
            return line
                .split(|letter| !is_word(letter))
                .any(|word| word == name);
        }
        starts_with_name(line) && line.contains('=')
    })
}

/// Returns the name under which the source imports the engine's class, if it renames it.
fn alias(source: &str) -> Option<&str> {
    let (_, rest) = source.split_once(&format!("{BASE_CLASS} as "))?;
    rest.split(|letter| !is_word(letter)).next()
}

/// Returns the classes at the top level of a source, each with the text between its parentheses.
fn classes(source: &str) -> impl Iterator<Item = (&str, &str)> {
    source.match_indices("class ").filter_map(|(start, word)| {
        if start > 0 && source.as_bytes()[start - 1] != b'\n' {
            return None;
        }
        let rest = source[start + word.len()..].trim_start();
        let end = rest.find(|letter| !is_word(letter))?;
        let (name, rest) = rest.split_at(end);
        let bases = rest.trim_start().strip_prefix('(')?;
        Some((name, &bases[..bases.find(')')?]))
    })
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_is_found_by_name_or_by_its_base() {
        for (source, expected) in [
            ("class Ab12(ARCBaseGame):", "Ab12"),
            ("class Maze(ARCBaseGame):\n class Ab12(X): ...", "Maze"),
            (
                "import arcengine\nclass Maze (\n  arcengine.ARCBaseGame,\n):",
                "Maze",
            ),
            (
                "class Base(ARCBaseGame): ...\nclass Maze(Mixin, Base): ...",
                "Maze",
            ),
            (
                "from arcengine import ARCBaseGame as Game\nclass Maze(Game): ...",
                "Maze",
            ),
            ("class Maze(ARCBaseGame): ...\nAb12 = Maze", "Ab12"),
            (
                "from parts import Ab12\nclass Maze(ARCBaseGame): ...",
                "Ab12",
            ),
            // Two games, or none: the process reports that the class is missing.
            (
                "class A(ARCBaseGame): ...\nclass B(ARCBaseGame): ...",
                "Ab12",
            ),
            ("class Sprite2(Sprite): ...", "Ab12"),
            ("class Ab123(ARCBaseGame): ...", "Ab123"),
            ("class ", "Ab12"),
        ] {
            assert_eq!(game_class(source, "Ab12"), expected, "{source}");
        }
    }
}
