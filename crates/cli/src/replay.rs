//! `rhae replay`: verifies, shows, renders and converts recordings.

mod show;

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, Subcommand, ValueEnum};
use rhae_engine::Catalog;
use rhae_harness::{games_dirs_of_recordings, recording_film};
use rhae_protocol::Format;
use rhae_report::{Film, GifOptions, animated_gif, film_sheet, replay_page};
use rhae_session::{VerificationError, complete_recording};

use crate::hosted_games::HostedGamesArgs;
use crate::output;
use crate::run::read_recording;

/// Verify, show, render or convert recordings in Rhae's own format or in the formats of the
/// official toolkit and agents repository.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae replay verify play.jsonl
  rhae replay show play.jsonl --speed 4
  rhae replay render play.jsonl --format gif --out play.gif
  rhae replay convert play.jsonl --to toolkit --out play.toolkit.jsonl")]
pub(crate) struct ReplayArgs {
    #[command(subcommand)]
    command: ReplayCommand,
}

impl ReplayArgs {
    const fn hosted(&self) -> &HostedGamesArgs {
        match &self.command {
            ReplayCommand::Verify { hosted, .. }
            | ReplayCommand::Render { hosted, .. }
            | ReplayCommand::Convert { hosted, .. } => hosted,
            ReplayCommand::Show(args) => &args.hosted,
        }
    }

    fn files(&self) -> &[PathBuf] {
        match &self.command {
            ReplayCommand::Verify { files, .. } => files,
            ReplayCommand::Render { file, .. } | ReplayCommand::Convert { file, .. } => {
                std::slice::from_ref(file)
            }
            ReplayCommand::Show(args) => args.files(),
        }
    }

    /// Loads the built-in environments and the hosted games of the flags or, without flags, those of
    /// the runs to which the recordings belong.
    fn games(&self) -> Result<Arc<dyn Catalog>> {
        let recorded = games_dirs_of_recordings(self.files().iter().map(PathBuf::as_path));
        self.hosted().games_of_run(&recorded)
    }
}

