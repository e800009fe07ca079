//! `rhae games new`: creates the skeleton of a native game.
//!
//! The skeleton is a small, complete game with two levels that builds and passes the test suite
//! unchanged. Its files are templates in which `zz99` stands for the id.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::output;

/// The four-letter keywords of Rust. They have the form of an id, but cannot be module names.
const KEYWORDS: [&str; 9] = [
    "else", "enum", "impl", "loop", "move", "priv", "self", "true", "type",
];

const RULES: &str = include_str!("template/rules.rs.txt");
const LEVELS: &str = include_str!("template/levels.rs.txt");
const SOLUTIONS: &str = include_str!("template/solutions.txt");
const PAGE: &str = include_str!("template/page.md.txt");
const PLAYTHROUGH: &str = include_str!("template/playthrough.txt");

pub(super) fn run(id: &str) -> Result<()> {
    let well_formed = id.len() == 4
        && id
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    ensure!(
        well_formed && !id.as_bytes()[0].is_ascii_digit(),
        "`{id}` is not a valid id: expected a lower-case letter and three lower-case letters or digits"
    );
    ensure!(
        !KEYWORDS.contains(&id),
        "`{id}` is a keyword of Rust and cannot be the name of a module; choose another id"
    );
    ensure!(
        rhae_games::find(id).is_err(),
        "the environment `{id}` already exists"
    );
    let root = repository()?;
    let type_name = format!("{}{}", id[..1].to_ascii_uppercase(), &id[1..]);
    let filled = |template: &str| template.replace("Zz99", &type_name).replace("zz99", id);
    let files = [
        (format!("crates/games/src/{id}.rs"), filled(RULES)),
        (format!("crates/games/src/{id}/levels.rs"), filled(LEVELS)),
        (
            format!("crates/games/src/{id}/solutions.txt"),
            filled(SOLUTIONS),
        ),
        (format!("docs/games/{id}.md"), filled(PAGE)),
        (
            format!("crates/games/tests/it/playthroughs/{id}.txt"),
            filled(PLAYTHROUGH),
        ),
    ];
    for (name, _) in &files {
        ensure!(!root.join(name).exists(), "`{name}` already exists");
    }
    let registry = root.join("crates/games/src/lib.rs");
    let declared = with_module(&read(&registry)?, id)?;
    let listed = with_entry(&declared, &format!("    {id}::{type_name},\n"))?;
    let index = root.join("docs/games/README.md");
    let indexed = with_row(&read(&index)?, &format!("| [{id}]({id}.md) | keys | |\n"))?;
    for (name, content) in &files {
        write(&root.join(name), content)?;
        output::print(&format!("wrote {name}"))?;
    }
    write(&registry, &listed)?;
    write(&index, &indexed)?;
    output::print("added two lines to crates/games/src/lib.rs and one to docs/games/README.md\n")?;
    output::print(&format!(
        "next: run `cargo xtask game {id} render {id}.png`, then follow \"Adding a game\" in CONTRIBUTING.md"
    ))
}

/// Inserts `mod id;` into the registry's source, in alphabetical order.
fn with_module(source: &str, id: &str) -> Result<String> {
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
    let position = position.context("crates/games/src/lib.rs declares no module")?;
    Ok(format!(
        "{}{line}{}",
        &source[..position],
        &source[position..]
    ))
}

/// Appends an entry to the list in the registry's source.
fn with_entry(source: &str, entry: &str) -> Result<String> {
    let list = source
        .find("registry::registry! {")
        .context("crates/games/src/lib.rs has no `registry!` list")?;
    let end = list
        + source[list..]
            .find("\n}")
            .context("the `registry!` list in crates/games/src/lib.rs has no closing brace")?
        + 1;
    Ok(format!("{}{entry}{}", &source[..end], &source[end..]))
}

/// Appends a row to the table of games in the index.
fn with_row(index: &str, row: &str) -> Result<String> {
    let last = index
        .rfind("\n| [")
        .context("docs/games/README.md has no table of games")?
        + 1;
    let end = last
        + index[last..]
            .find('\n')
            .context("the last row of the table in docs/games/README.md has no line end")?
        + 1;
    Ok(format!("{}{row}{}", &index[..end], &index[end..]))
}

/// Returns the root of the repository that contains the working directory.
fn repository() -> Result<PathBuf> {
    let here = std::env::current_dir().context("cannot determine the working directory")?;
    let found = here
        .ancestors()
        .find(|folder| folder.join("crates/games/src/lib.rs").is_file());
    found
        .map(Path::to_owned)
        .context("this is not a checkout of Rhae; a native game is part of its source, so run this command inside a checkout")
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))
}

fn write(path: &Path, content: &str) -> Result<()> {
    let parent = path.parent().context("the path has no parent folder")?;
    fs::create_dir_all(parent)
        .and_then(|()| fs::write(path, content))
        .with_context(|| format!("cannot write `{}`", path.display()))
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
