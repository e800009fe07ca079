//! The settings of `rhae serve`: flags, then environment variables, then a file, then defaults.
//!
//! One struct is read from all three, so that they cannot have different names; [`Settings::over`] puts them over each other.
//! What a value may be is checked after that, once, wherever it came from.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use serde::Deserialize;

/// Who may use the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Auth {
    /// Everybody who can reach it, on this machine only
    Open,
    /// Those who have a key of `rhae keys create`
    Keys,
}

/// Who may come in without having been given a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Visitors {
    /// Nobody: pages are for those who enter their key
    Off,
    /// Everybody: who begins to play gets a key for the public environments, in a cookie
    Public,
    /// Those who have a link of `rhae keys invite`
    Invite,
}

/// The form of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogForm {
    /// Lines for people
    Text,
    /// One JSON object a line
    Json,
}

/// How much is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogLevel {
    /// What failed
    Error,
    /// And what went wrong without failing
    Warn,
    /// And what happened to the server
    Info,
    /// And every request
    Debug,
    /// And every connection that broke
    Trace,
}

/// Where the help lists what concerns games from outside.
const OUTSIDE: &str = "Games from outside";

/// Every setting; absent means that it was not given here.
#[derive(Args, Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Settings {
    /// Where to listen; other machines can reach it only with `--auth keys` [default: 127.0.0.1:8001]
    #[arg(long, env = "RHAE_ADDR")]
    pub(crate) addr: Option<String>,
    /// The database: a file, which is made if it is missing, or postgres://user:password@host/database [default: rhae.db]
    #[arg(long, env = "RHAE_DB", value_name = "FILE|URL", hide_env_values = true)]
    pub(crate) db: Option<PathBuf>,
    /// Environments, separated by commas, or `all` [default: all]
    #[arg(long, env = "RHAE_GAMES")]
    pub(crate) games: Option<String>,
    /// A folder of games in the official toolkit's layout, besides the built-in environments; several separated by colons (docs/hosting.md)
    #[arg(long, env = "RHAE_GAMES_DIR", value_name = "DIR", value_delimiter = ':', help_heading = OUTSIDE)]
    pub(crate) games_dir: Option<Vec<PathBuf>>,
    /// The Python that hosts them [default: the first with an engine: an active virtual environment, python3, …]
    #[arg(long, env = "RHAE_PYTHON", value_name = "PROGRAM", help_heading = OUTSIDE)]
    pub(crate) python: Option<PathBuf>,
    /// Seconds that a game may take for one action [default: 10]
    #[arg(long, env = "RHAE_HOST_SECONDS", value_name = "SECONDS", help_heading = OUTSIDE)]
    pub(crate) host_seconds: Option<f64>,
    /// Memory of a game's process, in MiB of address space [default: 2048]
    #[arg(long, env = "RHAE_HOST_MEMORY", value_name = "MIB", help_heading = OUTSIDE)]
    pub(crate) host_memory: Option<u64>,
    /// Run them even where the system cannot keep them from your files and the network
    #[arg(long, env = "RHAE_UNSAFE_HOST", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", help_heading = OUTSIDE)]
    pub(crate) unsafe_host: Option<bool>,
    /// A file that says which environments are public, semi-private and private; without it all are public
    #[arg(long, env = "RHAE_SETS", value_name = "FILE")]
    pub(crate) sets: Option<PathBuf>,
    /// Who may use it [default: open]
    #[arg(long, env = "RHAE_AUTH")]
    pub(crate) auth: Option<Auth>,
    /// Who may come in without a key, to play and look in a browser; needs `--auth keys` [default: off]
    #[arg(long, env = "RHAE_VISITORS")]
    pub(crate) visitors: Option<Visitors>,
    /// Open every scorecard in competition mode, one for each key
    #[arg(long, env = "RHAE_COMPETITION", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub(crate) competition: Option<bool>,
    /// Minutes without a command or heartbeat after which a scorecard is closed [default: 15]
    #[arg(long, env = "RHAE_IDLE_MINUTES")]
    pub(crate) idle_minutes: Option<u64>,
    /// Minutes after which a scorecard is closed in any case [default: 1440]
    #[arg(long, env = "RHAE_OPEN_MINUTES")]
    pub(crate) open_minutes: Option<u64>,
    /// Actions of a play after which a snapshot is kept, from which it is made again sooner [default: 1000]
    #[arg(long, env = "RHAE_SNAPSHOT_EVERY", value_name = "N")]
    pub(crate) snapshot_every: Option<u32>,
    /// The server's certificate, and those between it and the authority, in PEM form: serves HTTPS
    #[arg(long, env = "RHAE_TLS_CERT", value_name = "FILE")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The certificate's key in PEM form
    #[arg(long, env = "RHAE_TLS_KEY", value_name = "FILE")]
    pub(crate) tls_key: Option<PathBuf>,

    /// The form of the log on standard error [default: text]
    #[arg(long, env = "RHAE_LOG", help_heading = "Logs and metrics")]
    pub(crate) log: Option<LogForm>,
    /// How much is logged [default: info]
    #[arg(long, env = "RHAE_LOG_LEVEL", help_heading = "Logs and metrics")]
    pub(crate) log_level: Option<LogLevel>,
    /// Where to serve metrics for Prometheus at /metrics, to everybody who can reach it [default: nowhere]
    #[arg(
        long,
        env = "RHAE_METRICS",
        value_name = "ADDR",
        help_heading = "Logs and metrics"
    )]
    pub(crate) metrics: Option<String>,

    /// Requests of a key in a minute, 0 for any number; needs `--auth keys` [default: 600]
    #[arg(
        long,
        env = "RHAE_REQUESTS_PER_MINUTE",
        value_name = "N",
        help_heading = "Limits"
    )]
    pub(crate) requests_per_minute: Option<u32>,
    /// Requests of a visitor in a minute, 0 for any number [default: 540]
    #[arg(
        long,
        env = "RHAE_VISITOR_REQUESTS_PER_MINUTE",
        value_name = "N",
        help_heading = "Limits"
    )]
    pub(crate) visitor_requests_per_minute: Option<u32>,
    /// Open scorecards of a key, 0 for any number [default: 100 with `--auth keys`, otherwise 0]
    #[arg(
        long,
        env = "RHAE_OPEN_CARDS",
        value_name = "N",
        help_heading = "Limits"
    )]
    pub(crate) open_cards: Option<u32>,
    /// Plays on a scorecard, 0 for any number [default: 1000 with `--auth keys`, otherwise 0]
    #[arg(
        long,
        env = "RHAE_PLAYS_PER_CARD",
        value_name = "N",
        help_heading = "Limits"
    )]
    pub(crate) plays_per_card: Option<u32>,
    /// Bytes of a request's body [default: 262144]
    #[arg(
        long,
        env = "RHAE_BODY_BYTES",
        value_name = "N",
        help_heading = "Limits"
    )]
    pub(crate) body_bytes: Option<usize>,
    /// Levels of nesting in a body, up to 128 [default: 128]
    #[arg(
        long,
        env = "RHAE_JSON_DEPTH",
        value_name = "N",
        help_heading = "Limits"
    )]
    pub(crate) json_depth: Option<usize>,
    /// Bytes of `reasoning` and of `opaque` [default: 16384]
    #[arg(
        long,
        env = "RHAE_EXTRA_BYTES",
        value_name = "N",
        help_heading = "Limits"
    )]
    pub(crate) extra_bytes: Option<usize>,
    /// Connections at a time; others wait until one of them ends [default: 4096]
    #[arg(
        long,
        env = "RHAE_CONNECTIONS",
        value_name = "N",
        help_heading = "Limits"
    )]
    pub(crate) connections: Option<usize>,
    /// Seconds for the head of a request, and for a TLS handshake [default: 10]
    #[arg(
        long,
        env = "RHAE_HEADER_SECONDS",
        value_name = "N",
        help_heading = "Limits"
    )]
    pub(crate) header_seconds: Option<u64>,
    /// Seconds for the body of a request [default: 20]
    #[arg(
        long,
        env = "RHAE_BODY_SECONDS",
        value_name = "N",
        help_heading = "Limits"
    )]
    pub(crate) body_seconds: Option<u64>,
    /// Seconds for a client to read an answer [default: 60]
    #[arg(
        long,
        env = "RHAE_ANSWER_SECONDS",
        value_name = "N",
        help_heading = "Limits"
    )]
    pub(crate) answer_seconds: Option<u64>,
    /// Seconds that a connection may be open with nothing asked [default: 120]
    #[arg(
        long,
        env = "RHAE_IDLE_SECONDS",
        value_name = "N",
        help_heading = "Limits"
    )]
    pub(crate) idle_seconds: Option<u64>,
}

