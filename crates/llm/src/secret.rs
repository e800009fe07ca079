//! An API key, which appears in one request header and in no other output.

use std::fmt;

use crate::LlmError;

/// Looks up environment variables.
pub(crate) type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The replacement for a key in a text.
const MARK: &str = "[key]";

/// An API key that `Debug` does not print.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(String);

impl Secret {
    /// Reads the key from an environment variable.
    pub(crate) fn find(variable: &str, variables: Variables<'_>) -> Result<Self, LlmError> {
        let found = variables(variable).and_then(|text| Self::new(text.trim()));
        found.ok_or_else(|| LlmError::NoKey {
            variable: variable.to_owned(),
        })
    }

    /// Creates a key if `text` is valid in a header.
    fn new(text: &str) -> Option<Self> {
        (!text.is_empty() && text.chars().all(|letter| letter.is_ascii_graphic()))
            .then(|| Self(text.to_owned()))
    }

    /// Returns the key itself, for the header.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// Replaces the key in a text, because a server may echo it.
    pub(crate) fn hide(&self, text: &str) -> String {
        text.replace(&self.0, MARK)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MARK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_is_never_printed() {
        let key = Secret::new("sk-topsecret").unwrap();
        assert_eq!(format!("{key:?}"), "[key]");
        assert_eq!(
            key.hide("your key sk-topsecret is wrong"),
            "your key [key] is wrong"
        );
        for bad in ["", "two words", "line\nend", "clé"] {
            assert!(Secret::new(bad).is_none(), "{bad}");
        }
    }
}
