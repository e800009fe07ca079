//! What a model wrote in a run: its replies to static tasks, or its reasoning during plays.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rhae_agents::SYSTEM_PROMPT;
use rhae_harness::{load_plays, read_recording};
use rhae_protocol::{EvalConfig, EvalLine, PlayResult, RunConfig};
use rhae_runs::{load_config, load_lines};
use rhae_tasks::Prompt;
use serde_json::Value;

use super::palette::Palette;
use crate::AnalysisError;

/// The transcripts of a run and what its prompt said.
pub(super) struct Transcripts {
    pub(super) run_id: String,
    pub(super) agent: String,
    pub(super) palette: Palette,
    pub(super) all: Vec<Transcript>,
    /// The number of replies or plays without text.
    pub(super) without_text: usize,
    /// The instructions of the prompt, without the tasks.
    pub(super) given: String,
    /// The ids of the tasks of the run.
    pub(super) task_ids: Vec<String>,
    pub(super) notes: Vec<String>,
}

/// The text of one reply or play.
pub(super) struct Transcript {
    pub(super) name: String,
    pub(super) text: String,
}

/// Loads the replies of a run of `rhae arc eval`.
pub(super) fn of_evaluation(folder: &Path) -> Result<Transcripts, AnalysisError> {
    let config: EvalConfig = load_config(folder)?;
    let mut replies = BTreeMap::new();
    for line in load_lines(folder)? {
        if let EvalLine::Answered {
            request,
            target,
            answer,
            ..
        } = line
        {
            let tests: Vec<String> = target
                .tests
                .iter()
                .map(|test| (test + 1).to_string())
                .collect();
            let name = format!(
                "{}/{}, test {}, request {request}",
                target.set,
                target.task,
                tests.join(" and ")
            );
            replies.insert(request, (name, join(answer.reasoning, answer.text)));
        }
    }
    let mut notes = Vec::new();
    let given = instructions(&config.solver_settings, &mut notes);
    let (all, without_text) = with_text(replies.into_values());
    let task_ids = config.sets.iter().flat_map(|set| set.tests.keys().cloned());
    Ok(Transcripts {
        run_id: config.run_id,
        agent: config.solver,
        palette: Palette::Static,
        all,
        without_text,
        given,
        task_ids: task_ids.collect(),
        notes,
    })
}

/// Returns the text of the prompt template, without the tasks that it inserts.
fn instructions(settings: &BTreeMap<String, Value>, notes: &mut Vec<String>) -> String {
    let text = |key: &str| settings.get(key).and_then(Value::as_str);
    let Some(name) = text("prompt") else {
        return String::new();
    };
    let found = match fs::read_to_string(name) {
        Ok(template) => Prompt::parse(name, &template),
        Err(_) => Prompt::built_in(name),
    };
    match found {
        Ok(prompt) if Some(prompt.hash()) == text("prompt_sha256") => prompt.instructions(),
        _ => {
            notes.push(format!(
                "The prompt template `{name}` is missing or has changed since the run, so knowledge that it gave is not subtracted."
            ));
            String::new()
        }
    }
}

/// Loads the reasoning of the plays of a run of `rhae run`.
pub(super) fn of_plays(folder: &Path) -> Result<Transcripts, AnalysisError> {
    let config: RunConfig = load_config(folder)?;
    let mut notes = Vec::new();
    let agent = config.agent.clone().or_else(|| config.agent_cmd.clone());
    let agent = agent.unwrap_or_default();
    let given = if agent.starts_with("model:") {
        SYSTEM_PROMPT
    } else {
        notes.push(
            "The prompts of the agent are unknown, so knowledge that they gave is not subtracted."
                .to_owned(),
        );
        ""
    };
    let mut unreadable = 0;
    let mut plays = Vec::new();
    for play in load_plays(folder)? {
        match reasoning(folder, &play) {
            Some(text) => plays.push((format!("{}, play {}", play.game_id, play.repeat), text)),
            None => unreadable += 1,
        }
    }
    if unreadable > 0 {
        notes.push(format!("{unreadable} recordings cannot be read."));
    }
    let (all, without_text) = with_text(plays);
    Ok(Transcripts {
        run_id: config.run_id,
        agent,
        palette: Palette::Interactive,
        all,
        without_text,
        given: given.to_owned(),
        task_ids: Vec::new(),
        notes,
    })
}

/// Returns the reasoning of all actions of a play.
fn reasoning(folder: &Path, play: &PlayResult) -> Option<String> {
    let recording = read_recording(&folder.join(&play.recording)).ok()?;
    let mut text = String::new();
    for entry in recording.entries {
        if let Some(reasoning) = entry.details.reasoning {
            match &reasoning {
                Value::String(one) => text.push_str(one),
                other => text.push_str(&other.to_string()),
            }
            text.push('\n');
        }
    }
    Some(text)
}

fn join(reasoning: Option<String>, text: Option<String>) -> String {
    let parts: Vec<String> = reasoning.into_iter().chain(text).collect();
    parts.join("\n")
}

/// Divides named texts into transcripts and the number of empty ones.
fn with_text(all: impl IntoIterator<Item = (String, String)>) -> (Vec<Transcript>, usize) {
    let (some, none): (Vec<_>, Vec<_>) = all
        .into_iter()
        .map(|(name, text)| Transcript { name, text })
        .partition(|one| !one.text.trim().is_empty());
    (some, none.len())
}
