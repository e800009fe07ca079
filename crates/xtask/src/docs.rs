//! `cargo xtask docs`: writes or checks the generated pages of `docs/reference`.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::root;
use crate::test::{program, succeed};

const PAGES: &str = "docs/reference";

#[derive(Args)]
pub(crate) struct DocsArgs {
    /// Compare the pages with the code instead of writing them.
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(args: &DocsArgs) -> Result<()> {
    let pages = root().join(PAGES);
    let program = program()?;
    let generate = |folder: &std::path::Path| {
        // The pages must not depend on the environment of the caller.
        let mut command = Command::new(&program);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("RHAE_") {
                command.env_remove(&name);
            }
        }
        succeed(command.arg("reference").arg(folder))
    };
    if !args.check {
        return generate(&pages);
    }
    let fresh = root().join("target/reference");
    let _ = fs::remove_dir_all(&fresh);
    generate(&fresh)?;
    let (stored, generated) = (read(&pages)?, read(&fresh)?);
    let differing: Vec<&str> = generated
        .iter()
        .filter(|page| !stored.contains(page))
        .chain(stored.iter().filter(|page| !generated.contains(page)))
        .map(|(name, _)| name.as_str())
        .collect();
    ensure!(
        differing.is_empty(),
        "{PAGES} does not match the code ({}); run `cargo xtask docs` and commit the result",
        differing.join(", ")
    );
    println!("{PAGES} matches the code");
    Ok(())
}

/// Returns the names and texts of the files of a folder.
fn read(folder: &std::path::Path) -> Result<Vec<(String, String)>> {
    let mut pages = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        pages.push((name.into_owned(), fs::read_to_string(&path)?));
    }
    pages.sort();
    Ok(pages)
}
