//! The validated configuration of `rhae serve`, resolved from its settings.

use std::collections::HashMap;
use std::net::{SocketAddr, ToSocketAddrs};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use rhae_engine::{Catalog, GameId, GameInfo};
use rhae_harness::{calibrated, read_baselines, select_games};
use rhae_scoring::Method;
use rhae_server::{AddressRange, Config, Limits, Tls, TlsError, Visitors, read_game_sets};
use rhae_store::GameSet;

use super::settings::{self, Auth, LogFormat, LogLevel, Settings};
use crate::hosted_games::{HOST_MEMORY, HOST_MEMORY_RANGE, HOST_SECONDS, HostedGamesArgs};

/// The accepted range of a timeout, in minutes or seconds depending on the setting. A million
/// minutes are about two years, a million seconds about eleven days.
const TIMEOUT_RANGE: RangeInclusive<u64> = 1..=1_000_000;

/// How much a key may store by default: about eight million actions without reasoning.
const STORED_BYTES_PER_KEY: u64 = 1024 * 1024 * 1024;

/// Everything that a server needs to start.
pub(crate) struct ServeConfig {
    pub(crate) address: SocketAddr,
    pub(crate) db: PathBuf,
    /// All environments: built-in and hosted.
    pub(crate) catalog: Arc<dyn Catalog>,
    /// The environments selected by `--games`.
    pub(crate) games: Vec<GameInfo>,
    pub(crate) sets: Option<HashMap<GameId, GameSet>>,
    /// The key file for contact data of study participants.
    pub(crate) identity_key: Option<PathBuf>,
    /// Number of served environments: those in both `games` and `sets`.
    pub(crate) count: usize,
    pub(crate) auth: Auth,
    pub(crate) tls: Option<Tls>,
    /// Host names besides those of the loopback interface.
    pub(crate) hosts: Vec<String>,
    pub(crate) trusted_proxies: Vec<AddressRange>,
    pub(crate) metrics: Option<SocketAddr>,
    /// How long requests in progress may take to finish after the server was asked to stop.
    pub(crate) shutdown_timeout: Duration,
    pub(crate) log: LogFormat,
    pub(crate) log_level: LogLevel,
    pub(crate) server: Config,
}

impl ServeConfig {
    /// Validates the settings and loads the environments, sets and certificates they name.
    pub(crate) fn resolve(settings: Settings) -> Result<Self> {
        let auth = settings.auth.unwrap_or(Auth::Open);
        let metrics = settings.metrics.as_deref();
        let metrics = metrics.map(|text| address(text, auth)).transpose()?;
        let address = address(settings.addr.as_deref().unwrap_or("127.0.0.1:8001"), auth)?;
        let baselines = settings.baselines.as_deref().map(read_baselines);
        let catalog = calibrated(
            hosted_games_args(&settings)?.games()?,
            baselines.transpose()?.as_ref(),
            Method::DEFAULT,
        );
        let games = select_games(&catalog, settings.games.as_deref().unwrap_or("all"))?;
        let games = games
            .iter()
            .map(|id| catalog.find(id))
            .collect::<Result<Vec<_>, _>>()?;
        let sets = settings
            .sets
            .as_deref()
            .map(|path| read_game_sets(path, &catalog))
            .transpose()?;
        let served =
            |info: &&GameInfo| sets.as_ref().is_none_or(|sets| sets.contains_key(&info.id));
        let count = games.iter().filter(served).count();
        ensure!(
            count > 0,
            "no environment is both in --games and in the file of --sets"
        );
        let tls = tls(settings.tls_cert.as_deref(), settings.tls_key.as_deref())?;
        let limits = limits(&settings, auth)?;
        let minutes = |name, value: Option<u64>, default| {
            Ok::<_, anyhow::Error>(within(name, value, default, TIMEOUT_RANGE)? * 60_000)
        };
        let visitors = visitors(&settings, auth)?;
        let server = Config {
            visitors,
            competition: settings.competition.unwrap_or(false),
            idle_ms: minutes("idle-minutes", settings.idle_minutes, 15)?,
            open_ms: minutes("open-minutes", settings.open_minutes, 24 * 60)?,
            snapshot_every: within(
                "snapshot-every",
                settings.snapshot_every,
                1000,
                1..=u32::MAX,
            )?,
            listeners: within("streams", settings.streams, 256, 1..=1_000_000)?,
            limits,
            ..Config::default()
        };
        let shutdown_seconds = within(
            "shutdown-seconds",
            settings.shutdown_seconds,
            10,
            TIMEOUT_RANGE,
        )?;
        let trusted_proxies = trusted_proxies(settings.trusted_proxies.as_deref())?;
        let (log, log_level) = (
            settings.log.unwrap_or(LogFormat::Text),
            settings.log_level.unwrap_or(LogLevel::Info),
        );
        let db = settings.db.unwrap_or_else(|| "rhae.db".into());
        Ok(Self {
            address,
            db,
            catalog,
            games,
            sets,
            identity_key: settings.identity_key,
            count,
            auth,
            tls,
            hosts: settings.hosts.unwrap_or_default(),
            trusted_proxies,
            metrics,
            shutdown_timeout: Duration::from_secs(shutdown_seconds),
            log,
            log_level,
            server,
        })
    }
}

/// Returns the settings for hosted games in the form of the other commands' flags.
fn hosted_games_args(settings: &Settings) -> Result<HostedGamesArgs> {
    Ok(HostedGamesArgs {
        games_dir: settings.games_dir.clone().unwrap_or_default(),
        python: settings.python.clone(),
        host_seconds: settings.host_seconds.unwrap_or(HOST_SECONDS),
        host_memory: within(
            "host-memory",
            settings.host_memory,
            HOST_MEMORY,
            HOST_MEMORY_RANGE,
        )?,
        unsafe_host: settings.unsafe_host.unwrap_or(false),
    })
}

