//! `rhae games fetch`: downloads environments from a server with the official API into a folder.
//!
//! The server is not trusted: names are validated before they become paths, sizes are limited, and
//! nothing that was downloaded is executed. A file that the user changed is never overwritten.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use rhae_pyhost::{FetchRecord, Metadata, WriteOutcome};
use serde_json::Value;
use ureq::Agent;
use ureq::http::Uri;

use crate::output;

/// The maximum size of a response: the list of environments, or the source of one.
const MAX_RESPONSE_BYTES: u64 = 16 << 20;

#[derive(Args)]
pub(crate) struct FetchArgs {
    /// Folder to fetch into; created if it does not exist
    dir: PathBuf,
    /// Address of the server, such as `https://three.arcprize.org`
    #[arg(long, value_name = "URL")]
    server: String,
    /// API key [default: the environment variable ARC_API_KEY, otherwise an anonymous key]
    #[arg(long)]
    key: Option<String>,
    /// Comma-separated environment ids, or `all`
    #[arg(long, default_value = "all")]
    games: String,
}

pub(crate) fn run(args: &FetchArgs) -> Result<ExitCode> {
    let remote = Remote::new(args)?;
    let listed = remote.json("/api/games")?;
    let listed = listed
        .as_array()
        .context("the server's list of environments is not a JSON array")?;
    let wanted: Option<Vec<&str>> =
        (args.games != "all").then(|| args.games.split(',').map(str::trim).collect());
    let (mut fetched, mut kept, mut failed, mut matched) = (0, 0, 0, Vec::new());
    for entry in listed {
        let id = entry["game_id"].as_str().unwrap_or_default();
        if let Some(wanted) = &wanted {
            let Some(&name) = wanted
                .iter()
                .find(|&&name| id == name || id.split('-').next() == Some(name))
            else {
                continue;
            };
            matched.push(name);
        }
        match fetch(&remote, &args.dir, entry) {
            Ok(FetchOutcome::Written(files)) => {
                fetched += 1;
                kept += files
                    .iter()
                    .filter(|(written, _)| *written == WriteOutcome::Kept)
                    .count();
                for (written, file) in files {
                    output::print(&output::plain(&format!(
                        "{}  {}",
                        label(written),
                        file.display()
                    )))?;
                }
            }
            Ok(FetchOutcome::NoSource) => {
                output::print(&output::plain(&format!("no source  {id}")))?;
            }
            Err(error) => {
                failed += 1;
                output::print_error(&error.context(format!("`{id}`")));
            }
        }
    }
    if let Some(missing) = wanted.iter().flatten().find(|name| !matched.contains(name)) {
        bail!("the server has no environment `{missing}`");
    }
    output::print(&format!("{fetched} environments in {}", args.dir.display()))?;
    if kept > 0 {
        eprintln!(
            "note: files changed locally and not overwritten: {kept}; remove or rename them to fetch the server's versions"
        );
    }
    ensure!(failed == 0, "{failed} environments could not be fetched");
    Ok(ExitCode::SUCCESS)
}

/// The result of fetching one environment.
enum FetchOutcome {
    Written(Vec<(WriteOutcome, PathBuf)>),
    /// The server offers no source for the environment, for example because it is a native game.
    NoSource,
}

const fn label(written: WriteOutcome) -> &'static str {
    match written {
        WriteOutcome::Created => "new      ",
        WriteOutcome::Updated => "updated  ",
        WriteOutcome::Unchanged => "same     ",
        WriteOutcome::Kept => "kept     ",
    }
}

