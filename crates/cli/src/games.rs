use anyhow::Result;
use clap::Args;
use std::process::ExitCode;
/// x
#[derive(Args)]
pub(crate) struct GamesArgs {}
pub(crate) fn run(_args: &GamesArgs) -> Result<ExitCode> {
    Ok(ExitCode::SUCCESS)
}
