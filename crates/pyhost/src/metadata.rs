//! `metadata.json`: the description of a game, in the format of the official toolkit.

use rhae_engine::{ActionKind, ActionSet, Baseline, BaselineSource, GameId, GameInfo};
use serde_json::Value;

/// The toolkit's default animation speed, in frames per second.
const DEFAULT_FPS: u8 = 5;
/// The maximum number of levels in the official engine.
const MAX_LEVELS: usize = 254;
const MAX_LIST_LEN: usize = 64;
/// The version of a game whose folder states none. The toolkit's messages use the same word.
const DEFAULT_VERSION: &str = "default";
/// The maximum length of a version in an id.
const MAX_VERSION_LEN: usize = 40;

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
/// let error = Metadata::parse(r#"{"game_id": "ab12-v1", "tags": "keyboard"}"#).unwrap_err();
/// assert_eq!(error, "`tags` must be a list of at most 64 texts");
///
/// // In a folder, an id without a version gets the name of the folder as its version.
/// let metadata = Metadata::parse_in("v2", r#"{"game_id": "ab12"}"#)?;
/// assert_eq!(metadata.id.as_str(), "ab12-v2");
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
    /// Parses the metadata that a server sent. The id must have a version.
    ///
    /// # Errors
    ///
    /// A message that names the faulty field and what was expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        Self::parse_with(text, |id, _| {
            id.parse().map_err(|error| format!("`game_id`: {error}"))
        })
    }

    /// Parses the file of a folder with this name. Like the official toolkit, it accepts an id
    /// without a version. The version is then the field `version`, or the name of the folder, or
    /// `default` if the folder is named after the id.
    ///
    /// # Errors
    ///
    /// A message that names the faulty field and what was expected.
    pub fn parse_in(folder: &str, text: &str) -> Result<Self, String> {
        Self::parse_with(text, |id, version| derived_id(id, version, folder))
    }

    /// Parses the text. `game_id` makes an id of the fields `game_id` and `version`.
    fn parse_with(
        text: &str,
        game_id: impl FnOnce(&str, Option<&Value>) -> Result<GameId, String>,
    ) -> Result<Self, String> {
        let value: Value =
            serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
        let Value::Object(fields) = value else {
            return Err("expected a JSON object".to_owned());
        };
        let field = |name: &str| fields.get(name).filter(|value| !value.is_null());
        let written_id = field("game_id")
            .ok_or("`game_id` is missing")?
            .as_str()
            .ok_or("`game_id` must be a text")?;
        let id = game_id(written_id, field("version"))?;
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
        let frames_per_second = field("default_fps")
            .map(|fps| whole(fps).ok_or("`default_fps` must be a whole number"))
            .transpose()?
            .map_or(DEFAULT_FPS, |fps| {
                u8::try_from(fps.clamp(1, u8::MAX.into())).unwrap_or(DEFAULT_FPS)
            });
        let class_name = match field("class_name").filter(|name| name.as_str() != Some("")) {
            None => default_class(written_id.trim()),
            Some(name) => text_of("class_name", name)?,
        };
        if !is_class_name(&class_name) {
            return Err(
                "`class_name` must be the name of a Python class: letters, digits and `_`"
                    .to_owned(),
            );
        }
        // Only the order of versions depends on the date, so a date in another form is ignored.
        let date_downloaded =
            field("date_downloaded").and_then(|date| text_of("date_downloaded", date).ok());
        let command = field("command")
            .map(|command| texts("command", command))
            .transpose()?;
        if command
            .as_ref()
            .is_some_and(|command| command.first().is_none_or(String::is_empty))
        {
            return Err("`command` must begin with a program".to_owned());
        }
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
            levels: None,
            source_digest: None,
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

/// Returns the toolkit's default class name: the first four characters of the id as written, with
/// the first letter in upper case.
fn default_class(id: &str) -> String {
    let mut letters = id.chars().take(4);
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// Makes an id of the fields `game_id` and `version` and the name of the folder. An id consists of
/// lower-case letters and digits, so upper-case letters are converted, and other characters of a
/// version are dropped.
fn derived_id(written: &str, version: Option<&Value>, folder: &str) -> Result<GameId, String> {
    let written = written.trim().to_ascii_lowercase();
    let (base, own_version) = match written.split_once('-') {
        Some((base, version)) => (base, plain_version(version)),
        None => (written.as_str(), None),
    };
    let field = || match version {
        Some(Value::String(text)) => plain_version(text),
        Some(Value::Number(number)) => plain_version(&number.to_string()),
        _ => None,
    };
    let folder = folder.to_ascii_lowercase();
    let version = own_version
        .or_else(field)
        .or_else(|| plain_version(folder.strip_prefix(base).unwrap_or(&folder)))
        .unwrap_or_else(|| DEFAULT_VERSION.to_owned());
    format!("{base}-{version}")
        .parse()
        .map_err(|_| format!("`game_id`: `{written}` is not an id: expected four letters or digits, and a hyphen and a version after them, as in `ab12-v1`"))
}

/// Reduces a version to the characters that an id may contain; `None` if none are left.
fn plain_version(text: &str) -> Option<String> {
    let letters = text.chars().filter(char::is_ascii_alphanumeric);
    let version: String = letters
        .map(|letter| letter.to_ascii_lowercase())
        .take(MAX_VERSION_LEN)
        .collect();
    (!version.is_empty()).then_some(version)
}

/// Returns a whole number, also if it is written as `5.0` or `"5"`, like the toolkit.
fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        Value::Number(number) => number.as_i64().or_else(|| {
            let float = number.as_f64().filter(|float| float.fract() == 0.0)?;
            // Every whole number in this range is exact.
            (float.abs() < 2f64.powi(53)).then_some(float as i64)
        }),
        _ => None,
    }
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
        let number = whole(value).and_then(|number| u32::try_from(number).ok());
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
                r#"{"game_id": "ab12-v1", "default_fps": 2.5}"#,
                "`default_fps` must be a whole number",
            ),
            (r#"{"game_id": "ab12"}"#, "`game_id`: `ab12` is not"),
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

    #[test]
    fn id_is_derived_like_in_the_toolkit() {
        for (folder, fields, id) in [
            ("v1", r#""game_id": "mt01""#, "mt01-v1"),
            ("9607627b", r#""game_id": "mt01""#, "mt01-9607627b"),
            ("mt01", r#""game_id": "mt01""#, "mt01-default"),
            ("mt01-v3", r#""game_id": "mt01""#, "mt01-v3"),
            ("V1.2_beta", r#""game_id": "mt01""#, "mt01-v12beta"),
            ("v1", r#""game_id": "mt01", "version": "v7""#, "mt01-v7"),
            ("v1", r#""game_id": "mt01", "version": 7"#, "mt01-7"),
            ("v1", r#""game_id": "mt01-v2""#, "mt01-v2"),
            ("v1", r#""game_id": "MT01-V1-2""#, "mt01-v12"),
            ("v1", r#""game_id": "mt01-""#, "mt01-v1"),
            ("...", r#""game_id": "mt01""#, "mt01-default"),
        ] {
            let metadata = Metadata::parse_in(folder, &format!("{{{fields}}}")).unwrap();
            assert_eq!(metadata.id.as_str(), id, "{folder} {fields}");
        }
        for id in ["", "abc", "abcde", "../x", "-v1", "mt 1"] {
            let error = Metadata::parse_in("v1", &format!(r#"{{"game_id": "{id}"}}"#));
            assert!(error.unwrap_err().contains("is not an id"), "{id}");
        }
    }

    #[test]
    fn numbers_are_read_like_in_the_toolkit() {
        let text = r#"{"game_id": "mt01", "class_name": "", "default_fps": "30",
            "baseline_actions": [3.0, "4", 5], "date_downloaded": 17, "level_tags": [["x"]]}"#;
        let metadata = Metadata::parse_in("v1", text).unwrap();
        assert_eq!(metadata.baselines, [3, 4, 5]);
        assert_eq!(
            (
                metadata.frames_per_second,
                metadata.class_name.as_str(),
                metadata.date_downloaded
            ),
            (30, "Mt01", None)
        );
        let extreme = Metadata::parse_in("v1", r#"{"game_id": "mt01", "default_fps": 1000}"#);
        assert_eq!(extreme.unwrap().frames_per_second, 255);
    }
}
