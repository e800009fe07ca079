//! `rhae games new`: the skeleton of an environment.
//!
//! The skeleton is a real, small game with two levels that builds and passes the suite as it stands. Its files are templates
//! in which `zz99` stands for the id.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::output;

/// Words of the language with four letters.
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
        "`{id}` is not an id: expected a lower-case letter and three lower-case letters or digits"
    );
    ensure!(
        !KEYWORDS.contains(&id),
        "`{id}` is a word of the Rust language, so no module can have that name"
    );
    ensure!(
        rhae_games::find(id).is_err(),
        "there is an environment `{id}` already"
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
        ensure!(!root.join(name).exists(), "`{name}` exists already");
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
        "next: `cargo xtask game {id} render {id}.png`, then CONTRIBUTING.md, \"Adding a game\""
    ))
}

/// Adds `mod id;` to the registry's source, at its place in the alphabetical list of modules.
fn with_module(source: &str, id: &str) -> Result<String> {
    let line = format!("mod {id};\n");
    let mut place = None;
    let mut offset = 0;
    for existing in source.split_inclusive('\n') {
        if existing.starts_with("mod ") {
            if existing > line.as_str() {
                place = Some(offset);
                break;
            }
            place = Some(offset + existing.len());
        }
        offset += existing.len();
    }
    let place = place.context("crates/games/src/lib.rs declares no module")?;
    Ok(format!("{}{line}{}", &source[..place], &source[place..]))
}

/// The registry's source with one more entry at the end of its list.
fn with_entry(source: &str, entry: &str) -> Result<String> {
    let list = source
        .find("registry::registry! {")
        .context("crates/games/src/lib.rs has no registry")?;
    let end = list
        + source[list..]
            .find("\n}")
            .context("the registry in crates/games/src/lib.rs does not end")?
        + 1;
    Ok(format!("{}{entry}{}", &source[..end], &source[end..]))
}

/// The index of games with one more row at the end of its table.
fn with_row(index: &str, row: &str) -> Result<String> {
    let last = index
        .rfind("\n| [")
        .context("docs/games/README.md has no table of games")?
        + 1;
    let end = last
        + index[last..]
            .find('\n')
            .context("the table in docs/games/README.md does not end")?
        + 1;
    Ok(format!("{}{row}{}", &index[..end], &index[end..]))
}

/// The repository that holds the working directory.
fn repository() -> Result<PathBuf> {
    let here = std::env::current_dir().context("cannot tell the working directory")?;
    let found = here
        .ancestors()
        .find(|folder| folder.join("crates/games/src/lib.rs").is_file());
    found
        .map(Path::to_owned)
        .context("this is not a checkout of Rhae: an environment is written into its source, so run this inside one")
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))
}

fn write(path: &Path, content: &str) -> Result<()> {
    let parent = path.parent().context("every file has a folder")?;
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
    fn an_entry_goes_to_the_end_of_the_list() {
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