fn visitors(settings: &Settings, auth: Auth) -> Result<Visitors> {
    ensure!(
        auth == Auth::Keys || settings.visitors.is_none(),
        "visitors requires `--auth keys`; with open access every user of this machine may play"
    );
    Ok(match settings.visitors.unwrap_or(settings::Visitors::Off) {
        settings::Visitors::Off => Visitors::Off,
        settings::Visitors::Public => Visitors::Public,
        settings::Visitors::Invite => Visitors::Invite,
    })
}

fn trusted_proxies(settings: Option<&[String]>) -> Result<Vec<AddressRange>> {
    let Some(texts) = settings else {
        return Ok(AddressRange::LOOPBACK.to_vec());
    };
    let ranges = texts.iter().filter(|text| *text != "none");
    ranges
        .map(|text| text.parse().context("in trusted-proxies"))
        .collect()
}

fn limits(settings: &Settings, auth: Auth) -> Result<Limits> {
    let keys = auth == Auth::Keys;
    ensure!(
        keys || settings.requests_per_minute.is_none_or(|limit| limit == 0),
        "requests-per-minute requires `--auth keys`; without keys requests have no owner to count for"
    );
    // With open access all requests without a key share one owner, so these limits are off by default.
    let limit = |value: Option<u32>, default: u32| {
        value.or(keys.then_some(default)).filter(|&limit| limit > 0)
    };
    let seconds = |name, value, default: Duration| {
        within(name, value, default.as_secs(), TIMEOUT_RANGE).map(Duration::from_secs)
    };
    let per_client = |value: Option<u32>, default: u32| {
        limit(value, default).map(|limit| usize::try_from(limit).unwrap_or(usize::MAX))
    };
    let stored_bytes = settings
        .stored_bytes_per_key
        .or(keys.then_some(STORED_BYTES_PER_KEY));
    let default = Limits::default();
    Ok(Limits {
        stored_bytes_per_key: stored_bytes.filter(|&limit| limit > 0),
        streams_per_key: per_client(settings.streams_per_key, 32),
        streams_per_address: per_client(settings.streams_per_address, 64),
        connections_per_address: per_client(settings.connections_per_address, 512),
        requests_per_minute: limit(settings.requests_per_minute, 600),
        // Enough for eight actions per second without a break, and for some pages.
        visitor_requests_per_minute: limit(settings.visitor_requests_per_minute, 540),
        open_cards: limit(settings.open_cards, 100),
        plays_per_card: limit(settings.plays_per_card, 1000),
        body_bytes: within(
            "body-bytes",
            settings.body_bytes,
            default.body_bytes,
            1024..=64 * 1024 * 1024,
        )?,
        json_depth: within(
            "json-depth",
            settings.json_depth,
            default.json_depth,
            1..=Limits::MAX_JSON_DEPTH,
        )?,
        extra_bytes: within(
            "extra-bytes",
            settings.extra_bytes,
            default.extra_bytes,
            0..=16 * 1024 * 1024,
        )?,
        connections: within(
            "connections",
            settings.connections,
            default.connections,
            1..=1_000_000,
        )?,
        hosted_calls: within(
            "hosted-calls",
            settings.hosted_calls,
            default.hosted_calls,
            1..=100_000,
        )?,
        header_timeout: seconds(
            "header-seconds",
            settings.header_seconds,
            default.header_timeout,
        )?,
        body_timeout: seconds("body-seconds", settings.body_seconds, default.body_timeout)?,
        answer_timeout: seconds(
            "answer-seconds",
            settings.answer_seconds,
            default.answer_timeout,
        )?,
        idle_timeout: seconds("idle-seconds", settings.idle_seconds, default.idle_timeout)?,
        ..default
    })
}

/// Returns the value or, if it is missing, the default. It is an error if the value is out of
/// range.
fn within<T>(name: &str, value: Option<T>, default: T, range: RangeInclusive<T>) -> Result<T>
where
    T: PartialOrd + std::fmt::Display,
{
    let value = value.unwrap_or(default);
    ensure!(
        range.contains(&value),
        "{name} must be between {} and {}, found {value}",
        range.start(),
        range.end()
    );
    Ok(value)
}

/// Resolves the address to listen on. With open access it must be a loopback address.
fn address(text: &str, auth: Auth) -> Result<SocketAddr> {
    let addresses = addresses(text)?;
    ensure!(
        auth == Auth::Keys || addresses.iter().all(|address| address.ip().is_loopback()),
        "`{text}` can be reached from other machines while access is open; use 127.0.0.1 or [::1], or `--auth keys`"
    );
    Ok(addresses[0])
}

/// Resolves a text to one or more addresses.
fn addresses(text: &str) -> Result<Vec<SocketAddr>> {
    let addresses = text
        .to_socket_addrs()
        .with_context(|| format!("`{text}` is not an address such as 127.0.0.1:8001"))?;
    let addresses: Vec<SocketAddr> = addresses.collect();
    ensure!(!addresses.is_empty(), "`{text}` resolves to no address");
    Ok(addresses)
}

fn tls(certificate: Option<&Path>, key: Option<&Path>) -> Result<Option<Tls>> {
    let (certificate, key) = match (certificate, key) {
        (Some(certificate), Some(key)) => (certificate, key),
        (None, None) => return Ok(None),
        _ => bail!("--tls-cert and --tls-key belong together: give both or neither"),
    };
    let context = || format!("`{}` and `{}`", certificate.display(), key.display());
    match Tls::from_files(certificate, key) {
        Err(error @ TlsError::Read { .. }) => Err(error.into()),
        tls => Ok(Some(tls.with_context(context)?)),
    }
}
