use anyhow::Result;
use clap::Args;
use std::process::ExitCode;
/// x
#[derive(Args)]
pub(crate) struct PlayArgs {}
pub(crate) fn run(_args: &PlayArgs) -> Result<ExitCode> {
    Ok(ExitCode::SUCCESS)
}