#[derive(Subcommand)]
enum ReplayCommand {
    /// Replay recordings and compare the hash of every entry
    Verify {
        /// Recordings to verify
        #[arg(required = true)]
        files: Vec<PathBuf>,
        #[command(flatten)]
        hosted: HostedGamesArgs,
    },
    /// Play a recording in the terminal; the keys are listed on the screen
    Show(show::ShowArgs),
    /// Render an animated GIF, a contact sheet (PNG) or a page with a player (HTML)
    Render {
        /// Recording to render
        file: PathBuf,
        /// Output format
        #[arg(long, value_enum)]
        format: RenderFormat,
        /// Output file [default: the path of the recording with the extension of the format]
        #[arg(long)]
        out: Option<PathBuf>,
        /// Pixels per cell, for GIF and PNG
        #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=16))]
        zoom: u8,
        /// Render only this level, counted from 1
        #[arg(long, value_parser = clap::value_parser!(u8).range(1..=254))]
        level: Option<u8>,
        /// Maximum number of frames of a GIF; frames of longer plays are dropped evenly
        #[arg(long, alias = "most-frames", value_name = "FRAMES")]
        max_frames: Option<usize>,
        /// Replace the output file if it exists
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        hosted: HostedGamesArgs,
    },
    /// Convert a recording to another format, with frames taken from a replay
    Convert {
        /// Recording to convert
        file: PathBuf,
        /// Target format
        #[arg(long, value_enum)]
        to: TargetFormat,
        /// Output file, which must not exist
        #[arg(long)]
        out: PathBuf,
        #[command(flatten)]
        hosted: HostedGamesArgs,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum RenderFormat {
    Gif,
    Png,
    Html,
}

impl RenderFormat {
    const fn extension(self) -> &'static str {
        match self {
            Self::Gif => "gif",
            Self::Png => "png",
            Self::Html => "html",
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum TargetFormat {
    Rhae,
    Toolkit,
    Agents,
}

pub(crate) fn run(args: &ReplayArgs) -> Result<ExitCode> {
    let games = &args.games()?;
    match &args.command {
        ReplayCommand::Verify { files, .. } => return verify(games, files),
        ReplayCommand::Show(args) => return show::run(games, args),
        ReplayCommand::Render {
            file,
            format,
            out,
            zoom,
            level,
            max_frames,
            force,
            ..
        } => {
            let out = out
                .clone()
                .unwrap_or_else(|| file.with_extension(format.extension()));
            ensure!(
                out != *file,
                "the output would replace the recording; name another file with --out"
            );
            let (mut film, _) = load_film(games, file)?;
            if let Some(level) = *level {
                film = film
                    .only_level(level)
                    .with_context(|| level_not_reached(level))?;
            }
            let content = match format {
                RenderFormat::Gif => {
                    let options = GifOptions {
                        zoom: usize::from(*zoom),
                        max_frames: *max_frames,
                        ..GifOptions::default()
                    };
                    animated_gif(&film, &options)?
                }
                RenderFormat::Png => film_sheet(&film, usize::from(*zoom))?,
                RenderFormat::Html => replay_page(&film).into_bytes(),
            };
            if *force {
                std::fs::write(&out, content)
                    .with_context(|| format!("cannot write `{}`", out.display()))?;
            } else {
                write_new(
                    &out,
                    &content,
                    "name another file with --out, or replace it with --force",
                )?;
            }
            output::print(&format!("wrote {}", out.display()))?;
        }
        ReplayCommand::Convert { file, to, out, .. } => {
            let recording = complete_recording(games, read_recording(file)?)
                .map_err(|error| named(file, error))?;
            let format = match to {
                TargetFormat::Rhae => Format::Rhae,
                TargetFormat::Toolkit => Format::Toolkit,
                TargetFormat::Agents => Format::Agents,
            };
            let text = recording.to_text(format)?;
            write_new(out, text.as_bytes(), "name another file with --out")?;
            output::print(&format!("wrote {}", out.display()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes a new file. If the file exists, the error message ends with `advice`.
fn write_new(path: &Path, content: &[u8], advice: &str) -> Result<()> {
    match File::create_new(path).and_then(|mut file| file.write_all(content)) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            bail!("`{}` already exists; {advice}", path.display())
        }
        written => written.with_context(|| format!("cannot write `{}`", path.display())),
    }
}

fn verify(games: &dyn Catalog, files: &[PathBuf]) -> Result<ExitCode> {
    let mut failed = 0;
    for file in files {
        match verify_one(games, file) {
            Ok(line) => output::print(&format!("{}: {line}", file.display()))?,
            Err(error) => {
                failed += 1;
                output::print_error(&error);
            }
        }
    }
    if files.len() > 1 {
        output::print(&format!(
            "{} of {} recordings verified",
            files.len() - failed,
            files.len()
        ))?;
    }
    Ok(if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn verify_one(games: &dyn Catalog, file: &Path) -> Result<String> {
    let recording = read_recording(file)?;
    let verified = rhae_session::verify(games, &recording).map_err(|error| named(file, error))?;
    // The action that failed is not among the entries, so the replay did not repeat it.
    let failure = match recording.failure() {
        Some(reason) => format!("; then the play failed: {}", output::plain(reason)),
        None => String::new(),
    };
    Ok(format!(
        "verified, {} format, {} seed {}, {} actions, {} of {} levels, {}{failure}",
        recording.format.name(),
        recording.header.game_id,
        recording.header.seed,
        verified.actions,
        verified.levels_completed,
        recording.header.win_levels,
        verified.state.name()
    ))
}

/// Adds the file's name to the reason why its recording is not accepted.
fn named(file: &Path, error: VerificationError) -> anyhow::Error {
    let name = file.display();
    match error {
        VerificationError::Replay(error) => {
            anyhow::Error::new(error).context(format!("cannot replay `{name}`"))
        }
        other => anyhow::anyhow!("`{name}`: {other}"),
    }
}

/// Loads a recording as a film, together with a message if the play failed. The failure is not an
/// entry of the recording.
fn load_film(games: &dyn Catalog, file: &Path) -> Result<(Film, Option<String>)> {
    let recording = read_recording(file)?;
    let film = recording_film(games, &recording).map_err(|error| named(file, error))?;
    let failed = recording
        .failure()
        .map(|reason| format!("The play failed here: {reason}"));
    Ok((film, failed))
}

/// Returns the error for a level that a recording does not reach.
fn level_not_reached(level: u8) -> String {
    format!("the recording does not reach level {level}")
}
