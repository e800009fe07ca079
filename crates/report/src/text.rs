//! Small pieces of text that commands and screens show to a person.

use rhae_engine::Action;

/// Replaces control characters except newlines, so that untrusted text cannot control a terminal.
///
/// # Examples
///
/// ```
/// assert_eq!(rhae_report::plain("a\x1b[2Jb\n"), "a\u{FFFD}[2Jb\n");
/// ```
pub fn plain(text: &str) -> String {
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

/// Formats an action with its name and, for a click, its cell.
///
/// # Examples
///
/// ```
/// use rhae_engine::Action;
///
/// assert_eq!(rhae_report::action_label(Action::Action6 { x: 3, y: 5 }), "ACTION6 at 3, 5");
/// ```
pub fn action_label(action: Action) -> String {
    match action {
        Action::Action6 { x, y } => format!("{} at {x}, {y}", action.kind()),
        _ => action.kind().to_string(),
    }
}

/// Formats a number with its noun in singular or plural.
///
/// # Examples
///
/// ```
/// assert_eq!(rhae_report::counted(1, "level"), "1 level");
/// assert_eq!(rhae_report::counted(2, "level"), "2 levels");
/// ```
pub fn counted(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
