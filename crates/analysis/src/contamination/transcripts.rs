//! What a model wrote in a run: its replies to static tasks, or its reasoning during plays.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rhae_agents::SYSTEM_PROMPT;
use rhae_agents_llm::{prompt_texts, split_name};
use rhae_harness::{load_plays, read_recording};
use rhae_protocol::{EvalConfig, EvalLine, PlayResult, RunConfig, TRACED_REQUESTS};
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
    let given = instructions(&config.solver, &config.solver_settings, &mut notes);
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

/// Returns the prompts of an agent with tools. `folder` is the one whose prompts replaced those of the
/// agent.
fn agent_prompts(
    agent: &str,
    folder: Option<&str>,
    digest: Option<&str>,
    notes: &mut Vec<String>,
) -> String {
    let found = digest.and_then(|digest| prompt_texts(agent, folder.map(Path::new), digest));
    found.unwrap_or_else(|| {
        notes.push(
            "The prompts of the agent are unknown or have changed since the run, so knowledge that they gave is not subtracted."
                .to_owned(),
        );
        String::new()
    })
}

/// Returns the text of the prompt template or of the prompts of a solver, without the tasks that it
/// inserts.
fn instructions(
    solver: &str,
    settings: &BTreeMap<String, Value>,
    notes: &mut Vec<String>,
) -> String {
    let text = |key: &str| settings.get(key).and_then(Value::as_str);
    let with_code = match solver.split_once(':') {
        Some(("rlm", _)) => Some("rlm"),
        Some(("orchestrator", _)) => Some("orchestrator-task"),
        _ => None,
    };
    if let Some(agent) = with_code {
        return agent_prompts(agent, text("prompts"), text("prompts_sha256"), notes);
    }
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
        SYSTEM_PROMPT.to_owned()
    } else {
        let model = config.model.as_ref();
        let folder = model.and_then(|model| model.prompts_dir.as_deref());
        let digest = model.and_then(|model| model.prompts_sha256.as_deref());
        let name = split_name(&agent).map_or("", |(name, _)| name);
        agent_prompts(name, folder, digest, &mut notes)
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
        given,
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
            push_texts(&reasoning, &mut text);
        }
    }
    Some(text)
}

/// Adds the texts in a reasoning, one below the other. The results of tools are not what a model said.
fn push_texts(reasoning: &Value, text: &mut String) {
    match reasoning {
        Value::String(one) => {
            text.push_str(one);
            text.push('\n');
        }
        Value::Array(values) => values.iter().for_each(|value| push_texts(value, text)),
        Value::Object(fields) => {
            let values = fields.iter().filter(|(name, _)| *name != TRACED_REQUESTS);
            values.for_each(|(_, value)| push_texts(value, text));
            let requests = fields.get(TRACED_REQUESTS).and_then(Value::as_array);
            for request in requests.into_iter().flatten() {
                push_texts(&request["reasoning"], text);
                push_texts(&request["text"], text);
                let calls = request["calls"].as_array().into_iter().flatten();
                calls.for_each(|call| push_texts(&call["input"], text));
            }
        }
        _ => {}
    }
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_of_a_model_are_separate_lines_without_the_results_of_tools() {
        let reasoning = json!({
            "plan": "first\nGreen (3)",
            "requests": [{"agent": "solver-1", "reasoning": "why", "text": "go",
                "calls": [{"tool": "python", "input": "code", "output": "8 is red"}]}],
            "context_tokens": 5,
        });
        let mut text = String::new();
        push_texts(&reasoning, &mut text);
        assert_eq!(text, "first\nGreen (3)\nwhy\ngo\ncode\n");
        text.clear();
        push_texts(&json!("as it is"), &mut text);
        assert_eq!(text, "as it is\n");
    }

    #[test]
    fn prompts_of_solvers_with_code_are_given() {
        let digest = |agent: &str| json!(rhae_agents_llm::prompts_digest(agent).unwrap());
        for (solver, agent, said) in [
            ("rlm:m", "rlm", "ARC-AGI task"),
            ("orchestrator:m", "orchestrator-task", "training pairs"),
        ] {
            let mut notes = Vec::new();
            let settings = BTreeMap::from([("prompts_sha256".to_owned(), digest(agent))]);
            let given = instructions(solver, &settings, &mut notes);
            assert!(
                given.contains(said) && notes.is_empty(),
                "{solver}: {notes:?}"
            );
            let other = BTreeMap::from([("prompts_sha256".to_owned(), json!("00"))]);
            assert_eq!(instructions(solver, &other, &mut notes), "");
            assert_eq!(notes.len(), 1, "{solver}");
        }
    }
}
