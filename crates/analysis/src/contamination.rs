//! Looks for knowledge in the transcripts of a model that its prompt did not give.
//!
//! A model that names the colours of integers as ARC-AGI does, or names the data set or a task,
//! has seen the data before (section 1.3.3 of the ARC-AGI-3 paper). A transcript is flagged if
//!
//! * it attaches so many colour names to the right integers that a shuffled mapping would do so with
//!   a probability of at most [`LEVEL`], or
//! * it contains the name of an ARC data set or the id of a task of the run.
//!
//! **Invariant:** what the prompt says is not knowledge: colour names, data set names and ids that
//! occur in it are ignored.

mod associations;
mod names;
mod palette;
mod tokens;
mod transcripts;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use rhae_protocol::{
    AnalysedRun, CONTAMINATION_VERSION, ColorAssociation, ColorProbe, ColorTest,
    ContaminationReport, KnowledgeCounts, KnowledgeExample, KnowledgeKind, RunKind, SOFTWARE,
};
use rhae_runs::describe_run;
use rhae_stats::{binomial_tail_p, clopper_pearson_95, random_matches_p};

use self::associations::{Association, associations, mapping, most_frequent};
use self::names::{dataset_names, task_ids};
use self::palette::Palette;
use self::transcripts::{Transcript, Transcripts, of_evaluation, of_plays};
use crate::{AnalysisError, CompareOptions, compare};

/// The maximum probability with which a shuffled mapping flags a transcript.
const LEVEL: f64 = 0.01;
/// The maximum number of examples of a report.
const MAX_EXAMPLES: usize = 12;
/// The number of characters around an example.
const EXCERPT_MARGIN: usize = 40;

/// Scans the transcripts of a run of `rhae arc eval` or `rhae run`.
///
/// # Errors
///
/// Returns an error if the folder is not a run, or if its journal cannot be read.
pub fn contamination(folder: &Path) -> Result<ContaminationReport, AnalysisError> {
    let is_evaluation = describe_run(folder)?.kind == RunKind::Evaluation;
    let transcripts = if is_evaluation {
        of_evaluation(folder)?
    } else {
        of_plays(folder)?
    };
    Ok(report(&transcripts))
}

/// Compares a run with the same run with permuted colours.
///
/// # Errors
///
/// Returns an error if the runs have no task in common.
pub fn color_probe(
    original: AnalysedRun,
    permuted: AnalysedRun,
    seed: u64,
) -> Result<ColorProbe, AnalysisError> {
    // The runs differ in the permutation, which is the point.
    let options = CompareOptions {
        force: true,
        ..CompareOptions::default()
    };
    let run_id = permuted.run_id.clone();
    let comparison = compare(vec![original, permuted], &options)?;
    let pair = comparison.pair.ok_or(AnalysisError::TooFewRuns(1))?;
    Ok(ColorProbe {
        run_id,
        seed,
        tasks: pair.environments.len(),
        original: pair.mean_a,
        permuted: pair.mean_b,
        difference: pair.mean_a - pair.mean_b,
        interval: pair.interval,
        interval_method: pair.interval_method,
        p: pair.p,
    })
}

/// What one transcript knows.
struct Knowledge {
    /// The integer that the transcript attaches to each colour.
    mapping: BTreeMap<u32, u32>,
    /// The exact probability that a shuffled mapping has as many right colours.
    p: f64,
    associations: Vec<Association>,
    datasets: Vec<Range<usize>>,
    ids: Vec<Range<usize>>,
}

impl Knowledge {
    fn of(text: &str, given: &str, ids: &BTreeSet<&str>, palette: Palette) -> Self {
        let said: BTreeSet<u32> = words(given)
            .iter()
            .filter_map(|word| palette.value(word))
            .collect();
        let mut associations = associations(text, palette);
        associations.retain(|one| !said.contains(&one.color));
        let mapping = mapping(&associations);
        Self {
            p: matches_p(&mapping, palette),
            mapping,
            associations,
            datasets: dataset_names(text, given),
            ids: task_ids(text, given, ids),
        }
    }

    fn knows_colors(&self) -> bool {
        self.p <= LEVEL
    }

    fn is_flagged(&self) -> bool {
        self.knows_colors() || !self.datasets.is_empty() || !self.ids.is_empty()
    }

    /// Returns the places of the knowledge, the most telling kind first.
    fn places(&self) -> impl Iterator<Item = (KnowledgeKind, &Range<usize>)> {
        let right = self
            .associations
            .iter()
            .filter(|one| one.color == one.value);
        let ids = self.ids.iter().map(|range| (KnowledgeKind::TaskId, range));
        let datasets = self.datasets.iter();
        ids.chain(datasets.map(|range| (KnowledgeKind::Dataset, range)))
            .chain(right.map(|one| (KnowledgeKind::Color, &one.range)))
    }
}

