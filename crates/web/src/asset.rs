//! Scripts, styles and pictures of the pages, embedded in the binary.

use std::sync::LazyLock;

use rhae_report::{PLAYER_MODULES, PLOT_STYLE};
use xxhash_rust::xxh3::xxh3_64;

/// A file of the site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asset {
    /// Its name under `/assets/`.
    pub name: &'static str,
    /// The text.
    pub text: String,
    /// What kind of text that is.
    pub content_type: &'static str,
    /// Changes with the text, quoted as HTTP wants it.
    pub tag: String,
}

const OWN: [(&str, &str); 9] = [
    ("site.css", include_str!("../assets/site.css")),
    ("icon.svg", include_str!("../assets/icon.svg")),
    ("play.js", include_str!("../assets/play.js")),
    ("line.js", include_str!("../assets/line.js")),
    ("replay.js", include_str!("../assets/replay.js")),
    ("recording.js", include_str!("../assets/recording.js")),
    ("gif.js", include_str!("../assets/gif.js")),
    ("watch.js", include_str!("../assets/watch.js")),
    ("watching.js", include_str!("../assets/watching.js")),
];

static ALL: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    let style = |name: &str, text: &str| if name == "site.css" { format!("{text}{PLOT_STYLE}") } else { text.to_owned() };
    let made = |(name, text): (&'static str, &'static str)| {
        let text = style(name, text);
        let content_type = match name.rsplit('.').next() {
            Some("css") => "text/css; charset=utf-8",
            Some("svg") => "image/svg+xml",
            _ => "text/javascript; charset=utf-8",
        };
        Asset { name, content_type, tag: format!("\"{:016x}\"", xxh3_64(text.as_bytes())), text }
    };
    OWN.into_iter().chain(PLAYER_MODULES).map(made).collect()
});

/// The file with this name.
pub fn asset(name: &str) -> Option<&'static Asset> {
    ALL.iter().find(|asset| asset.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_it_is_small() {
        let whole: usize = ALL.iter().map(|asset| asset.text.len()).sum();
        assert!(whole < 150_000, "{whole} bytes");
    }

    #[test]
    fn scripts_import_only_what_is_there_and_nothing_is_from_elsewhere() {
        for asset in ALL.iter() {
            for line in asset.text.lines().filter(|line| line.starts_with("import ")) {
                let named = line.rsplit('"').nth(1).unwrap_or_default();
                assert!(named.strip_prefix("./").is_some_and(|name| super::asset(name).is_some()), "{}: {line}", asset.name);
            }
            let elsewhere = asset.text.replace("http://www.w3.org/2000/svg", "");
            for sign in ["http://", "https://", "//cdn", "@import", "eval(", "innerHTML = `${", "document.write"] {
                assert!(!elsewhere.contains(sign), "{} has {sign}", asset.name);
            }
        }
    }
}