impl Settings {
    /// The settings of a file. Paths in it are relative to the folder where the server is started, as in flags.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read `{}`", path.display()))?;
        toml::from_str(&text).with_context(|| format!("in `{}`", path.display()))
    }

    /// These settings, and others where these say nothing.
    pub(crate) fn over(self, other: Self) -> Self {
        macro_rules! first {
            ($($field:ident),* $(,)?) => { Self { $($field: self.$field.or(other.$field)),* } };
        }
        first! {
            addr, db, games, games_dir, python, host_seconds, host_memory, unsafe_host, sets, auth, visitors, competition, idle_minutes, open_minutes, snapshot_every, tls_cert, tls_key, log, log_level, metrics,
            requests_per_minute, visitor_requests_per_minute, open_cards, plays_per_card, body_bytes, json_depth, extra_bytes, connections, header_seconds,
            body_seconds, answer_seconds, idle_seconds,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_given_first_holds() {
        let flags = Settings {
            addr: Some("a".to_owned()),
            ..Settings::default()
        };
        let file: Settings =
            toml::from_str("addr = 'b'\nauth = 'keys'\ncompetition = true\njson-depth = 7")
                .unwrap();
        let both = flags.over(file);
        assert_eq!(
            (both.addr.as_deref(), both.auth, both.json_depth),
            (Some("a"), Some(Auth::Keys), Some(7))
        );
        assert_eq!((both.competition, both.db), (Some(true), None));
    }

    #[test]
    fn folders_are_a_list_in_a_file() {
        let file: Settings =
            toml::from_str("games-dir = ['a', 'b:c']\nhost-seconds = 2.5\nunsafe-host = true")
                .unwrap();
        assert_eq!(file.games_dir, Some(vec!["a".into(), "b:c".into()]));
        let flags = Settings {
            games_dir: Some(vec!["d".into()]),
            ..Settings::default()
        };
        let both = flags.over(file);
        assert_eq!(
            (both.games_dir, both.host_seconds, both.unsafe_host),
            (Some(vec!["d".into()]), Some(2.5), Some(true))
        );
    }

    #[test]
    fn a_mistake_in_a_file_is_named_with_its_line() {
        for (text, line, reason) in [
            (
                "addr = 'b'\nadress = 'c'",
                "line 2",
                "unknown field `adress`",
            ),
            ("\n\nauth = 'key'", "line 3", "unknown variant `key`"),
            ("json-depth = -1", "line 1", "invalid value"),
            ("addr = ", "line 1", "TOML"),
            ("db = 'a'\ndb = 'b'", "line 2", "duplicate key"),
        ] {
            let error = toml::from_str::<Settings>(text).unwrap_err().to_string();
            assert!(error.contains(line) && error.contains(reason), "{error}");
        }
    }
}
