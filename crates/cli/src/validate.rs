//! `rhae validate`: checks environments against the validation rules.

#[cfg(feature = "server")]
pub(crate) mod distributed;
mod report;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use rhae_engine::{Catalog, GameInfo};
use rhae_explore::Identity;
use rhae_inspect::{
    Validation, ValidationOptions, ValidationProgress, VerifyCommand, find_each, is_hosted,
};
use rhae_validate::{EnvironmentVerdict, Rule, RuleSet};

use crate::hosted_games::HostedGamesArgs;
use crate::interrupt::{INTERRUPTED, interrupt_flag};
use crate::{listed, output};

/// The exit code if no environment fails, but some are incomplete.
const INCOMPLETE: u8 = 3;

/// Check environments against all rules: structure, laws, luck, robustness, solvability and design
/// (docs/validate.md).
#[derive(Args)]
#[command(after_help = "Examples:
  rhae validate kq19
  rhae validate --all --html report.html
  rhae validate --all --steps 50000
  rhae validate --all --on local:4
  rhae validate --games-dir my_games --steps 5000 --evidence evidence
  rhae validate ny40 --strict --json
  rhae validate ny40 --rule undo --rule dead-ends

Exit codes: 0 if all environments pass, 1 if one fails, 3 if none fails but some are incomplete,
because something that a complete validation needs was not checked")]
pub(crate) struct ValidateArgs {
    /// Environment ids; four characters select the newest version. With --games-dir and no id: all
    /// games in the folders
    ids: Vec<String>,
    /// All built-in environments
    #[arg(long, conflicts_with = "ids")]
    all: bool,
    /// Check only this rule; may be repeated. A validation without all rules is incomplete
    #[arg(
        long,
        value_name = "NAME",
        hide_possible_values = true,
        value_parser = listed::rule()
    )]
    rule: Vec<Rule>,
    /// Seed of all random choices
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Seed of the environments
    #[arg(long, default_value_t = 0)]
    env_seed: u64,
    /// Number of steps of each kind of random play; play from the start takes at most 50,000
    /// [default: 1,000,000; 20,000 for hosted games]
    #[arg(long, value_parser = clap::value_parser!(u64).range(100..=1_000_000_000))]
    steps: Option<u64>,
    /// Fail an environment for any win of random play, as in the paper
    #[arg(long)]
    strict: bool,
    /// Number of checks that run in parallel [default: the number of cores]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Maximum number of states of a level's graph [default: 1,000,000; 2,000 for hosted games]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    nodes: Option<u32>,
    /// Identify states of hosted games by their complete Python state instead of their settled
    /// frame and reported hidden state
    #[arg(long)]
    deep: bool,
    /// Folder of recordings that must replay, in addition to those in the game's folder; may be
    /// repeated
    #[arg(long, value_name = "DIR")]
    recordings: Vec<PathBuf>,
    /// Write a report with pictures as an HTML page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write recordings that demonstrate the findings into this folder
    #[arg(long, value_name = "DIR")]
    evidence: Option<PathBuf>,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
    #[cfg(feature = "server")]
    #[command(flatten)]
    on: crate::on::OnArgs,
    #[command(flatten)]
    hosted: HostedGamesArgs,
}

impl ValidateArgs {
    /// Resolves the flags.
    fn options(&self) -> Result<ValidationOptions> {
        let program =
            std::env::current_exe().context("cannot determine the path of this program")?;
        Ok(ValidationOptions {
            seed: self.seed,
            env_seed: self.env_seed,
            steps: self.steps,
            strict: self.strict,
            rules: if self.rule.is_empty() {
                RuleSet::ALL
            } else {
                self.rule.iter().copied().collect()
            },
            nodes: self.nodes.map(|nodes| nodes as usize),
            identity: if self.deep {
                Identity::Deep
            } else {
                Identity::FrameAndHidden
            },
            jobs: match self.jobs {
                Some(jobs) => usize::from(jobs),
                None => std::thread::available_parallelism().map_or(1, usize::from),
            },
            recordings: self.recordings.clone(),
            verify: Some(VerifyCommand {
                program: program.into_os_string(),
                arguments: vec!["replay".into(), "verify".into()],
                arguments_after_file: self.hosted.as_flags(),
            }),
        })
    }

