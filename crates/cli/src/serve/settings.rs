//! The settings of `rhae serve`: flags override environment variables, which override the file, which
//! overrides the defaults.
//!
//! One struct describes the flags, the variables and the file, so all three offer the same
//! settings. [`Settings::or`] merges them. The merged values are validated once, in `config`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use serde::Deserialize;

/// Who may use the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Auth {
    /// Every user of this machine
    Open,
    /// Clients with a key of `rhae keys create`
    Keys,
}

/// Browser access without a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Visitors {
    /// No visitors: the pages require a key
    Off,
    /// Every visitor gets a key for the public environments in a cookie
    Public,
    /// Visitors with a link of `rhae keys invite`
    Invite,
}

/// The format of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    /// Plain text
    Text,
    /// One JSON object per line
    Json,
}

/// How much is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogLevel {
    /// Failures
    Error,
    /// Also warnings
    Warn,
    /// Also starts, stops and other events of the server
    Info,
    /// Also every request
    Debug,
    /// Also every broken connection
    Trace,
}

/// Heading of the flags for hosted games in the help text.
const HOSTED: &str = "Hosted games";

/// All settings. `None` means that this source does not set the value.
#[derive(Args, Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Settings {
    /// Address to listen on; one that other machines can reach requires `--auth keys` [default:
    /// 127.0.0.1:8001]
    #[arg(long, env = "RHAE_ADDR")]
    pub(crate) addr: Option<String>,
    /// Database: a file, created if it is missing, or postgres://user:password@host/database
    /// [default: rhae.db]
    #[arg(long, env = "RHAE_DB", value_name = "FILE|URL", hide_env_values = true)]
    pub(crate) db: Option<PathBuf>,
    /// Environments, separated by commas, or `all` [default: all]
    #[arg(long, env = "RHAE_GAMES")]
    pub(crate) games: Option<String>,
    /// Folder of games in the official toolkit's layout, in addition to the built-in environments;
    /// several are separated by colons (docs/hosting.md)
    #[arg(long, env = "RHAE_GAMES_DIR", value_name = "DIR", value_delimiter = ':', help_heading = HOSTED)]
    pub(crate) games_dir: Option<Vec<PathBuf>>,
    /// Python interpreter that runs the games [default: the first with an engine: the active virtual
    /// environment, python3, …]
    #[arg(long, env = "RHAE_PYTHON", value_name = "PROGRAM", help_heading = HOSTED)]
    pub(crate) python: Option<PathBuf>,
    /// Time limit of a game for one action, in seconds [default: 10]
    #[arg(long, env = "RHAE_HOST_SECONDS", value_name = "SECONDS", help_heading = HOSTED)]
    pub(crate) host_seconds: Option<f64>,
    /// Memory limit of a game's process, in MiB of address space [default: 2048]
    #[arg(long, env = "RHAE_HOST_MEMORY", value_name = "MIB", help_heading = HOSTED)]
    pub(crate) host_memory: Option<u64>,
    /// Run games even if the system cannot fully isolate them from your files and the network
    #[arg(long, env = "RHAE_UNSAFE_HOST", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", help_heading = HOSTED)]
    pub(crate) unsafe_host: Option<bool>,
    /// File that lists public, semi-private and private environments; without it all are public
    #[arg(long, env = "RHAE_SETS", value_name = "FILE")]
    pub(crate) sets: Option<PathBuf>,
    /// Published baselines of a human study, which replace those of the environments (docs/study.md)
    #[arg(long, env = "RHAE_BASELINES", value_name = "FILE")]
    pub(crate) baselines: Option<PathBuf>,
    /// Key file that encrypts contact data of study participants; recruiting platforms and seats need
    /// it. It is created if it does not exist
    #[arg(long, env = "RHAE_IDENTITY_KEY", value_name = "FILE")]
    pub(crate) identity_key: Option<PathBuf>,
    /// Who may use the server [default: open]
    #[arg(long, env = "RHAE_AUTH")]
    pub(crate) auth: Option<Auth>,
    /// Who may play and watch in a browser without a key; requires `--auth keys` [default: off]
    #[arg(long, env = "RHAE_VISITORS")]
    pub(crate) visitors: Option<Visitors>,
    /// Host names by which clients may reach a server with open access, besides localhost and the
    /// loopback addresses, separated by commas
    #[arg(long, env = "RHAE_HOSTS", value_name = "NAME", value_delimiter = ',')]
    pub(crate) hosts: Option<Vec<String>>,
    /// Proxies whose X-Forwarded-For header is trusted: addresses or ranges such as 10.0.0.0/8,
    /// separated by commas, or `none` [default: 127.0.0.0/8,::1]
    #[arg(
        long,
        env = "RHAE_TRUSTED_PROXIES",
        value_name = "RANGE",
        value_delimiter = ','
    )]
    pub(crate) trusted_proxies: Option<Vec<String>>,
    /// Open every scorecard in competition mode, one per key
    #[arg(long, env = "RHAE_COMPETITION", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub(crate) competition: Option<bool>,
    /// Close a scorecard after this many minutes without a command or heartbeat [default: 15]
    #[arg(long, env = "RHAE_IDLE_MINUTES")]
    pub(crate) idle_minutes: Option<u64>,
    /// Close a scorecard after this many minutes in any case [default: 1440]
    #[arg(long, env = "RHAE_OPEN_MINUTES")]
    pub(crate) open_minutes: Option<u64>,
    /// Store a snapshot of a play after this many actions, so that it is rebuilt faster [default:
    /// 1000]
    #[arg(long, env = "RHAE_SNAPSHOT_EVERY", value_name = "N")]
    pub(crate) snapshot_every: Option<u32>,
    /// Certificate of the server with its intermediate certificates, in PEM format; enables HTTPS
    #[arg(long, env = "RHAE_TLS_CERT", value_name = "FILE")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Private key of the certificate, in PEM format
    #[arg(long, env = "RHAE_TLS_KEY", value_name = "FILE")]
    pub(crate) tls_key: Option<PathBuf>,

    /// Format of the log on standard error [default: text]
    #[arg(long, env = "RHAE_LOG", help_heading = "Logs and metrics")]
    pub(crate) log: Option<LogFormat>,
    /// Log level [default: info]
    #[arg(long, env = "RHAE_LOG_LEVEL", help_heading = "Logs and metrics")]
    pub(crate) log_level: Option<LogLevel>,
    /// Address for Prometheus metrics at /metrics, readable without a key; one that other machines
    /// can reach requires `--auth keys` [default: off]
    #[arg(
        long,
        env = "RHAE_METRICS",
        value_name = "ADDR",
        help_heading = "Logs and metrics"
    )]
    pub(crate) metrics: Option<String>,

    /// Requests per minute and key, 0 for no limit; requires `--auth keys` [default: 600]
    #[arg(
        long,
        env = "RHAE_REQUESTS_PER_MINUTE",
        value_name = "N",
        help_heading = "Limits"
    )]
    pub(crate) requests_per_minute: Option<u32>,
    /// Requests per minute and visitor, 0 for no limit [default: 540]
    #[arg(
        long,
        env = "RHAE_VISITOR_REQUESTS_PER_MINUTE",
        value_name = "N",
        help_heading = "Limits"
    )]
    pub(crate) visitor_requests_per_minute: Option<u32>,
    /// Open scorecards per key, 0 for no limit [default: 100 with `--auth keys`, otherwise 0]
    #[arg(
        long,
        env = "RHAE_OPEN_CARDS",
        value_name = "N",
        help_heading = "Limits"
    )]
    pub(crate) open_cards: Option<u32>,
    /// Plays per scorecard, 0 for no limit [default: 1000 with `--auth keys`, otherwise 0]
    #[arg(
        long,
        env = "RHAE_PLAYS_PER_CARD",
        value_name = "N",
        help_heading = "Limits"
    )]
    pub(crate) plays_per_card: Option<u32>,
    /// Maximum size of a request body, in bytes [default: 262144]
    #[arg(
        long,
        env = "RHAE_BODY_BYTES",
        value_name = "N",
        help_heading = "Limits"
    )]
    pub(crate) body_bytes: Option<usize>,
    /// Maximum nesting depth of a JSON body, up to 128 [default: 128]
    #[arg(
        long,
        env = "RHAE_JSON_DEPTH",
        value_name = "N",
        help_heading = "Limits"
    )]
    pub(crate) json_depth: Option<usize>,
    /// Maximum size of `reasoning` and of `opaque`, in bytes [default: 16384]
    #[arg(
        long,
        env = "RHAE_EXTRA_BYTES",
        value_name = "N",
        help_heading = "Limits"
    )]
    pub(crate) extra_bytes: Option<usize>,
    /// Bytes that a key may store in scorecards, plays and actions, 0 for no limit; visitors may store at
    /// most 16 MiB [default: 1073741824 with `--auth keys`, otherwise 0]
    #[arg(
        long,
        env = "RHAE_STORED_BYTES_PER_KEY",
        value_name = "N",
        help_heading = "Limits"
    )]
    pub(crate) stored_bytes_per_key: Option<u64>,
    /// Commands to one hosted game that are executed or wait; further ones get 503 [default: 64]
    #[arg(
        long,
        env = "RHAE_HOSTED_CALLS",
        value_name = "N",
        help_heading = "Limits"
    )]
    pub(crate) hosted_calls: Option<usize>,
    /// Concurrent event streams, replays and recordings [default: 256]
    #[arg(long, env = "RHAE_STREAMS", value_name = "N", help_heading = "Limits")]
    pub(crate) streams: Option<usize>,
    /// Concurrent event streams, replays and recordings per key, 0 for no limit [default: 32 with
    /// `--auth keys`, otherwise 0]
    #[arg(
        long,
        env = "RHAE_STREAMS_PER_KEY",
        value_name = "N",
        help_heading = "Limits"
    )]
    pub(crate) streams_per_key: Option<u32>,
    /// Concurrent event streams, replays and recordings per address, 0 for no limit [default: 64 with
    /// `--auth keys`, otherwise 0]
    #[arg(
        long,
        env = "RHAE_STREAMS_PER_ADDRESS",
        value_name = "N",
        help_heading = "Limits"
    )]
    pub(crate) streams_per_address: Option<u32>,
    /// Concurrent connections; if all are in use, a client with few takes over one of a client with
    /// many, and others wait [default: 4096]
    #[arg(
        long,
        env = "RHAE_CONNECTIONS",
        value_name = "N",
        help_heading = "Limits"
    )]
    pub(crate) connections: Option<usize>,
    /// Concurrent connections per address, 0 for no limit; trusted proxies are exempt [default: 512 with
    /// `--auth keys`, otherwise 0]
    #[arg(
        long,
        env = "RHAE_CONNECTIONS_PER_ADDRESS",
        value_name = "N",
        help_heading = "Limits"
    )]
    pub(crate) connections_per_address: Option<u32>,
    /// Time limit for the head of a request and for a TLS handshake, in seconds [default: 10]
    #[arg(
        long,
        env = "RHAE_HEADER_SECONDS",
        value_name = "N",
        help_heading = "Limits"
    )]
    pub(crate) header_seconds: Option<u64>,
    /// Time limit for the body of a request, in seconds [default: 20]
    #[arg(
        long,
        env = "RHAE_BODY_SECONDS",
        value_name = "N",
        help_heading = "Limits"
    )]
    pub(crate) body_seconds: Option<u64>,
    /// Time limit for a client to read a response, in seconds [default: 60]
    #[arg(
        long,
        env = "RHAE_ANSWER_SECONDS",
        value_name = "N",
        help_heading = "Limits"
    )]
    pub(crate) answer_seconds: Option<u64>,
    /// Time after which an idle connection is closed, in seconds [default: 120]
    #[arg(
        long,
        env = "RHAE_IDLE_SECONDS",
        value_name = "N",
        help_heading = "Limits"
    )]
    pub(crate) idle_seconds: Option<u64>,
    /// Time that requests in progress may take after the server was asked to stop, in seconds
    /// [default: 10]
    #[arg(
        long,
        env = "RHAE_SHUTDOWN_SECONDS",
        value_name = "N",
        help_heading = "Limits"
    )]
    pub(crate) shutdown_seconds: Option<u64>,
}

