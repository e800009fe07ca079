//! `rhae keys`: API keys and invitations of a server with `--auth keys`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, Subcommand};
use rhae_protocol::compact_utc;
use rhae_server::{ApiKey, Clock, SystemClock};
use rhae_store::{GameSet, GameSets, Invitation, Key, KeyId, Scopes};
use serde_json::{Value, json};

use crate::output;
use crate::serve::database::Database;

/// Maximum length of a key's name.
const MAX_NAME_BYTES: usize = 200;

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
    Database::open(db).await
}

/// Generates a key and stores it.
async fn generate(
    common: &CommonArgs,
    name: String,
    scopes: Scopes,
    invitation: Option<Invitation>,
) -> Result<(ApiKey, Key)> {
    let fine = (1..=MAX_NAME_BYTES).contains(&name.len()) && !name.chars().any(char::is_control);
    ensure!(
        fine,
        "--name must have 1 to {MAX_NAME_BYTES} bytes and no control characters"
    );
    let secret = ApiKey::generate()
        .map_err(|error| anyhow::anyhow!("cannot get random bytes from the system: {error}"))?;
    let created_ms = SystemClock.now_ms();
    let key = Key {
        id: secret.id(),
        hash: secret.hash(),
        name,
        scopes,
        created_ms,
        revoked_ms: None,
        invitation,
    };
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
        let mut shown = as_json(&key);
        shown["link"] = link.into();
        return output::print_json(&shown);
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
        let mut shown = as_json(&key);
        shown["key"] = secret.reveal().into();
        return output::print_json(&shown);
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
    if common.json {
        return output::print_json(&keys.iter().map(as_json).collect::<Value>());
    }
    let mut text = format!(
        "{:16}  {:28}  {:15}  {:8}  name\n",
        "id", "scopes", "created", "state"
    );
    for key in &keys {
        let mut scopes: Vec<&str> = sets(key.scopes.sets);
        scopes.extend(key.scopes.sources.then_some("sources"));
        scopes.extend(key.scopes.admin.then_some("admin"));
        scopes.extend((key.scopes.visitor && key.invitation.is_none()).then_some("visitor"));
        let state = match (key.revoked_ms, key.invitation) {
            (Some(_), _) => "revoked".to_owned(),
            (None, Some(invitation)) => format!("{} left", invitation.left),
            (None, None) => "active".to_owned(),
        };
        let (scopes, created) = (scopes.join(","), compact_utc(key.created_ms));
        text.push_str(&format!(
            "{:16}  {scopes:28}  {created:15}  {state:8}  {}\n",
            key.id,
            output::plain(&key.name)
        ));
    }
    output::print(&text)
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

fn sets(sets: GameSets) -> Vec<&'static str> {
    sets.iter().map(GameSet::name).collect()
}

fn as_json(key: &Key) -> Value {
    json!({
        "id": key.id.to_string(),
        "name": key.name,
        "sets": sets(key.scopes.sets),
        "sources": key.scopes.sources,
        "admin": key.scopes.admin,
        "created_ms": key.created_ms,
        "revoked_ms": key.revoked_ms,
        "visitor": key.scopes.visitor,
        "invitation": key.invitation.map(|invitation| json!({"left": invitation.left, "until_ms": invitation.until_ms})),
    })
}
