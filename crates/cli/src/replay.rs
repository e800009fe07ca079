//! `rhae replay`: verifies, shows, renders and converts recordings.

mod show;

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, Subcommand, ValueEnum};
use rhae_engine::{Action, Catalog, Frame, GameInfo, PlayState};
use rhae_harness::film;
use rhae_protocol::{Details, Ending, Entry, Format, Recording};
use rhae_pyhost::Games;
use rhae_report::{Film, GifOptions, animated_gif, contact_sheet, replay_page};
use rhae_session::{Play, ReplayError, first_nondeterministic_entry, replay, replay_with};

use crate::hosted_games::HostedGamesArgs;
use crate::output;
use crate::run::read_recording;

/// The maximum number of frames on a contact sheet.
const MAX_SHEET_FRAMES: usize = 120;

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
    let games = &args.hosted().games()?;
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
            let film = load_film(games, file)?;
            let film = if let Some(level) = level {
                only_level(film, *level)?
            } else {
                film
            };
            let content = match format {
                RenderFormat::Gif => {
                    let options = GifOptions {
                        zoom: usize::from(*zoom),
                        max_frames: *max_frames,
                        ..GifOptions::default()
                    };
                    animated_gif(&film, &options)?
                }
                RenderFormat::Png => thinned_contact_sheet(&film, usize::from(*zoom))?,
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
            let mut recording = read_recording(file)?;
            recording.entries = entries_with_frames(games, file, &recording)?.1;
            if recording.format != Format::Rhae {
                // The other formats do not record the ending, which Rhae's own format requires.
                let won = recording
                    .entries
                    .last()
                    .is_some_and(|entry| entry.state == PlayState::Win);
                recording.ending = Some(if won { Ending::Won } else { Ending::Stopped });
            }
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

fn verify(games: &Games, files: &[PathBuf]) -> Result<ExitCode> {
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

fn verify_one(games: &Games, file: &Path) -> Result<String> {
    let recording = read_recording(file)?;
    let replayed =
        replay(games, &recording).with_context(|| format!("cannot replay `{}`", file.display()))?;
    if let Some(mismatch) = replayed.mismatch {
        // Native environments are deterministic, but a hosted game may not be. In that case the
        // recording is not at fault.
        if let Some(entry) = first_nondeterministic_entry(games, &recording)? {
            bail!(
                "`{}`: `{}` is not deterministic: two replays of these actions differ at entry {}, so the recording cannot be verified",
                file.display(),
                recording.header.game_id,
                entry + 1
            );
        }
        bail!(
            "`{}`: entry {} does not replay: {}",
            file.display(),
            mismatch.entry + 1,
            mismatch.reason
        );
    }
    ensure!(
        recording.format != Format::Rhae || recording.ending.is_some(),
        "`{}` is cut off: it has no closing line (its {} entries replay)",
        file.display(),
        recording.entries.len()
    );
    let last = recording
        .entries
        .last()
        .context("a recording has an entry")?;
    let claims_a_win = recording.ending == Some(Ending::Won);
    ensure!(
        recording.format != Format::Rhae || claims_a_win == (last.state == PlayState::Win),
        "`{}`: the closing line and the last state, {}, disagree on whether the play was won",
        file.display(),
        last.state.name()
    );
    let tally = replayed.play.tally();
    // The action that failed is not among the entries, so the replay did not repeat it.
    let failure = match failure_reason(&recording) {
        Some(reason) => format!("; then the play failed: {}", output::plain(reason)),
        None => String::new(),
    };
    Ok(format!(
        "verified, {} format, {} seed {}, {} actions, {} of {} levels, {}{failure}",
        recording.format.name(),
        recording.header.game_id,
        recording.header.seed,
        tally.actions(),
        last.levels_completed,
        recording.header.win_levels,
        last.state.name()
    ))
}

/// Replays a recording and returns its entries with their frames, and the environment's facts.
///
/// If the environment is not available, or only in another version, the recorded entries are
/// returned unverified and without facts, provided that all of them include frames.
pub(crate) fn entries_with_frames(
    games: &Games,
    file: &Path,
    recording: &Recording,
) -> Result<(Option<GameInfo>, Vec<Entry>)> {
    let mut entries = Vec::new();
    let replayed = replay_with(games, recording, |entry, frames| {
        entries.push(Entry {
            frames: Some(frames.to_vec()),
            ..entry
        });
    });
    match replayed {
        Ok(replayed) => {
            if let Some(mismatch) = replayed.mismatch {
                bail!(
                    "`{}`: entry {} does not replay: {}",
                    file.display(),
                    mismatch.entry + 1,
                    mismatch.reason
                );
            }
            if entries
                .first()
                .is_some_and(|first| first.action != Action::Reset)
            {
                entries.insert(0, opening_entry(games, recording)?);
            }
            Ok((
                Some(games.find(recording.header.game_id.as_str())?),
                entries,
            ))
        }
        Err(ReplayError::Catalog(_) | ReplayError::Version { .. })
            if recording.entries.iter().all(|entry| entry.frames.is_some()) =>
        {
            Ok((None, recording.entries.clone()))
        }
        Err(error) => Err(error).with_context(|| format!("cannot replay `{}`", file.display())),
    }
}

/// Creates the opening RESET of a recording that omits it.
fn opening_entry(games: &Games, recording: &Recording) -> Result<Entry> {
    let play = Play::new(
        games.open(recording.header.game_id.as_str(), recording.header.seed)?,
        recording.header.resets,
    );
    let step = play.current();
    Ok(Entry {
        frames: Some(step.frames.to_vec()),
        ..step.entry(Action::Reset, Details::default())
    })
}

/// Returns the error of a play that failed.
fn failure_reason(recording: &Recording) -> Option<&str> {
    (recording.ending == Some(Ending::Failed))
        .then(|| recording.message.as_deref().unwrap_or_default())
}

/// Loads a recording as a film.
fn load_film(games: &Games, file: &Path) -> Result<Film> {
    load_film_with_failure(games, file).map(|(film, _)| film)
}

/// Loads a recording as a film, together with a message if the play failed. The failure is not an
/// entry of the recording.
fn load_film_with_failure(games: &Games, file: &Path) -> Result<(Film, Option<String>)> {
    let recording = read_recording(file)?;
    let (info, entries) = entries_with_frames(games, file, &recording)?;
    let failed = failure_reason(&recording).map(|reason| format!("The play failed here: {reason}"));
    Ok((film(&recording.header, info.as_ref(), entries), failed))
}

/// Returns the index of the first moment that shows `level`, which is counted from 1. For levels
/// after the first, it is the moment that completes the previous level.
fn first_moment_of_level(film: &Film, level: u8) -> Result<usize> {
    let first = film
        .moments
        .iter()
        .position(|moment| moment.levels_completed >= level - 1);
    first.with_context(|| format!("the recording does not reach level {level}"))
}

/// Returns the part of a film that shows one level.
fn only_level(mut film: Film, level: u8) -> Result<Film> {
    let first = first_moment_of_level(&film, level)?;
    let last = film
        .moments
        .iter()
        .position(|moment| moment.levels_completed >= level);
    film.moments
        .truncate(last.map_or(film.moments.len(), |last| last + 1));
    film.moments.drain(..first);
    Ok(film)
}

/// Renders the settled frames as a contact sheet, thinned evenly to at most [`MAX_SHEET_FRAMES`].
fn thinned_contact_sheet(film: &Film, zoom: usize) -> Result<Vec<u8>> {
    let settled: Vec<&Frame> = film
        .moments
        .iter()
        .filter_map(|moment| moment.frames.last())
        .collect();
    let shown = settled.len().min(MAX_SHEET_FRAMES);
    let thinned: Vec<&Frame> = (0..shown)
        .map(|index| settled[index * (settled.len() - 1) / (shown - 1).max(1)])
        .collect();
    Ok(contact_sheet(&thinned, 8, zoom)?)
}
