//! Whether runs are comparable: the same method, budget, environment versions and baselines.

use rhae_protocol::{AnalysedEnvironment, AnalysedLevel, AnalysedRun, RunKind};

/// Returns one sentence for each difference between runs that makes their scores incomparable; empty
/// if they are comparable. Every run is compared with the first.
pub fn differences(runs: &[AnalysedRun]) -> Vec<String> {
    let Some((first, others)) = runs.split_first() else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for other in others {
        let mut differ = |what: &str, one: &str, two: &str| {
            if one != two {
                found.push(format!(
                    "{what}: {one} in `{}`, {two} in `{}`",
                    first.label, other.label
                ));
            }
        };
        differ("kind of run", first.kind.name(), other.kind.name());
        let method = if is_evaluation(first) {
            "protocol"
        } else {
            "scoring method"
        };
        differ(method, &first.method, &other.method);
        differ("budget", text(&first.budget), text(&other.budget));
        let seed = |run: &AnalysedRun| run.env_seed.unwrap_or(0).to_string();
        differ("environment seed", &seed(first), &seed(other));
        for (one, two) in common(first, other) {
            differ("environment version", &one.id, &two.id);
            let revision =
                |environment: &AnalysedEnvironment| short(text(&environment.revision)).to_owned();
            if one.id == two.id {
                let what = if is_evaluation(first) {
                    "revision of the task set".to_owned()
                } else {
                    format!("source of {}", one.id)
                };
                differ(&what, &revision(one), &revision(two));
                differ(
                    &format!("baselines of {}", one.id),
                    &baselines(one),
                    &baselines(two),
                );
            }
        }
    }
    // All tasks of a set have its revision.
    found.dedup();
    found
}

/// Returns the environments that two runs have in common, in the order of the first. Versions of one
/// environment belong together; [`differences`] reports them.
pub(crate) fn common<'a>(
    first: &'a AnalysedRun,
    second: &'a AnalysedRun,
) -> Vec<(&'a AnalysedEnvironment, &'a AnalysedEnvironment)> {
    let find = |one: &AnalysedEnvironment| {
        let exact = second.environments.iter().find(|two| two.id == one.id);
        exact.or_else(|| {
            let mut versions = second
                .environments
                .iter()
                .filter(|two| family(second, &two.id) == family(first, &one.id));
            versions.next().filter(|_| versions.next().is_none())
        })
    };
    first
        .environments
        .iter()
        .filter_map(|one| Some((one, find(one)?)))
        .collect()
}

/// Returns the id of an environment without its version, or the id of a task.
fn family<'a>(run: &AnalysedRun, id: &'a str) -> &'a str {
    if is_evaluation(run) {
        return id;
    }
    id.split_once('-').map_or(id, |(family, _)| family)
}

pub(crate) fn is_evaluation(run: &AnalysedRun) -> bool {
    run.kind == RunKind::Evaluation
}

/// Returns the baselines of all levels with their sources, which are mostly the same.
fn baselines(environment: &AnalysedEnvironment) -> String {
    let actions = |level: &AnalysedLevel| {
        let actions = level.baseline.map(|actions| actions.to_string());
        actions.unwrap_or_else(|| "none".to_owned())
    };
    let all: Vec<String> = environment.levels.iter().map(actions).collect();
    let mut sources: Vec<&str> = environment
        .levels
        .iter()
        .filter_map(|level| level.source.as_deref())
        .collect();
    sources.dedup();
    format!("{} ({})", all.join(", "), sources.join(", "))
}

fn text(value: &Option<String>) -> &str {
    value.as_deref().unwrap_or("none")
}

/// Shortens a digest.
fn short(digest: &str) -> &str {
    digest.get(..12).unwrap_or(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(label: &str, ids: &[&str]) -> AnalysedRun {
        let level = AnalysedLevel {
            baseline: Some(20),
            source: Some("solver".to_owned()),
            ..AnalysedLevel::default()
        };
        let environment = |id: &&str| AnalysedEnvironment {
            id: (*id).to_owned(),
            levels: vec![level.clone()],
            ..AnalysedEnvironment::default()
        };
        AnalysedRun {
            label: label.to_owned(),
            kind: RunKind::Plays,
            method: "docs-2026-04".to_owned(),
            budget: Some("5x".to_owned()),
            env_seed: Some(0),
            environments: ids.iter().map(environment).collect(),
            ..AnalysedRun::default()
        }
    }

    #[test]
    fn equal_settings_are_comparable_whatever_the_environments() {
        let runs = [run("a", &["aa11-v1", "bb22-v1"]), run("b", &["bb22-v1"])];
        assert_eq!(differences(&runs), [""; 0]);
        assert_eq!(common(&runs[0], &runs[1]).len(), 1);
    }

    #[test]
    fn each_setting_that_determines_scores_is_reported() {
        let first = run("a", &["aa11-v1"]);
        let check = |change: fn(&mut AnalysedRun), expected: &str| {
            let mut other = run("b", &["aa11-v1"]);
            change(&mut other);
            assert_eq!(differences(&[first.clone(), other]), [expected]);
        };
        check(
            |run| run.method = "draft-2025".to_owned(),
            "scoring method: docs-2026-04 in `a`, draft-2025 in `b`",
        );
        check(|run| run.budget = None, "budget: 5x in `a`, none in `b`");
        check(
            |run| run.env_seed = Some(3),
            "environment seed: 0 in `a`, 3 in `b`",
        );
        check(
            |run| run.environments[0].id = "aa11-v2".to_owned(),
            "environment version: aa11-v1 in `a`, aa11-v2 in `b`",
        );
        check(
            |run| run.environments[0].revision = Some("0123456789abcdef".to_owned()),
            "source of aa11-v1: none in `a`, 0123456789ab in `b`",
        );
        check(
            |run| run.environments[0].levels[0].baseline = Some(21),
            "baselines of aa11-v1: 20 (solver) in `a`, 21 (solver) in `b`",
        );
        check(
            |run| run.environments[0].levels[0].source = Some("humans".to_owned()),
            "baselines of aa11-v1: 20 (solver) in `a`, 20 (humans) in `b`",
        );
    }
}
