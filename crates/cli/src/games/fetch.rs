//! `rhae games fetch`: environments from a server of the official API into a folder.
//!
//! What a server sends is hostile: names become paths only after they were checked, sizes are bounded, and nothing of it is run
//! here. A file that the user changed is never written.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use rhae_pyhost::{Fetched, Metadata, Written};
use serde_json::Value;
use ureq::Agent;
use ureq::http::Uri;

use crate::output;

/// The largest list of environments, and the largest source.
const LARGEST: u64 = 16 << 20;

#[derive(Args)]
pub(crate) struct FetchArgs {
    /// The folder to fetch into, which is made if it is missing
    dir: PathBuf,
    /// The server, such as `https://three.arcprize.org`
    #[arg(long, value_name = "URL")]
    server: String,
    /// Your key [default: the variable ARC_API_KEY, else an anonymous key]
    #[arg(long)]
    key: Option<String>,
    /// Environments, separated by commas, or `all`
    #[arg(long, default_value = "all")]
    games: String,
}

pub(crate) fn run(args: &FetchArgs) -> Result<ExitCode> {
    let remote = Remote::new(args)?;
    let listed = remote.json("/api/games")?;
    let listed = listed
        .as_array()
        .context("the server's list of environments is not a list")?;
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
            Ok(Outcome::Fetched(lines)) => {
                fetched += 1;
                kept += lines
                    .iter()
                    .filter(|(written, _)| *written == Written::Kept)
                    .count();
                for (written, file) in lines {
                    output::print(&output::plain(&format!(
                        "{}  {}",
                        word(written),
                        file.display()
                    )))?;
                }
            }
            Ok(Outcome::Native) => output::print(&output::plain(&format!("no source  {id}")))?,
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
            "note: {kept} files were changed here and left alone; remove or rename them to fetch the server's"
        );
    }
    ensure!(failed == 0, "{failed} environments could not be fetched");
    Ok(ExitCode::SUCCESS)
}

enum Outcome {
    Fetched(Vec<(Written, PathBuf)>),
    /// The server has no source of it.
    Native,
}

const fn word(written: Written) -> &'static str {
    match written {
        Written::New => "new      ",
        Written::Updated => "updated  ",
        Written::Same => "same     ",
        Written::Kept => "kept     ",
    }
}

/// Fetches one environment of the server's list.
fn fetch(remote: &Remote, folder: &Path, entry: &Value) -> Result<Outcome> {
    let listed = Metadata::parse(&entry.to_string())
        .map_err(|problem| anyhow::anyhow!("the server's list: {problem}"))?;
    let details = remote.json(&format!("/api/games/{}", listed.id))?;
    let metadata = Metadata::parse(&details.to_string())
        .map_err(|problem| anyhow::anyhow!("the server's details: {problem}"))?;
    ensure!(
        metadata.id == listed.id,
        "the server answers with `{}`",
        metadata.id
    );
    ensure!(
        metadata.command.is_none(),
        "the server's details name a program, which is not run from afar"
    );
    let Some(source) = remote.text(&format!("/api/games/{}/source", metadata.id))? else {
        return Ok(Outcome::Native);
    };
    let folder = folder.join(metadata.id.base()).join(metadata.id.version());
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make `{}`", folder.display()))?;
    let mut fetched = Fetched::read(&folder)?.unwrap_or_default();
    fetched.server.clone_from(&remote.server);
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
    let mut lines = Vec::new();
    for (name, content) in files {
        lines.push((
            fetched.write(&folder, &name, content.as_bytes())?,
            folder.join(name),
        ));
        fetched.save(&folder)?;
    }
    Ok(Outcome::Fetched(lines))
}

/// A server and a key for it.
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
            .with_context(|| format!("`{server}` is not the address of a server"))?;
        let scheme = address
            .scheme_str()
            .filter(|scheme| ["http", "https"].contains(scheme));
        ensure!(
            scheme.is_some() && address.host().is_some(),
            "`{server}` must begin with https:// or http://"
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
                    "a key is not sent to `{}` without encryption: use https://",
                    remote.server
                );
                remote.key = key;
            }
            None => {
                let given = remote
                    .json("/api/games/anonkey")
                    .context("the server gives no anonymous key; name one with --key")?;
                given["api_key"]
                    .as_str()
                    .context("the server's anonymous key is not a text")?
                    .clone_into(&mut remote.key);
            }
        }
        Ok(remote)
    }

    fn json(&self, path: &str) -> Result<Value> {
        let text = self
            .text(path)?
            .with_context(|| format!("the server has nothing at {path}"))?;
        serde_json::from_str(&text)
            .with_context(|| format!("the server's answer to {path} is not JSON"))
    }

    /// The body of an answer; `None` for 404.
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
        let mut answer = request
            .call()
            .with_context(|| format!("`{}` does not answer", self.server))?;
        let text = answer
            .body_mut()
            .with_config()
            .limit(LARGEST)
            .read_to_string();
        match answer.status().as_u16() {
            404 => Ok(None),
            200..=299 => text
                .map(Some)
                .with_context(|| format!("the server's answer to {path} cannot be read")),
            status => {
                let told: String = text.unwrap_or_default().chars().take(200).collect();
                bail!("the server answers {status} to {path}: {told}")
            }
        }
    }
}
