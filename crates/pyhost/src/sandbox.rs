//! The sandbox around a game's process, in layers, and the small program that enters it.
//!
//! Rhae starts itself (or the program `rhae-sandboxed`) with an [`Order`]; that process applies every layer to itself and
//! becomes the game's interpreter, so that no line of foreign code runs outside. Each layer alone stops most of what a
//! hostile game tries; **Invariant:** without those that are required nothing is started, unless the user said so.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod syscalls;

use std::ffi::OsString;
use std::fmt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use serde::{Deserialize, Serialize};

/// The exit code of a launcher that could not set up the sandbox.
pub(crate) const REFUSED: u8 = 125;

/// Which layers hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layers {
    /// Files: the version of the kernel's Landlock interface.
    pub landlock: Option<u8>,
    /// System calls: only those on a list.
    pub seccomp: bool,
    /// User, network and IPC namespaces of its own.
    pub namespaces: bool,
    /// Limits on memory, processor time, files.
    pub limits: bool,
}

impl Layers {
    /// What is missing that a game may not be run without: files need Landlock, everything else the filter of system calls.
    pub fn missing(&self) -> Vec<&'static str> {
        let required = [
            (self.landlock.is_some(), "Landlock (files)"),
            (self.seccomp, "seccomp (network, processes)"),
            (self.limits, "resource limits (memory)"),
        ];
        required
            .into_iter()
            .filter(|(there, _)| !there)
            .map(|(_, name)| name)
            .collect()
    }
}

impl fmt::Display for Layers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let landlock = self.landlock.map(|abi| format!("Landlock {abi}"));
        let named = [
            (self.seccomp, "seccomp"),
            (self.namespaces, "namespaces"),
            (self.limits, "limits"),
        ];
        let named = named
            .into_iter()
            .filter(|(there, _)| *there)
            .map(|(_, name)| name.to_owned());
        let all: Vec<String> = landlock.into_iter().chain(named).collect();
        f.write_str(&if all.is_empty() {
            "none".to_owned()
        } else {
            all.join(", ")
        })
    }
}

/// What a launcher is to do: the sandbox, and what to become in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    /// Folders and files that may be read and executed.
    pub(crate) read: Vec<PathBuf>,
    pub(crate) memory_mb: u64,
    pub(crate) cpu_seconds: u64,
    /// Whether to go on without the layers that the system lacks.
    pub(crate) partial: bool,
    /// The program and its arguments; with none, the layers are printed.
    pub(crate) program: Vec<OsString>,
}

impl Order {
    /// The arguments that [`parse`](Self::parse) reads.
    pub(crate) fn to_arguments(&self) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = Vec::new();
        for path in &self.read {
            arguments.extend(["--read".into(), path.clone().into_os_string()]);
        }
        arguments.extend(["--memory-mb".into(), self.memory_mb.to_string().into()]);
        arguments.extend(["--cpu-seconds".into(), self.cpu_seconds.to_string().into()]);
        if self.partial {
            arguments.push("--partial".into());
        }
        arguments.push("--".into());
        arguments.extend(self.program.iter().cloned());
        arguments
    }

    fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, String> {
        let mut order = Self {
            read: Vec::new(),
            memory_mb: 0,
            cpu_seconds: 0,
            partial: false,
            program: Vec::new(),
        };
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let mut value = || {
                arguments
                    .next()
                    .ok_or_else(|| format!("`{}` needs a value", argument.display()))
            };
            let number = |value: OsString| {
                value
                    .to_str()
                    .and_then(|text| text.parse().ok())
                    .ok_or("a limit must be a number")
            };
            match argument.to_str() {
                Some("--read") => order.read.push(value()?.into()),
                Some("--memory-mb") => order.memory_mb = number(value()?)?,
                Some("--cpu-seconds") => order.cpu_seconds = number(value()?)?,
                Some("--partial") => order.partial = true,
                Some("--") => order.program = arguments.by_ref().collect(),
                _ => return Err(format!("`{}` is not understood", argument.display())),
            }
        }
        Ok(order)
    }
}

/// The whole of the launcher: enters the sandbox that the arguments describe and becomes the program that they name. Returns
/// only if that failed, or if there is no program, after printing the layers that hold as JSON.
pub fn launch(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    match enter(arguments) {
        Ok(layers) => {
            println!("{}", serde_json::json!(layers));
            ExitCode::SUCCESS
        }
        Err(reason) => {
            eprintln!("the sandbox could not be set up: {reason}");
            ExitCode::from(REFUSED)
        }
    }
}

fn enter(arguments: impl IntoIterator<Item = OsString>) -> Result<Layers, String> {
    let order = Order::parse(arguments)?;
    let layers = apply(&order);
    let missing = layers.missing();
    if !missing.is_empty() && !order.partial && !order.program.is_empty() {
        return Err(format!("this system lacks {}", missing.join(", ")));
    }
    let Some((program, rest)) = order.program.split_first() else {
        return Ok(layers);
    };
    Err(format!(
        "cannot start `{}`: {}",
        program.display(),
        Command::new(program).args(rest).exec()
    ))
}

#[cfg(target_os = "linux")]
use linux::apply;

/// Other systems offer none of the layers.
#[cfg(not(target_os = "linux"))]
fn apply(_order: &Order) -> Layers {
    Layers::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_come_back() {
        let order = Order {
            read: vec!["/usr".into(), "--read".into()],
            memory_mb: 512,
            cpu_seconds: 60,
            partial: true,
            program: vec!["python".into(), "--partial".into()],
        };
        assert_eq!(Order::parse(order.to_arguments()), Ok(order));
        assert!(
            Order::parse(["--memory-mb".into(), "much".into()])
                .unwrap_err()
                .contains("number")
        );
        assert!(
            Order::parse(["rm".into()])
                .unwrap_err()
                .contains("`rm` is not understood")
        );
    }

    #[test]
    fn what_is_required_is_named() {
        let all = Layers {
            landlock: Some(4),
            seccomp: true,
            namespaces: false,
            limits: true,
        };
        assert_eq!(
            (all.missing().len(), all.to_string().as_str()),
            (0, "Landlock 4, seccomp, limits")
        );
        assert_eq!(
            Layers {
                landlock: None,
                ..all
            }
            .missing(),
            ["Landlock (files)"]
        );
        assert_eq!(Layers::default().to_string(), "none");
    }
}
