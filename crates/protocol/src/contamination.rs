//! The report of a contamination probe: knowledge in transcripts that the prompt did not give.

use serde::{Deserialize, Serialize};

/// The version of [`ContaminationReport`].
pub const CONTAMINATION_VERSION: u32 = 1;

/// The result of `rhae arc contamination`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContaminationReport {
    /// The version of this form, see [`CONTAMINATION_VERSION`].
    pub version: u32,
    pub software: String,
    pub run_id: String,
    /// The agent or solver.
    pub agent: String,
    /// The mapping of integers to colours that was looked for: `arc-agi-1` (also that of ARC-AGI-2)
    /// or `arc-agi-3`.
    pub palette: String,
    /// The number of transcripts: replies to static tasks, or plays.
    pub transcripts: usize,
    /// The number of replies or plays without any text, which are not transcripts.
    pub without_text: usize,
    /// The number of transcripts with knowledge that the prompt did not give.
    pub flagged: usize,
    /// The share of flagged transcripts.
    pub rate: f64,
    /// The 95 % Clopper-Pearson interval of the share.
    pub rate_interval: [f64; 2],
    /// The number of transcripts flagged for each kind of knowledge.
    pub by_knowledge: KnowledgeCounts,
    pub colors: ColorTest,
    pub examples: Vec<KnowledgeExample>,
    /// Limits of this report, such as an unknown prompt.
    pub notes: Vec<String>,
    /// The comparison with permuted colours, if it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<ColorProbe>,
}

/// The number of transcripts with each kind of knowledge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnowledgeCounts {
    /// Colour names attached to the right integers, significantly often.
    pub colors: usize,
    /// Names of ARC data sets.
    pub datasets: usize,
    /// Ids of tasks.
    pub task_ids: usize,
}

/// Colour names that transcripts attach to integers, compared with shuffled mappings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ColorTest {
    /// The number of colours that transcripts attach to an integer, summed over transcripts.
    pub named: usize,
    /// The number of those that are right.
    pub right: usize,
    /// The integer that most transcripts attach to each colour.
    pub mapping: Vec<ColorAssociation>,
    /// The exact probability of at least as many right colours in `mapping` if it were shuffled. It
    /// holds even if the model uses one mapping in all transcripts.
    pub p_one_mapping: f64,
    /// The exact binomial probability of at least as many flagged transcripts, if each used its own
    /// shuffled mapping.
    pub p_binomial: f64,
}

/// A colour and the integer that most transcripts attach to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColorAssociation {
    pub color: String,
    pub value: u32,
    pub right: bool,
    /// The number of transcripts with this association.
    pub transcripts: usize,
}

/// A kind of knowledge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KnowledgeKind {
    Color,
    Dataset,
    TaskId,
}

impl KnowledgeKind {
    /// Returns the name in files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Color => "color",
            Self::Dataset => "dataset",
            Self::TaskId => "task-id",
        }
    }
}

/// Knowledge in one transcript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KnowledgeExample {
    /// The request or play.
    pub transcript: String,
    pub kind: KnowledgeKind,
    /// The text around the knowledge.
    pub excerpt: String,
    /// For colours, the exact probability that a shuffled mapping has as many right colours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
}

/// The scores of a run and of the same run with permuted colours, paired by task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColorProbe {
    /// The run with permuted colours.
    pub run_id: String,
    /// The seed of the permutations.
    pub seed: u64,
    /// The number of tasks.
    pub tasks: usize,
    /// The mean scores, in percent.
    pub original: f64,
    pub permuted: f64,
    /// The original minus the permuted score, in percentage points.
    pub difference: f64,
    /// The 95 % bootstrap interval of the difference.
    pub interval: [f64; 2],
    pub interval_method: String,
    /// The exact sign-flip test over tasks.
    pub p: f64,
}
