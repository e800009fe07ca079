//! The code of the launcher's process.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

#[cfg(target_os = "linux")]
use crate::linux::apply;
use crate::{Layers, SETUP_FAILED, SandboxSpec};

/// Runs the launcher: enters the sandbox that the arguments describe and replaces this process with
/// the program that they name.
///
/// The arguments are `--read PATH` (repeatable), `--system`, `--memory-mb N`, `--cpu-seconds N`,
/// `--partial`, and `--` followed by the program and its arguments. For tests,
/// `--max-landlock-abi N` and `--without-namespaces` imitate other systems. The function returns
/// only if it fails, with exit code 125, or if there is no program. In the latter case it prints
/// the [`Layers`] as JSON.
///
/// Where process ids can be separated, this process does not become the program. It starts the
/// program in a new process of the same process group, waits for it and ends with the same exit
/// code or signal. [`program_id`](crate::program_id) finds that process.
///
/// The layers cannot be removed again, so a process that calls this function should do nothing
/// else. A program calls it in a hidden subcommand and creates a [`Launcher`](crate::Launcher) with
/// that subcommand.
pub fn launch(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    match enter(arguments) {
        Ok(layers) => {
            println!("{}", serde_json::json!(layers));
            ExitCode::SUCCESS
        }
        Err(reason) => {
            eprintln!("cannot set up the sandbox: {reason}");
            ExitCode::from(SETUP_FAILED)
        }
    }
}

fn enter(arguments: impl IntoIterator<Item = OsString>) -> Result<Layers, String> {
    let spec = SandboxSpec::parse(arguments)?;
    let layers = apply(&spec)?;
    let missing = layers.missing();
    if !missing.is_empty() && !spec.partial && !spec.program.is_empty() {
        return Err(format!("this system lacks {}", missing.join(", ")));
    }
    let Some((program, rest)) = spec.program.split_first() else {
        return Ok(layers);
    };
    Err(format!(
        "cannot start `{}`: {}",
        program.display(),
        Command::new(program).args(rest).exec()
    ))
}

/// Systems other than Linux provide none of the layers.
#[cfg(not(target_os = "linux"))]
fn apply(_spec: &SandboxSpec) -> Result<Layers, String> {
    Ok(Layers::default())
}
