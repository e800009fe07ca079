//! `rhae completions`: completion scripts for shells, and man pages.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, Command};
use clap_complete::Shell;

/// Print a completion script for a shell, or write man pages.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae completions bash > ~/.local/share/bash-completion/completions/rhae
  rhae completions --man ~/.local/share/man/man1")]
pub(crate) struct CompletionsArgs {
    /// Shell that reads the script
    #[arg(required_unless_present = "man")]
    shell: Option<Shell>,
    /// Write one man page per command into this folder instead
    #[arg(long, value_name = "DIR", conflicts_with = "shell")]
    man: Option<PathBuf>,
}

/// Prints or writes what was asked for. `root` is the definition of the whole command line.
pub(crate) fn run(args: &CompletionsArgs, root: Command) -> Result<ExitCode> {
    if let Some(folder) = &args.man {
        write_man_pages(root, folder)?;
    } else if let Some(shell) = args.shell {
        io::stdout().write_all(&script(root, shell))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn script(mut root: Command, shell: Shell) -> Vec<u8> {
    let name = root.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut root, name, &mut script);
    script
}

fn write_man_pages(root: Command, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(root, folder))
        .with_context(|| format!("cannot write man pages to `{}`", folder.display()))
}
