//! All commands of the binary, found by reading the `--help` texts recursively from the top.

use std::path::Path;

use super::isolated;

/// A command and its help.
pub(super) struct Listed {
    /// The words after `rhae`, separated by spaces; empty for `rhae` itself.
    pub(super) path: String,
    pub(super) help: String,
}

impl Listed {
    /// Returns whether the command has the option `--json`. A mention of it in an example does not
    /// count.
    pub(super) fn prints_json(&self) -> bool {
        self.help
            .lines()
            .any(|line| line.split_whitespace().next() == Some("--json"))
    }
}

/// Returns every command and subcommand, parents before their children.
pub(super) fn all() -> Vec<Listed> {
    let mut found = Vec::new();
    walk(&[], &mut found);
    found
}

fn walk(words: &[&str], found: &mut Vec<Listed>) {
    let output = isolated(Path::new("."), &[words, &["--help"]].concat())
        .output()
        .unwrap();
    assert!(output.status.success(), "{words:?} --help: {output:?}");
    let help = String::from_utf8(output.stdout).unwrap();
    let children = subcommands(&help);
    found.push(Listed {
        path: words.join(" "),
        help,
    });
    for child in children {
        walk(&[words, &[&child]].concat(), found);
    }
}

/// Returns the names listed below `Commands:` in a help text, without clap's own `help`.
fn subcommands(help: &str) -> Vec<String> {
    let section = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    section
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

#[test]
fn subcommands_are_read_from_help() {
    let help = "About.\n\nUsage: rhae x <COMMAND>\n\nCommands:\n  one   First,\n        continued\n  two   Second\n  help  Print\n\nOptions:\n  -h, --help\n";
    assert_eq!(subcommands(help), ["one", "two"]);
    assert!(subcommands("Usage: rhae y\n\nOptions:\n  -h, --help\n").is_empty());
}
