//! A client that repeats each request, with the same idempotency key, until it gets a definite
//! response.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::http::Request;
use serde_json::{Value, json};
use tower::ServiceExt;

use super::world::{SERVERS, World};

/// The number of commands that each client sends to its play.
const COMMANDS: u32 = 10;
/// The number of attempts after which a request counts as stuck.
const MAX_ATTEMPTS: u32 = 500;
/// The longest time that a client waits for a response, in milliseconds.
const TIMEOUT_MS: u32 = 600;
/// The probability that a client repeats an acknowledged request, in thousandths.
const REPEATED: u32 = 200;
/// Environments that differ in their actions: keys only, clicks only, and both.
const GAMES: [&str; 3] = ["ny40", "ym39", "hk26"];

pub(super) struct Client {
    world: Arc<World>,
    name: &'static str,
    api_key: &'static str,
    requests: u32,
}

/// A client with a play.
pub(super) struct Player {
    client: Client,
    game: &'static str,
    guid: String,
    told: Told,
}

/// What a client was told about its play.
pub(super) struct Told {
    pub(super) name: &'static str,
    pub(super) guid: String,
    pub(super) card: String,
    /// The definite responses in the order of the requests.
    pub(super) responses: Vec<Definite>,
}

/// The definite response to a request.
pub(super) struct Definite {
    pub(super) idempotency_key: String,
    /// The body if the request was executed, or `None` if it was refused.
    pub(super) executed: Option<Value>,
}

impl Client {
    pub(super) fn new(world: &Arc<World>, name: &'static str, api_key: &'static str) -> Self {
        Self {
            world: Arc::clone(world),
            name,
            api_key,
            requests: 0,
        }
    }

    /// Opens a card and a play on it.
    pub(super) async fn open_play(mut self) -> Result<Player, String> {
        let game = GAMES[self.world.below(GAMES.len() as u32) as usize];
        let opened = self.request("/api/scorecard/open", &json!({})).await?;
        let card = opened.text("card_id")?;
        let body = json!({"game_id": game, "card_id": card});
        let response = self.request("/api/cmd/RESET", &body).await?;
        let guid = response.text("guid")?;
        let told = Told {
            name: self.name,
            guid: guid.clone(),
            card,
            responses: vec![response],
        };
        Ok(Player {
            client: self,
            game,
            guid,
            told,
        })
    }

    /// Sends a request until its response is definite.
    async fn request(&mut self, path: &str, body: &Value) -> Result<Definite, String> {
        self.requests += 1;
        let idempotency_key = format!("{}-{}", self.name, self.requests);
        for attempt in 1..=MAX_ATTEMPTS {
            let response = self.attempt(path, body, &idempotency_key).await;
            if let Some((status, body)) = response {
                let error = body["error"].as_str().unwrap_or_default().to_owned();
                let label = format!("{idempotency_key} {path} -> {status} {error}");
                self.world
                    .note(&format!("{} after {attempt}", label.trim_end()));
                match (status, error.as_str()) {
                    (200, _) => {
                        let executed = Some(body);
                        return Ok(Definite {
                            idempotency_key,
                            executed,
                        });
                    }
                    (503, _) => {}
                    (400..=499, _) => {
                        return Ok(Definite {
                            idempotency_key,
                            executed: None,
                        });
                    }
                    _ => return Err(format!("unexpected response: {label} {body}")),
                }
            }
            self.world.pause(50).await;
            self.world.restart_crashed();
        }
        Err(format!("no definite response to {idempotency_key} {path}"))
    }

    /// Sends a request once, to a random server. Returns `None` if the client gets no response.
    async fn attempt(&self, path: &str, body: &Value, key: &str) -> Option<(u16, Value)> {
        let world = &self.world;
        let server = world.server(world.below(SERVERS as u32) as usize);
        let request = Request::post(path)
            .header("host", "localhost")
            .header("x-api-key", self.api_key)
            .header("content-type", "application/json")
            .header("idempotency-key", key)
            .body(Body::from(body.to_string()))
            .unwrap();
        let call = server.router.oneshot(request);
        // Most clients are patient. The others disconnect while the request is in progress.
        let patience = if world.chance(100) {
            TIMEOUT_MS / 20
        } else {
            TIMEOUT_MS
        };
        tokio::select! {
            biased;
            () = server.crash.wait() => {
                world.note(&format!("{key} connection lost"));
                None
            }
            () = world.pause(patience) => {
                world.note(&format!("{key} client timeout"));
                None
            }
            response = call => {
                let response = response.unwrap();
                let status = response.status().as_u16();
                let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
                Some((status, serde_json::from_slice(&bytes).unwrap()))
            }
        }
    }
}

impl Player {
    /// Another client that plays the same play with the same API key.
    pub(super) fn shared_by(&self, name: &'static str) -> Self {
        let told = Told {
            name,
            guid: self.guid.clone(),
            card: self.told.card.clone(),
            responses: Vec::new(),
        };
        Self {
            client: Client::new(&self.client.world, name, self.client.api_key),
            game: self.game,
            guid: self.guid.clone(),
            told,
        }
    }

    /// Sends random commands, and returns what the client was told.
    pub(super) async fn send_commands(mut self) -> Result<Told, String> {
        for _ in 0..COMMANDS {
            let (path, body) = self.random_command();
            let response = self.client.request(&path, &body).await?;
            if self.client.world.chance(REPEATED) {
                self.repeat(&path, &body, &response).await?;
            }
            self.told.responses.push(response);
        }
        Ok(self.told)
    }

    fn random_command(&self) -> (String, Value) {
        let world = &self.client.world;
        let mut body = json!({"game_id": self.game, "guid": self.guid});
        let name = match world.below(12) {
            0 => "RESET".to_owned(),
            1..=3 => {
                body["x"] = world.below(64).into();
                body["y"] = world.below(64).into();
                "ACTION6".to_owned()
            }
            4 => "ACTION7".to_owned(),
            number => format!("ACTION{}", number % 5 + 1),
        };
        (format!("/api/cmd/{name}"), body)
    }

    /// Repeats a request that was answered. An executed request must get the same response again.
    async fn repeat(&self, path: &str, body: &Value, first: &Definite) -> Result<(), String> {
        let Some(expected) = &first.executed else {
            return Ok(());
        };
        let key = &first.idempotency_key;
        match self.client.attempt(path, body, key).await {
            Some((200, repeated)) if repeated != *expected => {
                Err(format!("the repeated {key} got another response"))
            }
            Some((status @ 400..=499, body)) => {
                Err(format!("the repeated {key} was refused: {status} {body}"))
            }
            _ => Ok(()),
        }
    }
}

impl Definite {
    /// Returns a text field of the body of an executed request.
    fn text(&self, field: &str) -> Result<String, String> {
        let text = self.executed.as_ref().and_then(|body| body[field].as_str());
        let missing = || format!("{} was refused or has no `{field}`", self.idempotency_key);
        text.map(str::to_owned).ok_or_else(missing)
    }
}
