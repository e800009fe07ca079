//! How the commands start cargo.

use std::process::Command;

/// Returns a cargo command with the environment that cargo has when a user starts it.
///
/// `cargo run` tells its program which package it belongs to. Build scripts that depend on such
/// variables, for example that of `ring`, would run again whenever the two ways of starting cargo
/// alternate, and everything that depends on them would be compiled again.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(env!("CARGO"));
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(describes_package) {
            command.env_remove(name);
        }
    }
    command
}

/// Returns whether `cargo run` sets the variable to describe the package.
fn describes_package(name: &str) -> bool {
    name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_the_package_are_removed_and_settings_are_kept() {
        let removed: Vec<_> = cargo()
            .get_envs()
            .filter(|(_, value)| value.is_none())
            .filter_map(|(name, _)| name.to_str().map(str::to_owned))
            .collect();
        assert!(removed.contains(&"CARGO_MANIFEST_DIR".to_owned()));
        assert!(removed.contains(&"CARGO_PKG_NAME".to_owned()));
        assert!(!describes_package("CARGO_TARGET_DIR"));
    }
}
