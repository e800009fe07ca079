//! Baselines of people in place of those of the environments.
//!
//! An environment is published with provisional baselines. When a human study has measured people,
//! its published baselines replace them, level by level. A level that fewer than two people completed
//! keeps its own baseline.

use std::path::Path;
use std::sync::Arc;

use rhae_engine::{
    Action, Baseline, BaselineSource, BulkOptions, BulkSearch, Catalog, CatalogError, Environment,
    EnvironmentError, GameId, GameInfo, HostedGame, Observation, StateKey,
};
use rhae_protocol::{BASELINE_FILE_VERSION, BaselineFile, HumanBaselines};
use rhae_scoring::Method;
use rhae_study::digest;

use crate::HarnessError;

/// Reads a file of published baselines.
///
/// # Errors
///
/// Returns [`HarnessError::Request`] if the file cannot be read, or is not a file of baselines in a
/// version that this software knows.
pub fn read_baselines(path: &Path) -> Result<HumanBaselines, HarnessError> {
    let file = read_baseline_file(path)?;
    let hash = digest(&file);
    Ok(HumanBaselines::new(&file, hash))
}

/// Reads a file of published baselines with everything that the study published.
///
/// # Errors
///
/// Returns the errors of [`read_baselines`].
pub fn read_baseline_file(path: &Path) -> Result<BaselineFile, HarnessError> {
    let name = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| HarnessError::Request(format!("cannot read `{name}`: {error}")))?;
    let file: BaselineFile = serde_json::from_str(&text).map_err(|error| {
        HarnessError::Request(format!("`{name}` is not a file of baselines: {error}"))
    })?;
    if file.format != BASELINE_FILE_VERSION {
        return Err(HarnessError::Request(format!(
            "`{name}` has version {}: expected {BASELINE_FILE_VERSION}",
            file.format
        )));
    }
    Ok(file)
}

/// Replaces the baselines of an environment by those of people under a scoring method.
pub(crate) fn calibrate(info: &mut GameInfo, baselines: &HumanBaselines, method: Method) {
    let Some(levels) = baselines.environments.get(&info.id.as_str().into()) else {
        return;
    };
    for (index, level) in levels.iter().enumerate() {
        let Some(&actions) = level.methods.get(method.name()) else {
            continue;
        };
        let baseline = Baseline {
            actions,
            source: BaselineSource::People(level.people),
        };
        if let Some(known) = info.baselines.get_mut(index) {
            *known = baseline;
        } else if info.baselines.len() == index {
            // A hosted game without baselines gets those of its first levels.
            info.baselines.push(baseline);
        }
    }
}

/// Returns a catalogue whose environments have the baselines of people under a scoring method. Without
/// such baselines the catalogue stays as it is.
pub fn calibrated(
    catalog: Arc<dyn Catalog>,
    baselines: Option<&HumanBaselines>,
    method: Method,
) -> Arc<dyn Catalog> {
    match baselines {
        None => catalog,
        Some(baselines) => Arc::new(CalibratedCatalog {
            inner: catalog,
            baselines: baselines.clone(),
            method,
        }),
    }
}

/// A catalogue with the baselines of people.
struct CalibratedCatalog {
    inner: Arc<dyn Catalog>,
    baselines: HumanBaselines,
    method: Method,
}

impl CalibratedCatalog {
    fn calibrated(&self, mut info: GameInfo) -> GameInfo {
        calibrate(&mut info, &self.baselines, self.method);
        info
    }
}

impl Catalog for CalibratedCatalog {
    fn list(&self) -> Vec<GameInfo> {
        let games = self.inner.list().into_iter();
        games.map(|info| self.calibrated(info)).collect()
    }

    fn find(&self, name: &str) -> Result<GameInfo, CatalogError> {
        Ok(self.calibrated(self.inner.find(name)?))
    }

    fn open(&self, name: &str, seed: u64) -> Result<Box<dyn Environment>, CatalogError> {
        let inner = self.inner.open(name, seed)?;
        let info = self.calibrated(inner.info().clone());
        Ok(Box::new(Calibrated { info, inner }))
    }

    fn source(&self, id: &str) -> Result<Option<String>, CatalogError> {
        self.inner.source(id)
    }

    fn named_set(&self, name: &str) -> Option<Vec<GameId>> {
        self.inner.named_set(name)
    }

    fn hosted_games(&self) -> Vec<HostedGame> {
        self.inner.hosted_games()
    }

    fn skipped_games(&self) -> Vec<String> {
        self.inner.skipped_games()
    }

    fn ready(&self) -> Result<(), CatalogError> {
        self.inner.ready()
    }

    fn changed_games(&self) -> Vec<GameId> {
        self.inner.changed_games()
    }

    fn end_processes(&self) {
        self.inner.end_processes();
    }

    fn sandbox(&self) -> Result<Option<String>, CatalogError> {
        self.inner.sandbox()
    }
}

