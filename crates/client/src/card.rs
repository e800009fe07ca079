//! A scorecard on a server.

use std::sync::{Arc, Mutex, PoisonError};

use rhae_engine::{EnvironmentError, GameId, GameInfo};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::link::{Line, clean};
use crate::server::Repeat;
use crate::{ClientError, RemoteEnvironment, Server};

/// What a card is opened with.
#[derive(Clone, Debug, Default)]
pub struct CardOrder {
    /// What it is filed under.
    pub tags: Vec<String>,
    /// Whether the rules of competitions apply.
    pub competition: bool,
}

/// An open card.
pub struct Card {
    server: Arc<Server>,
    id: String,
    competition: bool,
    plays: Mutex<Vec<(GameId, String)>>,
}

impl Card {
    /// Opens a card. If the answer is lost, another is opened, and the server's clock closes the first.
    pub fn open(server: &Arc<Server>, order: &CardOrder) -> Result<Arc<Self>, ClientError> {
        #[derive(Deserialize)]
        struct Opened {
            card_id: String,
        }
        let path = "/api/scorecard/open";
        let mut body = json!({"tags": order.tags});
        if order.competition {
            body["competition_mode"] = true.into();
        }
        let answer = server.post(Line::Plays, path, &body, Repeat::Harmlessly)?;
        let bad = |reason: String| ClientError::BadAnswer {
            path: path.to_owned(),
            reason,
        };
        let Opened { card_id } =
            serde_json::from_slice(&answer).map_err(|error| bad(clean(&error.to_string())))?;
        // It becomes a part of paths.
        let plain = card_id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        if card_id.is_empty() || card_id.len() > 100 || !plain {
            return Err(bad(format!("its `card_id` is `{}`", clean(&card_id))));
        }
        let (server, competition) = (Arc::clone(server), order.competition);
        Ok(Arc::new(Self {
            server,
            id: card_id,
            competition,
            plays: Mutex::default(),
        }))
    }

    /// Its id on the server.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Its server.
    pub fn server(&self) -> &Arc<Server> {
        &self.server
    }

    /// Whether the rules of competitions apply.
    pub const fn is_competition(&self) -> bool {
        self.competition
    }

    /// The plays that were opened on it, with the server's ids for them.
    pub fn plays(&self) -> Vec<(GameId, String)> {
        self.plays
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Opens a play of an environment on it.
    pub fn play(self: &Arc<Self>, info: &GameInfo) -> Result<RemoteEnvironment, EnvironmentError> {
        let environment = RemoteEnvironment::open(Arc::clone(self), info)?;
        let play = (info.id.clone(), environment.guid().to_owned());
        self.plays
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(play);
        Ok(environment)
    }

    /// The card as the server counts it. A competition's is not shown before it is closed.
    pub fn read(&self) -> Result<ServerCard, ClientError> {
        let path = format!("/api/scorecard/{}", self.id);
        ServerCard::read(&path, &self.server.get(Line::Cards, &path)?)
    }

    /// Keeps it open without changing anything; false if the server does not know how.
    pub fn heartbeat(&self) -> Result<bool, ClientError> {
        let path = "/api/scorecard/heartbeat";
        match self
            .server
            .post(Line::Cards, path, &self.body(), Repeat::Freely)
        {
            Ok(_) => Ok(true),
            // Ours refuses a card that is closed with a code of its own; without one there is no such path.
            Err(ClientError::Refused {
                status: 404 | 405,
                code,
                ..
            }) if code != "VALIDATION_ERROR" => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Closes it and gives its final numbers.
    pub fn close(&self) -> Result<ServerCard, ClientError> {
        let path = "/api/scorecard/close";
        match self
            .server
            .post(Line::Cards, path, &self.body(), Repeat::Freely)
        {
            Ok(answer) => ServerCard::read(path, &answer),
            // It was closed by an attempt whose answer was lost, or by the server's clock. Some servers show closed cards.
            Err(refused @ ClientError::Refused { status: 404, .. }) => {
                self.read().map_err(|_| refused)
            }
            Err(error) => Err(error),
        }
    }

    fn body(&self) -> Value {
        json!({"card_id": self.id})
    }
}

/// A card as a server counts it, as far as we compare it with our own counts. Servers leave out much, so nothing but ids is required.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerCard {
    /// Its id.
    pub card_id: String,
    /// Its score in percent.
    #[serde(default)]
    pub score: Option<f64>,
    /// The scoring method's name, where the server says it.
    #[serde(default)]
    pub method: Option<String>,
    /// Every environment on it.
    #[serde(default)]
    pub environments: Vec<ServerEnvironment>,
}

/// One environment on a server's card.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerEnvironment {
    /// The environment with its version.
    pub id: String,
    /// Every run of it.
    #[serde(default)]
    pub runs: Vec<ServerRun>,
}

/// One run on a server's card.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerRun {
    /// The play's id.
    #[serde(default)]
    pub guid: Option<String>,
    /// Actions, level resets included.
    #[serde(default)]
    pub actions: u64,
    /// Levels completed.
    #[serde(default)]
    pub levels_completed: u64,
    /// Actions of each level.
    #[serde(default)]
    pub level_actions: Option<Vec<i64>>,
    /// Score in percent.
    #[serde(default)]
    pub score: Option<f64>,
}

impl ServerCard {
    fn read(path: &str, bytes: &[u8]) -> Result<Self, ClientError> {
        let bad = |error: serde_json::Error| ClientError::BadAnswer {
            path: path.to_owned(),
            reason: clean(&error.to_string()),
        };
        serde_json::from_slice(bytes).map_err(bad)
    }

    /// The runs of a play. A play that was started anew has several.
    pub fn runs(&self, guid: &str) -> Vec<&ServerRun> {
        let runs = self
            .environments
            .iter()
            .flat_map(|environment| &environment.runs);
        runs.filter(|run| run.guid.as_deref() == Some(guid))
            .collect()
    }

    /// The actions counted for a play, if it is on the card.
    pub fn actions(&self, guid: &str) -> Option<u64> {
        let runs = self.runs(guid);
        (!runs.is_empty()).then(|| {
            runs.iter()
                .map(|run| run.actions)
                .fold(0, u64::saturating_add)
        })
    }
}
