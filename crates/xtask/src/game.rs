//! `cargo xtask game`: tools for authors of games. They find shortest wins, play at random, and
//! draw pictures.

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::{Args, Subcommand};
use rhae_engine::{Action, Baseline, Episode, Frame, FrameBuffer, Game, LevelIndex, Levels, Rng};
use rhae_explore::{NativeLevel, random_play, shortest_win};
use rhae_games::Visitor;
use rhae_report::picture::contact_sheet;

#[derive(Args)]
pub(crate) struct GameArgs {
    /// Id of the game, such as `ab12`.
    id: String,
    #[command(subcommand)]
    tool: Tool,
}

#[derive(Subcommand)]
enum Tool {
    /// Find a shortest win of each level.
    Solve {
        /// Only this level, counted from 1.
        #[arg(long)]
        level: Option<u8>,
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// Maximum number of distinct boards to visit on a level.
        #[arg(long, default_value_t = 20_000_000)]
        boards: usize,
        /// Write the solutions for seed 0 to the game's `solutions.txt`.
        #[arg(long)]
        write: bool,
    },
    /// Play each level at random, in attempts of five times its baseline.
    Random {
        #[arg(long)]
        level: Option<u8>,
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// Minimum number of actions on each level.
        #[arg(long, default_value_t = 20_000_000)]
        steps: u64,
        /// Actions per attempt [default: five times the baseline].
        #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
        attempt: Option<u32>,
    },
    /// Write the golden playthrough with which the test suite compares the game. Review its diff
    /// before committing it.
    Golden,
    /// Draw the first frame of every level, or the frames that a list of actions produces, as a
    /// PNG.
    Render {
        out: PathBuf,
        #[arg(long)]
        level: Option<u8>,
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// Actions in short form, such as `1 4 6@10,20 5`, or `solution` for the stored one.
        #[arg(long)]
        actions: Option<String>,
        #[arg(long, default_value_t = 6)]
        zoom: usize,
        #[arg(long, default_value_t = 4)]
        columns: usize,
        /// Draw only the settled frame of each action.
        #[arg(long)]
        settled: bool,
    },
}

pub(crate) fn run(args: &GameArgs) -> Result<()> {
    let entry = rhae_games::find(&args.id)?;
    rhae_games::visit(entry.facts.id, RunTool(&args.tool)).context("the game is registered")?
}

struct RunTool<'a>(&'a Tool);

impl Visitor for RunTool<'_> {
    type Output = Result<()>;

    fn visit<G: Game>(self) -> Result<()> {
        match self.0 {
            Tool::Solve {
                level,
                seed,
                boards,
                write,
            } => solve::<G>(*level, *seed, *boards, *write),
            Tool::Golden => {
                let path = format!(
                    "crates/games/tests/it/playthroughs/{}.txt",
                    G::FACTS.game_id().base()
                );
                fs::write(&path, rhae_testkit::playthrough::<G>())
                    .with_context(|| format!("cannot write {path}"))?;
                println!("wrote {path}");
                Ok(())
            }
            Tool::Random {
                level,
                seed,
                steps,
                attempt,
            } => random::<G>(*level, *seed, *steps, *attempt),
            Tool::Render {
                out,
                level,
                seed,
                actions,
                zoom,
                columns,
                settled,
            } => {
                let frames = frames_of::<G>(*level, *seed, actions.as_deref(), *settled)?;
                let frames: Vec<&Frame> = frames.iter().collect();
                fs::write(out, contact_sheet(&frames, *columns, *zoom)?)
                    .with_context(|| format!("cannot write {}", out.display()))?;
                println!("wrote {}", out.display());
                Ok(())
            }
        }
    }
}

