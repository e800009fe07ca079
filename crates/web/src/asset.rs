//! The scripts, styles and images of the pages, embedded in the binary.

use std::sync::LazyLock;

use rhae_report::{PLAYER_MODULES, PLOT_STYLE};
use xxhash_rust::xxh3::xxh3_64;

/// An embedded file, served under `/assets/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asset {
    /// The file name under `/assets/`.
    pub name: &'static str,
    pub text: String,
    /// The value of the `Content-Type` header.
    pub content_type: &'static str,
    /// The `ETag`, including its quotes. It is a hash of the text.
    pub tag: String,
}

const SITE_FILES: [(&str, &str); 18] = [
    ("site.css", include_str!("../assets/site.css")),
    ("icon.svg", include_str!("../assets/icon.svg")),
    ("theme.js", include_str!("../assets/theme.js")),
    ("play.js", include_str!("../assets/play.js")),
    ("stage.js", include_str!("../assets/stage.js")),
    ("connection.js", include_str!("../assets/connection.js")),
    ("replay.js", include_str!("../assets/replay.js")),
    ("recording.js", include_str!("../assets/recording.js")),
    ("gif.js", include_str!("../assets/gif.js")),
    ("watch_list.js", include_str!("../assets/watch_list.js")),
    ("watch_play.js", include_str!("../assets/watch_play.js")),
    ("study.css", include_str!("../assets/study.css")),
    ("forms.js", include_str!("../assets/forms.js")),
    ("sitting.js", include_str!("../assets/sitting.js")),
    ("sitting_page.js", include_str!("../assets/sitting_page.js")),
    (
        "sitting_check.js",
        include_str!("../assets/sitting_check.js"),
    ),
    ("study_admin.js", include_str!("../assets/study_admin.js")),
    ("sitting_play.js", include_str!("../assets/sitting_play.js")),
];

static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    let style = |name: &str, text: &str| {
        if name == "site.css" {
            format!("{text}{PLOT_STYLE}")
        } else {
            text.to_owned()
        }
    };
    let to_asset = |(name, text): (&'static str, &'static str)| {
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
    SITE_FILES
        .into_iter()
        .chain(PLAYER_MODULES)
        .map(to_asset)
        .collect()
});

/// Returns the embedded file with this name.
pub fn asset(name: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.name == name)
}

/// Lists the modules that a module imports, directly or indirectly.
pub(crate) fn imports(name: &str) -> Vec<&'static str> {
    let mut found: Vec<&'static str> = Vec::new();
    let mut next = asset(name);
    let mut next_index = 0;
    while let Some(module) = next {
        let named = module.text.lines().filter_map(imported);
        let new: Vec<_> = named.filter(|name| !found.contains(name)).collect();
        found.extend(new);
        next = found.get(next_index).and_then(|name| asset(name));
        next_index += 1;
    }
    found
}

/// Returns the module that a line of a script imports.
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
    fn assets_are_below_150_kb() {
        let whole: usize = ASSETS.iter().map(|asset| asset.text.len()).sum();
        assert!(whole < 150_000, "{whole} bytes");
    }

    #[test]
    fn imports_are_followed_transitively() {
        assert_eq!(
            imports("watch_play.js"),
            [
                "reel.js",
                "player.js",
                "board.js",
                "template.js",
                "strip.js"
            ]
        );
        assert!(imports("watch_list.js").is_empty());
    }

    #[test]
    fn scripts_import_only_embedded_modules() {
        for asset in ASSETS.iter() {
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