impl Settings {
    /// Reads a settings file. Relative paths in it refer to the working directory, as in flags.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read `{}`", path.display()))?;
        toml::from_str(&text).with_context(|| format!("in `{}`", path.display()))
    }

    /// Returns these settings, with missing values taken from `other`.
    pub(crate) fn or(self, other: Self) -> Self {
        macro_rules! first {
            ($($field:ident),* $(,)?) => { Self { $($field: self.$field.or(other.$field)),* } };
        }
        first! {
            addr, db, games, games_dir, python, host_seconds, host_memory, unsafe_host, sets, baselines, identity_key, auth, visitors, hosts, trusted_proxies, competition, idle_minutes, open_minutes, snapshot_every, tls_cert, tls_key, log, log_level, metrics,
            requests_per_minute, visitor_requests_per_minute, open_cards, plays_per_card, body_bytes, json_depth, extra_bytes, stored_bytes_per_key, hosted_calls, streams, streams_per_key, streams_per_address, connections, connections_per_address, header_seconds,
            body_seconds, answer_seconds, idle_seconds, shutdown_seconds,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_override_the_file() {
        let flags = Settings {
            addr: Some("a".to_owned()),
            ..Settings::default()
        };
        let file: Settings =
            toml::from_str("addr = 'b'\nauth = 'keys'\ncompetition = true\njson-depth = 7")
                .unwrap();
        let both = flags.or(file);
        assert_eq!(
            (both.addr.as_deref(), both.auth, both.json_depth),
            (Some("a"), Some(Auth::Keys), Some(7))
        );
        assert_eq!((both.competition, both.db), (Some(true), None));
    }

    #[test]
    fn file_lists_folders_as_an_array() {
        let file: Settings =
            toml::from_str("games-dir = ['a', 'b:c']\nhost-seconds = 2.5\nunsafe-host = true")
                .unwrap();
        assert_eq!(file.games_dir, Some(vec!["a".into(), "b:c".into()]));
        let flags = Settings {
            games_dir: Some(vec!["d".into()]),
            ..Settings::default()
        };
        let both = flags.or(file);
        assert_eq!(
            (both.games_dir, both.host_seconds, both.unsafe_host),
            (Some(vec!["d".into()]), Some(2.5), Some(true))
        );
    }

    #[test]
    fn invalid_file_is_rejected_with_the_line() {
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
