//! The generalisation gap: scores on environments that the authors of an agent have seen against
//! scores on others.
//!
//! The ARC-AGI-3 paper argues with it: with a handcrafted harness a model scores 97.1 % on a variant
//! of TR87 and 0 % on BP35, so the harness does not generalise.

use rhae_protocol::{AnalysedRun, Generalisation, GeneralisationGap, PairComparison};
use rhae_stats::{bootstrap_95, permutation_test};

use crate::{AnalysisError, CompareOptions};

/// Returns the gaps of all runs and pairs; `None` if no set is given.
pub(crate) fn generalisation(
    runs: &[AnalysedRun],
    pairs: &[PairComparison],
    options: &CompareOptions,
) -> Result<Option<Generalisation>, AnalysisError> {
    let (seen, unseen) = (&options.seen, &options.unseen);
    if seen.is_none() && unseen.is_none() {
        return Ok(None);
    }
    let known = known_ids(runs);
    let seen = seen.as_ref().map(|names| resolve(names, "--seen", &known));
    let unseen = unseen
        .as_ref()
        .map(|names| resolve(names, "--unseen", &known));
    let (seen, unseen) = (seen.transpose()?, unseen.transpose()?);
    let others = |named: &[String]| -> Vec<String> {
        known
            .iter()
            .filter(|id| !named.contains(id))
            .cloned()
            .collect()
    };
    let (seen, unseen) = match (seen, unseen) {
        (Some(seen), Some(unseen)) => (seen, unseen),
        (Some(seen), None) => (seen.clone(), others(&seen)),
        (None, Some(unseen)) => (others(&unseen), unseen),
        (None, None) => unreachable!("one of the sets is given"),
    };
    if let Some(id) = seen.iter().find(|id| unseen.contains(id)) {
        return Err(AnalysisError::Sets(format!(
            "`{id}` is both in --seen and in --unseen"
        )));
    }
    let run_gaps = runs.iter().map(|run| {
        let scores = run
            .environments
            .iter()
            .map(|one| (one.id.as_str(), one.score()));
        gap(&run.label, &scores.collect::<Vec<_>>(), &seen, &unseen)
    });
    let pair_gaps = pairs.iter().map(|pair| {
        let differences = pair.environments.iter();
        let differences = differences.map(|one| (one.id.as_str(), one.difference));
        let label = format!("{} − {}", pair.run_a, pair.run_b);
        gap(&label, &differences.collect::<Vec<_>>(), &seen, &unseen)
    });
    Ok(Some(Generalisation {
        runs: run_gaps.collect::<Result<_, _>>()?,
        pairs: pair_gaps.collect::<Result<_, _>>()?,
        seen,
        unseen,
    }))
}

fn known_ids(runs: &[AnalysedRun]) -> Vec<String> {
    let mut known: Vec<String> = Vec::new();
    for environment in runs.iter().flat_map(|run| &run.environments) {
        if !known.contains(&environment.id) {
            known.push(environment.id.clone());
        }
    }
    known
}

/// Resolves names to ids. The first four characters of an id select all its versions.
fn resolve(
    names: &[String],
    flag: &'static str,
    known: &[String],
) -> Result<Vec<String>, AnalysisError> {
    let mut ids = Vec::new();
    for name in names {
        let matches = |id: &&String| {
            *id == name || id.split_once('-').is_some_and(|(family, _)| family == name)
        };
        let found: Vec<&String> = known.iter().filter(matches).collect();
        if found.is_empty() {
            return Err(AnalysisError::UnknownEnvironment {
                name: name.clone(),
                flag,
                known: known.join(", "),
            });
        }
        ids.extend(found.into_iter().cloned());
    }
    ids.sort();
    ids.dedup();
    Ok(ids)
}