    /// Returns the environments that the arguments select.
    fn selected(&self, games: &dyn Catalog) -> Result<Vec<GameInfo>> {
        let listed = games.list();
        let selected: Vec<GameInfo> = if self.all {
            listed
                .into_iter()
                .filter(|info| !is_hosted(games, info) || !self.hosted.games_dir.is_empty())
                .collect()
        } else if self.ids.is_empty() {
            ensure!(
                !self.hosted.games_dir.is_empty(),
                "no environment is selected; name some, or use --all, or --games-dir for a folder of games"
            );
            listed
                .into_iter()
                .filter(|info| is_hosted(games, info))
                .collect()
        } else {
            find_each(games, &self.ids)?
        };
        ensure!(
            !selected.is_empty(),
            "there is no game in {}; a game is a folder with a `metadata.json` (docs/hosting.md)",
            self.hosted
                .games_dir
                .iter()
                .map(|folder| format!("`{}`", folder.display()))
                .collect::<Vec<_>>()
                .join(", ")
        );
        Ok(selected)
    }
}

pub(crate) fn run(args: &ValidateArgs) -> Result<ExitCode> {
    let games = args.hosted.games()?;
    let selected = args.selected(&games)?;
    args.html
        .as_deref()
        .map_or(Ok(()), output::ensure_writable)?;
    if let Some(folder) = &args.evidence {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot create `{}`", folder.display()))?;
    }
    let options = args.options()?;
    let interrupt = interrupt_flag()?;
    let bar = progress_bar(args.json);
    #[cfg(feature = "server")]
    if let Some(engine) = &args.on.on {
        let on = (&args.on, engine);
        let validated =
            distributed::run(on, &args.hosted, games, selected, options, &interrupt, &bar);
        bar.finish_and_clear();
        let (coordinator, given_up) = validated?;
        return report(args, &coordinator.workload().validation(&given_up));
    }
    // A panic of an environment is reported as a finding, so its message must not overwrite the
    // progress bar.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let result = Validation::run(&games, &selected, options, &interrupt, &|progress| {
        show_progress(&bar, progress);
    });
    std::panic::set_hook(hook);
    bar.finish_and_clear();
    report(args, &result?)
}

/// Writes and prints the results, and returns the exit code.
fn report(args: &ValidateArgs, validation: &Validation<'_>) -> Result<ExitCode> {
    let recordings = match &args.evidence {
        Some(folder) => Some((folder, write_evidence(folder, validation)?)),
        None => None,
    };
    let evidence = args.evidence.as_deref();
    if let Some(file) = &args.html {
        let page = validation.page(evidence, &|one, file| {
            report::replay_command(args, one, file)
        })?;
        std::fs::write(file, page).with_context(|| format!("cannot write `{}`", file.display()))?;
    }
    if args.json {
        output::print_json(&validation.report(evidence))?;
    } else {
        output::print(&report::text(args, &validation.environments))?;
        if let Some(file) = &args.html {
            output::print(&format!("wrote {}", file.display()))?;
        }
        if let Some((folder, count)) = recordings {
            output::print(&format!(
                "wrote {} of findings to {}",
                output::counted(count, "recording"),
                folder.display()
            ))?;
        }
    }
    Ok(if validation.is_interrupted() {
        INTERRUPTED.into()
    } else {
        match validation.verdict() {
            EnvironmentVerdict::Pass => ExitCode::SUCCESS,
            EnvironmentVerdict::Fail => ExitCode::FAILURE,
            EnvironmentVerdict::Incomplete => INCOMPLETE.into(),
        }
    })
}

/// Writes the evidence of all warnings and failures and returns the number of files.
fn write_evidence(folder: &Path, validation: &Validation<'_>) -> Result<u64> {
    let mut written = 0;
    for evidence in validation.evidence() {
        let evidence = evidence?;
        let file = folder.join(evidence.name);
        std::fs::write(&file, evidence.bytes)
            .with_context(|| format!("cannot write `{}`", file.display()))?;
        written += 1;
    }
    Ok(written)
}

/// Creates a progress bar with an estimated duration. It is hidden if `quiet` is set or if standard
/// error is not a terminal.
pub(crate) fn progress_bar(quiet: bool) -> ProgressBar {
    if quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(
        "{bar:24} {percent:>3} %  {elapsed} of about {duration}  {msg}",
    );
    ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn show_progress(bar: &ProgressBar, progress: ValidationProgress<'_>) {
    match progress {
        ValidationProgress::Started { total_steps } => bar.set_length(total_steps.max(1)),
        ValidationProgress::Check { info, part } => {
            bar.set_message(format!("{} {}", info.id, part.name()));
        }
        ValidationProgress::Steps(steps) => bar.inc(steps),
    }
}
