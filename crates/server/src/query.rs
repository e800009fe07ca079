//! Parameters in the query of an address, whose values are ids and numbers without escapes.

/// Returns the value of a parameter.
pub(crate) fn parameter<'a>(query: Option<&'a str>, name: &str) -> Option<&'a str> {
    let mut pairs = query?.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find_map(|(key, value)| (key == name).then_some(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameter_is_found_by_its_whole_name() {
        let query = Some("after=3&language=de&empty=");
        assert_eq!(parameter(query, "language"), Some("de"));
        assert_eq!(parameter(query, "lang"), None);
        assert_eq!(parameter(query, "empty"), Some(""));
        assert_eq!(parameter(None, "after"), None);
    }
}
