//! The analyzer's answer: its sections and its list of actions.
//!
//! The parser is lenient where the meaning is clear: fences and text around the list are ignored, a
//! bare list or an object with a field `actions` is accepted, and so are texts such as
//! `ACTION6(12, 40)`. Actions that are not offered are dropped.

use rhae_engine::{Action, ActionKind, ActionSet};
use serde_json::Value;

use crate::action_text::parse_action;

/// What the analyzer answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PlannedActions {
    pub(super) briefing: String,
    pub(super) plan: String,
    pub(super) actions: Vec<Action>,
}

/// Parses an answer. `may_reset` says whether RESET is allowed as the first action.
///
/// # Errors
///
/// Returns what is missing, for the model.
pub(super) fn parse(
    text: &str,
    available: ActionSet,
    may_reset: bool,
) -> Result<PlannedActions, String> {
    let Some(actions_at) = find_header(text, "ACTIONS") else {
        return Err("the section [ACTIONS] is missing".to_owned());
    };
    let (before, section) = (&text[..actions_at.0], &text[actions_at.1..]);
    let Some(list) = first_list(section) else {
        return Err("the section [ACTIONS] contains no JSON list".to_owned());
    };
    let mut actions: Vec<Action> = Vec::new();
    for value in &list {
        let Some(action) = action(value) else {
            continue;
        };
        let is_allowed = match action {
            // A second RESET in a row would restart the whole game.
            Action::Reset => match actions.last() {
                None => may_reset,
                Some(last) => *last != Action::Reset,
            },
            action => available.contains(action.kind()),
        };
        if is_allowed {
            actions.push(action);
        }
    }
    if actions.is_empty() {
        return Err(format!(
            "none of its {} entries is an offered action",
            list.len()
        ));
    }
    let (plan_at, plan_end) = find_header(before, "PLAN").unwrap_or((before.len(), before.len()));
    let (_, briefing_end) = find_header(&before[..plan_at], "BRIEFING").unwrap_or((0, 0));
    Ok(PlannedActions {
        briefing: before[briefing_end..plan_at].trim().to_owned(),
        plan: before[plan_end..].trim().to_owned(),
        actions,
    })
}

/// Returns the start and the end of the last line that consists of this header. Markdown around it
/// is ignored, as in `## [PLAN]` and `**PLAN**`.
fn find_header(text: &str, name: &str) -> Option<(usize, usize)> {
    let mut start = 0;
    let mut found = None;
    for line in text.split_inclusive('\n') {
        let bare = line.trim_matches(|letter: char| !letter.is_ascii_alphabetic());
        if bare.eq_ignore_ascii_case(name) {
            found = Some((start, start + line.len()));
        }
        start += line.len();
    }
    found
}

/// Returns the first JSON list in a text, or the field `actions` of the first JSON object.
fn first_list(text: &str) -> Option<Vec<Value>> {
    for (start, _) in text.match_indices(['[', '{']) {
        let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        match values.next() {
            Some(Ok(Value::Array(list))) => return Some(list),
            Some(Ok(Value::Object(fields))) => match fields.get("actions") {
                Some(Value::Array(list)) => return Some(list.clone()),
                _ => return Some(vec![Value::Object(fields)]),
            },
            _ => {}
        }
    }
    None
}

/// Parses one entry of the list: a name, a number, a text such as `ACTION6(row, col)`, or an object.
fn action(value: &Value) -> Option<Action> {
    match value {
        Value::String(text) => parse_action(text),
        Value::Number(_) => ActionKind::from_id(small(value)?)?.simple(),
        Value::Object(fields) => {
            let name = ["action", "name", "id"]
                .iter()
                .find_map(|field| fields.get(*field))?;
            match action_kind(name)? {
                ActionKind::Action6 => {
                    let field = |names: [&str; 3]| {
                        let found = names.iter().find_map(|name| fields.get(*name));
                        small(found?)
                    };
                    // The model writes rows first, so `x` is a row, as in the original agent.
                    let row = field(["row", "x", "r"])?;
                    let column = field(["col", "column", "y"])?;
                    Action::click(column, row)
                }
                kind => kind.simple(),
            }
        }
        _ => None,
    }
}

fn action_kind(value: &Value) -> Option<ActionKind> {
    match value {
        Value::String(name) => ActionKind::from_name(name.trim().to_ascii_uppercase().as_str()),
        value => ActionKind::from_id(small(value)?),
    }
}

fn small(value: &Value) -> Option<u8> {
    u8::try_from(value.as_u64()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> ActionSet {
        ActionSet::of(&ActionKind::ALL[1..])
    }

    fn actions(section: &str) -> Result<Vec<Action>, String> {
        let text = format!("[BRIEFING]\nb\n[PLAN]\np\n[ACTIONS]\n{section}");
        parse(&text, all(), true).map(|planned| planned.actions)
    }

    #[test]
    fn sections_are_separated() {
        let text = "Thoughts first.\n## [BRIEFING]\nA wall.\nA door.\n\n**PLAN**\nGo up.\n\n[ACTIONS]\n```json\n[\"ACTION1\"]\n```";
        let planned = parse(text, all(), false).unwrap();
        assert_eq!(planned.briefing, "A wall.\nA door.");
        assert_eq!(planned.plan, "Go up.");
        assert_eq!(planned.actions, [Action::Action1]);
    }

    #[test]
    fn lists_are_read_in_every_usual_form() {
        let click = Action::click(40, 12).unwrap();
        let cases = [
            (
                "[\"ACTION1\", \"action4\"]",
                vec![Action::Action1, Action::Action4],
            ),
            ("Here: [1, 7]", vec![Action::Action1, Action::Action7]),
            (
                "{\"actions\": [\"RESET\", \"ACTION2\"]}",
                vec![Action::Reset, Action::Action2],
            ),
            (
                "[\"RESET\", \"RESET\", \"ACTION2\"]",
                vec![Action::Reset, Action::Action2],
            ),
            (
                "[{\"action\": \"ACTION6\", \"row\": 12, \"col\": 40}]",
                vec![click],
            ),
            ("[{\"action\": 6, \"x\": 12, \"y\": 40}]", vec![click]),
            ("[\"ACTION6(12, 40)\"]", vec![click]),
            ("{\"action\": \"ACTION3\"}", vec![Action::Action3]),
            (
                "[x] then [\"ACTION5\", \"JUMP\", {\"action\": \"ACTION6\"}]",
                vec![Action::Action5],
            ),
        ];
        for (section, expected) in cases {
            assert_eq!(actions(section), Ok(expected), "{section}");
        }
    }

    #[test]
    fn unusable_answers_say_what_is_missing() {
        let error = |text: &str| parse(text, ActionSet::ARROWS, false).unwrap_err();
        assert!(error("I would go up").contains("[ACTIONS] is missing"));
        assert!(error("[ACTIONS]\nup").contains("no JSON list"));
        assert!(error("[ACTIONS]\n[\"ACTION6(1,2)\", \"RESET\"]").contains("none of its 2"));
        assert!(error("[ACTIONS]\n[]").contains("none of its 0"));
        assert!(error("[ACTIONS]\n[\"ACTION6(1,99)\"]").contains("none of its 1"));
    }
}
