//! A key. It goes into one header and nowhere else.

use std::fmt;

use crate::LlmError;

/// Looks up environment variables.
pub(crate) type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

/// What stands where a key was.
const MARK: &str = "[key]";

/// A key that cannot be printed.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(String);

impl Secret {
    /// The key in an environment variable, which is looked up by `variables`.
    pub(crate) fn find(variable: &str, variables: Variables<'_>) -> Result<Self, LlmError> {
        let found = variables(variable).and_then(|text| Self::new(text.trim()));
        found.ok_or_else(|| LlmError::NoKey {
            variable: variable.to_owned(),
        })
    }

    /// A key that a header can carry.
    fn new(text: &str) -> Option<Self> {
        (!text.is_empty() && text.chars().all(|letter| letter.is_ascii_graphic()))
            .then(|| Self(text.to_owned()))
    }

    /// The key itself, for the header.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// A text from outside without the key, which a server may repeat.
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
    fn a_key_is_never_printed() {
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
