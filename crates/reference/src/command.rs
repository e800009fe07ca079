//! The pages of the command line and of a configuration file.

use std::fmt::Write;

use clap::{Arg, Command};

use crate::table::{Table, code, page};

/// Returns the page of all commands: for each its description, its usage, its flags and their
/// defaults. Hidden commands and flags are left out.
pub fn command_line(mut root: Command) -> String {
    root.build();
    let mut text = String::new();
    write_command(&root, root.get_name(), &mut text);
    page(
        "Command line",
        "Every command also has `--help`, which prints the same information.",
        &text,
    )
}

/// Returns the page of a configuration file: every flag of `command` that the file may contain,
/// with its environment variable and its default.
///
/// `is_setting` selects the flags by their long names.
pub fn configuration(
    mut command: Command,
    introduction: &str,
    is_setting: impl Fn(&str) -> bool,
) -> String {
    command.build();
    let mut table = Table::new(&["name", "variable", "meaning", "default"]);
    for arg in listed(&command) {
        let Some(name) = arg.get_long().filter(|name| is_setting(name)) else {
            continue;
        };
        let (help, default) = help_and_default(arg);
        let variable = variable_of(arg).unwrap_or_default();
        table.row(&[code(name), code(&variable), help, default]);
    }
    page("Configuration file", introduction, table.as_str())
}

fn write_command(command: &Command, path: &str, text: &mut String) {
    let about = command.get_long_about().or_else(|| command.get_about());
    let about = about.map(ToString::to_string).unwrap_or_default();
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim();
    let usage: Vec<&str> = usage.lines().map(str::trim).collect();
    let _ = write!(
        text,
        "## `{path}`\n\n{about}\n\n```text\n{}\n```\n\n",
        usage.join("\n")
    );
    let args = listed(command);
    if !args.is_empty() {
        let mut table = Table::new(&["argument", "meaning", "default"]);
        for arg in args {
            let (help, default) = help_and_default(arg);
            table.row(&[code(&name_of(arg)), help, default]);
        }
        let _ = writeln!(text, "{}", table.as_str());
    }
    for inner in subcommands(command) {
        write_command(inner, &format!("{path} {}", inner.get_name()), text);
    }
}

/// Returns the visible commands of a command, without the generated command `help`.
pub(crate) fn subcommands(command: &Command) -> impl Iterator<Item = &Command> {
    command
        .get_subcommands()
        .filter(|inner| !inner.is_hide_set() && inner.get_name() != "help")
}

/// Returns the visible arguments of a command, without the generated ones.
pub(crate) fn listed(command: &Command) -> Vec<&Arg> {
    let generated = |arg: &&Arg| ["help", "version"].contains(&arg.get_id().as_str());
    let arguments = command.get_arguments();
    arguments
        .filter(|arg| !arg.is_hide_set() && !generated(arg))
        .collect()
}

/// Returns an argument as a user writes it, such as `--out <DIR>`.
fn name_of(arg: &Arg) -> String {
    let values = arg.get_value_names().unwrap_or_default();
    let values: Vec<String> = values.iter().map(|name| format!("<{name}>")).collect();
    let takes_value = arg.get_action().takes_values();
    let value = if takes_value {
        values.join(" ")
    } else {
        String::new()
    };
    let flag = match (arg.get_short(), arg.get_long()) {
        (Some(short), Some(long)) => format!("-{short}, --{long}"),
        (None, Some(long)) => format!("--{long}"),
        (Some(short), None) => format!("-{short}"),
        (None, None) => String::new(),
    };
    format!("{flag} {value}").trim().to_owned()
}

/// Returns the name of the environment variable of an argument.
pub(crate) fn variable_of(arg: &Arg) -> Option<String> {
    arg.get_env()
        .map(|name| name.to_string_lossy().into_owned())
}

/// Returns the help of an argument, with its possible values, and its default.
///
/// A default that depends on other settings is stated at the end of the help as `[default: …]`.
pub(crate) fn help_and_default(arg: &Arg) -> (String, String) {
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let (mut help, stated) = match help.rsplit_once(" [default: ") {
        Some((before, default)) if default.ends_with(']') => {
            (before.to_owned(), default.trim_end_matches(']').to_owned())
        }
        _ => (help, String::new()),
    };
    let values: Vec<String> = arg
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| code(value.get_name()))
        .collect();
    if arg.get_action().takes_values() && !values.is_empty() {
        let _ = write!(help, ": {}", values.join(", "));
    }
    let defaults: Vec<String> = arg
        .get_default_values()
        .iter()
        .map(|value| code(&value.to_string_lossy()))
        .collect();
    let takes_value = arg.get_action().takes_values();
    if takes_value && !defaults.is_empty() && !arg.is_hide_default_value_set() {
        (help, defaults.join(", "))
    } else {
        (help, stated)
    }
}

#[cfg(test)]
mod tests {
    use clap::ArgAction;

    use super::*;

    fn tool() -> Command {
        let serve = Command::new("serve")
            .about("Start a server")
            .arg(
                Arg::new("addr")
                    .long("addr")
                    .env("TOOL_ADDR")
                    .value_name("ADDR")
                    .help("Address to listen on [default: 127.0.0.1:80]"),
            )
            .arg(
                Arg::new("log")
                    .long("log")
                    .value_parser(["text", "json"])
                    .default_value("text")
                    .value_name("FORMAT")
                    .help("Format"),
            )
            .arg(Arg::new("config").long("config").value_name("FILE"))
            .arg(Arg::new("secret").long("secret").hide(true));
        Command::new("tool")
            .about("A tool")
            .arg(
                Arg::new("quiet")
                    .short('q')
                    .long("quiet")
                    .action(ArgAction::SetTrue)
                    .help("Print nothing"),
            )
            .subcommand(serve)
            .subcommand(Command::new("internal").hide(true))
    }

    #[test]
    fn page_lists_visible_commands_and_arguments() {
        let text = command_line(tool());
        for part in [
            "# Command line\n",
            "## `tool`\n\nA tool\n",
            "| `-q, --quiet` | Print nothing |  |",
            "## `tool serve`\n\nStart a server\n",
            "| `--addr <ADDR>` | Address to listen on | 127.0.0.1:80 |",
            "| `--log <FORMAT>` | Format: `text`, `json` | `text` |",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        for part in ["secret", "internal", "tool help", "--help <", "`-h"] {
            assert!(!text.contains(part), "{part}\n{text}");
        }
    }

    #[test]
    fn configuration_page_lists_selected_settings_with_their_variables() {
        let root = tool();
        let serve = root.find_subcommand("serve").unwrap().clone();
        let text = configuration(serve, "An introduction.", |name| name != "config");
        assert!(text.contains("# Configuration file\n\nAn introduction.\n"));
        assert!(
            text.contains("| `addr` | `TOOL_ADDR` | Address to listen on | 127.0.0.1:80 |"),
            "{text}"
        );
        assert!(!text.contains("`config`") && !text.contains("secret"));
    }
}
