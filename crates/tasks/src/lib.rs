//! Static tasks of ARC-AGI-1 and ARC-AGI-2: grids, data sets, prompts, answers, scores and samples.
//!
//! A [`Task`] shows a rule with training [`Pair`]s and asks for the output of one or more
//! [`Test`]s. The crate covers every step from data files to a score:
//!
//! | step | function | main types |
//! | --- | --- | --- |
//! | read data files | [`load()`] | [`SourceFile`], [`TaskSet`], [`Task`], [`Grid`] |
//! | choose tests | [`TaskSet::all_tests`], [`sample()`] | [`Selection`], [`Manifest`] |
//! | ask a language model | [`Prompt::test`], [`Prompt::whole_task`] | [`Prompt`] |
//! | find the grid in an answer | [`parse()`], [`parse_whole_task`] | [`Parser`], [`Answer`], [`ParseError`] |
//! | read a submission | [`Submission::read`] | [`Submission`], [`Answers`], [`AttemptAnswer`] |
//! | score it | [`score()`] | [`Rules`], [`Score`], [`TestOutcome`] |
//! | compare two scores | [`compare()`] | [`Comparison`] |
//!
//! # Invariants
//!
//! - Every [`Grid`] is a rectangle of 1 to 30 rows and columns with cells from 0 to 9.
//! - [`TaskSet::revision`] depends only on task ids and grids, not on the files that hold them.
//! - The denominators of a score come from the data set, never from the submission.
//! - No input text makes a function of this crate panic.
//! - An answer that is wrong or cannot be parsed is an ordinary result ([`ParseError`],
//!   [`TestOutcome`]). Invalid data are an error ([`TasksError`]).
//!
//! The crate performs no I/O: callers pass in file names and texts. It knows nothing about
//! terminals, model providers or interactive environments. Most formats it reads and writes belong
//! to other projects (Kaggle, the official harness).
//!
//! # Examples
//!
//! Load a task, read a submission for it, and score the submission:
//!
//! ```
//! use rhae_tasks::{Rules, SourceFile, Submission, load, score};
//!
//! let data = SourceFile {
//!     name: "demo_challenges.json".to_owned(),
//!     text: r#"{"mirror01": {
//!         "train": [{"input": [[1, 0]], "output": [[0, 1]]},
//!                   {"input": [[2, 3]], "output": [[3, 2]]}],
//!         "test": [{"input": [[5, 4]], "output": [[4, 5]]}]
//!     }}"#
//!         .to_owned(),
//! };
//! let set = load(&[data])?.sets.remove(0);
//! assert_eq!(set.name, "demo");
//! assert_eq!(set.counts(), (2, 1)); // training pairs and tests
//!
//! // The second attempt is right. It is text, so the parser looks for the grid in it.
//! let answers = SourceFile {
//!     name: "submission.json".to_owned(),
//!     text: r#"{"mirror01": [{"attempt_1": [[5, 4]], "attempt_2": "I think: [[4, 5]]"}]}"#
//!         .to_owned(),
//! };
//! let submission = Submission::read(&[answers])?;
//! let score = score(&set, &set.all_tests(), &submission, Rules::default())?;
//! assert_eq!(score.mean_task_score.value, 1.0);
//! assert_eq!(score.pass_at_1.value, 0.0);
//! # Ok::<(), rhae_tasks::TasksError>(())
//! ```

mod answer;
mod compare;
mod error;
mod grid;
mod json;
mod load;
mod prompt;
mod protocol;
mod recolor;
mod report;
mod sample;
mod score;
mod set;
mod share_interval;
mod submission;
mod task;

pub use answer::{
    Answer, AnswerSource, MAX_ANSWER_BYTES, ParseError, Parser, UnknownParser, parse,
    parse_whole_task,
};
pub use compare::{Comparison, Difference, McNemar, compare};
pub use error::TasksError;
pub use grid::{CellRule, Grid, GridError, MAX_GRID_SIDE};
pub use load::{FETCH_RECORD_FORMAT, Loaded, SourceFile, load};
pub use prompt::{PROMPTS, Prompt};
pub use protocol::{Protocol, UnknownProtocol};
pub use report::{
    AnswerReport, ComparisonReport, DataReport, ScoreReport, SetSummary, SubmissionReport, average,
    check_submission,
};
pub use sample::{MANIFEST_FORMAT, Manifest, NejumiRule, Reference, SampledTest, sample};
pub use score::{
    FailureShare, Measure, Rules, Score, TaskScore, TestOutcome, TestScore, Warning, score,
};
pub use set::{Selection, TaskSet};
pub use share_interval::{Interval, IntervalKind};
pub use submission::{Answers, AttemptAnswer, Submission, SubmissionForm, TestAnswers};
pub use task::{Pair, Task, TaskId, Test};
