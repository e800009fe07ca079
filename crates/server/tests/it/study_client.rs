//! Researchers and participants of a study in tests.

use rhae_engine::{Action, LevelIndex};
use serde_json::{Value, json};

use crate::client::{Answer, Client};

pub(crate) const STUDY: &str = "/api/studies/lab";

/// Creates the study `lab` with some environments and opens it. `change` may change its protocol.
pub(crate) fn open_study(client: &Client, games: &[&str], change: impl FnOnce(&mut Value)) {
    let sites = json!([{"site": "online"}, {"site": "room", "seats": 2}]);
    let body = json!({
        "id": "lab", "title": "First study", "seed": 7, "environments": games,
        "consent": {"en": "You play games.", "de": "Sie spielen."}, "sites": sites,
    });
    let mut protocol = client.post("/api/studies", &body).success()["protocol"].clone();
    change(&mut protocol);
    let set = json!({"command": "set_protocol", "protocol": protocol});
    for command in [
        set,
        json!({"command": "freeze"}),
        json!({"command": "open"}),
    ] {
        change_study(client, &command);
    }
}

/// Executes a command of a researcher.
pub(crate) fn change_study(client: &Client, command: &Value) -> Value {
    client.post(&format!("{STUDY}/commands"), command).success()
}

/// Enrols people and returns the paths of their links.
pub(crate) fn enrol(client: &Client, count: u32) -> Vec<String> {
    let body = json!({"site": "online", "count": count});
    let links = client.post(&format!("{STUDY}/participants"), &body);
    let links = links.success();
    let links = links.as_array().unwrap().iter();
    links
        .map(|link| link["path"].as_str().unwrap().to_owned())
        .collect()
}

/// A participant.
pub(crate) struct Person {
    pub(crate) client: Client,
}

impl Person {
    pub(crate) fn new(client: &Client, path: &str) -> Self {
        let client = client.with_cookie(None).with_study_token(path);
        Self { client }
    }

    pub(crate) fn view(&self) -> Value {
        self.client.get("/api/sitting").success()
    }

    pub(crate) fn send(&self, body: &Value) -> Answer {
        self.client.post("/api/sitting/commands", body)
    }

    /// Sends a request that is accepted, and returns the view.
    pub(crate) fn request(&self, body: &Value) -> Value {
        self.send(body).success()
    }

    /// Sends a request, asserts the step after it, and returns the view.
    pub(crate) fn step(&self, body: &Value, step: &str) -> Value {
        let view = self.request(body);
        assert_eq!(view["step"], step, "{body}: {view}");
        view
    }

    /// Consents and answers everything before the first environment.
    pub(crate) fn prepare(&self) {
        let hash = &self.view()["consent"]["hash"];
        let consent = json!({"command": "consent", "language": "en", "text": hash,
            "publish_replays": true, "later_contact": false});
        self.step(&consent, "about");
        let answers = json!({"age": "25-34", "gaming": "daily"});
        self.step(&json!({"command": "describe", "answers": answers}), "check");
        self.step(&check_device(), "between");
    }

    /// Asks for the next environment and starts it. Returns the view with the first frame.
    pub(crate) fn start_next(&self) -> Value {
        let ready = self.step(&json!({"command": "next"}), "ready");
        let number = &ready["environment"];
        self.step(
            &json!({"command": "start", "environment": number}),
            "environment",
        )
    }

    pub(crate) fn act(&self, environment: u64, action: Action) -> Answer {
        act(&self.client, environment, action)
    }

    /// Plays the stored solution of an environment to its end.
    pub(crate) fn solve(&self, environment: u64, game: &str) {
        let info = rhae_games::find(game).unwrap();
        for level in 0..u8::try_from(info.facts.level_count()).unwrap() {
            for action in info.facts.solution(LevelIndex(level)) {
                self.act(environment, action).success();
            }
        }
    }
}

pub(crate) fn act(client: &Client, environment: u64, action: Action) -> Answer {
    let mut body = json!({"environment": environment});
    if let Action::Action6 { x, y } = action {
        body["x"] = x.into();
        body["y"] = y.into();
    }
    let path = format!("/api/sitting/actions/{}", action.kind().name());
    client.post(&path, &body)
}

pub(crate) fn check_device() -> Value {
    json!({"command": "check_device", "keyboard": true, "pointer": true,
        "colours_distinguished": true})
}

/// Returns the environment that the only open sitting plays.
pub(crate) fn playing(client: &Client) -> String {
    let live = client.get(&format!("{STUDY}/live")).success();
    live[0]["environment"].as_str().unwrap().to_owned()
}
