//! `rhae games sheet`: draws the first frame of every level of environments as one PNG, one row for
//! each environment.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use rhae_engine::Frame;
use rhae_games::Builtin;
use rhae_harness::select_games;
use rhae_report::{counted, frame_table};

use crate::output;

#[derive(Args)]
#[command(after_help = "Examples:
  rhae games sheet
  rhae games sheet easy --zoom 3
  rhae games sheet pz19 xe92 --seed 7 --out seeded.png")]
pub(super) struct SheetArgs {
    /// Built-in environments or named sets [default: all environments]
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    /// File of the picture
    #[arg(long, value_name = "FILE", default_value = "sheet.png")]
    out: PathBuf,
    /// Seed of the environments
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Width of a cell of a frame, in pixels
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=8))]
    zoom: u8,
}

pub(super) fn run(args: &SheetArgs) -> Result<()> {
    let names = if args.ids.is_empty() {
        "all".to_owned()
    } else {
        args.ids.join(",")
    };
    let ids = select_games(&Builtin, &names)?;
    let frames: Vec<Vec<Frame>> = ids
        .iter()
        .filter_map(|id| rhae_games::first_frames(id, args.seed))
        .collect();
    let rows: Vec<Vec<&Frame>> = frames.iter().map(|row| row.iter().collect()).collect();
    let rows: Vec<&[&Frame]> = rows.iter().map(Vec::as_slice).collect();
    let picture = frame_table(&rows, usize::from(args.zoom))?;
    fs::write(&args.out, picture)
        .with_context(|| format!("cannot write `{}`", args.out.display()))?;
    let levels: usize = rows.iter().map(|row| row.len()).sum();
    output::print(&format!(
        "{} of {} in `{}`\n",
        counted(levels as u64, "level"),
        counted(rows.len() as u64, "environment"),
        args.out.display()
    ))
}