fn right(mapping: &BTreeMap<u32, u32>) -> usize {
    mapping
        .iter()
        .filter(|(color, value)| color == value)
        .count()
}

fn matches_p(mapping: &BTreeMap<u32, u32>, palette: Palette) -> f64 {
    random_matches_p(right(mapping) as u64, mapping.len() as u64, palette.count())
}

/// Returns the words of a text in lower case, and each pair of words that follow each other.
fn words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let single: Vec<&str> = lower
        .split(|letter: char| !letter.is_alphabetic())
        .filter(|word| !word.is_empty())
        .collect();
    let pairs = single.windows(2).map(|pair| pair.join(" "));
    let all = single.iter().map(|word| (*word).to_owned());
    all.chain(pairs).collect()
}

fn report(run: &Transcripts) -> ContaminationReport {
    let ids: BTreeSet<&str> = run.task_ids.iter().map(String::as_str).collect();
    let scanned: Vec<(&Transcript, Knowledge)> = run
        .all
        .iter()
        .map(|one| {
            let knowledge = Knowledge::of(&one.text, &run.given, &ids, run.palette);
            (one, knowledge)
        })
        .collect();
    let count = |holds: fn(&Knowledge) -> bool| {
        scanned
            .iter()
            .filter(|(_, knowledge)| holds(knowledge))
            .count()
    };
    let flagged = count(Knowledge::is_flagged);
    let transcripts = scanned.len();
    let interval = clopper_pearson_95(flagged as u64, transcripts as u64);
    let by_knowledge = KnowledgeCounts {
        colors: count(Knowledge::knows_colors),
        datasets: count(|one| !one.datasets.is_empty()),
        task_ids: count(|one| !one.ids.is_empty()),
    };
    ContaminationReport {
        version: CONTAMINATION_VERSION,
        software: SOFTWARE.to_owned(),
        run_id: run.run_id.clone(),
        agent: run.agent.clone(),
        palette: run.palette.name().to_owned(),
        transcripts,
        without_text: run.without_text,
        flagged,
        rate: flagged as f64 / transcripts.max(1) as f64,
        rate_interval: [interval.low, interval.high],
        by_knowledge,
        colors: color_test(&scanned, by_knowledge.colors, run.palette),
        examples: examples(&scanned),
        notes: run.notes.clone(),
        probe: None,
    }
}

fn color_test(scanned: &[(&Transcript, Knowledge)], flagged: usize, palette: Palette) -> ColorTest {
    let mut counts: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    let mappings = || scanned.iter().map(|(_, knowledge)| &knowledge.mapping);
    for (&color, &value) in mappings().flatten() {
        *counts.entry((color, value)).or_default() += 1;
    }
    let usual = most_frequent(&counts);
    let one_mapping = usual.iter().map(|(&color, &(value, _))| (color, value));
    let with_names = mappings().filter(|mapping| !mapping.is_empty()).count();
    ColorTest {
        named: mappings().map(BTreeMap::len).sum(),
        right: mappings().map(right).sum(),
        p_one_mapping: matches_p(&one_mapping.collect(), palette),
        p_binomial: binomial_tail_p(flagged as u64, with_names as u64, LEVEL),
        mapping: usual
            .into_iter()
            .map(|(color, (value, transcripts))| ColorAssociation {
                color: palette.usual_name(color).to_owned(),
                value,
                right: color == value,
                transcripts,
            })
            .collect(),
    }
}

/// Returns one example from each of the first transcripts with knowledge, flagged ones first.
fn examples(scanned: &[(&Transcript, Knowledge)]) -> Vec<KnowledgeExample> {
    let example = |(transcript, knowledge): &(&Transcript, Knowledge)| {
        let (kind, range) = knowledge.places().next()?;
        Some(KnowledgeExample {
            transcript: transcript.name.clone(),
            kind,
            excerpt: excerpt(&transcript.text, range),
            p: (kind == KnowledgeKind::Color).then_some(knowledge.p),
        })
    };
    let (flagged, others): (Vec<_>, Vec<_>) = scanned
        .iter()
        .partition(|(_, knowledge)| knowledge.is_flagged());
    let all = flagged.into_iter().chain(others);
    all.filter_map(example).take(MAX_EXAMPLES).collect()
}

/// Returns the text around a range on one line.
fn excerpt(text: &str, range: &Range<usize>) -> String {
    let start = text[..range.start]
        .char_indices()
        .rev()
        .take(EXCERPT_MARGIN)
        .last()
        .map_or(range.start, |(at, _)| at);
    let end = text[range.end..]
        .char_indices()
        .take(EXCERPT_MARGIN)
        .last()
        .map_or(range.end, |(at, letter)| range.end + at + letter.len_utf8());
    let words: Vec<&str> = text[start..end].split_whitespace().collect();
    words.join(" ")
}

#[cfg(test)]
mod tests;
