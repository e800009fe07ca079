//! The server's log on standard error.

use std::io::{IsTerminal, stderr};

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{fmt, registry};

use super::settings::{LogFormat, LogLevel};

/// Initialises logging. Dependencies log warnings and errors only; their lower levels describe their
/// own internals.
pub(crate) fn init(format: LogFormat, level: LogLevel) {
    let level = match level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    };
    let targets = Targets::new()
        .with_default(level.min(LevelFilter::WARN))
        .with_target("rhae", level);
    let log = fmt::layer().with_writer(stderr).with_target(false);
    match format {
        LogFormat::Text => registry()
            .with(targets)
            .with(log.with_ansi(stderr().is_terminal()))
            .init(),
        LogFormat::Json => registry()
            .with(targets)
            .with(log.json().flatten_event(true).with_span_list(false))
            .init(),
    }
}
