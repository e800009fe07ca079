//! The error type of the crate. It covers data, samples, prompts and submissions, but not single
//! answers. An answer that cannot be parsed is an ordinary result, described by
//! [`ParseError`](crate::ParseError).

/// The reason why data, a prompt, a submission or a sample cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TasksError {
    /// A file has an error at a known place.
    #[error("`{file}`, {place}: {reason}")]
    File {
        /// The file name that the caller passed in.
        file: String,
        /// Line and column, or the path of the JSON value.
        place: String,
        reason: String,
    },
    /// A file is valid JSON, but in none of the known formats.
    #[error(
        "`{file}` contains no ARC tasks: expected a task with `train` and `test`, tasks by id, solutions by id, or several sets by name; found {found}"
    )]
    UnknownFormat {
        /// The file name that the caller passed in.
        file: String,
        /// A description of the content that was found.
        found: String,
    },
    /// None of the files contains a task.
    #[error("the files contain no tasks")]
    NoTasks,
    /// A set contains the same task id twice with different content.
    #[error("the task `{task}` is in `{file}` and in `{other}` with different content")]
    ConflictingTask {
        task: String,
        /// The file that was read second.
        file: String,
        /// The file that was read first.
        other: String,
    },
    /// A string is not a valid task id.
    #[error("`{0}` is not a task id: expected 1 to 64 letters, digits, `-`, `_` or `.`")]
    InvalidTaskId(String),
    /// The data set does not contain the requested task.
    #[error("there is no task `{task}` in `{set}`")]
    NoSuchTask { task: String, set: String },
    /// A test that is to be scored has no known solution.
    #[error(
        "`{set}` has no solution for test {test} of the task `{task}`, so the submission cannot be scored; load the solutions as well"
    )]
    NoSolution {
        set: String,
        task: String,
        /// The number of the test, from 1.
        test: usize,
    },
    /// The data do not allow the requested sample.
    #[error("cannot draw the sample: {0}")]
    Sample(String),
    /// Two scores cover different tests.
    #[error("cannot compare the scores: they cover different selections of tests")]
    DifferentSelections,
    /// A prompt template is invalid, or there is no built-in prompt of this name.
    #[error("invalid prompt `{name}`: {reason}")]
    Prompt { name: String, reason: String },
    /// A file is not a submission.
    #[error("`{file}` is not a submission: {reason}")]
    Submission {
        /// The file name that the caller passed in.
        file: String,
        reason: String,
    },
    /// A sample, a reference or a score belongs to another revision of the data.
    #[error("the {what} is of revision {found}, but the data are of revision {expected}")]
    Revision {
        /// The kind of object that does not match, for example `sample`.
        what: &'static str,
        found: String,
        expected: String,
    },
}

impl TasksError {
    pub(crate) fn at(file: &str, place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::File {
            file: file.to_owned(),
            place: place.into(),
            reason: reason.into(),
        }
    }
}
