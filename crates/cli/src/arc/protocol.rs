//! Flags for protocols, the scoring rules of a benchmark, and for the effect of failures.

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use rhae_tasks::Protocol;

/// Returns the parser of the flag `--protocol`, which lists every protocol in the help.
pub(crate) fn protocol_parser() -> impl TypedValueParser<Value = Protocol> {
    let values =
        Protocol::ALL.map(|protocol| PossibleValue::new(protocol.name()).help(protocol.summary()));
    PossibleValuesParser::new(values).try_map(|name| name.parse::<Protocol>())
}

/// The effect of a failed request, or of an answer without a readable grid.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Failures {
    Soft,
    Hard,
}
