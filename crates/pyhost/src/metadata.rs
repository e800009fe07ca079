//! `metadata.json`: the description of a game, in the format of the official toolkit.

use rhae_engine::{ActionKind, ActionSet, Baseline, BaselineSource, GameId, GameInfo};
use serde_json::Value;

/// The toolkit's default animation speed, in frames per second.
const DEFAULT_FPS: u8 = 5;
/// The maximum number of levels in the official engine.
const MAX_LEVELS: usize = 254;
const MAX_LIST_LEN: usize = 64;

/// The validated contents of a `metadata.json`.
///
/// # Examples
///
/// ```
/// use rhae_pyhost::Metadata;
///
/// let metadata = Metadata::parse(r#"{"game_id": "ab12-v1", "baseline_actions": [10, 20]}"#)?;
/// assert_eq!(metadata.baselines, [10, 20]);
/// // Missing fields have the defaults of the toolkit.
/// assert_eq!((metadata.title.as_str(), metadata.class_name.as_str()), ("ab12", "Ab12"));
///
/// let error = Metadata::parse(r#"{"game_id": "ab12-v1", "default_fps": 0}"#).unwrap_err();
/// assert_eq!(error, "`default_fps` must be a whole number from 1 to 255");
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// The id of the game with its version.
    pub id: GameId,
    /// The title. The default is the id without its version.
    pub title: String,
    /// Labels for filtering. `keyboard`, `click` and `keyboard_click` also determine which actions
    /// are listed before the first play.
    pub tags: Vec<String>,
    /// The baseline of each level in actions. Empty if the file has no baselines.
    pub baselines: Vec<u32>,
    /// The animation speed for display.
    pub frames_per_second: u8,
    /// The name of the class in the Python source.
    pub class_name: String,
    /// The time of download as written in the file. It orders the versions of a game.
    pub date_downloaded: Option<String>,
    /// The command line of a program that implements the protocol itself, or `None` for a Python
    /// source. This is an extension of the official format.
    pub command: Option<Vec<String>>,
}

impl Metadata {
    /// Parses the text of a file.
    ///
    /// # Errors
    ///
    /// A message that names the faulty field and what was expected.
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

    /// Describes the game before its first play. The available actions become known only when the
    /// game runs; until then they are derived from the tags.
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
            // It is unknown whether the game uses the seed.
            seeded: false,
            class_name: self.command.is_none().then(|| self.class_name.clone()),
        }
    }
}

/// Returns whether a text is a valid name of a Python class and its file: 1 to 64 ASCII letters,
/// digits and `_`, not starting with a digit.
pub fn is_class_name(text: &str) -> bool {
    let plain = text
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    plain && (1..=64).contains(&text.len()) && !text.as_bytes()[0].is_ascii_digit()
}

/// Returns the default class name: the id without its version, with the first letter in upper case.
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
    let list = value.as_array().filter(|list| list.len() <= MAX_LIST_LEN);
    let list =
        list.ok_or_else(|| format!("`{name}` must be a list of at most {MAX_LIST_LEN} texts"))?;
    list.iter()
        .enumerate()
        .map(|(index, text)| text_of(&format!("{name}[{index}]"), text))
        .collect()
}

fn baselines(value: &Value) -> Result<Vec<u32>, String> {
    let list = value.as_array().filter(|list| list.len() <= MAX_LEVELS);
    let list = list.ok_or_else(|| {
        format!("`baseline_actions` must be a list of at most {MAX_LEVELS} numbers")
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
    fn toolkit_metadata_is_parsed() {
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
    fn invalid_field_is_named() {
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
