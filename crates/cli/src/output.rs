//! Formatting and printing text on the terminal.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;

use anyhow::{Result, bail, ensure};
pub(crate) use rhae_report::{counted, plain};
use serde::Serialize;

/// Prints a line. A closed pipe, such as that of `head`, is not an error.
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

/// Prints an error. Control characters are replaced, because the message may quote untrusted text.
pub(crate) fn print_error(error: &anyhow::Error) {
    eprintln!("error: {}", plain(&format!("{error:#}")));
}

/// Asks a question on the terminal. Only `y` and `yes` mean yes. The caller must have checked that
/// standard input is a terminal.
pub(crate) fn confirm(question: &str) -> Result<bool> {
    eprint!("{question} [y/N] ");
    io::stderr().flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Returns an error if `path` is a folder or its parent folder does not exist. Commands call this
/// before long work, so that such a mistake is reported early. Permissions are not checked.
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
            "cannot write `{}`: the folder `{}` does not exist",
            path.display(),
            missing.display()
        );
    }
    Ok(())
}

/// Formats a text after a first column and wraps it to the terminal's width with a hanging indent.
/// If standard output is not a terminal, the text stays on one line, so that other programs can
/// read it line by line.
pub(crate) fn hanging(first: &str, text: &str) -> String {
    wrap(first, text, columns().unwrap_or(usize::MAX))
}

fn wrap(first: &str, text: &str, columns: usize) -> String {
    let indent = first.chars().count();
    // If little width is left after the first column, let the terminal wrap the line.
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

/// Returns the number of columns that a table may use.
pub(crate) fn width() -> usize {
    columns().unwrap_or(80).clamp(40, 120)
}

/// Returns the width of the terminal, or `None` if standard output is not a terminal.
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
    fn long_text_wraps_with_a_hanging_indent() {
        let text = "level 1: two states with one key answer differently";
        assert_eq!(
            wrap("  warn keys ", text, 40),
            "  warn keys level 1: two states with one\n            key answer differently"
        );
        assert_eq!(
            wrap("  warn keys ", text, 30),
            format!("  warn keys {text}")
        );
        assert_eq!(
            wrap("  warn keys ", text, usize::MAX),
            format!("  warn keys {text}")
        );
        assert_eq!(
            wrap("  ", "averyveryverylongwordindeed it is", 22),
            "  averyveryverylongwordindeed\n  it is"
        );
    }
}
