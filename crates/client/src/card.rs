//! A scorecard on a server.

use std::sync::{Arc, Mutex, PoisonError};

use rhae_engine::{EnvironmentError, GameId, GameInfo};
use rhae_protocol::ErrorCode;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::server::RetrySafety;
use crate::transport::{Channel, sanitize};
use crate::{ClientError, RemoteEnvironment, Server};

/// Options for [`Card::open`].
#[derive(Clone, Debug, Default)]
pub struct CardOptions {
    /// Labels of the card, for the client's own use.
    pub tags: Vec<String>,
    /// Whether the rules of competitions apply.
    pub competition: bool,
}

/// An open scorecard on a server.
///
/// Plays are opened on a card with [`play`](Self::play) and count on it. [`close`](Self::close)
/// closes the card and returns the server's final counts. Dropping a `Card` does not close it;
/// servers close idle cards after a while.
pub struct Card {
    server: Arc<Server>,
    id: String,
    competition: bool,
    plays: Mutex<Vec<(GameId, String)>>,
}

impl Card {
    /// Opens a card. If the response is lost and the server does not support idempotency keys,
    /// another card is opened, and the server closes the first one when it has been idle for too
    /// long.
    pub fn open(server: &Arc<Server>, options: &CardOptions) -> Result<Arc<Self>, ClientError> {
        #[derive(Deserialize)]
        struct Opened {
            card_id: String,
        }
        let path = "/api/scorecard/open";
        let mut body = json!({"tags": options.tags});
        if options.competition {
            body["competition_mode"] = true.into();
        }
        let response = server.post(Channel::Plays, path, &body, RetrySafety::PreferKey)?;
        let invalid = |reason: String| ClientError::InvalidResponse {
            path: path.to_owned(),
            reason,
        };
        let Opened { card_id } = serde_json::from_slice(&response)
            .map_err(|error| invalid(sanitize(&error.to_string())))?;
        // The id becomes part of request paths, so it must not contain special characters.
        let plain = card_id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        if card_id.is_empty() || card_id.len() > 100 || !plain {
            return Err(invalid(format!(
                "its `card_id` is `{}`",
                sanitize(&card_id)
            )));
        }
        let (server, competition) = (Arc::clone(server), options.competition);
        Ok(Arc::new(Self {
            server,
            id: card_id,
            competition,
            plays: Mutex::default(),
        }))
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn server(&self) -> &Arc<Server> {
        &self.server
    }

    /// Returns whether the rules of competitions apply.
    pub const fn is_competition(&self) -> bool {
        self.competition
    }

    /// Returns the environments and the server's ids of the plays opened on this card.
    pub fn plays(&self) -> Vec<(GameId, String)> {
        self.plays
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Opens a play of an environment on this card.
    ///
    /// # Errors
    ///
    /// [`EnvironmentError::Failed`] with the text of the [`ClientError`].
    pub fn play(self: &Arc<Self>, info: &GameInfo) -> Result<RemoteEnvironment, EnvironmentError> {
        let environment = RemoteEnvironment::open(Arc::clone(self), info)?;
        let play = (info.id.clone(), environment.guid().to_owned());
        self.plays
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(play);
        Ok(environment)
    }

    /// Reads the card with the server's counts. The server does not show the card of a competition
    /// before it is closed.
    pub fn read(&self) -> Result<ServerCard, ClientError> {
        let path = format!("/api/scorecard/{}", self.id);
        ServerCard::parse(&path, &self.server.get(Channel::Cards, &path)?)
    }

    /// Restarts the card's idle timer on the server. Returns `false` if the server has no heartbeat
    /// endpoint.
    pub fn heartbeat(&self) -> Result<bool, ClientError> {
        let path = "/api/scorecard/heartbeat";
        match self
            .server
            .post(Channel::Cards, path, &self.body(), RetrySafety::Always)
        {
            Ok(_) => Ok(true),
            // Rhae reports a closed card with the code `VALIDATION_ERROR`. Without this code, the
            // response means that the endpoint does not exist.
            Err(ClientError::Rejected {
                status: 404 | 405,
                code,
                ..
            }) if ErrorCode::from_name(&code) != Some(ErrorCode::Validation) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Closes the card and returns the server's final counts.
    pub fn close(&self) -> Result<ServerCard, ClientError> {
        let path = "/api/scorecard/close";
        match self
            .server
            .post(Channel::Cards, path, &self.body(), RetrySafety::Always)
        {
            Ok(response) => ServerCard::parse(path, &response),
            // The card was closed by an attempt whose response was lost, or because it was idle.
            // The card is read instead, which works on servers that show closed cards.
            Err(rejected @ ClientError::Rejected { status: 404, .. }) => {
                self.read().map_err(|_| rejected)
            }
            Err(error) => Err(error),
        }
    }

    fn body(&self) -> Value {
        json!({"card_id": self.id})
    }
}

/// The server's counts of a card, limited to the fields that are compared with local counts.
///
/// Servers omit many fields, so only ids are required.
///
/// # Examples
///
/// ```
/// use rhae_client::{ServerCard, ServerEnvironment, ServerRun};
///
/// let run = |guid: &str, actions| ServerRun {
///     guid: Some(guid.to_owned()),
///     actions,
///     ..ServerRun::default()
/// };
/// // The play `g1` was restarted once, so it has two runs.
/// let card = ServerCard {
///     card_id: "c1".to_owned(),
///     environments: vec![ServerEnvironment {
///         id: "ab12-v1".to_owned(),
///         runs: vec![run("g1", 5), run("g1", 7), run("g2", 1)],
///     }],
///     ..ServerCard::default()
/// };
/// assert_eq!(card.runs("g1").len(), 2);
/// assert_eq!(card.actions("g1"), Some(12));
/// assert_eq!(card.actions("g3"), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerCard {
    pub card_id: String,
    /// The score in percent.
    #[serde(default)]
    pub score: Option<f64>,
    /// The name of the scoring method, if the server reports it.
    #[serde(default)]
    pub method: Option<String>,
    #[serde(default)]
    pub environments: Vec<ServerEnvironment>,
}

/// One environment on a server's card.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerEnvironment {
    /// The id of the environment with its version.
    pub id: String,
    #[serde(default)]
    pub runs: Vec<ServerRun>,
}

/// One run on a server's card.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerRun {
    /// The id of the play that the run belongs to.
    #[serde(default)]
    pub guid: Option<String>,
    /// The number of counted actions, level resets included.
    #[serde(default)]
    pub actions: u64,
    #[serde(default)]
    pub levels_completed: u64,
    /// The number of actions on each level.
    #[serde(default)]
    pub level_actions: Option<Vec<i64>>,
    /// The score in percent.
    #[serde(default)]
    pub score: Option<f64>,
}

impl ServerCard {
    fn parse(path: &str, bytes: &[u8]) -> Result<Self, ClientError> {
        let invalid = |error: serde_json::Error| ClientError::InvalidResponse {
            path: path.to_owned(),
            reason: sanitize(&error.to_string()),
        };
        serde_json::from_slice(bytes).map_err(invalid)
    }

    /// Returns the runs of a play. A play whose game was restarted has several.
    pub fn runs(&self, guid: &str) -> Vec<&ServerRun> {
        let runs = self
            .environments
            .iter()
            .flat_map(|environment| &environment.runs);
        runs.filter(|run| run.guid.as_deref() == Some(guid))
            .collect()
    }

    /// Returns the number of actions over all runs of a play, or `None` if the card does not list
    /// it.
    pub fn actions(&self, guid: &str) -> Option<u64> {
        let runs = self.runs(guid);
        (!runs.is_empty()).then(|| {
            runs.iter()
                .map(|run| run.actions)
                .fold(0, u64::saturating_add)
        })
    }
}
