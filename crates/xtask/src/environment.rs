//! Checks that every environment variable that the product reads is documented.
//!
//! `docs/reference/environment.md` is generated from the flags and from a list in `cli`. A variable
//! that the sources read without a flag must be in that list.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::root;

/// The file with the list of variables without a flag.
const LIST: &str = "crates/cli/src/reference.rs";
/// The calls whose first argument is the name of a variable.
const READS: [&str; 5] = [
    "env::var(\"",
    "env::var_os(\"",
    "os.getenv(\"",
    "os.environ.get(\"",
    "os.environ[\"",
];
/// Crates that are not part of the product. `xtask` sets variables for scripts, and the tests read
/// them.
const NOT_PRODUCT: [&str; 2] = ["crates/xtask", "crates/testkit"];

/// Compares the variables that the sources read with the list.
pub(crate) fn check(violations: &mut Vec<String>) -> Result<()> {
    let list = fs::read_to_string(root().join(LIST)).context(LIST)?;
    let mut files = Vec::new();
    for folder in ["crates", "python/rhae"] {
        collect(&root().join(folder), &mut files)?;
    }
    for path in files {
        let name = path.strip_prefix(root()).unwrap_or(&path).display();
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        for variable in read_variables(&text) {
            if !list.contains(&format!("name: \"{variable}\"")) {
                violations.push(format!(
                    "{name} reads `{variable}`: add it to VARIABLES in {LIST}"
                ));
            }
        }
    }
    Ok(())
}

/// Returns the source files of the product below a folder.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let is_excluded = NOT_PRODUCT.iter().any(|name| path == root().join(name));
        let is_test = path.ends_with("tests") || path.ends_with("tests.rs");
        if is_excluded || is_test {
            continue;
        }
        if path.is_dir() {
            collect(&path, files)?;
        } else if path
            .extension()
            .is_some_and(|ending| ending == "rs" || ending == "py")
        {
            files.push(path);
        }
    }
    files.sort();
    Ok(())
}

/// Returns the names of the variables that a source file reads.
fn read_variables(text: &str) -> BTreeSet<&str> {
    let names = READS.iter().flat_map(|read| text.split(read).skip(1));
    names
        .filter_map(|rest| rest.split('"').next())
        .filter(|name| {
            let is_name =
                |letter: char| letter.is_ascii_uppercase() || "_0123456789".contains(letter);
            !name.is_empty() && name.chars().all(is_name)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_found_in_rust_and_python() {
        let text = r#"
            let key = std::env::var("ARC_API_KEY").ok();
            let path = env::var_os("PATH");
            let other = std::env::var(name);
            if os.getenv("ONLY_RESET_LEVELS") == "true": pass
            command.env("RHAE_SET_ONLY", "1");
        "#;
        assert_eq!(
            read_variables(text).into_iter().collect::<Vec<_>>(),
            ["ARC_API_KEY", "ONLY_RESET_LEVELS", "PATH"]
        );
    }
}
