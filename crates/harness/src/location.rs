//! Where the plays of a run take place: in local environments or on a server.
//!
//! **Invariant:** the command line and Python prepare and execute runs with the functions of this
//! module, so both check the same conditions and show the same notes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rhae_agents_llm::role_models;
use rhae_engine::Catalog;
use rhae_llm::Models;
use rhae_protocol::RunConfig;
use rhae_runs::{RunFolder, RunsError};
use rhae_scoring::Method;

use crate::calibration::calibrated;
use crate::consent::check_consent;
use crate::model_player::model_of;
use crate::request::prepare_resumed;
use crate::{
    Arena as _, HarnessError, PreparedRun, Progress, RemoteArena, Results, ResumeOptions,
    RunPreview, RunRequest, RunSpec, run,
};

/// The environment variable with the API key of a server.
const KEY_VARIABLE: &str = "ARC_API_KEY";

/// Where a run takes place, as its user describes it: on a server, or in the built-in environments
/// and the hosted games of folders.
///
/// `load` in the functions of this type returns the built-in environments and the games of the
/// given folders.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::AtomicBool;
///
/// use rhae_engine::Catalog;
/// use rhae_games::Builtin;
/// use rhae_harness::{HarnessError, LocationRequest, RunRequest};
///
/// # fn main() -> Result<(), HarnessError> {
/// # let temp = tempfile::tempdir().unwrap();
/// let request = RunRequest {
///     agent: "random".to_owned(),
///     games: Some("kq19".to_owned()),
///     out: Some(temp.path().join("run")),
///     ..RunRequest::default()
/// };
/// let load = |_: &[std::path::PathBuf]| Ok::<_, HarnessError>(Arc::new(Builtin) as Arc<dyn Catalog>);
/// let run = LocationRequest::default().prepare(request, load)?;
/// let results = run.execute(&AtomicBool::new(false), &mut |_| {}, &|_| {})?;
/// assert!(results.summary.finished);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct LocationRequest {
    /// The address of a server. If absent, the run is local.
    pub server: Option<String>,
    /// The API key of the server; by default the value of the environment variable `ARC_API_KEY`.
    pub key: Option<String>,
    /// The folders of hosted games. Without any, a resumed run uses the folders of its start.
    pub games_dirs: Vec<PathBuf>,
}

/// A run that can start, at its location.
pub struct LocatedRun {
    pub spec: RunSpec,
    /// Notes for the user, to be shown before the start.
    pub notes: Vec<String>,
    location: Location,
}

enum Location {
    /// In this process and in the processes of hosted games.
    Local(Arc<dyn Catalog>),
    Remote(RemoteArena),
}

impl LocationRequest {
    /// Opens the location and prepares a new run there. The request's `games_dirs` and
    /// `source_digests` are set.
    ///
    /// # Errors
    ///
    /// Returns the errors of `load`, [`RemoteArena::connect`] and [`RunRequest::prepare`], and an
    /// error if options of servers and of local runs are mixed.
    pub fn prepare<E: From<HarnessError>>(
        &self,
        request: RunRequest,
        load: impl Fn(&[PathBuf]) -> Result<Arc<dyn Catalog>, E>,
    ) -> Result<LocatedRun, E> {
        let (request, location) = self.open(request, load)?;
        let prepared = match &location {
            Location::Local(games) => request.prepare(games.as_ref(), None)?,
            Location::Remote(remote) => request.prepare(remote.environments(), Some(remote))?,
        };
        Ok(LocatedRun::new(prepared, location))
    }

    /// Opens the location and returns what a new run would do there. Sends no request to a model,
    /// starts no play on a server and writes nothing.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`prepare`](Self::prepare).
    pub fn preview<E: From<HarnessError>>(
        &self,
        request: RunRequest,
        load: impl Fn(&[PathBuf]) -> Result<Arc<dyn Catalog>, E>,
    ) -> Result<RunPreview, E> {
        let (request, location) = self.open(request, load)?;
        Ok(match &location {
            Location::Local(games) => request.preview(games.as_ref(), None)?,
            Location::Remote(remote) => request.preview(remote.environments(), Some(remote))?,
        })
    }

    /// Opens the location of a new run, and completes its request.
    fn open<E: From<HarnessError>>(
        &self,
        mut request: RunRequest,
        load: impl Fn(&[PathBuf]) -> Result<Arc<dyn Catalog>, E>,
    ) -> Result<(RunRequest, Location), E> {
        if let Some(url) = &self.server {
            if request.baselines.is_some() {
                return Err(invalid("the server decides which baselines it uses; remove --baselines, or pass it to `rhae serve`").into());
            }
            let remote = self.connect(url, request.competition, load(&[])?)?;
            return Ok((request, Location::Remote(remote)));
        }
        if self.key.is_some() {
            return Err(invalid("--key is the key of a server; add `--server URL`").into());
        }
        if request.competition {
            return Err(invalid("--competition is for servers; add `--server URL`").into());
        }
        request.games_dirs = absolute(&self.games_dirs)?;
        let games = load(&self.games_dirs)?;
        let games = calibrated(games, request.baselines.as_ref(), request.method);
        request.identity.source_digests = source_digests(games.as_ref());
        Ok((request, Location::Local(games)))
    }

