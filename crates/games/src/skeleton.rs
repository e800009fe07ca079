//! The skeleton of a new native game.
//!
//! The skeleton is a small, complete game with two levels that builds and passes the test suite
//! unchanged. Its files are templates in which `zz99` stands for the id. This module computes the
//! content of files; the caller reads and writes them.

/// The four-letter keywords of Rust. They have the form of an id, but cannot be module names.
const KEYWORDS: [&str; 9] = [
    "else", "enum", "impl", "loop", "move", "priv", "self", "true", "type",
];

const RULES: &str = include_str!("skeleton/rules.rs.txt");
const LEVELS: &str = include_str!("skeleton/levels.rs.txt");
const SOLUTIONS: &str = include_str!("skeleton/solutions.txt");
const PAGE: &str = include_str!("skeleton/page.md.txt");
const PLAYTHROUGH: &str = include_str!("skeleton/playthrough.txt");

/// The reason why a skeleton cannot be created.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SkeletonError {
    /// The text is not a valid id of a native game.
    #[error(
        "`{0}` is not a valid id: expected a lower-case letter and three lower-case letters or digits"
    )]
    Id(String),
    /// The id is a keyword of Rust.
    #[error("`{0}` is a keyword of Rust and cannot be the name of a module; choose another id")]
    Keyword(String),
    /// An environment with this id exists.
    #[error("the environment `{0}` already exists")]
    Exists(String),
    /// A file does not have the expected form.
    #[error("{0}")]
    Form(&'static str),
}

/// The skeleton of a new game. All paths are relative to the root of the repository.
///
/// # Examples
///
/// ```
/// use rhae_games::Skeleton;
///
/// let skeleton = Skeleton::new("ab12")?;
/// let names: Vec<String> = skeleton.files().into_iter().map(|(name, _)| name).collect();
/// assert_eq!(names[0], "crates/games/src/ab12.rs");
/// assert!(Skeleton::new("12ab").is_err());
/// # Ok::<(), rhae_games::SkeletonError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Skeleton {
    id: String,
    /// The name of the game's type.
    type_name: String,
}

impl Skeleton {
    /// The file with the registry of games.
    pub const REGISTRY: &'static str = "crates/games/src/lib.rs";
    /// The page that lists the games.
    pub const INDEX: &'static str = "docs/games/README.md";

    /// Creates the skeleton of a game with this id.
    ///
    /// # Errors
    ///
    /// Returns an error if the id is invalid or taken.
    pub fn new(id: &str) -> Result<Self, SkeletonError> {
        let well_formed = id.len() == 4
            && id
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        if !well_formed || id.as_bytes()[0].is_ascii_digit() {
            return Err(SkeletonError::Id(id.to_owned()));
        }
        if KEYWORDS.contains(&id) {
            return Err(SkeletonError::Keyword(id.to_owned()));
        }
        if crate::find(id).is_ok() {
            return Err(SkeletonError::Exists(id.to_owned()));
        }
        Ok(Self {
            id: id.to_owned(),
            type_name: format!("{}{}", id[..1].to_ascii_uppercase(), &id[1..]),
        })
    }

    /// Returns the files to create, with their content.
    pub fn files(&self) -> Vec<(String, String)> {
        let id = &self.id;
        [
            (format!("crates/games/src/{id}.rs"), RULES),
            (format!("crates/games/src/{id}/levels.rs"), LEVELS),
            (format!("crates/games/src/{id}/solutions.txt"), SOLUTIONS),
            (format!("docs/games/{id}.md"), PAGE),
            (
                format!("crates/games/tests/it/playthroughs/{id}.txt"),
                PLAYTHROUGH,
            ),
        ]
        .into_iter()
        .map(|(name, template)| {
            let content = template
                .replace("Zz99", &self.type_name)
                .replace("zz99", id);
            (name, content)
        })
        .collect()
    }

    /// Adds the module and the entry of the game to the source of the registry.
    ///
    /// # Errors
    ///
    /// Returns an error if the source declares no module or has no registry.
    pub fn register(&self, registry: &str) -> Result<String, SkeletonError> {
        let declared = with_module(registry, &self.id)?;
        with_entry(
            &declared,
            &format!("    {}::{},\n", self.id, self.type_name),
        )
    }

    /// Adds the row of the game to the page that lists the games.
    ///
    /// # Errors
    ///
    /// Returns an error if the page has no table of games.
    pub fn add_to_index(&self, index: &str) -> Result<String, SkeletonError> {
        with_row(
            index,
            &format!("| [{id}]({id}.md) | keys | |\n", id = self.id),
        )
    }
}

/// Inserts `mod id;` into the registry's source, in alphabetical order.
fn with_module(source: &str, id: &str) -> Result<String, SkeletonError> {
    let line = format!("mod {id};\n");
    let mut position = None;
    let mut offset = 0;
    for existing in source.split_inclusive('\n') {
        if existing.starts_with("mod ") {
            if existing > line.as_str() {
                position = Some(offset);
                break;
            }
            position = Some(offset + existing.len());
        }
        offset += existing.len();
    }
    let position = position.ok_or(SkeletonError::Form(
        "crates/games/src/lib.rs declares no module",
    ))?;
    Ok(format!(
        "{}{line}{}",
        &source[..position],
        &source[position..]
    ))
}

/// Appends an entry to the list in the registry's source.
fn with_entry(source: &str, entry: &str) -> Result<String, SkeletonError> {
    let list = source
        .find("registry::registry! {")
        .ok_or(SkeletonError::Form(
            "crates/games/src/lib.rs has no `registry!` list",
        ))?;
    let end =
        list + source[list..].find("\n}").ok_or(SkeletonError::Form(
            "the `registry!` list in crates/games/src/lib.rs has no closing brace",
        ))? + 1;
    Ok(format!("{}{entry}{}", &source[..end], &source[end..]))
}

/// Appends a row to the table of games in the index.
fn with_row(index: &str, row: &str) -> Result<String, SkeletonError> {
    let last = index.rfind("\n| [").ok_or(SkeletonError::Form(
        "docs/games/README.md has no table of games",
    ))? + 1;
    let end =
        last + index[last..].find('\n').ok_or(SkeletonError::Form(
            "the last row of the table in docs/games/README.md has no line end",
        ))? + 1;
    Ok(format!("{}{row}{}", &index[..end], &index[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn module_is_declared_in_alphabetical_order() {
        let source = "//! x\n\nmod bb22;\nmod registry;\n\nregistry::registry! {\n}\n";
        for (id, modules) in [
            ("aa11", "mod aa11;\nmod bb22;\nmod registry;\n"),
            ("cc33", "mod bb22;\nmod cc33;\nmod registry;\n"),
            ("zz99", "mod bb22;\nmod registry;\nmod zz99;\n"),
        ] {
            let expected = format!("//! x\n\n{modules}\nregistry::registry! {{\n}}\n");
            assert_eq!(with_module(source, id).unwrap(), expected);
        }
        assert!(with_module("//! x\n", "aa11").is_err());
    }

    #[test]
    fn entry_is_appended_to_the_registry() {
        let source = "//! x\nregistry::registry! {\n    ab12::Ab12,\n}\n";
        assert_eq!(
            with_entry(source, "    cd34::Cd34,\n").unwrap(),
            "//! x\nregistry::registry! {\n    ab12::Ab12,\n    cd34::Cd34,\n}\n"
        );
        let empty = "registry::registry! {\n}\n";
        assert_eq!(
            with_entry(empty, "    cd34::Cd34,\n").unwrap(),
            "registry::registry! {\n    cd34::Cd34,\n}\n"
        );
    }
}
