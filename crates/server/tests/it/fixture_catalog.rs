//! Environments that are not part of the program: a game of the built-in catalogue under other ids,
//! with baselines of people and the digest of a source.

use rhae_engine::{
    Action, Baseline, BaselineSource, Catalog, CatalogError, Environment, EnvironmentError,
    GameInfo, Observation,
};
use rhae_games::Builtin;

/// The ids of the fixtures, with the built-in games that they play like.
const FIXTURES: [(&str, &str); 2] = [("zz01-v1", "kq19-v1"), ("zz02-v1", "ny40-v1")];

/// A catalogue of the fixtures alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FixtureCatalog;

fn info(id: &str, like: &str) -> GameInfo {
    let found = Builtin.find(like).unwrap();
    let people = |baseline: &Baseline| Baseline {
        actions: baseline.actions,
        source: BaselineSource::People(10),
    };
    GameInfo {
        id: id.parse().unwrap(),
        title: id[..4].to_owned(),
        baselines: found.baselines.iter().map(people).collect(),
        source_digest: Some("5e".repeat(32)),
        ..found
    }
}

impl Catalog for FixtureCatalog {
    fn list(&self) -> Vec<GameInfo> {
        FIXTURES.iter().map(|(id, like)| info(id, like)).collect()
    }

    fn find(&self, name: &str) -> Result<GameInfo, CatalogError> {
        let found = self.list().into_iter();
        let mut found = found.filter(|info| info.id.as_str() == name || info.id.base() == name);
        found.next().ok_or_else(|| {
            CatalogError::Unknown(rhae_engine::UnknownGame {
                name: name.to_owned(),
                nearest: None,
                hint: "",
            })
        })
    }

    fn open(&self, name: &str, seed: u64) -> Result<Box<dyn Environment>, CatalogError> {
        let info = self.find(name)?;
        let like = FIXTURES.iter().find(|(id, _)| *id == info.id.as_str());
        let like = like.map_or(name, |(_, like)| like);
        Ok(Box::new(FixturePlay(info, Builtin.open(like, seed)?)))
    }
}

struct FixturePlay(GameInfo, Box<dyn Environment>);

impl Environment for FixturePlay {
    fn info(&self) -> &GameInfo {
        &self.0
    }

    fn observation(&self) -> &Observation {
        self.1.observation()
    }

    fn act(&mut self, action: Action) -> Result<&Observation, EnvironmentError> {
        self.1.act(action)
    }

    fn snapshot(&self) -> Result<Option<Vec<u8>>, EnvironmentError> {
        self.1.snapshot()
    }

    fn restore(&mut self, snapshot: &[u8]) -> Result<&Observation, EnvironmentError> {
        self.1.restore(snapshot)
    }
}