    /// Opens the location of the run in `folder`, whose configuration is `config`, and prepares the
    /// run to be continued.
    ///
    /// # Errors
    ///
    /// Returns [`HarnessError::NeedsConsent`] if other users can change the folder and `options` do
    /// not repeat what the run would execute. Returns the errors of `load` and
    /// [`RemoteArena::connect`], and an error if an option is invalid, if there are folders of
    /// hosted games but the run uses a server, or if the settings of the model or the source of a
    /// hosted game differ from the start of the run.
    pub fn prepare_resumed<E: From<HarnessError>>(
        &self,
        folder: RunFolder,
        config: RunConfig,
        options: &ResumeOptions,
        load: impl Fn(&[PathBuf]) -> Result<Arc<dyn Catalog>, E>,
    ) -> Result<LocatedRun, E> {
        check_consent(&folder, &config, options)?;
        let location = if let Some(url) = &config.server {
            Location::Remote(self.connect(url, config.competition, load(&[])?)?)
        } else {
            Location::Local(open_local(&config, &self.games_dirs, load)?)
        };
        let prepared = prepare_resumed(folder, config, options)?;
        Ok(LocatedRun::new(prepared, location))
    }

    /// Returns the configuration that a new run with this request would have.
    pub(crate) fn effective_config<E: From<HarnessError>>(
        &self,
        request: RunRequest,
        load: impl Fn(&[PathBuf]) -> Result<Arc<dyn Catalog>, E>,
    ) -> Result<RunConfig, E> {
        let (request, location) = self.open(request, load)?;
        let resolved = match &location {
            Location::Local(games) => request.resolve(games.as_ref(), None)?,
            Location::Remote(remote) => request.resolve(remote.environments(), Some(remote))?,
        };
        Ok(resolved.config)
    }

    fn connect(
        &self,
        url: &str,
        competition: bool,
        builtin: Arc<dyn Catalog>,
    ) -> Result<RemoteArena, HarnessError> {
        if !self.games_dirs.is_empty() {
            return Err(invalid(&format!(
                "--games-dir names local environments, but this run uses the server at {url}; remove one of the two"
            )));
        }
        let key = self
            .key
            .clone()
            .or_else(|| std::env::var(KEY_VARIABLE).ok())
            .filter(|key| !key.is_empty());
        // Only recordings of built-in environments can be replayed locally.
        RemoteArena::connect(url, key.as_deref(), competition, Box::new(builtin))
    }
}

/// Opens the environments of a run that exists: the built-in ones, and the hosted games of
/// `games_dirs` or, without any, those of the folders that its configuration names. The sources of
/// hosted games must be those of the start of the run.
pub(crate) fn open_local<E: From<HarnessError>>(
    config: &RunConfig,
    games_dirs: &[PathBuf],
    load: impl Fn(&[PathBuf]) -> Result<Arc<dyn Catalog>, E>,
) -> Result<Arc<dyn Catalog>, E> {
    let games = if games_dirs.is_empty() {
        let recorded: Vec<PathBuf> = config.games_dirs.iter().map(PathBuf::from).collect();
        load(&recorded)?
    } else {
        load(games_dirs)?
    };
    check_sources(config, games.as_ref())?;
    let method = config.method.parse::<Method>();
    let method = method.map_err(|error| HarnessError::Config(error.to_string()))?;
    Ok(calibrated(games, config.baselines.as_ref(), method))
}

impl LocatedRun {
    fn new(prepared: PreparedRun, location: Location) -> Self {
        let PreparedRun { spec, mut notes } = prepared;
        if let Location::Remote(remote) = &location
            && remote.skipped_games() > 0
        {
            notes.push(format!(
                "skipped {} entries of the server's list without an id such as ab12-v1",
                remote.skipped_games()
            ));
        }
        Self {
            spec,
            notes,
            location,
        }
    }

    /// Returns the environments of a local run.
    pub(crate) const fn local_games(&self) -> Option<&Arc<dyn Catalog>> {
        match &self.location {
            Location::Local(games) => Some(games),
            Location::Remote(_) => None,
        }
    }

