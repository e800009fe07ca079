//! `rhae replay`: recordings verified, shown, drawn and converted.

mod show;

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, Subcommand, ValueEnum};
use rhae_engine::{Action, Frame, GameInfo, PlayState};
use rhae_harness::film;
use rhae_protocol::{Details, Ending, Entry, Format, Recording};
use rhae_pyhost::Games;
use rhae_report::{Film, GifOptions, animated_gif, contact_sheet, replay_page};
use rhae_session::{Catalog, Play, ReplayError, first_disagreement, replay, replay_with};

use crate::output;
use crate::outside::OutsideArgs;
use crate::run::read_recording;

/// Frames that a contact sheet shows at most.
const SHEET_FRAMES: usize = 120;

/// Verify, show, draw or convert a recording. Reads our own format, the official toolkit's and the agents repository's.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae replay verify play.jsonl
  rhae replay show play.jsonl --speed 4
  rhae replay render play.jsonl --format gif --out play.gif
  rhae replay convert play.jsonl --to toolkit --out play.toolkit.jsonl")]
pub(crate) struct ReplayArgs {
    #[command(subcommand)]
    what: What,
}

impl ReplayArgs {
    const fn outside(&self) -> &OutsideArgs {
        match &self.what {
            What::Verify { outside, .. }
            | What::Render { outside, .. }
            | What::Convert { outside, .. } => outside,
            What::Show(args) => &args.outside,
        }
    }
}

