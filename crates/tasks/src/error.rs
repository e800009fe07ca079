//! Why data cannot be used. Answers have reasons of their own: a bad answer is a result, bad data is an error.

/// Why data, a submission or a sample cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TasksError {
    /// A file has a fault at a place.
    #[error("`{file}`, {place}: {reason}")]
    File {
        /// The file's name as it was given.
        file: String,
        /// Where in it: line and column, or the way to the value.
        place: String,
        /// What is wrong there.
        reason: String,
    },
    /// A file is none of the formats that are known.
    #[error(
        "`{file}` holds no ARC tasks: expected a task with `train` and `test`, tasks by id, solutions by id, or several sets by name; found {found}"
    )]
    Unknown {
        /// The file's name as it was given.
        file: String,
        /// What it holds.
        found: String,
    },
    /// No file had a task.
    #[error("there are no tasks in what was given")]
    NoTasks,
    /// A task is there twice with different content.
    #[error("the task `{task}` is in `{file}` and, with other content, in `{other}`")]
    Twice {
        /// The task's id.
        task: String,
        /// The second file.
        file: String,
        /// The first file.
        other: String,
    },
    /// A name is no task's id.
    #[error("`{0}` is not a task's id: expected 1 to 64 letters, digits, `-`, `_` or `.`")]
    Id(String),
    /// A task is asked for that the set does not have.
    #[error("there is no task `{task}` in `{set}`")]
    NoTask {
        /// The id asked for.
        task: String,
        /// The set's name.
        set: String,
    },
    /// Nothing to compare an answer with.
    #[error(
        "`{set}` has no solution for test {test} of the task `{task}`, so nothing can be scored; give the solutions as well"
    )]
    NoSolution {
        /// The set's name.
        set: String,
        /// The task's id.
        task: String,
        /// The test, from 1.
        test: usize,
    },
    /// A sample cannot be drawn as asked.
    #[error("cannot draw the sample: {0}")]
    Sample(String),
    /// A prompt cannot be used.
    #[error("the prompt `{name}` cannot be used: {reason}")]
    Prompt {
        /// Its name.
        name: String,
        /// Why not.
        reason: String,
    },
    /// A text is not a submission.
    #[error("`{file}` is not a submission: {reason}")]
    Submission {
        /// The file's name as it was given.
        file: String,
        /// Why not.
        reason: String,
    },
    /// Two things belong to different data.
    #[error("the {what} is of revision {found}, but the data are of revision {expected}")]
    Revision {
        /// What does not fit.
        what: &'static str,
        /// Its revision.
        found: String,
        /// The data's.
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
