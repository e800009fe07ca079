//! Settings turned into meaning: every value checked once, wherever it came from.

use std::collections::HashMap;
use std::net::{SocketAddr, ToSocketAddrs};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use rhae_engine::{GameId, GameInfo};
use rhae_pyhost::Games;
use rhae_server::{Config, Limits, Tls, Visitors};
use rhae_session::Catalog;
use rhae_store::GameSet;

use super::sets;
use super::settings::{self, Auth, LogForm, LogLevel, Settings};
use crate::outside::{HOST_MEMORY, HOST_MEMORY_RANGE, HOST_SECONDS, OutsideArgs};
use crate::run::chosen_games;

/// A million minutes are two years, and a million seconds eleven days.
const TIMES: RangeInclusive<u64> = 1..=1_000_000;

/// What a server is to do.
pub(crate) struct Order {
    pub(crate) address: SocketAddr,
    pub(crate) db: PathBuf,
    /// Everything that there is: the built-in environments and those of folders.
    pub(crate) catalog: Games,
    /// Those that are served.
    pub(crate) games: Vec<GameInfo>,
    pub(crate) sets: Option<HashMap<GameId, GameSet>>,
    /// How many environments are served.
    pub(crate) count: usize,
    pub(crate) auth: Auth,
    pub(crate) tls: Option<Tls>,
    pub(crate) metrics: Option<SocketAddr>,
    pub(crate) log: LogForm,
    pub(crate) log_level: LogLevel,
    pub(crate) config: Config,
}

impl Order {
    /// What the settings mean, or which of them cannot be.
    pub(crate) fn resolve(settings: Settings) -> Result<Self> {
        let auth = settings.auth.unwrap_or(Auth::Open);
        let address = address(settings.addr.as_deref().unwrap_or("127.0.0.1:8001"), auth)?;
        let metrics = settings
            .metrics
            .as_deref()
            .map(|text| addresses(text).map(|all| all[0]))
            .transpose()?;
        let catalog = outside(&settings)?.games()?;
        let games = chosen_games(&catalog, settings.games.as_deref().unwrap_or("all"))?;
        let games = games
            .iter()
            .map(|id| catalog.find(id))
            .collect::<Result<Vec<_>, _>>()?;
        let sets = settings
            .sets
            .as_deref()
            .map(|path| sets::read(path, &catalog))
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
            Ok::<_, anyhow::Error>(within(name, value, default, TIMES)? * 60_000)
        };
        let visitors = visitors(&settings, auth)?;
        let config = Config {
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
            limits,
            ..Config::default()
        };
        let (log, log_level) = (
            settings.log.unwrap_or(LogForm::Text),
            settings.log_level.unwrap_or(LogLevel::Info),
        );
        let db = settings.db.unwrap_or_else(|| "rhae.db".into());
        Ok(Self {
            address,
            db,
            catalog,
            games,
            sets,
            count,
            auth,
            tls,
            metrics,
            log,
            log_level,
            config,
        })
    }
}

/// Games from outside, as the other commands name them by flags.
fn outside(settings: &Settings) -> Result<OutsideArgs> {
    Ok(OutsideArgs {
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
        "visitors needs `--auth keys`: with open access everybody on this machine may play"
    );
    Ok(match settings.visitors.unwrap_or(settings::Visitors::Off) {
        settings::Visitors::Off => Visitors::Off,
        settings::Visitors::Public => Visitors::Public,
        settings::Visitors::Invite => Visitors::Invite,
    })
}

fn limits(settings: &Settings, auth: Auth) -> Result<Limits> {
    let keys = auth == Auth::Keys;
    ensure!(
        keys || settings.requests_per_minute.is_none_or(|most| most == 0),
        "requests-per-minute needs `--auth keys`: without keys nobody knows whose requests they are"
    );
    // With open access all requests without a key have one owner, whom a limit would hit for the sake of others.
    let counted = |value: Option<u32>, default: u32| {
        value.or(keys.then_some(default)).filter(|&most| most > 0)
    };
    let seconds = |name, value, default: Duration| {
        within(name, value, default.as_secs(), TIMES).map(Duration::from_secs)
    };
    let default = Limits::default();
    Ok(Limits {
        requests_per_minute: counted(settings.requests_per_minute, 600),
        // Eight actions a second, all the time, and some pages.
        visitor_requests_per_minute: counted(settings.visitor_requests_per_minute, 540),
        open_cards: counted(settings.open_cards, 100),
        plays_per_card: counted(settings.plays_per_card, 1000),
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
            1..=Limits::MOST_DEPTH,
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
    })
}

/// A value that was given, or the default, if it is in a range.
fn within<T>(name: &str, value: Option<T>, default: T, range: RangeInclusive<T>) -> Result<T>
where
    T: PartialOrd + std::fmt::Display,
{
    let value = value.unwrap_or(default);
    ensure!(
        range.contains(&value),
        "{name} must be from {} to {}, and not {value}",
        range.start(),
        range.end()
    );
    Ok(value)
}

/// The address to listen at. Where access is open, nobody on other machines may reach it.
fn address(text: &str, auth: Auth) -> Result<SocketAddr> {
    let addresses = addresses(text)?;
    ensure!(
        auth == Auth::Keys || addresses.iter().all(|address| address.ip().is_loopback()),
        "`{text}` can be reached from other machines, and access is open to everybody: use 127.0.0.1 or [::1], or `--auth keys`"
    );
    Ok(addresses[0])
}

/// All addresses that a text leads to, at least one.
fn addresses(text: &str) -> Result<Vec<SocketAddr>> {
    let addresses = text
        .to_socket_addrs()
        .with_context(|| format!("`{text}` is not an address such as 127.0.0.1:8001"))?;
    let addresses: Vec<SocketAddr> = addresses.collect();
    ensure!(!addresses.is_empty(), "`{text}` leads to no address");
    Ok(addresses)
}

fn tls(certificate: Option<&Path>, key: Option<&Path>) -> Result<Option<Tls>> {
    let (certificate, key) = match (certificate, key) {
        (Some(certificate), Some(key)) => (certificate, key),
        (None, None) => return Ok(None),
        _ => bail!("--tls-cert and --tls-key belong together: give both or neither"),
    };
    let read = |path: &Path| {
        std::fs::read(path).with_context(|| format!("cannot read `{}`", path.display()))
    };
    let tls = Tls::from_pem(&read(certificate)?, &read(key)?);
    Ok(Some(tls.with_context(|| {
        format!("`{}` and `{}`", certificate.display(), key.display())
    })?))
}
