//! `rhae reference`, a hidden command: writes the generated pages of `docs/reference`.
//!
//! `cargo xtask docs` runs it. The command is part of the binary because only the binary sees the
//! definition of the whole command line. It needs the feature `server`, whose settings it describes.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, Command};
use rhae_agents::{OUTPUT_DIR_VARIABLE, PLAY_ID_VARIABLE};
use rhae_reference::{Table, Variable, page};
use rhae_server::Code;
use rhae_validate::Rule;

/// Write the reference pages of the documentation.
#[derive(Args)]
pub(crate) struct ReferenceArgs {
    /// Folder for the pages
    folder: PathBuf,
}

/// Environment variables that are not variables of flags. `cargo xtask tidy` checks that the sources
/// read no variable that the page does not list.
const VARIABLES: &[Variable] = &[
    Variable {
        name: "ARC_API_KEY",
        readers: "`rhae run`, `rhae games fetch`",
        meaning: "API key of the server, if `--key` is not given",
    },
    Variable {
        name: OUTPUT_DIR_VARIABLE,
        readers: "agents",
        meaning: "Folder for files of an agent; `rhae run --agent-cmd` sets it",
    },
    Variable {
        name: PLAY_ID_VARIABLE,
        readers: "agents",
        meaning: "Id of the play; `rhae run --agent-cmd` sets it",
    },
    Variable {
        name: "RAY_ADDRESS",
        readers: "`rhae run --on ray`",
        meaning: "Address of the Ray cluster, if `--on` does not name one",
    },
    Variable {
        name: "NO_COLOR",
        readers: "all commands",
        meaning: "If set, output has no colours",
    },
    Variable {
        name: "COLORTERM",
        readers: "`rhae play`, `rhae replay show`, `rhae arc show`",
        meaning: "`truecolor` or `24bit` selects exact colours",
    },
    Variable {
        name: "TERM",
        readers: "`rhae play`, `rhae replay show`, `rhae arc show`",
        meaning: "Selects 256 or 16 colours if `COLORTERM` is not set",
    },
    Variable {
        name: "VIRTUAL_ENV",
        readers: "commands with `--games-dir`",
        meaning: "Virtual environment whose Python runs hosted games, if `--python` is not given",
    },
    Variable {
        name: "PATH",
        readers: "commands with `--games-dir`",
        meaning: "Folders of Python interpreters and of programs that implement the game protocol",
    },
    Variable {
        name: "ONLY_RESET_LEVELS",
        readers: "Python package `rhae.arcengine`",
        meaning: "`true` makes RESET restart only the level, as in the official engine",
    },
    Variable {
        name: "RHAE_FULL",
        readers: "tests",
        meaning: "If set, tests run in their long form; `cargo xtask test --full` sets it",
    },
    Variable {
        name: "RHAE_SKIP_MISSING",
        readers: "tests",
        meaning: "`1` allows tests to be skipped if something is missing",
    },
    Variable {
        name: "RHAE_SKIP_REPORT",
        readers: "tests",
        meaning: "File to which skipped tests are appended; `cargo xtask test` sets it",
    },
    Variable {
        name: "CI",
        readers: "`cargo xtask`",
        meaning: "If set, a skipped test is an error; `.ci/run` sets it",
    },
];

pub(crate) fn run(args: &ReferenceArgs, root: &Command) -> Result<ExitCode> {
    fs::create_dir_all(&args.folder)
        .with_context(|| format!("cannot create `{}`", args.folder.display()))?;
    for (name, text) in pages(root) {
        let path = args.folder.join(name);
        fs::write(&path, text).with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the file names and texts of all pages.
fn pages(root: &Command) -> [(&'static str, String); 5] {
    let serve = root
        .find_subcommand("serve")
        .expect("`serve` is a command")
        .clone();
    let configuration = rhae_reference::configuration(
        serve,
        "Settings of `rhae serve` in the TOML file that `--config` names. A flag overrides a \
         variable,\na variable overrides the file, and the file overrides the default. See\n\
         [operating a server](../operating.md).",
        |name| name != "config",
    );
    [
        ("cli.md", rhae_reference::command_line(root.clone())),
        ("configuration.md", configuration),
        (
            "environment.md",
            rhae_reference::environment(root.clone(), VARIABLES),
        ),
        ("errors.md", errors()),
        ("rules.md", rules()),
    ]
}

fn errors() -> String {
    let mut table = Table::new(&["code", "meaning"]);
    for code in Code::ALL {
        table.row(&[format!("`{}`", code.name()), meaning(code).to_owned()]);
    }
    page(
        "Error codes",
        "The field `error` of an error response of the API contains one of these codes. The field\n\
         `message` describes the particular problem. See [the API](../server.md).",
        table.as_str(),
    )
}

fn rules() -> String {
    let mut table = Table::new(&["group", "rule", "violation", "requirement"]);
    for rule in Rule::ALL {
        table.row(&[
            rule.group().name().to_owned(),
            format!("`{}`", rule.name()),
            rule.severity().name().to_owned(),
            rule.requirement().to_owned(),
        ]);
    }
    page(
        "Validation rules",
        "The rules of `rhae validate`. [Validation](../validate.md) describes how they are checked.",
        table.as_str(),
    )
}

const fn meaning(code: Code) -> &'static str {
    match code {
        Code::Validation => "The request is malformed or has an invalid field.",
        Code::GameNotAvailable => "The environment does not exist, or the key may not play it.",
        Code::GameNotStarted => "The play has ended; only RESET restarts it.",
        Code::Server => "The official server's code for most other refusals.",
        Code::NotFound => "No route has this path.",
        Code::MethodNotAllowed => "The path exists, but does not support the method.",
        Code::PayloadTooLarge => "The body exceeds the size limit.",
        Code::UnsupportedMediaType => "The `Content-Type` is not JSON.",
        Code::PlayFrozen => {
            "A replay of the play's log gives different frames, so the play accepts no commands."
        }
        Code::IdempotencyKeyReused => {
            "The idempotency key was already used for a different request."
        }
        Code::Unauthorized => "The API key is missing or invalid.",
        Code::Forbidden => {
            "The key lacks the permission or, with open access, a page of another site sent the request."
        }
        Code::RateLimit => "The key has used up its requests for this minute.",
        Code::LimitReached => {
            "A limit of the key, the address or the scorecard is reached: open scorecards, plays, stored bytes, streams or connections."
        }
        Code::RequestTimeout => "The body did not arrive in time.",
        Code::Unavailable => "Nothing was changed, and the same request may succeed later.",
        Code::OutcomeUnknown => {
            "The commit was interrupted; the request may have taken effect. Repeat it with the same idempotency key, or read the scorecard or the play."
        }
        Code::StudyRejected => {
            "The rules of the study do not accept the command; the message says why. Nothing was changed."
        }
        Code::StudyLimitReached => {
            "The time of the environment or of the sitting is up, or another environment is in progress; `GET /api/sitting` returns the current step."
        }
        Code::BoardRejected => {
            "The rules of the board do not accept the request; the message names the rule. Nothing was changed."
        }
        Code::HostNotAllowed => {
            "A server with open access does not serve the host name that the request contains."
        }
    }
}