    /// Executes the run, see [`run()`]. `notify` receives messages about the server's scorecards.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`run()`] and [`RemoteArena::run`].
    pub fn execute(
        &self,
        interrupt: &AtomicBool,
        progress: &mut dyn FnMut(Progress),
        notify: &dyn Fn(&str),
    ) -> Result<Results, HarnessError> {
        match &self.location {
            Location::Local(games) => run(&self.spec, games, interrupt, progress),
            Location::Remote(remote) => remote.run(
                &self.spec,
                |arena| run(&self.spec, arena, interrupt, progress),
                notify,
            ),
        }
    }
}

/// Loads the models for an agent. Only agents with a model need the file; other agents get no models.
///
/// # Errors
///
/// Returns an error if the file is needed and cannot be read or parsed.
pub fn models_for_agent(agent: Option<&str>, file: &Path) -> Result<Models, HarnessError> {
    let Some((agent, model)) = agent.and_then(|agent| Some((agent, model_of(agent)?))) else {
        return Ok(Models::default());
    };
    let roles = role_models(agent).into_iter().map(|(_, name)| name);
    // The file is needed if one of the models is not of the form `PROVIDER/MODEL`.
    let mut names = roles.filter(|name| !name.contains('/'));
    Ok(Models::load_for(file, names.next().unwrap_or(model))?)
}

fn invalid(message: &str) -> HarnessError {
    HarnessError::Request(message.to_owned())
}

/// Returns folders as absolute paths, for the configuration of a run.
fn absolute(folders: &[PathBuf]) -> Result<Vec<String>, HarnessError> {
    let absolute = |folder: &PathBuf| {
        let path = folder
            .canonicalize()
            .map_err(RunsError::file("find", folder))?;
        path.into_os_string()
            .into_string()
            .map_err(|name| invalid(&format!("`{}` is not a UTF-8 path", name.display())))
    };
    folders.iter().map(absolute).collect()
}

/// Checks that the hosted games of a run have the sources with which the run was started.
fn check_sources(config: &RunConfig, games: &dyn Catalog) -> Result<(), HarnessError> {
    let present = source_digests(games);
    for (id, started_with) in &config.identity.source_digests {
        if present.get(id).is_some_and(|digest| digest != started_with) {
            return Err(invalid(&format!(
                "the source of `{id}` has changed since this run was started; restore it, or start a new run"
            )));
        }
    }
    Ok(())
}

/// Returns the digests of the sources of all hosted games, by id.
pub(crate) fn source_digests(games: &dyn Catalog) -> BTreeMap<String, String> {
    games
        .hosted_games()
        .into_iter()
        .map(|game| (game.id.to_string(), game.source_digest))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhae_games::Builtin;

    fn builtin(_: &[PathBuf]) -> Result<Arc<dyn Catalog>, HarnessError> {
        Ok(Arc::new(Builtin))
    }

    fn error(location: &LocationRequest, request: RunRequest) -> String {
        let prepared = location.prepare(request, builtin);
        prepared.map(drop).unwrap_err().to_string()
    }

    #[test]
    fn options_of_servers_need_a_server() {
        let location = LocationRequest {
            key: Some("k".to_owned()),
            ..LocationRequest::default()
        };
        let message = error(&location, RunRequest::default());
        assert_eq!(message, "--key is the key of a server; add `--server URL`");
        let request = RunRequest {
            competition: true,
            ..RunRequest::default()
        };
        assert!(error(&LocationRequest::default(), request).starts_with("--competition"));
    }

    #[test]
    fn folders_of_games_exclude_a_server() {
        let location = LocationRequest {
            server: Some("http://127.0.0.1:1".to_owned()),
            games_dirs: vec![PathBuf::from("games")],
            ..LocationRequest::default()
        };
        assert!(error(&location, RunRequest::default()).contains("remove one of the two"));
    }

    #[test]
    fn resumed_run_loads_the_folders_of_its_start() {
        let temp = tempfile::tempdir().unwrap();
        let out = temp.path().join("run");
        let request = RunRequest {
            agent: "random".to_owned(),
            games: Some("kq19".to_owned()),
            out: Some(out.clone()),
            ..RunRequest::default()
        };
        let location = LocationRequest {
            games_dirs: vec![temp.path().to_owned()],
            ..LocationRequest::default()
        };
        location.prepare(request, builtin).unwrap();
        let (folder, config) = crate::open_run(&out).unwrap();
        let options = ResumeOptions::default();
        let expected = temp.path().canonicalize().unwrap();
        LocationRequest::default()
            .prepare_resumed(folder, config, &options, |folders| {
                assert_eq!(folders, std::slice::from_ref(&expected));
                builtin(folders)
            })
            .unwrap();
    }

    #[test]
    fn only_a_model_reads_the_models_file() {
        let missing = Path::new("no such file");
        assert!(models_for_agent(Some("random"), missing).is_ok());
        assert!(models_for_agent(None, missing).is_ok());
        let error = models_for_agent(Some("model:big"), missing).unwrap_err();
        assert!(error.to_string().contains("`no such file`"), "{error}");
    }
}
