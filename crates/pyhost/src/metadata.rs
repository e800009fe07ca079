//! `metadata.json`: what a folder says of its game, in the official toolkit's form.

use rhae_engine::{ActionKind, ActionSet, Baseline, BaselineSource, GameId, GameInfo};
use serde_json::Value;

/// The speed of animations where the file says none, as in the toolkit.
const DEFAULT_FPS: u8 = 5;
/// As many levels as the official engine counts.
const MOST_LEVELS: usize = 254;
const MOST_WORDS: usize = 64;

/// What a folder says of its game, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// The id with its version.
    pub id: GameId,
    /// The title; the four characters of the id where there is none.
    pub title: String,
    /// What a list may filter by.
    pub tags: Vec<String>,
    /// The baseline of each level; empty where none is stated.
    pub baselines: Vec<u32>,
    /// The speed of animations.
    pub frames_per_second: u8,
    /// The class in the Python source.
    pub class_name: String,
    /// When it was downloaded, as the file says it: later versions are newer.
    pub date_downloaded: Option<String>,
    /// The program that speaks the protocol itself, with its arguments; `None` for a Python source. An extension of ours.
    pub command: Option<Vec<String>>,
}

impl Metadata {
    /// Reads a file's text, or says which field is wrong and why.
    pub fn parse(text: &str) -> Result<Self, String> {
        let value: Value =
            serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
        let Value::Object(fields) = value else {
            return Err("expected a JSON object".to_owned());
        };
        let field = |name: &str| fields.get(name).filter(|value| !value.is_null());
        let id = field("game_id")
            .ok_or("`game_id` is missing")?
            .as_str()
            .ok_or("`game_id` must be a text")?;
        let id: GameId = id.parse().map_err(|error| format!("`game_id`: {error}"))?;
        let default_title = id.base().to_owned();
        let title = field("title")
            .map(|title| text_of("title", title))
            .transpose()?
            .unwrap_or(default_title);
        let tags = field("tags")
            .map(|tags| texts("tags", tags))
            .transpose()?
            .unwrap_or_default();
        let baselines = field("baseline_actions")
            .map(baselines)
            .transpose()?
            .unwrap_or_default();
        let fps = field("default_fps").map(|fps| {
            let fps = fps
                .as_u64()
                .and_then(|fps| u8::try_from(fps).ok())
                .filter(|&fps| fps > 0);
            fps.ok_or("`default_fps` must be a whole number from 1 to 255")
        });
        let class_name = match field("class_name") {
            None => default_class(id.base()),
            Some(name) => text_of("class_name", name)?,
        };
        if !is_class_name(&class_name) {
            return Err(
                "`class_name` must be the name of a Python class: letters, digits and `_`"
                    .to_owned(),
            );
        }
        let date_downloaded = field("date_downloaded")
            .map(|date| text_of("date_downloaded", date))
            .transpose()?;
        let command = field("command")
            .map(|command| texts("command", command))
            .transpose()?;
        if command
            .as_ref()
            .is_some_and(|command| command.first().is_none_or(String::is_empty))
        {
            return Err("`command` must begin with a program".to_owned());
        }
        let frames_per_second = fps.transpose()?.unwrap_or(DEFAULT_FPS);
        Ok(Self {
            id,
            title,
            tags,
            baselines,
            frames_per_second,
            class_name,
            date_downloaded,
            command,
        })
    }

    /// What is known before a play. Which actions a game offers is only known when it runs; until then its tags tell.
    pub(crate) fn info(&self) -> GameInfo {
        let tagged = |name: &str| self.tags.iter().any(|tag| tag == name);
        let keys = ActionSet::ARROWS.with(ActionKind::Action5);
        let actions = match (
            tagged("keyboard"),
            tagged("click"),
            tagged("keyboard_click"),
        ) {
            (true, false, false) => keys,
            (false, true, false) => ActionSet::of(&[ActionKind::Action6]),
            (false, false, false) => keys.with(ActionKind::Action6).with(ActionKind::Action7),
            _ => keys.with(ActionKind::Action6),
        };
        let baseline = |&actions: &u32| Baseline {
            actions,
            source: BaselineSource::Metadata,
        };
        GameInfo {
            id: self.id.clone(),
            title: self.title.clone(),
            baselines: self.baselines.iter().map(baseline).collect(),
            actions,
            tags: self.tags.clone(),
            frames_per_second: self.frames_per_second,
            // Whether a seed matters is the game's secret.
            seeded: false,
            class_name: self.command.is_none().then(|| self.class_name.clone()),
        }
    }
}

