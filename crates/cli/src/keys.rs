//! `rhae keys`: API keys and invitations of a server with `--auth keys`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, Subcommand};
use rhae_protocol::KeyListing;
use rhae_report::keys_table;
use rhae_server::{ApiKey, Clock, SystemClock, new_key};
use rhae_store::{Database, GameSet, Invitation, Key, KeyId, KeyLimits, Scopes};
use serde_json::json;

use crate::output;

/// Create, list and revoke API keys of a server, and invite visitors.
///
/// A running server accepts a new key immediately and refuses a revoked one within a second.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae keys create --name \"lab one\"
  rhae keys create --name evaluation --sets public,semi-private --json
  rhae keys create --name course --days 90 --requests-per-minute 60 --stored-bytes 10000000
  rhae keys invite --name \"study one\" --visitors 20 --url https://example.org
  rhae keys list
  rhae keys revoke 0123456789abcdef")]
pub(crate) struct KeysArgs {
    #[command(subcommand)]
    command: KeysCommand,
}

#[derive(Subcommand)]
enum KeysCommand {
    /// Create a key and print it once
    Create {
        #[command(flatten)]
        common: CommonArgs,
        /// Name of the owner, for your information
        #[arg(long)]
        name: String,
        /// Sets of environments that the key may see: public, semi-private, private
        #[arg(long, default_value = "public", value_delimiter = ',', value_parser = set)]
        sets: Vec<GameSet>,
        /// Allow downloading the sources of environments
        #[arg(long)]
        sources: bool,
        /// Allow seeing every set and reading all scorecards
        #[arg(long)]
        admin: bool,
        /// Days until the key expires; without this flag it does not expire
        #[arg(long, value_parser = clap::value_parser!(u32).range(1..=3650))]
        days: Option<u32>,
        #[command(flatten)]
        limits: LimitArgs,
    },
    /// Create an invitation link for visitors of a server with `--visitors invite`
    Invite {
        #[command(flatten)]
        common: CommonArgs,
        /// Name of the invitation, for your information
        #[arg(long)]
        name: String,
        /// Sets of environments that the visitors may see
        #[arg(long, default_value = "public", value_delimiter = ',', value_parser = set)]
        sets: Vec<GameSet>,
        /// Number of visitors that the link admits
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
        visitors: u32,
        /// Days until the link expires
        #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=3650))]
        days: u32,
        /// Days until the key of a visitor expires, from its first visit; without this flag it does
        /// not expire
        #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..=3650))]
        key_days: Option<u32>,
        #[command(flatten)]
        limits: LimitArgs,
        /// Public address of the server
        #[arg(long, default_value = "http://127.0.0.1:8001", value_name = "URL")]
        url: String,
    },
    /// List all keys and invitations
    List {
        #[command(flatten)]
        common: CommonArgs,
    },
    /// Revoke a key permanently
    Revoke {
        #[command(flatten)]
        common: CommonArgs,
        /// Id of the key, as shown by `rhae keys list`
        id: String,
    },
}

/// Limits that replace those of the server for one key, or for each visitor of an invitation.
#[derive(Args)]
#[command(next_help_heading = "Limits that replace those of the server")]
struct LimitArgs {
    /// Requests per minute, 0 for no limit
    #[arg(long, value_name = "N")]
    requests_per_minute: Option<u32>,
    /// Open scorecards, 0 for no limit
    #[arg(long, value_name = "N")]
    open_cards: Option<u32>,
    /// Plays per scorecard, 0 for no limit
    #[arg(long, value_name = "N")]
    plays_per_card: Option<u32>,
    /// Bytes stored in scorecards, plays and actions, 0 for no limit
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    stored_bytes: Option<u64>,
}

impl From<LimitArgs> for KeyLimits {
    fn from(args: LimitArgs) -> Self {
        Self {
            requests_per_minute: args.requests_per_minute,
            open_cards: args.open_cards,
            plays_per_card: args.plays_per_card,
            stored_bytes: args.stored_bytes,
        }
    }
}

#[derive(Args)]
struct CommonArgs {
    /// Database of the server: a file or postgres://user:password@host/database
    #[arg(
        long,
        env = "RHAE_DB",
        default_value = "rhae.db",
        value_name = "FILE|URL",
        hide_env_values = true
    )]
    db: PathBuf,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

fn set(name: &str) -> Result<GameSet, String> {
    GameSet::from_name(name).ok_or_else(|| "expected public, semi-private or private".to_owned())
}