fn gap(
    label: &str,
    scores: &[(&str, f64)],
    seen: &[String],
    unseen: &[String],
) -> Result<GeneralisationGap, AnalysisError> {
    let of = |ids: &[String]| -> Vec<f64> {
        let named = scores
            .iter()
            .filter(|(id, _)| ids.iter().any(|one| one == id));
        named.map(|&(_, score)| score).collect()
    };
    let (seen, unseen) = (of(seen), of(unseen));
    let empty = || {
        AnalysisError::Sets(format!(
            "{label} has {} seen and {} unseen environments; both sets need at least one",
            seen.len(),
            unseen.len()
        ))
    };
    let test = permutation_test(&seen, &unseen).ok_or_else(empty)?;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let interval = |values: &[f64]| {
        let interval = bootstrap_95(values).ok_or_else(empty)?;
        Ok::<_, AnalysisError>([interval.low, interval.high])
    };
    Ok(GeneralisationGap {
        label: label.to_owned(),
        mean_seen: mean(&seen),
        interval_seen: interval(&seen)?,
        mean_unseen: mean(&unseen),
        interval_unseen: interval(&unseen)?,
        gap: test.difference,
        p: test.p,
        p_method: if test.is_exact {
            "exact-permutation".to_owned()
        } else {
            "sampled-permutation".to_owned()
        },
    })
}

#[cfg(test)]
mod tests {
    use rhae_protocol::AnalysedEnvironment;

    use super::*;

    fn run(label: &str, scores: &[(&str, f64)]) -> AnalysedRun {
        AnalysedRun {
            label: label.to_owned(),
            environments: scores
                .iter()
                .map(|&(id, score)| AnalysedEnvironment {
                    id: id.to_owned(),
                    scores: vec![score],
                    ..AnalysedEnvironment::default()
                })
                .collect(),
            ..AnalysedRun::default()
        }
    }

    fn names(names: &[&str]) -> Option<Vec<String>> {
        Some(names.iter().map(|&name| name.to_owned()).collect())
    }

    #[test]
    fn gain_on_seen_environments_that_does_not_carry_over_is_a_gap() {
        let ids = ["tr87-v1", "ab12-v1", "cd34-v1", "bp35-v1", "ef56-v1"];
        let scores = |all: [f64; 5]| -> Vec<(&str, f64)> { ids.into_iter().zip(all).collect() };
        let runs = [
            run("harness", &scores([97.1, 88.0, 0.0, 0.0, 0.0])),
            run("none", &scores([0.0; 5])),
        ];
        let pairs = [crate::difference::pair(&runs[0], &runs[1]).unwrap()];
        let options = CompareOptions {
            seen: names(&["tr87", "ab12-v1"]),
            ..CompareOptions::default()
        };
        let found = generalisation(&runs, &pairs, &options).unwrap().unwrap();
        assert_eq!(found.unseen, ["cd34-v1", "bp35-v1", "ef56-v1"]);
        // One of ten divisions.
        assert_eq!((found.runs[0].gap, found.runs[0].p), (92.55, 0.1));
        assert_eq!((found.runs[1].gap, found.runs[1].p), (0.0, 1.0));
        assert_eq!(found.pairs[0].label, "harness − none");
        assert_eq!(found.pairs[0].p, 0.1);
        assert_eq!(found.runs[0].interval_unseen, [0.0, 0.0]);
    }

    #[test]
    fn unknown_and_overlapping_names_are_rejected() {
        let runs = [run("a", &[("tr87-v1", 1.0), ("bp35-v1", 0.0)])];
        let error = |seen, unseen| {
            let options = CompareOptions {
                seen,
                unseen,
                force: false,
            };
            generalisation(&runs, &[], &options)
                .unwrap_err()
                .to_string()
        };
        assert!(error(names(&["zz99"]), None).contains("`zz99` in --seen"));
        assert!(error(names(&["tr87"]), names(&["tr87-v1"])).contains("both in --seen"));
        assert!(error(names(&["tr87", "bp35"]), None).contains("0 unseen"));
    }
}
