//! The static tasks of ARC-AGI-1 and ARC-AGI-2: grids, data sets, answers, scores, samples.
//!
//! Names and texts go in, values come out. Loading detects a file's format by its content ([`load()`]), the text of an answer
//! becomes a grid or a typed reason ([`parse`]), a submission becomes a score whose denominators come from the data set and
//! never from the submission ([`score()`]).
//!
//! What this crate deliberately does not know: folders, terminals, models, the interactive environments. The files it reads and
//! writes are those of others (Kaggle, the official harness), so their forms are here and not with our own formats.

mod answer;
mod compare;
mod error;
mod grid;
mod interval;
mod json;
mod load;
mod prompt;
mod sample;
mod score;
mod set;
mod submission;
mod task;

pub use answer::{
    Answer, How, LONGEST_ANSWER, Parser, UnknownParser, Unparsed, parse, parse_whole,
};
pub use compare::{Comparison, Difference, McNemar, compare};
pub use error::TasksError;
pub use grid::{Cells, Fault, Grid, LARGEST_SIDE};
pub use interval::{Interval, IntervalKind, clopper_pearson_95, wilson_95};
pub use load::{FETCHED_FORMAT, Loaded, SourceFile, load};
pub use prompt::{PROMPTS, Prompt};
pub use sample::{Chosen, MANIFEST_FORMAT, Manifest, NejumiRule, Reference, sample};
pub use score::{
    FailureShare, Measure, Outcome, Rules, Score, TaskScore, TestScore, Warning, score,
};
pub use set::{Selection, TaskSet};
pub use submission::{Answers, Reply, Submission, SubmissionForm, TestAnswers};
pub use task::{Pair, Task, TaskId, Test};
