//! A small API client, and the steps that tests share.

use rhae_engine::{Action, LevelIndex};
use serde_json::{Value, json};
use ureq::http::Request;

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) content_type: String,
    pub(crate) retry_after: Option<String>,
    /// All headers except the date and the request id.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) request_id: String,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.content_type, "application/json", "{self:?}");
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Asserts that the response is a success and returns its body.
    pub(crate) fn success(&self) -> Value {
        assert_eq!(self.status, 200, "{self:?}");
        self.json()
    }

    /// Asserts that the response is this error.
    pub(crate) fn assert_error(&self, status: u16, code: &str) {
        let body = self.json();
        assert_eq!(
            (self.status, body["error"].as_str()),
            (status, Some(code)),
            "{self:?}"
        );
        assert!(
            body["message"]
                .as_str()
                .is_some_and(|message| !message.is_empty()),
            "{self:?}"
        );
    }
}

/// An API client with a key.
#[derive(Clone)]
pub(crate) struct Client {
    agent: ureq::Agent,
    base: String,
    key: String,
    idempotency_key: Option<String>,
    /// A cookie sent instead of the key, as by a browser.
    cookie: Option<String>,
    accept: Option<&'static str>,
    /// The token of a participant's link.
    study_token: Option<String>,
}

impl Client {
    pub(crate) fn new(base: &str, key: &str) -> Self {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .build();
        Self {
            agent: config.into(),
            base: base.to_owned(),
            key: key.to_owned(),
            idempotency_key: None,
            cookie: None,
            accept: None,
            study_token: None,
        }
    }

    /// Returns the same client, with an idempotency key on every request.
    pub(crate) fn with_idempotency_key(&self, key: &str) -> Self {
        Self {
            idempotency_key: Some(key.to_owned()),
            ..self.clone()
        }
    }

    /// Returns the same client, with an `Accept` header.
    pub(crate) fn with_accept(&self, accept: &'static str) -> Self {
        Self {
            accept: Some(accept),
            ..self.clone()
        }
    }

    /// Returns a client that sends a cookie instead of a key, as a browser does. `None` stands for
    /// a browser without a cookie.
    pub(crate) fn with_cookie(&self, cookie: Option<&str>) -> Self {
        Self {
            cookie: Some(cookie.unwrap_or_default().to_owned()),
            ..self.clone()
        }
    }

    /// Returns a client that sends the token of a participant's link.
    pub(crate) fn with_study_token(&self, path: &str) -> Self {
        Self {
            study_token: Some(path.trim_start_matches("/s/").to_owned()),
            ..self.clone()
        }
    }

    /// Sends an arbitrary request.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        content_type: Option<&str>,
        body: &[u8],
    ) -> Answer {
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base));
        let mut request = match &self.cookie {
            None => request.header("X-API-Key", &self.key),
            Some(cookie) => request.header("Cookie", format!("a=b; {cookie}")),
        };
        if let Some(content_type) = content_type {
            request = request.header("Content-Type", content_type);
        }
        if let Some(token) = &self.study_token {
            request = request.header("X-Study-Token", token);
        }
        if let Some(accept) = self.accept {
            request = request.header("Accept", accept);
        }
        if let Some(idempotency_key) = &self.idempotency_key {
            request = request.header("Idempotency-Key", idempotency_key);
        }
        let sent = match method {
            "GET" | "DELETE" => self.agent.run(request.body(()).unwrap()),
            _ => self.agent.run(request.body(body.to_vec()).unwrap()),
        };
        let mut response = sent.unwrap_or_else(|error| panic!("{method} {path}: {error}"));
        let header = |name| {
            response
                .headers()
                .get(name)
                .map(|value| value.to_str().unwrap().to_owned())
        };
        Answer {
            status: response.status().as_u16(),
            content_type: header("content-type").unwrap_or_default(),
            retry_after: header("retry-after"),
            headers: response
                .headers()
                .iter()
                .filter(|(name, _)| !["date", "x-request-id"].contains(&name.as_str()))
                .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
                .collect(),
            request_id: header("x-request-id").unwrap_or_default(),
            // Images are not text, but can still be compared as strings.
            text: String::from_utf8_lossy(&response.body_mut().read_to_vec().unwrap()).into_owned(),
        }
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, None, &[])
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(
            "POST",
            path,
            Some("application/json"),
            body.to_string().as_bytes(),
        )
    }

    /// Opens a card and returns its id.
    pub(crate) fn open_card(&self, body: &Value) -> String {
        self.post("/api/scorecard/open", body).success()["card_id"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// Opens a play and returns its guid.
    pub(crate) fn open_play(&self, card: &str, game: &str) -> String {
        let frame = self
            .post("/api/cmd/RESET", &json!({"card_id": card, "game_id": game}))
            .success();
        frame["guid"].as_str().unwrap().to_owned()
    }

    /// Sends an action without checking the response.
    pub(crate) fn act(&self, game: &str, guid: &str, action: Action) -> Answer {
        let mut body = json!({"game_id": game, "guid": guid});
        if let Action::Action6 { x, y } = action {
            body["x"] = x.into();
            body["y"] = y.into();
        }
        self.post(&format!("/api/cmd/{}", action.kind().name()), &body)
    }

    pub(crate) fn card(&self, card: &str) -> Value {
        self.get(&format!("/api/scorecard/{card}")).success()
    }

    pub(crate) fn close(&self, card: &str) -> Value {
        self.post("/api/scorecard/close", &json!({"card_id": card}))
            .success()
    }

    /// Plays the stored solution of a level and returns the last response.
    pub(crate) fn solve(&self, game: &str, guid: &str, level: u8) -> Value {
        let solution = rhae_games::find(game)
            .unwrap()
            .facts
            .solution(LevelIndex(level));
        solution.into_iter().fold(Value::Null, |_, action| {
            self.act(game, guid, action).success()
        })
    }
}