/// Fetches one environment of the server's list.
fn fetch(remote: &Remote, folder: &Path, entry: &Value) -> Result<FetchOutcome> {
    let listed = Metadata::parse(&entry.to_string()).map_err(|problem| {
        anyhow::anyhow!("the entry in the server's list is invalid: {problem}")
    })?;
    let details = remote.json(&format!("/api/games/{}", listed.id))?;
    let metadata = Metadata::parse(&details.to_string())
        .map_err(|problem| anyhow::anyhow!("the server's metadata is invalid: {problem}"))?;
    ensure!(
        metadata.id == listed.id,
        "the server responded with another environment, `{}`",
        metadata.id
    );
    ensure!(
        metadata.command.is_none(),
        "the server's metadata contains `command`; commands from a server are not accepted"
    );
    let Some(source) = remote.text(&format!("/api/games/{}/source", metadata.id))? else {
        return Ok(FetchOutcome::NoSource);
    };
    let folder = folder.join(metadata.id.base()).join(metadata.id.version());
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot create `{}`", folder.display()))?;
    let mut record = FetchRecord::read(&folder)?.unwrap_or_default();
    record.server.clone_from(&remote.server);
    let files = [
        (
            format!("{}.py", metadata.class_name.to_ascii_lowercase()),
            source,
        ),
        (
            "metadata.json".to_owned(),
            format!("{}\n", serde_json::to_string_pretty(&details)?),
        ),
    ];
    let mut written = Vec::new();
    for (name, content) in files {
        written.push((
            record.write(&folder, &name, content.as_bytes())?,
            folder.join(name),
        ));
        record.save(&folder)?;
    }
    Ok(FetchOutcome::Written(written))
}

/// A client of the server, with the key it sends.
struct Remote {
    agent: Agent,
    server: String,
    key: String,
}

impl Remote {
    fn new(args: &FetchArgs) -> Result<Self> {
        let server = args.server.trim_end_matches('/').to_owned();
        let address: Uri = server
            .parse()
            .with_context(|| format!("`{server}` is not a valid address"))?;
        let scheme = address
            .scheme_str()
            .filter(|scheme| ["http", "https"].contains(scheme));
        ensure!(
            scheme.is_some() && address.host().is_some(),
            "`{server}` is not a valid address: expected https:// or http:// and a host"
        );
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(30)));
        let mut remote = Self {
            agent: config.build().into(),
            server,
            key: String::new(),
        };
        let key = args
            .key
            .clone()
            .or_else(|| std::env::var("ARC_API_KEY").ok())
            .filter(|key| !key.is_empty());
        match key {
            Some(key) => {
                let local = address
                    .host()
                    .is_some_and(|host| ["127.0.0.1", "localhost", "[::1]"].contains(&host));
                ensure!(
                    local || scheme == Some("https"),
                    "the key would be sent to `{}` without encryption; use https://",
                    remote.server
                );
                remote.key = key;
            }
            None => {
                let response = remote
                    .json("/api/games/anonkey")
                    .context("the server did not issue an anonymous key; use --key")?;
                response["api_key"]
                    .as_str()
                    .context("the server's anonymous key is not a string")?
                    .clone_into(&mut remote.key);
            }
        }
        Ok(remote)
    }

    fn json(&self, path: &str) -> Result<Value> {
        let text = self
            .text(path)?
            .with_context(|| format!("the server responded 404 to {path}"))?;
        serde_json::from_str(&text)
            .with_context(|| format!("the server's response to {path} is not JSON"))
    }

    /// Returns the body of a response, or `None` for status 404.
    fn text(&self, path: &str) -> Result<Option<String>> {
        let request = self
            .agent
            .get(format!("{}{path}", self.server))
            .header("Accept", "application/json");
        let request = if self.key.is_empty() {
            request
        } else {
            request.header("X-API-Key", &self.key)
        };
        let mut response = request
            .call()
            .with_context(|| format!("cannot reach `{}`", self.server))?;
        let text = response
            .body_mut()
            .with_config()
            .limit(MAX_RESPONSE_BYTES)
            .read_to_string();
        match response.status().as_u16() {
            404 => Ok(None),
            200..=299 => text
                .map(Some)
                .with_context(|| format!("cannot read the server's response to {path}")),
            status => {
                let excerpt: String = text.unwrap_or_default().chars().take(200).collect();
                bail!("the server responded {status} to {path}: {excerpt}")
            }
        }
    }
}