/// An environment with the baselines of people.
struct Calibrated {
    info: GameInfo,
    inner: Box<dyn Environment>,
}

impl Environment for Calibrated {
    fn info(&self) -> &GameInfo {
        &self.info
    }

    fn observation(&self) -> &Observation {
        self.inner.observation()
    }

    fn act(&mut self, action: Action) -> Result<&Observation, EnvironmentError> {
        self.inner.act(action)
    }

    fn may_block(&self) -> bool {
        self.inner.may_block()
    }

    fn fork(&self) -> Option<Box<dyn Environment>> {
        Some(Box::new(Self {
            info: self.info.clone(),
            inner: self.inner.fork()?,
        }))
    }

    fn hidden_key(&self) -> Option<StateKey> {
        self.inner.hidden_key()
    }

    fn deep_key(&self) -> Option<StateKey> {
        self.inner.deep_key()
    }

    fn clicks(&self) -> Option<Vec<(u8, u8)>> {
        self.inner.clicks()
    }

    fn representative_clicks(&self) -> Option<Vec<(u8, u8)>> {
        self.inner.representative_clicks()
    }

    fn bulk_search(
        &self,
        options: &BulkOptions,
    ) -> Result<Option<Box<dyn BulkSearch>>, EnvironmentError> {
        self.inner.bulk_search(options)
    }

    fn memory_bytes(&self) -> Option<u64> {
        self.inner.memory_bytes()
    }

    fn snapshot(&self) -> Result<Option<Vec<u8>>, EnvironmentError> {
        self.inner.snapshot()
    }

    fn restore(&mut self, snapshot: &[u8]) -> Result<&Observation, EnvironmentError> {
        self.inner.restore(snapshot)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rhae_games::Builtin;
    use rhae_protocol::HumanLevel;

    use super::*;

    fn baselines(levels: &[(u32, Option<u32>)]) -> HumanBaselines {
        let method = Method::DEFAULT.name();
        let level = |&(people, actions): &(u32, Option<u32>)| HumanLevel {
            people,
            methods: actions
                .into_iter()
                .map(|actions| (method.to_owned(), actions))
                .collect(),
        };
        HumanBaselines {
            study: "lab".into(),
            revision: 1,
            file: rhae_study::text_digest("file"),
            environments: BTreeMap::from([("kq19-v1".into(), levels.iter().map(level).collect())]),
        }
    }

    #[test]
    fn people_replace_the_baselines_of_the_levels_that_they_completed() {
        let own = Builtin.find("kq19").unwrap();
        let people = baselines(&[(10, Some(31)), (1, None), (6, Some(44))]);
        let catalog = calibrated(Arc::new(Builtin), Some(&people), Method::DEFAULT);
        for info in [
            catalog.find("kq19").unwrap(),
            catalog.open("kq19", 0).unwrap().info().clone(),
            catalog
                .open("kq19", 0)
                .unwrap()
                .fork()
                .unwrap()
                .info()
                .clone(),
        ] {
            let sources = info.baselines.iter().map(|one| one.source.to_string());
            let sources: Vec<String> = sources.take(3).collect();
            assert_eq!(sources, ["people, n = 10", "solver", "people, n = 6"]);
            assert_eq!(
                (info.baselines[0].actions, info.baselines[2].actions),
                (31, 44)
            );
            assert_eq!(info.baselines[1], own.baselines[1]);
            assert_eq!(info.baselines.len(), own.baselines.len());
        }
        let other = Builtin.find("ny40").unwrap();
        assert_eq!(catalog.find("ny40").unwrap(), other);
        let paper = calibrated(Arc::new(Builtin), Some(&people), Method::ALL[0]);
        assert_eq!(paper.find("kq19").unwrap(), own);
    }

    #[test]
    fn environment_without_baselines_gets_those_of_its_first_levels() {
        let mut info = GameInfo {
            baselines: Vec::new(),
            ..Builtin.find("kq19").unwrap()
        };
        let people = baselines(&[(10, Some(31)), (9, Some(12)), (1, None), (3, Some(8))]);
        calibrate(&mut info, &people, Method::DEFAULT);
        let actions: Vec<u32> = info.baselines.iter().map(|one| one.actions).collect();
        assert_eq!(actions, [31, 12]);
    }

    #[test]
    fn file_of_another_kind_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("b.json");
        std::fs::write(&path, "{}").unwrap();
        let message = read_baselines(&path).unwrap_err().to_string();
        assert!(message.contains("is not a file of baselines"), "{message}");
        let other = r#"{"format": 9, "study": "lab", "revision": 1, "software": "", "protocol": "",
            "attempt_rule": "paper", "exclusions": "", "environments": []}"#;
        std::fs::write(&path, other).unwrap();
        let message = read_baselines(&path).unwrap_err().to_string();
        assert!(message.ends_with("has version 9: expected 1"), "{message}");
    }
}
