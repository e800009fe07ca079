//! Downloading hosted games from a server with the official API.
//!
//! The server is not trusted: names are validated before they become paths, sizes are limited, and
//! nothing that was downloaded is executed. A file that the user changed is never overwritten.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rhae_pyhost::{FetchRecord, Metadata, WriteOutcome};
use serde_json::Value;
use ureq::http::Uri;

use crate::DatasetsError;
use crate::download::{Downloader, Redirects};

/// The maximum size of a response: the list of environments, or the source of one.
const MAX_RESPONSE_BYTES: u64 = 16 << 20;

/// The result of fetching one environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FetchedGame {
    /// The files of the environment, with what happened to each.
    Written(Vec<(WriteOutcome, PathBuf)>),
    /// The server offers no source for the environment, for example because it is a native game.
    NoSource,
}

/// A server with the official API, and the key that is sent to it.
pub struct GameServer {
    downloader: Downloader,
    address: String,
    key: String,
}

impl GameServer {
    /// Connects to the server at `address`. Without a key, the server is asked for an anonymous one.
    ///
    /// # Errors
    ///
    /// Returns an error if the address is not valid, if the key would be sent without encryption, or
    /// if the server issues no anonymous key.
    pub fn connect(address: &str, key: Option<String>) -> Result<Self, DatasetsError> {
        let address = address.trim_end_matches('/').to_owned();
        let parsed: Uri = address
            .parse()
            .map_err(|error| download(format!("`{address}` is not a valid address: {error}")))?;
        let scheme = parsed
            .scheme_str()
            .filter(|scheme| ["http", "https"].contains(scheme));
        let Some((scheme, host)) = scheme.zip(parsed.host()) else {
            return Err(download(format!(
                "`{address}` is not a valid address: expected https:// or http:// and a host"
            )));
        };
        let local = ["127.0.0.1", "localhost", "[::1]"].contains(&host);
        if key.is_some() && !local && scheme != "https" {
            return Err(download(format!(
                "the key would be sent to `{address}` without encryption; use https://"
            )));
        }
        let mut server = Self {
            downloader: Downloader::new(Redirects::SameOrigin, Duration::from_secs(30)),
            address,
            key: String::new(),
        };
        server.key = match key {
            Some(key) => key,
            None => server.anonymous_key()?,
        };
        Ok(server)
    }

    /// Returns the server's list of environments.
    ///
    /// # Errors
    ///
    /// Returns an error if the server does not answer with a list.
    pub fn games(&self) -> Result<Vec<Value>, DatasetsError> {
        match self.json("/api/games")? {
            Value::Array(games) => Ok(games),
            _ => Err(download(
                "the server's list of environments is not a JSON array",
            )),
        }
    }

    /// Fetches one environment of the server's list into a subfolder of `folder`.
    ///
    /// # Errors
    ///
    /// Returns an error if the server's answers are not valid, or if a file cannot be written.
    pub fn fetch(&self, folder: &Path, entry: &Value) -> Result<FetchedGame, DatasetsError> {
        let listed = Metadata::parse(&entry.to_string()).map_err(|problem| {
            download(format!(
                "the entry in the server's list is invalid: {problem}"
            ))
        })?;
        let details = self.json(&format!("/api/games/{}", listed.id))?;
        let metadata = Metadata::parse(&details.to_string())
            .map_err(|problem| download(format!("the server's metadata is invalid: {problem}")))?;
        if metadata.id != listed.id {
            return Err(download(format!(
                "the server responded with another environment, `{}`",
                metadata.id
            )));
        }
        if metadata.command.is_some() {
            return Err(download(
                "the server's metadata contains `command`; commands from a server are not accepted",
            ));
        }
        let Some(source) = self.text(&format!("/api/games/{}/source", metadata.id))? else {
            return Ok(FetchedGame::NoSource);
        };
        let files = [
            (
                format!("{}.py", metadata.class_name.to_ascii_lowercase()),
                source,
            ),
            ("metadata.json".to_owned(), format!("{details:#}\n")),
        ];
        let folder = folder.join(metadata.id.base()).join(metadata.id.version());
        self.write(&folder, files).map(FetchedGame::Written)
    }

    fn write(
        &self,
        folder: &Path,
        files: [(String, String); 2],
    ) -> Result<Vec<(WriteOutcome, PathBuf)>, DatasetsError> {
        std::fs::create_dir_all(folder).map_err(DatasetsError::file("create", folder))?;
        refuse_links(folder)?;
        let mut record = FetchRecord::read(folder)?.unwrap_or_default();
        record.server.clone_from(&self.address);
        let mut written = Vec::new();
        for (name, content) in files {
            written.push((
                record.write(folder, &name, content.as_bytes())?,
                folder.join(name),
            ));
            record.save(folder)?;
        }
        Ok(written)
    }

    fn anonymous_key(&self) -> Result<String, DatasetsError> {
        let response = self.json("/api/games/anonkey").map_err(|error| {
            download(format!(
                "the server did not issue an anonymous key; use --key: {error}"
            ))
        })?;
        response["api_key"]
            .as_str()
            .map(str::to_owned)
            .ok_or_else(|| download("the server's anonymous key is not a string"))
    }

    fn json(&self, path: &str) -> Result<Value, DatasetsError> {
        let text = self
            .text(path)?
            .ok_or_else(|| download(format!("the server responded 404 to {path}")))?;
        serde_json::from_str(&text).map_err(|error| {
            download(format!(
                "the server's response to {path} is not JSON: {error}"
            ))
        })
    }

    /// Returns the body of a response, or `None` for status 404.
    fn text(&self, path: &str) -> Result<Option<String>, DatasetsError> {
        let mut headers = vec![("Accept", "application/json")];
        if !self.key.is_empty() {
            headers.push(("X-API-Key", &self.key));
        }
        let url = format!("{}{path}", self.address);
        let mut response = self.downloader.get(&url, &headers)?;
        let text = response
            .body_mut()
            .with_config()
            .limit(MAX_RESPONSE_BYTES)
            .read_to_string();
        match response.status().as_u16() {
            404 => Ok(None),
            200..=299 => text.map(Some).map_err(|error| {
                download(format!(
                    "cannot read the server's response to {path}: {error}"
                ))
            }),
            status => {
                let excerpt: String = text.unwrap_or_default().chars().take(200).collect();
                Err(download(format!(
                    "the server responded {status} to {path}: {excerpt}"
                )))
            }
        }
    }
}

/// Returns an error if the folder of a version or that of its game is a symbolic link: files must
/// be written only below the folder that the user named.
fn refuse_links(folder: &Path) -> Result<(), DatasetsError> {
    for folder in folder.ancestors().take(2) {
        let metadata = std::fs::symlink_metadata(folder);
        if metadata
            .map_err(DatasetsError::file("read", folder))?
            .is_symlink()
        {
            return Err(download(format!(
                "`{}` is a symbolic link; nothing was written",
                folder.display()
            )));
        }
    }
    Ok(())
}

fn download(message: impl Into<String>) -> DatasetsError {
    DatasetsError::Download(message.into())
}
