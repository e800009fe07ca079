//! The log of a server, on standard error.

use std::io::{IsTerminal, stderr};

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{fmt, registry};

use super::settings::{LogForm, LogLevel};

/// Begins to log. Libraries are heard from the level of warnings on, because what they say below is about themselves.
pub(crate) fn begin(form: LogForm, level: LogLevel) {
    let level = match level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    };
    let chosen = Targets::new()
        .with_default(level.min(LevelFilter::WARN))
        .with_target("rhae", level);
    let log = fmt::layer().with_writer(stderr).with_target(false);
    match form {
        LogForm::Text => registry()
            .with(chosen)
            .with(log.with_ansi(stderr().is_terminal()))
            .init(),
        LogForm::Json => registry()
            .with(chosen)
            .with(log.json().flatten_event(true).with_span_list(false))
            .init(),
    }
}
