//! Options in messages of the libraries, named as Python's arguments.
//!
//! The libraries name an option by its flag, such as `--games-dir`, because a flag is recognisable
//! within a sentence. Every such option is also an argument of a Python function, under the same
//! name with underscores.

/// The options that are arguments of Python functions. Other flags are left as they are.
const OPTIONS: [&str; 31] = [
    "agent",
    "agent-cmd",
    "budget",
    "competition",
    "context-tokens",
    "env-seed",
    "force",
    "games",
    "games-dir",
    "jobs",
    "keep-reasoning",
    "key",
    "max-cost",
    "method",
    "models",
    "name",
    "note",
    "out",
    "prompts",
    "rate-limit",
    "repeat",
    "resume",
    "run-timeout",
    "seed",
    "seen",
    "server",
    "step-timeout",
    "task-timeout",
    "timeout",
    "unsafe-host",
    "unseen",
];

/// Replaces the flags in a message: `--games-dir` becomes `games_dir`, in back-ticks, and a flag
/// with a value becomes an assignment, so `--budget 200` becomes `budget=200`.
pub(crate) fn with_argument_names(message: &str) -> String {
    let mut text = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(start) = rest.find("--") {
        let (before, flag) = rest.split_at(start);
        text.push_str(before);
        let end = flag[2..]
            .find(|c: char| !c.is_ascii_lowercase() && c != '-')
            .map_or(flag.len(), |length| length + 2);
        let after = &flag[end..];
        let Some(argument) = argument(&flag[2..end]) else {
            text.push_str(&flag[..end]);
            rest = after;
            continue;
        };
        let quoted = before.ends_with('`');
        match after
            .strip_prefix(' ')
            .and_then(|value| value.split_once('`'))
        {
            Some((value, after)) if quoted => {
                text.push_str(&assignment(&argument, value));
                text.push('`');
                rest = after;
            }
            _ => {
                let tick = if quoted { "" } else { "`" };
                text.push_str(&format!("{tick}{argument}{tick}"));
                rest = after;
            }
        }
    }
    text + rest
}

/// Returns the argument for an option, or `None` if Python has none.
fn argument(option: &str) -> Option<String> {
    match option {
        // Python takes all tags as one list.
        "tag" => Some("tags".to_owned()),
        _ => OPTIONS.contains(&option).then(|| option.replace('-', "_")),
    }
}

fn assignment(argument: &str, value: &str) -> String {
    if value.parse::<f64>().is_ok() {
        format!("{argument}={value}")
    } else {
        format!("{argument}=\"{value}\"")
    }
}
