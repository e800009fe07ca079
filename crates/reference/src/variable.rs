//! The page of environment variables.

use std::collections::BTreeMap;

use clap::Command;

use crate::command::{help_and_default, listed, subcommands, variable_of};
use crate::table::{Table, code, page};

/// An environment variable that is not the variable of a flag.
#[derive(Clone, Copy, Debug)]
pub struct Variable {
    pub name: &'static str,
    /// The commands or programs that read it.
    pub readers: &'static str,
    pub meaning: &'static str,
}

/// Returns the page of all environment variables: those of flags, which the definition of the
/// command line contains, and `others`.
pub fn environment(mut root: Command, others: &[Variable]) -> String {
    root.build();
    let mut flags = BTreeMap::new();
    collect(&root, root.get_name(), &mut flags);
    let mut table = Table::new(&["variable", "flag", "read by", "meaning", "default"]);
    for (name, flag) in &flags {
        let readers: Vec<String> = flag.readers.iter().map(|reader| code(reader)).collect();
        table.row(&[
            code(name),
            code(&flag.long),
            readers.join(", "),
            flag.help.clone(),
            flag.default.clone(),
        ]);
    }
    let mut more = Table::new(&["variable", "read by", "meaning"]);
    for variable in others {
        more.row(&[
            code(variable.name),
            variable.readers.to_owned(),
            variable.meaning.to_owned(),
        ]);
    }
    let text = format!(
        "## Variables of flags\n\nA flag overrides its variable.\n\n{}\n## Other variables\n\n{}",
        table.as_str(),
        more.as_str()
    );
    page(
        "Environment variables",
        "All environment variables that Rhae and its tests read.",
        &text,
    )
}

/// A flag with an environment variable.
struct Flag {
    long: String,
    readers: Vec<String>,
    help: String,
    default: String,
}

fn collect(command: &Command, path: &str, flags: &mut BTreeMap<String, Flag>) {
    for arg in listed(command) {
        let Some(name) = variable_of(arg) else {
            continue;
        };
        let (help, default) = help_and_default(arg);
        let flag = flags.entry(name).or_insert_with(|| Flag {
            long: format!("--{}", arg.get_long().unwrap_or_default()),
            readers: Vec::new(),
            help,
            default,
        });
        flag.readers.push(path.to_owned());
    }
    for inner in subcommands(command) {
        collect(inner, &format!("{path} {}", inner.get_name()), flags);
    }
}

#[cfg(test)]
mod tests {
    use clap::Arg;

    use super::*;

    #[test]
    fn variables_of_flags_name_every_command_that_reads_them() {
        let db = || {
            Arg::new("db")
                .long("db")
                .env("TOOL_DB")
                .default_value("tool.db")
                .help("Database")
        };
        let root = Command::new("tool")
            .subcommand(Command::new("serve").arg(db()))
            .subcommand(Command::new("check").arg(db()));
        let other = Variable {
            name: "NO_COLOR",
            readers: "all commands",
            meaning: "Print no colours",
        };
        let text = environment(root, &[other]);
        for line in [
            "| `TOOL_DB` | `--db` | `tool serve`, `tool check` | Database | `tool.db` |",
            "| `NO_COLOR` | all commands | Print no colours |",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }
}
