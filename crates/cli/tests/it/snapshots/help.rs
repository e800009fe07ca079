//! The help of every command.

use super::{Kind, commands, pin, snapshot_name};

#[test]
fn help_of_every_command() {
    for command in commands::all() {
        let description = format!("rhae {} --help", command.path);
        pin(
            Kind::Help,
            &name(&command.path),
            &description.replace("  ", " "),
            &command.help,
        );
    }
}

/// Returns the name of a command's help snapshot. The name for the top-level command is `rhae`.
pub(super) fn name(path: &str) -> String {
    if path.is_empty() {
        "rhae".to_owned()
    } else {
        snapshot_name(path, "")
    }
}
