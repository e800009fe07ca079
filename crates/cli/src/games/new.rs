//! `rhae games new`: creates the skeleton of a native game.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use rhae_games::Skeleton;

use crate::output;

pub(super) fn run(id: &str) -> Result<()> {
    let skeleton = Skeleton::new(id)?;
    let root = repository()?;
    let files = skeleton.files();
    for (name, _) in &files {
        ensure!(!root.join(name).exists(), "`{name}` already exists");
    }
    let (registry, index) = (root.join(Skeleton::REGISTRY), root.join(Skeleton::INDEX));
    let registered = skeleton.register(&read(&registry)?)?;
    let indexed = skeleton.add_to_index(&read(&index)?)?;
    for (name, content) in &files {
        write(&root.join(name), content)?;
        output::print(&format!("wrote {name}"))?;
    }
    write(&registry, &registered)?;
    write(&index, &indexed)?;
    output::print("added two lines to crates/games/src/lib.rs and one to docs/games/README.md\n")?;
    output::print(&format!(
        "next: run `cargo xtask game {id} render {id}.png`, then follow \"Adding a game\" in CONTRIBUTING.md"
    ))
}

/// Returns the root of the repository that contains the working directory.
fn repository() -> Result<PathBuf> {
    let here = std::env::current_dir().context("cannot determine the working directory")?;
    let found = here
        .ancestors()
        .find(|folder| folder.join(Skeleton::REGISTRY).is_file());
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
