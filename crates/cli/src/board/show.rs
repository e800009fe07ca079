//! `rhae board show|compare|plot`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::Args;
use rhae_analysis::published_results;
use rhae_board::{Audience, compare_rows};
use rhae_board_service::{BoardError, board_view};
use rhae_protocol::PublishedResult;
use rhae_report::{
    board_history_plot, board_history_plot_png, board_plot, board_plot_png, board_text,
    boards_text, row_comparison_text,
};

use super::{BoardIdArgs, DatabaseArgs, Opened, entry_id};
use crate::output;

/// Returns the published results, of which a board shows those on its benchmark.
pub(crate) fn references() -> Vec<PublishedResult> {
    published_results()
}

/// Show a board with its rows, or list all boards.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae board show
  rhae board show main
  rhae board show main --json")]
pub(super) struct ShowArgs {
    /// Id of the board; without it, all boards are listed
    board: Option<String>,
    #[command(flatten)]
    database: DatabaseArgs,
    /// Show what only the organiser may see of a hidden set
    #[arg(long)]
    organiser: bool,
}

pub(super) async fn show(args: &ShowArgs) -> Result<ExitCode> {
    let opened = Opened::existing(&args.database).await?;
    let Some(board) = &args.board else {
        let boards = opened.service.list().await?;
        opened.close().await;
        if args.database.json {
            output::print_json(&boards)?;
        } else {
            output::print(&boards_text(&boards))?;
        }
        return Ok(ExitCode::SUCCESS);
    };
    let board = opened.service.load(&board.as_str().into()).await?;
    opened.close().await;
    let audience = if args.organiser {
        Audience::Organiser
    } else {
        Audience::Public
    };
    let view = board_view(&board, audience, references());
    if args.database.json {
        output::print_json(&view)?;
    } else {
        output::print(&board_text(&view))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Compare two rows on the environments that both played.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae board compare main mine other")]
pub(super) struct CompareArgs {
    #[command(flatten)]
    board: BoardIdArgs,
    /// Id of the first row
    a: String,
    /// Id of the second row
    b: String,
}

pub(super) async fn compare(args: &CompareArgs) -> Result<ExitCode> {
    let (opened, id) = Opened::board(&args.board).await?;
    let board = opened.service.load(&id).await?;
    opened.close().await;
    let (a, b) = (entry_id(&args.a)?, entry_id(&args.b)?);
    let compared = compare_rows(board.state(), &a, &b).map_err(BoardError::from)?;
    let compared = compared
        .with_context(|| format!("`{a}` and `{b}` have no environment or task in common"))?;
    if args.board.database.json {
        output::print_json(&compared)?;
    } else {
        let items = board.state().definition.set.items();
        output::print(&row_comparison_text(&compared, items))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Draw the score of ranked rows against their cost, or the best score over time, as SVG or PNG.
///
/// The ending of the file selects the format. A PNG picture is 1440 pixels wide.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae board plot main main.svg
  rhae board plot main main.png
  rhae board plot main history.svg --over-time")]
pub(super) struct PlotArgs {
    /// Id of the board
    board: String,
    /// File to write, which ends in .svg or .png
    file: PathBuf,
    /// Draw the best score over the days of submission
    #[arg(long)]
    over_time: bool,
    /// Database: a file or postgres://user:password@host/database
    #[arg(
        long,
        env = "RHAE_DB",
        default_value = "rhae.db",
        value_name = "FILE|URL",
        hide_env_values = true
    )]
    db: PathBuf,
}

pub(super) async fn plot(args: &PlotArgs) -> Result<ExitCode> {
    let ending = args.file.extension().and_then(|ending| ending.to_str());
    let is_png = ending == Some("png");
    ensure!(
        is_png || ending == Some("svg"),
        "`{}` is not the name of an SVG or PNG file",
        args.file.display()
    );
    output::ensure_writable(&args.file)?;
    let database = DatabaseArgs {
        db: args.db.clone(),
        json: false,
    };
    let opened = Opened::existing(&database).await?;
    let board = opened.service.load(&args.board.as_str().into()).await?;
    opened.close().await;
    let name = args.file.display();
    let view = board_view(&board, Audience::Public, Vec::new());
    let figure = match (args.over_time, is_png) {
        (false, false) => board_plot(&view).into_bytes(),
        (false, true) => board_plot_png(&view)?,
        (true, false) => board_history_plot(&view).into_bytes(),
        (true, true) => board_history_plot_png(&view)?,
    };
    std::fs::write(&args.file, figure).with_context(|| format!("cannot write `{name}`"))?;
    output::print(&format!("wrote `{name}`"))?;
    Ok(ExitCode::SUCCESS)
}