/// Whether a text can be the name of a class and of its file.
pub fn is_class_name(text: &str) -> bool {
    let plain = text
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    plain && (1..=64).contains(&text.len()) && !text.as_bytes()[0].is_ascii_digit()
}

/// The class of a game that names none: its four characters, the first in upper case.
fn default_class(base: &str) -> String {
    base[..1].to_ascii_uppercase() + &base[1..]
}

fn text_of(name: &str, value: &Value) -> Result<String, String> {
    let text = value
        .as_str()
        .filter(|text| text.len() <= 1000 && !text.contains(char::is_control));
    text.map(str::to_owned)
        .ok_or_else(|| format!("`{name}` must be a short text without control characters"))
}

fn texts(name: &str, value: &Value) -> Result<Vec<String>, String> {
    let list = value.as_array().filter(|list| list.len() <= MOST_WORDS);
    let list =
        list.ok_or_else(|| format!("`{name}` must be a list of at most {MOST_WORDS} texts"))?;
    list.iter()
        .enumerate()
        .map(|(index, text)| text_of(&format!("{name}[{index}]"), text))
        .collect()
}

fn baselines(value: &Value) -> Result<Vec<u32>, String> {
    let list = value.as_array().filter(|list| list.len() <= MOST_LEVELS);
    let list = list.ok_or_else(|| {
        format!("`baseline_actions` must be a list of at most {MOST_LEVELS} numbers")
    })?;
    let number = |(index, value): (usize, &Value)| {
        let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
        number.ok_or_else(|| {
            format!("`baseline_actions[{index}]` must be a whole number, not {value}")
        })
    };
    list.iter().enumerate().map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_toolkit_s_files_are_read() {
        let downloaded = r#"{"game_id": "ls20-9607627b", "title": null, "tags": ["keyboard"], "baseline_actions": [10, 20],
            "private_tags": null, "local_dir": "/home/me/x", "date_downloaded": "2026-11-15T10:00:00+00:00"}"#;
        let metadata = Metadata::parse(downloaded).unwrap();
        assert_eq!(
            (
                metadata.title.as_str(),
                metadata.class_name.as_str(),
                metadata.frames_per_second
            ),
            ("ls20", "Ls20", 5)
        );
        let info = metadata.info();
        assert_eq!(
            info.baselines[1],
            Baseline {
                actions: 20,
                source: BaselineSource::Metadata
            }
        );
        assert_eq!(
            (info.actions.len(), info.class_name.as_deref()),
            (5, Some("Ls20"))
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, problem) in [
            ("[]", "expected a JSON object"),
            ("{", "not JSON"),
            ("{}", "`game_id` is missing"),
            (r#"{"game_id": 7}"#, "`game_id` must be a text"),
            (
                r#"{"game_id": "../x"}"#,
                "`game_id`: `../x` is not an environment id",
            ),
            (
                r#"{"game_id": "ab12-v1", "baseline_actions": 3}"#,
                "`baseline_actions` must be a list",
            ),
            (
                r#"{"game_id": "ab12-v1", "baseline_actions": [3, -1]}"#,
                "`baseline_actions[1]` must be a whole number, not -1",
            ),
            (
                r#"{"game_id": "ab12-v1", "tags": ["a", 1]}"#,
                "`tags[1]` must be a short text",
            ),
            (
                r#"{"game_id": "ab12-v1", "title": "\u001b[2J"}"#,
                "`title` must be a short text",
            ),
            (
                r#"{"game_id": "ab12-v1", "default_fps": 0}"#,
                "`default_fps` must be a whole number",
            ),
            (
                r#"{"game_id": "ab12-v1", "class_name": "../../x"}"#,
                "`class_name` must be the name of a Python class",
            ),
            (
                r#"{"game_id": "ab12-v1", "command": []}"#,
                "`command` must begin with a program",
            ),
        ] {
            assert!(
                Metadata::parse(text).unwrap_err().contains(problem),
                "{text}: {:?}",
                Metadata::parse(text)
            );
        }
    }
}
