//! The crate `cli` is a shell: it parses flags, calls libraries and prints. Its size is limited, and
//! it defines no serialised forms, because Python and the server could not use them.

use std::fs;

use anyhow::{Context, Result};

use crate::root;

/// The subcommands that were added since the limit was 7,000 lines.
const NEW_SUBCOMMANDS: [&str; 29] = [
    "arc contamination",
    "study new",
    "study check",
    "study freeze",
    "study open",
    "study close",
    "study status",
    "study assign",
    "study exclude",
    "study baselines",
    "study report",
    "study pay",
    "study export",
    "study erase",
    "study verify",
    "study simulate",
    "board init",
    "board register",
    "board submit",
    "board verify",
    "board show",
    "board compare",
    "board plot",
    "board retract",
    "board contest",
    "board release",
    "board check",
    "board export",
    "board import",
];
/// The maximum number of lines of all source files together. A new subcommand raises the limit by
/// 200 lines.
const MAX_LINES: usize = 7_000 + 200 * NEW_SUBCOMMANDS.len();

pub(crate) fn check(violations: &mut Vec<String>) -> Result<()> {
    let mut files = Vec::new();
    crate::tidy::collect(&root().join("crates/cli/src"), &mut files)?;
    let mut lines = 0;
    for path in files {
        let name = path.strip_prefix(root()).unwrap_or(&path).display();
        let text = fs::read_to_string(&path).with_context(|| name.to_string())?;
        lines += text.lines().count();
        if defines_serialised_form(&text) {
            violations.push(format!(
                "{name} derives `Serialize`: define serialised forms in `protocol` or beside the domain type"
            ));
        }
    }
    if lines > MAX_LINES {
        violations.push(format!(
            "crates/cli/src has {lines} lines, more than {MAX_LINES}: move logic to a library"
        ));
    }
    Ok(())
}

/// Returns whether a `derive` attribute, possibly over several lines, contains `Serialize`.
fn defines_serialised_form(text: &str) -> bool {
    text.split("derive(").skip(1).any(|rest| {
        let traits = rest.split(')').next().unwrap_or_default();
        traits
            .split(|letter: char| !letter.is_alphanumeric())
            .any(|name| name == "Serialize")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_serialisation_is_found() {
        assert!(defines_serialised_form(
            "#[derive(Clone, Serialize)]\nstruct A;"
        ));
        assert!(defines_serialised_form(
            "#[derive(\n    Clone,\n    serde::Serialize,\n)]\nstruct A;"
        ));
        assert!(!defines_serialised_form(
            "#[derive(Clone, Deserialize)]\nstruct A;"
        ));
        assert!(!defines_serialised_form("use serde::Serialize;"));
    }
}
