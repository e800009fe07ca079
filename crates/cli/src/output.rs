//! Writing to the terminal.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use anyhow::{Result, bail, ensure};
use rhae_engine::Action;
use serde::Serialize;

/// Prints a line; it is no fault if nobody reads on (as when the output is piped into `head`).
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| {
        if text.ends_with('\n') {
            Ok(())
        } else {
            out.write_all(b"\n")
        }
    }) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

/// Prints a value as indented JSON.
pub(crate) fn print_json(value: &impl Serialize) -> Result<()> {
    print(&serde_json::to_string_pretty(value)?)
}

/// Prints an error. What it quotes may come from outside, so nothing in it can steer the terminal.
pub(crate) fn print_error(error: &anyhow::Error) {
    eprintln!("error: {}", plain(&format!("{error:#}")));
}

/// A text without control characters, line ends aside.
pub(crate) fn plain(text: &str) -> String {
    text.chars()
        .map(|letter| {
            if letter.is_control() && letter != '\n' {
                '\u{FFFD}'
            } else {
                letter
            }
        })
        .collect()
}

/// An action in words, with where a click is.
pub(crate) fn named(action: Action) -> String {
    match action {
        Action::Action6 { x, y } => format!("{} at {x}, {y}", action.kind()),
        _ => action.kind().to_string(),
    }
}

/// A number with its noun.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Refuses a file that could not be written, before the work that leads to it.
pub(crate) fn ensure_writable(path: &Path) -> Result<()> {
    ensure!(
        !path.is_dir(),
        "`{}` is a folder; name a file in it",
        path.display()
    );
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    if let Some(missing) = folder.filter(|folder| !folder.is_dir()) {
        bail!(
            "cannot write `{}`: there is no folder `{}`",
            path.display(),
            missing.display()
        );
    }
    Ok(())
}

/// A text behind a first column, broken between words at the end of a terminal's lines and set in below itself. What no terminal shows
/// stays in one line, for other programs.
pub(crate) fn hanging(first: &str, text: &str) -> String {
    broken(first, text, columns().unwrap_or(usize::MAX))
}

fn broken(first: &str, text: &str, columns: usize) -> String {
    let indent = first.chars().count();
    // Where hardly anything is left beside the first column, lines are better broken by the terminal.
    if columns < indent + 20 {
        return format!("{first}{text}");
    }
    let (mut lines, mut used) = (first.to_owned(), indent);
    for (number, word) in text.split(' ').enumerate() {
        let length = word.chars().count();
        if number > 0 && used + 1 + length > columns {
            lines.push('\n');
            lines.extend(std::iter::repeat_n(' ', indent));
            used = indent;
        } else if number > 0 {
            lines.push(' ');
            used += 1;
        }
        lines.push_str(word);
        used += length;
    }
    lines
}

/// How many columns a table may take.
pub(crate) fn width() -> usize {
    columns().unwrap_or(80).clamp(40, 120)
}

/// The columns of the terminal, if there is one.
fn columns() -> Option<usize> {
    if io::stdout().is_terminal() {
        crossterm::terminal::size()
            .ok()
            .map(|size| usize::from(size.0))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_hang_below_themselves() {
        let text = "level 1: two states with one key answer differently";
        assert_eq!(
            broken("  warn keys ", text, 40),
            "  warn keys level 1: two states with one\n            key answer differently"
        );
        assert_eq!(
            broken("  warn keys ", text, 30),
            format!("  warn keys {text}")
        );
        assert_eq!(
            broken("  warn keys ", text, usize::MAX),
            format!("  warn keys {text}")
        );
        assert_eq!(
            broken("  ", "averyveryverylongwordindeed it is", 22),
            "  averyveryverylongwordindeed\n  it is"
        );
    }
}