pub(crate) fn run(args: KeysArgs) -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start a runtime")?;
    runtime.block_on(async {
        match args.command {
            KeysCommand::Create {
                common,
                name,
                sets,
                sources,
                admin,
                days,
                limits,
            } => {
                let scopes = Scopes {
                    sets: sets.into_iter().collect(),
                    sources,
                    admin,
                    visitor: false,
                };
                let (secret, mut key) = new_key(name, scopes, None, SystemClock.now_ms())?;
                let lifetime_ms = days.map(days_ms);
                key.expires_ms = lifetime_ms.map(|ms| key.created_ms.saturating_add(ms));
                key.limits = limits.into();
                create(&common, &secret, key).await
            }
            KeysCommand::Invite {
                common,
                name,
                sets,
                visitors,
                days,
                key_days,
                limits,
                url,
            } => {
                let scopes = Scopes {
                    sets: sets.into_iter().collect(),
                    sources: false,
                    admin: false,
                    visitor: true,
                };
                let now_ms = SystemClock.now_ms();
                let invitation = Invitation {
                    left: visitors,
                    until_ms: now_ms.saturating_add(days_ms(days)),
                    key_lifetime_ms: key_days.map(days_ms),
                };
                let (secret, mut key) = new_key(name, scopes, Some(invitation), now_ms)?;
                key.limits = limits.into();
                invite(&common, &secret, key, &url).await
            }
            KeysCommand::List { common } => list(&common).await,
            KeysCommand::Revoke { common, id } => revoke(&common, &id).await,
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Opens a database that must exist: listing and revoking must not create one.
async fn existing(db: &Path) -> Result<Database> {
    ensure!(
        Database::may_exist(db),
        "the database `{}` does not exist",
        db.display()
    );
    Ok(Database::open(db).await?)
}

fn days_ms(days: u32) -> u64 {
    u64::from(days) * 24 * 60 * 60 * 1000
}

async fn store(common: &CommonArgs, key: &Key) -> Result<()> {
    let database = Database::open(&common.db).await?;
    database.keys().create_key(key.clone()).await?;
    database.close().await;
    Ok(())
}

async fn invite(common: &CommonArgs, secret: &ApiKey, key: Key, url: &str) -> Result<()> {
    let web = url.starts_with("http://") || url.starts_with("https://");
    ensure!(
        web && !url.chars().any(char::is_whitespace),
        "--url must be an address such as https://example.org, found `{url}`"
    );
    store(common, &key).await?;
    let link = format!("{}/invite/{}", url.trim_end_matches('/'), secret.reveal());
    if common.json {
        return output::print_json(&KeyListing {
            link: Some(link),
            ..KeyListing::from(&key)
        });
    }
    output::print(&format!("{link}\n"))?;
    eprintln!(
        "The link is shown only once. Its id is {}. Start the server with `--auth keys --visitors invite`.",
        key.id
    );
    Ok(())
}

async fn create(common: &CommonArgs, secret: &ApiKey, key: Key) -> Result<()> {
    store(common, &key).await?;
    if common.json {
        return output::print_json(&KeyListing {
            key: Some(secret.reveal().to_owned()),
            ..KeyListing::from(&key)
        });
    }
    output::print(&format!("{}\n", secret.reveal()))?;
    eprintln!(
        "The key is shown only once. Its id is {}. Clients send it as X-API-Key (ARC_API_KEY).",
        key.id
    );
    Ok(())
}

async fn list(common: &CommonArgs) -> Result<()> {
    let database = existing(&common.db).await?;
    let keys = database.keys().keys().await?;
    database.close().await;
    let keys: Vec<KeyListing> = keys.iter().map(KeyListing::from).collect();
    if common.json {
        return output::print_json(&keys);
    }
    output::print(&keys_table(&keys, SystemClock.now_ms()))
}

async fn revoke(common: &CommonArgs, id: &str) -> Result<()> {
    let id: KeyId = id.parse()?;
    let database = existing(&common.db).await?;
    let keys = database.keys();
    let (known, revoked) = (
        keys.key(id).await?,
        keys.revoke_key(id, SystemClock.now_ms()).await?,
    );
    drop(keys);
    database.close().await;
    match known {
        None => bail!("no key has the id `{id}`; `rhae keys list` shows all keys"),
        Some(_) if !revoked => bail!("the key `{id}` is already revoked"),
        Some(_) if common.json => {
            output::print_json(&json!({"id": id.to_string(), "revoked": true}))
        }
        Some(key) => output::print(&format!("revoked {id} ({})", output::plain(&key.name))),
    }
}