#[derive(Subcommand)]
enum What {
    /// Play recordings again and compare every frame's hash
    Verify {
        #[arg(required = true)]
        files: Vec<PathBuf>,
        #[command(flatten)]
        outside: OutsideArgs,
    },
    /// Play a recording in the terminal; the keys are shown below the board
    Show(show::ShowArgs),
    /// Make an animated GIF, a contact sheet (PNG), or a page with a player (HTML)
    Render {
        file: PathBuf,
        #[arg(long, value_enum)]
        format: Picture,
        /// Where to write it [default: beside the recording]
        #[arg(long)]
        out: Option<PathBuf>,
        /// Pixels for each cell of a GIF or PNG
        #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=16))]
        zoom: u8,
        /// Only this level, counted from 1
        #[arg(long, value_parser = clap::value_parser!(u8).range(1..=254))]
        level: Option<u8>,
        /// Frames of a GIF at most; longer plays are thinned
        #[arg(long)]
        most_frames: Option<usize>,
        /// Replace the file if it exists
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        outside: OutsideArgs,
    },
    /// Write a recording in another format, with the frames that a replay gives
    Convert {
        file: PathBuf,
        #[arg(long, value_enum)]
        to: To,
        #[arg(long)]
        out: PathBuf,
        #[command(flatten)]
        outside: OutsideArgs,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum Picture {
    Gif,
    Png,
    Html,
}

impl Picture {
    const fn ending(self) -> &'static str {
        match self {
            Self::Gif => "gif",
            Self::Png => "png",
            Self::Html => "html",
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum To {
    Rhae,
    Toolkit,
    Agents,
}

pub(crate) fn run(args: &ReplayArgs) -> Result<ExitCode> {
    let games = &args.outside().games()?;
    match &args.what {
        What::Verify { files, .. } => return verify(games, files),
        What::Show(args) => return show::run(games, args),
        What::Render {
            file,
            format,
            out,
            zoom,
            level,
            most_frames,
            force,
            ..
        } => {
            let out = out
                .clone()
                .unwrap_or_else(|| file.with_extension(format.ending()));
            ensure!(
                out != *file,
                "the picture would replace the recording; name another file with --out"
            );
            let film = film_of(games, file)?;
            let film = if let Some(level) = level {
                only_level(film, *level)?
            } else {
                film
            };
            let picture = match format {
                Picture::Gif => {
                    let options = GifOptions {
                        zoom: usize::from(*zoom),
                        most_frames: *most_frames,
                        ..GifOptions::default()
                    };
                    animated_gif(&film, &options)?
                }
                Picture::Png => sheet(&film, usize::from(*zoom))?,
                Picture::Html => replay_page(&film).into_bytes(),
            };
            if *force {
                std::fs::write(&out, picture)
                    .with_context(|| format!("cannot write `{}`", out.display()))?;
            } else {
                write_new(
                    &out,
                    &picture,
                    "choose another name, or replace it with --force",
                )?;
            }
            output::print(&format!("wrote {}", out.display()))?;
        }
        What::Convert { file, to, out, .. } => {
            let mut recording = read_recording(file)?;
            recording.entries = frames_of(games, file, &recording)?.1;
            if recording.format != Format::Rhae {
                // The other formats do not say how a play ended, and our own is cut off without it.
                let won = recording
                    .entries
                    .last()
                    .is_some_and(|entry| entry.state == PlayState::Win);
                recording.ending = Some(if won { Ending::Won } else { Ending::Stopped });
            }
            let format = match to {
                To::Rhae => Format::Rhae,
                To::Toolkit => Format::Toolkit,
                To::Agents => Format::Agents,
            };
            let text = recording.to_text(format)?;
            write_new(out, text.as_bytes(), "choose another name")?;
            output::print(&format!("wrote {}", out.display()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes a file that must not exist; if it does, the advice says what to do.
fn write_new(path: &Path, content: &[u8], advice: &str) -> Result<()> {
    match File::create_new(path).and_then(|mut file| file.write_all(content)) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            bail!("`{}` exists already; {advice}", path.display())
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
        // A native environment is deterministic; one from outside may not be, and then its recording is not to blame.
        if let Some(entry) = first_disagreement(games, &recording)? {
            bail!(
                "`{}`: `{}` is not deterministic: two new plays of these actions differ at entry {}, so that nothing can be verified",
                file.display(),
                recording.header.game_id,
                entry + 1
            );
        }
        bail!(
            "`{}`: entry {} does not replay: {}",
            file.display(),
            mismatch.entry + 1,
            mismatch.what
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
        "`{}`: its closing line and its last state, {}, do not agree on whether the play was won",
        file.display(),
        last.state.name()
    );
    let tally = replayed.play.tally();
    // What failed is not among the entries, so nobody has tried it here.
    let failure = match &recording.ending {
        Some(Ending::Failed(reason)) => {
            format!("; after that it failed: {}", output::plain(reason))
        }
        _ => String::new(),
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

/// The entries of a recording with their frames. A recording of an environment that is not here is taken at its word if
/// its format carries frames.
pub(crate) fn frames_of(
    games: &Games,
    file: &Path,
    recording: &Recording,
) -> Result<(Option<GameInfo>, Vec<Entry>)> {
    let mut entries = Vec::new();
    let replayed = replay_with(games, recording, |entry, frames| {
        entries.push(Entry {
            frames: Some(frames.to_vec()),
            ..entry
        })
    });
    match replayed {
        Ok(replayed) => {
            if let Some(mismatch) = replayed.mismatch {
                bail!(
                    "`{}`: entry {} does not replay: {}",
                    file.display(),
                    mismatch.entry + 1,
                    mismatch.what
                );
            }
            if entries
                .first()
                .is_some_and(|first| first.action != Action::Reset)
            {
                entries.insert(0, opening(games, recording)?);
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

/// The opening RESET of a recording that leaves it out.
fn opening(games: &Games, recording: &Recording) -> Result<Entry> {
    let play = Play::new(
        games.open(recording.header.game_id.as_str(), recording.header.seed)?,
        recording.header.resets,
    );
    let answer = play.opening();
    Ok(Entry {
        frames: Some(answer.frames.to_vec()),
        ..answer.entry(Action::Reset, Details::default())
    })
}

/// The film of a recording.
fn film_of(games: &Games, file: &Path) -> Result<Film> {
    film_and_ending(games, file).map(|(film, _)| film)
}

/// With why the play failed, if it did: that is no entry of it.
fn film_and_ending(games: &Games, file: &Path) -> Result<(Film, Option<String>)> {
    let recording = read_recording(file)?;
    let (info, entries) = frames_of(games, file, &recording)?;
    let failed = match &recording.ending {
        Some(Ending::Failed(reason)) => Some(format!("Here the play failed: {reason}")),
        _ => None,
    };
    Ok((film(&recording.header, info.as_ref(), entries), failed))
}

/// The moment that first shows a level, counted from 1: the one that completes the level before.
fn first_of_level(film: &Film, level: u8) -> Result<usize> {
    let first = film
        .moments
        .iter()
        .position(|moment| moment.levels_completed >= level - 1);
    first.with_context(|| format!("the recording does not reach level {level}"))
}

/// The part of a film that shows one level.
fn only_level(mut film: Film, level: u8) -> Result<Film> {
    let first = first_of_level(&film, level)?;
    let last = film
        .moments
        .iter()
        .position(|moment| moment.levels_completed >= level);
    film.moments
        .truncate(last.map_or(film.moments.len(), |last| last + 1));
    film.moments.drain(..first);
    Ok(film)
}

/// The settled frames as a contact sheet, evenly thinned if there are many.
fn sheet(film: &Film, zoom: usize) -> Result<Vec<u8>> {
    let settled: Vec<&Frame> = film
        .moments
        .iter()
        .filter_map(|moment| moment.frames.last())
        .collect();
    let shown = settled.len().min(SHEET_FRAMES);
    let thinned: Vec<&Frame> = (0..shown)
        .map(|index| settled[index * (settled.len() - 1) / (shown - 1).max(1)])
        .collect();
    Ok(contact_sheet(&thinned, 8, zoom)?)
}
