//! The code in a reply.

use crate::fenced;

/// The info strings of blocks with code.
const LANGUAGES: [&str; 4] = ["js", "javascript", "node", "repl"];

/// Returns the blocks of code in a reply. If no block says that it is JavaScript, blocks without a
/// language count.
pub(super) fn blocks(text: &str) -> Vec<&str> {
    let all = fenced::blocks(text);
    let with = |wanted: &[&str]| -> Vec<&str> {
        let is_wanted =
            |(info, _): &&(&str, &str)| wanted.contains(&info.to_ascii_lowercase().as_str());
        all.iter()
            .filter(is_wanted)
            .map(|(_, code)| *code)
            .filter(|code| !code.trim().is_empty())
            .collect()
    };
    let named = with(&LANGUAGES);
    if named.is_empty() { with(&[""]) } else { named }
}

#[cfg(test)]
mod tests {
    use super::blocks;

    #[test]
    fn blocks_of_code_are_found() {
        assert_eq!(blocks("I return(1) now."), Vec::<&str>::new());
        assert_eq!(blocks("a\n```js\nx\n```\n```JavaScript\ny"), ["x\n", "y"]);
        assert_eq!(blocks("```\nx\n```"), ["x\n"]);
        assert_eq!(blocks("```\nx\n```\n```repl\ny\n```"), ["y\n"]);
        assert_eq!(
            blocks("```json\n[1]\n```\n```js\n\n```"),
            Vec::<&str>::new()
        );
    }
}
