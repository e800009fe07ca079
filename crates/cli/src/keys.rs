//! `rhae keys`: API keys and invitations of a server with `--auth keys`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, Subcommand};
use rhae_protocol::KeyListing;
use rhae_report::keys_table;
use rhae_server::{ApiKey, Clock, SystemClock, new_key};
use rhae_store::{Database, GameSet, Invitation, Key, KeyId, Scopes};
use serde_json::json;

use crate::output;

/// Create, list and revoke API keys of a server, and invite visitors.
///
/// A running server accepts a new key immediately and refuses a revoked one within a second.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae keys create --name \"lab one\"
  rhae keys create --name evaluation --sets public,semi-private --json
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
            } => {
                let scopes = Scopes {
                    sets: sets.into_iter().collect(),
                    sources,
                    admin,
                    visitor: false,
                };
                create(&common, name, scopes).await
            }
            KeysCommand::Invite {
                common,
                name,
                sets,
                visitors,
                days,
                url,
            } => {
                let scopes = Scopes {
                    sets: sets.into_iter().collect(),
                    sources: false,
                    admin: false,
                    visitor: true,
                };
                let until_ms = SystemClock
                    .now_ms()
                    .saturating_add(u64::from(days) * 24 * 60 * 60 * 1000);
                invite(
                    &common,
                    name,
                    scopes,
                    Invitation {
                        left: visitors,
                        until_ms,
                    },
                    &url,
                )
                .await
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

/// Generates a key and stores it.
async fn generate(
    common: &CommonArgs,
    name: String,
    scopes: Scopes,
    invitation: Option<Invitation>,
) -> Result<(ApiKey, Key)> {
    let (secret, key) = new_key(name, scopes, invitation, SystemClock.now_ms())?;
    let database = Database::open(&common.db).await?;
    database.keys().create_key(key.clone()).await?;
    database.close().await;
    Ok((secret, key))
}

async fn invite(
    common: &CommonArgs,
    name: String,
    scopes: Scopes,
    invitation: Invitation,
    url: &str,
) -> Result<()> {
    let web = url.starts_with("http://") || url.starts_with("https://");
    ensure!(
        web && !url.chars().any(char::is_whitespace),
        "--url must be an address such as https://example.org, found `{url}`"
    );
    let (secret, key) = generate(common, name, scopes, Some(invitation)).await?;
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

async fn create(common: &CommonArgs, name: String, scopes: Scopes) -> Result<()> {
    let (secret, key) = generate(common, name, scopes, None).await?;
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
    output::print(&keys_table(&keys))
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
