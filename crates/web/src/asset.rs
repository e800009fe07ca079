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

const OWN: [(&str, &str); 10] = [
    ("site.css", include_str!("../assets/site.css")),
    ("icon.svg", include_str!("../assets/icon.svg")),
    ("theme.js", include_str!("../assets/theme.js")),
    ("play.js", include_str!("../assets/play.js")),
    ("line.js", include_str!("../assets/line.js")),
    ("replay.js", include_str!("../assets/replay.js")),
    ("recording.js", include_str!("../assets/recording.js")),
    ("gif.js", include_str!("../assets/gif.js")),
    ("watch.js", include_str!("../assets/watch.js")),
    ("watching.js", include_str!("../assets/watching.js")),
];

static ALL: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    let style = |name: &str, text: &str| {
        if name == "site.css" {
            format!("{text}{PLOT_STYLE}")
        } else {
            text.to_owned()
        }
    };
    let made = |(name, text): (&'static str, &'static str)| {
        let text = style(name, text);
        let content_type = match name.rsplit('.').next() {
            Some("css") => "text/css; charset=utf-8",
            Some("svg") => "image/svg+xml",
            _ => "text/javascript; charset=utf-8",
        };
        Asset {
            name,
            content_type,
            tag: format!("\"{:016x}\"", xxh3_64(text.as_bytes())),
            text,
        }
    };
    OWN.into_iter().chain(PLAYER_MODULES).map(made).collect()
});

/// The file with this name.
pub fn asset(name: &str) -> Option<&'static Asset> {
    ALL.iter().find(|asset| asset.name == name)
}

/// The modules that a module needs, directly or through others.
pub(crate) fn imports(name: &str) -> Vec<&'static str> {
    let mut found: Vec<&'static str> = Vec::new();
    let mut next = asset(name);
    let mut looked_at = 0;
    while let Some(module) = next {
        let named = module.text.lines().filter_map(imported);
        let new: Vec<_> = named.filter(|name| !found.contains(name)).collect();
        found.extend(new);
        next = found.get(looked_at).and_then(|name| asset(name));
        looked_at += 1;
    }
    found
}

/// The module that a line imports.
fn imported(line: &str) -> Option<&str> {
    line.strip_prefix("import ")?
        .rsplit('"')
        .nth(1)?
        .strip_prefix("./")
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
    fn what_a_module_needs_is_known_through_others() {
        assert_eq!(
            imports("watching.js"),
            ["reel.js", "player.js", "board.js", "look.js", "strip.js"]
        );
        assert!(imports("watch.js").is_empty());
    }

    #[test]
    fn scripts_import_only_what_is_there_and_nothing_is_from_elsewhere() {
        for asset in ALL.iter() {
            for line in asset
                .text
                .lines()
                .filter(|line| line.starts_with("import "))
            {
                assert!(
                    imported(line).is_some_and(|name| super::asset(name).is_some()),
                    "{}: {line}",
                    asset.name
                );
            }
            let elsewhere = asset.text.replace("http://www.w3.org/2000/svg", "");
            for sign in [
                "http://",
                "https://",
                "//cdn",
                "@import",
                "eval(",
                "innerHTML = `${",
                "document.write",
            ] {
                assert!(!elsewhere.contains(sign), "{} has {sign}", asset.name);
            }
        }
    }
}