fn selected_levels<G: Game>(level: Option<u8>) -> Result<Vec<LevelIndex>> {
    let count = u8::try_from(G::FACTS.level_count())?;
    match level {
        None => Ok((0..count).map(LevelIndex).collect()),
        Some(number) => {
            ensure!(
                (1..=count).contains(&number),
                "the level must be between 1 and {count}"
            );
            Ok(vec![LevelIndex(number - 1)])
        }
    }
}

fn solve<G: Game>(level: Option<u8>, seed: u64, max_boards: usize, write: bool) -> Result<()> {
    let mut lines = Vec::new();
    for index in selected_levels::<G>(level)? {
        let started = Instant::now();
        let search = shortest_win(&NativeLevel::<G>::new(seed, index), max_boards);
        let line = search.win.as_deref().map(|win| {
            win.iter()
                .map(Action::to_string)
                .collect::<Vec<_>>()
                .join(" ")
        });
        let verdict = match (&search.win, search.complete) {
            (Some(win), _) => format!("optimum {}", win.len()),
            (None, true) => "IMPOSSIBLE".to_owned(),
            (None, false) => "not found within the limit".to_owned(),
        };
        println!(
            "level {index}: {verdict}, {} boards, {:.1} s",
            search.boards,
            started.elapsed().as_secs_f64()
        );
        println!("  {}", line.as_deref().unwrap_or("-"));
        if let Some(win) = &search.win {
            let optimum = u32::try_from(win.len())?;
            if G::FACTS.baselines[index.get()] != Baseline::from_optimum(optimum) {
                println!(
                    "  the declared baseline differs: write `Baseline::from_optimum({optimum})`"
                );
            }
        }
        lines.extend(line);
    }
    if write {
        ensure!(
            seed == 0 && lines.len() == G::FACTS.level_count(),
            "--write needs a solution of every level for seed 0"
        );
        let path = format!(
            "crates/games/src/{}/solutions.txt",
            G::FACTS.game_id().base()
        );
        fs::write(&path, lines.join("\n") + "\n")
            .with_context(|| format!("cannot write {path}"))?;
        println!("wrote {path}");
    }
    Ok(())
}

fn random<G: Game>(level: Option<u8>, seed: u64, steps: u64, attempt: Option<u32>) -> Result<()> {
    let levels = Levels::<G>::new(seed);
    for index in selected_levels::<G>(level)? {
        let attempt = attempt.unwrap_or(5 * G::FACTS.baselines[index.get()].actions);
        let play = random_play(
            &levels,
            index,
            attempt,
            steps,
            &mut Rng::new(seed, u64::from(index.0)),
        );
        println!(
            "level {index}: {} wins in {} attempts of {attempt} actions; 95 % bounds {:.2e} to {:.2e}",
            play.wins,
            play.attempts,
            play.lower_bound(),
            play.upper_bound()
        );
    }
    Ok(())
}

fn frames_of<G: Game>(
    level: Option<u8>,
    seed: u64,
    actions: Option<&str>,
    settled: bool,
) -> Result<Vec<Frame>> {
    let levels = Levels::<G>::new(seed);
    let mut frames = Vec::new();
    for index in selected_levels::<G>(level)? {
        let mut episode = Episode::at(levels.clone(), index);
        let mut first = Frame::filled(0);
        episode.draw(&mut first);
        frames.push(first);
        let line = match actions {
            None => Vec::new(),
            Some("solution") => G::FACTS.solution(index),
            Some(text) => text
                .split_whitespace()
                .map(str::parse)
                .collect::<Result<_, _>>()?,
        };
        let mut buffer = FrameBuffer::default();
        for action in line {
            buffer.clear();
            episode.act(action, &mut buffer);
            let skipped = if settled {
                buffer.frames().len().saturating_sub(1)
            } else {
                0
            };
            frames.extend_from_slice(&buffer.frames()[skipped..]);
        }
        if actions.is_some() {
            println!(
                "level {index}: {:?}, {} levels completed",
                episode.status(),
                episode.completed()
            );
        }
    }
    Ok(frames)
}
