//! Environments whose reactions are functions, and runs on them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rhae_engine::{
    Action, ActionSet, Baseline, Catalog, CatalogError, Environment, EnvironmentError, Frame,
    FrameBuffer, GameInfo, Observation, PlayState, UnknownGame,
};
use rhae_harness::{Budget, ModelOptions, Results, RunRequest, run};
use rhae_llm::Models;
use rhae_protocol::{Ending, RunScore};

/// Changes the observation of a play that receives a command. The observation repeats the last one,
/// is counted unless the command is a full reset, and is unchanged.
pub(crate) type React = fn(&mut Observation, Action) -> Result<(), EnvironmentError>;

/// The behaviour of an environment: its first observation is changed by a function, and so is every
/// later one.
#[derive(Clone, Copy)]
pub(crate) struct Script {
    pub(crate) open: fn(&mut Observation) -> Result<(), EnvironmentError>,
    pub(crate) react: React,
}

/// The scripted environments, by id.
#[derive(Clone)]
pub(crate) struct Scripts(Arc<BTreeMap<&'static str, Script>>);

impl Scripts {
    pub(crate) fn new<const N: usize>(scripts: [(&'static str, Script); N]) -> Self {
        Self(Arc::new(scripts.into()))
    }
}

impl Catalog for Scripts {
    fn list(&self) -> Vec<GameInfo> {
        self.0.keys().map(|id| info(id)).collect()
    }

    fn find(&self, name: &str) -> Result<GameInfo, CatalogError> {
        let unknown = || UnknownGame {
            name: name.to_owned(),
            nearest: None,
            hint: "",
        };
        Ok(self
            .0
            .contains_key(name)
            .then(|| info(name))
            .ok_or_else(unknown)?)
    }

    fn open(&self, name: &str, _seed: u64) -> Result<Box<dyn Environment>, CatalogError> {
        let info = self.find(name)?;
        let script = self.0[name];
        let mut observation = Observation {
            action: Action::Reset,
            frames: FrameBuffer::from(vec![Frame::filled(0)]),
            state: PlayState::NotFinished,
            levels_completed: 0,
            win_levels: 1,
            available: ActionSet::ARROWS,
            full_reset: true,
            counted: false,
            changed: true,
        };
        (script.open)(&mut observation)?;
        Ok(Box::new(Scripted {
            info,
            observation,
            react: script.react,
        }))
    }
}

fn info(id: &str) -> GameInfo {
    GameInfo {
        id: id.parse().unwrap(),
        title: id.to_owned(),
        baselines: vec![Baseline::from_optimum(5)],
        levels: Some(1),
        actions: ActionSet::ARROWS,
        tags: Vec::new(),
        frames_per_second: 10,
        seeded: false,
        class_name: None,
        source_digest: None,
    }
}

struct Scripted {
    info: GameInfo,
    observation: Observation,
    react: React,
}

impl Environment for Scripted {
    fn info(&self) -> &GameInfo {
        &self.info
    }

    fn observation(&self) -> &Observation {
        &self.observation
    }

    fn act(&mut self, action: Action) -> Result<&Observation, EnvironmentError> {
        let mut next = Observation {
            action,
            full_reset: false,
            counted: true,
            changed: false,
            ..self.observation.clone()
        };
        (self.react)(&mut next, action)?;
        self.observation = next;
        Ok(&self.observation)
    }
}

/// Runs an agent on all scripted environments. A model replies with the name of every action.
pub(crate) fn run_agent(games: &Scripts, agent: &str, out: &Path) -> Results {
    let models = "[models.words]\nprovider = \"mock\"\nreplies = [\"ACTION1 ACTION7 ACTION6 3 3\"]";
    let models = if agent.starts_with("model:") {
        Models::parse(models).unwrap()
    } else {
        Models::default()
    };
    let request = RunRequest {
        agent: agent.to_owned(),
        budget: Budget::PerPlay(30),
        out: Some(out.to_owned()),
        model: ModelOptions {
            models,
            ..ModelOptions::default()
        },
        ..RunRequest::default()
    };
    execute(games, request)
}

pub(crate) fn execute(games: &Scripts, request: RunRequest) -> Results {
    let spec = request.prepare(games, None).unwrap().spec;
    run(&spec, games, &AtomicBool::new(false), &mut |_| {}).unwrap()
}

/// Returns how the play of an environment ended, with its message.
pub(crate) fn ending(results: &Results, id: &str) -> (Ending, String) {
    let run: &RunScore = &results.cards[0]
        .environments
        .iter()
        .find(|environment| environment.id == id)
        .unwrap()
        .runs[0];
    let message = run.message.clone().unwrap_or_default();
    (run.ending.clone().unwrap(), message)
}
