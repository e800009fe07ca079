//! Checks the YAML files of `.github`: their syntax, and rules for the workflows that GitHub itself
//! does not enforce.
//!
//! The workflows run only on GitHub, so an error in them would otherwise be found after a merge.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use yaml_rust2::{Yaml, YamlLoader};

use crate::root;

/// Checks every YAML file below `.github`.
pub(crate) fn check(violations: &mut Vec<String>) -> Result<()> {
    let folder = root().join(".github");
    let mut files = Vec::new();
    collect(&folder, &mut files)?;
    for path in files {
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let is_workflow = path.parent().is_some_and(|at| at.ends_with("workflows"));
        let name = path.strip_prefix(root()).unwrap_or(&path).display();
        let found = problems(&text, is_workflow);
        violations.extend(
            found
                .into_iter()
                .map(|problem| format!("{name}: {problem}")),
        );
    }
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path
            .extension()
            .is_some_and(|ending| ending == "yml" || ending == "yaml")
        {
            files.push(path);
        }
    }
    files.sort();
    Ok(())
}

/// Returns the problems of one file.
fn problems(text: &str, is_workflow: bool) -> Vec<String> {
    let documents = match YamlLoader::load_from_str(text) {
        Ok(documents) => documents,
        Err(error) => return vec![format!("invalid YAML: {error}")],
    };
    match documents.as_slice() {
        [document] if is_workflow => workflow_problems(document),
        [document] if document.as_hash().is_some() => Vec::new(),
        _ => vec!["expected one mapping".to_owned()],
    }
}

fn workflow_problems(workflow: &Yaml) -> Vec<String> {
    let mut problems = Vec::new();
    for key in ["name", "on", "permissions", "jobs"] {
        if workflow[key].is_badvalue() {
            problems.push(format!("the workflow has no `{key}`"));
        }
    }
    let jobs = workflow["jobs"].as_hash();
    for (id, job) in jobs.into_iter().flatten() {
        let id = id.as_str().unwrap_or_default();
        for key in ["runs-on", "timeout-minutes", "steps"] {
            if job[key].is_badvalue() {
                problems.push(format!("job `{id}` has no `{key}`"));
            }
        }
        for needed in strings(&job["needs"]) {
            if workflow["jobs"][needed].is_badvalue() {
                problems.push(format!("job `{id}` needs `{needed}`, which does not exist"));
            }
        }
        for step in job["steps"].as_vec().into_iter().flatten() {
            if step["uses"].is_badvalue() == step["run"].is_badvalue() {
                problems.push(format!("a step of job `{id}` needs either `uses` or `run`"));
            }
            if let Some(action) = step["uses"].as_str()
                && !names_major_version(action)
            {
                problems.push(format!(
                    "`{action}` must name a major version, such as `@v4`"
                ));
            }
        }
    }
    problems
}

/// Returns the text or the texts of a value that may be one string or a list of strings.
fn strings(value: &Yaml) -> Vec<&str> {
    value
        .as_str()
        .into_iter()
        .chain(
            value
                .as_vec()
                .into_iter()
                .flatten()
                .filter_map(Yaml::as_str),
        )
        .collect()
}

fn names_major_version(action: &str) -> bool {
    action
        .rsplit_once("@v")
        .is_some_and(|(name, version)| name.contains('/') && version.parse::<u32>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALID: &str = "
name: CI
on: push
permissions: { contents: read }
jobs:
  build:
    runs-on: ubuntu-24.04
    timeout-minutes: 10
    steps:
      - uses: actions/checkout@v4
      - run: cargo build
  publish:
    needs: [build]
    runs-on: ubuntu-24.04
    timeout-minutes: 10
    steps:
      - run: 'true'
";

    #[test]
    fn valid_workflow_has_no_problems() {
        assert_eq!(problems(VALID, true), Vec::<String>::new());
    }

    #[test]
    fn each_rule_is_checked() {
        for (from, to, problem) in [
            ("name: CI", "title: CI", "the workflow has no `name`"),
            ("jobs:", "job:", "the workflow has no `jobs`"),
            ("permissions", "permission", "no `permissions`"),
            (
                "    timeout-minutes: 10\n",
                "",
                "job `build` has no `timeout-minutes`",
            ),
            ("[build]", "[test]", "job `publish` needs `test`"),
            (
                "@v4",
                "@main",
                "`actions/checkout@main` must name a major version",
            ),
            ("run: cargo build", "name: build", "either `uses` or `run`"),
            ("name: CI", "name: [CI", "invalid YAML"),
        ] {
            let found = problems(&VALID.replacen(from, to, 1), true);
            assert!(
                found.iter().any(|text| text.contains(problem)),
                "{from} → {to}: {found:?}"
            );
        }
    }

    #[test]
    fn other_files_are_mappings() {
        assert!(problems("version: 2\nupdates: []", false).is_empty());
        assert_eq!(problems("- a\n- b", false), ["expected one mapping"]);
        assert_eq!(problems("", false), ["expected one mapping"]);
    }
}
