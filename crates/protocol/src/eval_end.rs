//! Why a process of an evaluation ended.

use serde::{Deserialize, Serialize};

/// Why a process of an evaluation ended. The serialised form is the text.
///
/// # Examples
///
/// ```
/// use rhae_protocol::EvalEnd;
///
/// let end: EvalEnd = serde_json::from_str(r#""interrupted""#)?;
/// assert_eq!(end, EvalEnd::Interrupted);
///
/// let end = EvalEnd::from("the spend limit is reached".to_owned());
/// assert_eq!(serde_json::to_string(&end)?, r#""the spend limit is reached""#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum EvalEnd {
    /// No request was left to send.
    Finished,
    /// The user interrupted the run.
    Interrupted,
    /// A limit or an error stopped the run, for this reason.
    Stopped(String),
}

impl EvalEnd {
    const FINISHED: &'static str = "finished";
    const INTERRUPTED: &'static str = "interrupted";

    /// Returns the text that journals and messages use.
    pub fn text(&self) -> &str {
        match self {
            Self::Finished => Self::FINISHED,
            Self::Interrupted => Self::INTERRUPTED,
            Self::Stopped(reason) => reason,
        }
    }
}

impl From<String> for EvalEnd {
    fn from(text: String) -> Self {
        match text.as_str() {
            Self::FINISHED => Self::Finished,
            Self::INTERRUPTED => Self::Interrupted,
            _ => Self::Stopped(text),
        }
    }
}

impl From<EvalEnd> for String {
    fn from(end: EvalEnd) -> Self {
        match end {
            EvalEnd::Stopped(reason) => reason,
            known => known.text().to_owned(),
        }
    }
}
