//! What all agents of this crate share: how they are named, configured and created.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use rhae_agents::{
    Agent, AgentEntry, AgentError, AgentFactory, LoggedCalls, ModelPlayer, PlayContext,
    RequestProfiles, View,
};
use rhae_llm::{Model, Request, Tool};

use crate::code::CodeRuntime;
use crate::engine::{Chat, ChatSettings, Engine, SharedUnreported};
use crate::javascript::JavaScriptSettings;
use crate::limits::Limits;
use crate::prompts::{EmbeddedPrompt, PromptError, PromptSet};
use crate::python::PythonSettings;
use crate::threaded::{Player, ThreadedAgent};
use crate::{duck, orchestrator, rgb, rlm, task_solver, world_model};

/// The maximum number of characters of a text in a recording. The model log has the full text.
const MAX_RECORDED_CHARS: usize = 12_000;

/// Every agent of this crate.
const KINDS: &[Kind] = &[
    rgb::KIND,
    orchestrator::KIND,
    duck::KIND,
    world_model::KIND,
    rlm::KIND,
];

/// The entries of all agents of this crate, in the order of help texts.
pub const AGENTS: &[AgentEntry] = &[
    rgb::KIND.entry,
    orchestrator::KIND.entry,
    duck::KIND.entry,
    world_model::KIND.entry,
    rlm::KIND.entry,
];

/// A kind of agent: one module.
pub(crate) struct Kind {
    pub(crate) entry: AgentEntry,
    pub(crate) prompts: &'static [EmbeddedPrompt],
    /// The roles for which a user can select other models.
    pub(crate) roles: &'static [&'static str],
    /// The language of the model's code.
    pub(crate) language: Language,
    /// Code that defines names for the code of the model.
    pub(crate) prelude: &'static str,
    /// The limits of a play, unless the user sets others.
    pub(crate) limits: Limits,
    /// What the agent assumes about its requests, for estimates.
    pub(crate) profiles: RequestProfiles,
    /// Creates the player of one play.
    pub(crate) new: fn(AgentParts) -> Box<dyn Player>,
    /// Returns the first request of a play that starts with this view.
    pub(crate) first_request: fn(&AgentSettings, &View<'_>) -> Request,
}

/// The language of the code that a model writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Python,
    JavaScript,
}

/// What an agent is created from, besides the play.
#[derive(Clone)]
pub(crate) struct AgentSettings {
    pub(crate) prompts: PromptSet,
    pub(crate) chat: ChatSettings,
    /// The models of roles that have their own.
    pub(crate) roles: BTreeMap<String, RoleModel>,
    /// The sample number of the first request of each turn. It depends on the seed, so that recorded
    /// answers of different repeats can be distinguished.
    pub(crate) first_sample: u32,
    pub(crate) limits: Limits,
}

/// The model of a role.
#[derive(Clone)]
pub(crate) struct RoleModel {
    model: Arc<Model>,
    chat: ChatSettings,
}

impl AgentSettings {
    /// Creates an empty conversation of a role, with the model of this role.
    pub(crate) fn chat_of_role(
        &self,
        role: &str,
        system: &str,
        tools: Vec<Tool>,
        depth: u32,
    ) -> Chat {
        match self.roles.get(role) {
            Some(RoleModel { model, chat }) => chat
                .chat(system, tools, depth)
                .with_model(Arc::clone(model)),
            None => self.chat.chat(system, tools, depth),
        }
    }
}

/// What one play of an agent is created from.
pub(crate) struct AgentParts {
    pub(crate) settings: AgentSettings,
    pub(crate) engine: Engine<'static>,
    pub(crate) runtime: Arc<CodeRuntime>,
}

/// The reason why an agent cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum HarnessAgentError {
    #[error(transparent)]
    Prompts(#[from] PromptError),
    /// The interpreter or its sandbox cannot be used.
    #[error("{0}")]
    Code(String),
    #[error(
        "`request` of the model `{0}` contains `tools`, but agents with tools send their own; remove it"
    )]
    ConfiguredTools(String),
    #[error(
        "`{role}` is not a role of this agent: expected {}",
        expected_roles(roles)
    )]
    Role {
        role: String,
        roles: &'static [&'static str],
    },
}

fn expected_roles(roles: &[&str]) -> String {
    if roles.is_empty() {
        "only the name of a model".to_owned()
    } else {
        format!("ROLE=MODEL with one of the roles {}", roles.join(", "))
    }
}

/// An agent of this crate, with the settings that all its plays share.
pub struct HarnessAgent {
    kind: &'static Kind,
    player: Arc<ModelPlayer>,
    prompts: PromptSet,
    limits: Limits,
    runtime: Arc<CodeRuntime>,
    /// The models of roles that have their own, by role.
    roles: BTreeMap<String, Arc<Model>>,
}

impl HarnessAgent {
    /// Opens an agent: loads its prompts and finds the interpreter of its code. `python` also
    /// describes the sandbox of other languages.
    ///
    /// # Errors
    ///
    /// Returns an error if the prompts cannot be loaded, or if the code of a model cannot be
    /// executed safely on this system.
    ///
    /// # Panics
    ///
    /// Panics if [`AGENTS`] has no agent with this name.
    pub fn open(
        name: &str,
        player: ModelPlayer,
        prompts: Option<&Path>,
        python: &PythonSettings,
    ) -> Result<Self, HarnessAgentError> {
        let kind = find(name).expect("the caller has checked the name");
        check_no_tools(&player.model)?;
        let runtime = match kind.language {
            Language::Python => python.open(),
            Language::JavaScript => JavaScriptSettings::from(python).open(),
        };
        Ok(Self {
            kind,
            player: Arc::new(player),
            prompts: PromptSet::load(name, kind.prompts, prompts)?,
            limits: kind.limits,
            runtime: runtime.map_err(HarnessAgentError::Code)?,
            roles: BTreeMap::new(),
        })
    }

    /// Lets other models answer in some roles.
    ///
    /// # Errors
    ///
    /// Returns an error if the agent has no such role, or if the request of a model contains tools.
    pub fn with_role_models(
        self,
        roles: BTreeMap<String, Arc<Model>>,
    ) -> Result<Self, HarnessAgentError> {
        for (role, model) in &roles {
            if !self.kind.roles.contains(&role.as_str()) {
                return Err(HarnessAgentError::Role {
                    role: role.clone(),
                    roles: self.kind.roles,
                });
            }
            check_no_tools(model)?;
        }
        Ok(Self { roles, ..self })
    }

    /// Returns the digest of the prompts, which results contain.
    pub fn prompts_digest(&self) -> String {
        self.prompts.digest()
    }

    /// Returns the system prompt without what describes the tools.
    pub fn system_prompt(&self) -> String {
        self.prompts.fill("system", &[])
    }

    /// Returns the limits of each play.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Replaces the limits of each play.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    fn settings(&self, seed: u64) -> AgentSettings {
        let settings = |model: &Model, context_tokens: u64| {
            ChatSettings::of_model(model, self.player.keep_reasoning, context_tokens)
        };
        let own = self.player.context_tokens;
        let role = |(name, model): (&String, &Arc<Model>)| {
            let configured = model.config().limits.context_tokens;
            let chat = settings(model, configured.unwrap_or(own).min(own));
            let model = Arc::clone(model);
            (name.clone(), RoleModel { model, chat })
        };
        AgentSettings {
            prompts: self.prompts.clone(),
            chat: settings(&self.player.model, own),
            roles: self.roles.iter().map(role).collect(),
            first_sample: u32::try_from(seed % (1 << 24)).unwrap_or(0) << 6,
            limits: self.limits,
        }
    }
}

/// Returns an error if the configuration of a model contains tools.
fn check_no_tools(model: &Model) -> Result<(), HarnessAgentError> {
    if model.config().request.contains_key("tools") {
        let model = model.name().to_owned();
        return Err(HarnessAgentError::ConfiguredTools(model));
    }
    Ok(())
}

/// Returns the name of the agent and of the model in `NAME:MODEL` and `NAME:MODEL,ROLE=MODEL`, or
/// `None` if this crate has no such agent.
///
/// # Examples
///
/// ```
/// use rhae_agents_llm::split_name;
///
/// assert_eq!(split_name("rgb:big"), Some(("rgb", "big")));
/// assert_eq!(split_name("orchestrator:big,theorist=small"), Some(("orchestrator", "big")));
/// assert_eq!(split_name("model:big"), None);
/// assert_eq!(split_name("rgb"), None);
/// ```
pub fn split_name(agent: &str) -> Option<(&str, &str)> {
    let (name, models) = agent.split_once(':')?;
    find(name)?;
    let model = models.split_once(',').map_or(models, |(model, _)| model);
    Some((name, model))
}

/// Returns the models of roles in `NAME:MODEL,ROLE=MODEL`, with their roles.
///
/// # Examples
///
/// ```
/// use rhae_agents_llm::role_models;
///
/// let roles = role_models("orchestrator:big,theorist=small,solver=local/x");
/// assert_eq!(roles, [("theorist", "small"), ("solver", "local/x")]);
/// assert!(role_models("orchestrator:big").is_empty());
/// ```
pub fn role_models(agent: &str) -> Vec<(&str, &str)> {
    let models = agent.split_once(':').map_or("", |(_, models)| models);
    let roles = models.split(',').skip(1);
    roles
        .map(|role| role.split_once('=').unwrap_or((role, "")))
        .collect()
}

/// Returns all prompts of an agent, or of the solver of static tasks `orchestrator-task`, as one text.
/// `folder` is the one whose prompts replace the embedded ones. Returns `None` if there is no such
/// agent, or if its prompts do not have this digest.
pub fn prompt_texts(agent: &str, folder: Option<&Path>, digest: &str) -> Option<String> {
    let prompts = PromptSet::load(agent, embedded_prompts(agent)?, folder).ok()?;
    let texts: Vec<&str> = prompts.texts().collect();
    (prompts.digest() == digest).then(|| texts.join("\n"))
}

/// Returns the digest of the embedded prompts of an agent, or of the solver `orchestrator-task`.
pub fn prompts_digest(agent: &str) -> Option<String> {
    embedded_prompts(agent).map(|prompts| PromptSet::embedded(prompts).digest())
}

fn embedded_prompts(agent: &str) -> Option<&'static [EmbeddedPrompt]> {
    match agent {
        task_solver::FOLDER => Some(task_solver::PROMPTS),
        agent => find(agent).map(|kind| kind.prompts),
    }
}

fn find(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.entry.name == name)
}

impl fmt::Debug for HarnessAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

impl AgentFactory for HarnessAgent {
    fn name(&self) -> String {
        let mut name = format!("{}:{}", self.kind.entry.name, self.player.model.name());
        for (role, model) in &self.roles {
            name.push_str(&format!(",{role}={}", model.name()));
        }
        name
    }

    fn build_for(
        &self,
        player: &Arc<ModelPlayer>,
        context: &PlayContext,
    ) -> Result<Box<dyn Agent>, AgentError> {
        let settings = self.settings(context.seed);
        let calls = LoggedCalls::open(player, &context.model_log)?;
        let cancel = calls.cancel_token().clone();
        let unreported = SharedUnreported::default();
        let engine = Engine::reporting(
            calls,
            self.limits,
            Arc::clone(&unreported),
            settings.first_sample,
        );
        let player = (self.kind.new)(AgentParts {
            settings,
            engine,
            runtime: Arc::clone(&self.runtime),
        });
        Ok(Box::new(ThreadedAgent::start(player, cancel, unreported)?))
    }

    fn first_request(&self, seed: u64, view: &View<'_>) -> Request {
        (self.kind.first_request)(&self.settings(seed), view)
    }

    fn player(&self) -> &Arc<ModelPlayer> {
        &self.player
    }

    fn profiles(&self) -> RequestProfiles {
        self.kind.profiles
    }
}

/// Shortens a text for a recording.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_RECORDED_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_agents_agree() {
        let names = |entries: &mut dyn Iterator<Item = &'static AgentEntry>| {
            entries.map(|entry| entry.name).collect::<Vec<_>>()
        };
        assert_eq!(
            names(&mut AGENTS.iter()),
            names(&mut KINDS.iter().map(|kind| &kind.entry))
        );
        for entry in AGENTS {
            assert_eq!(entry.form, format!("{}:MODEL", entry.name));
            assert!(
                rhae_agents::AGENTS
                    .iter()
                    .all(|other| other.name != entry.name),
                "{entry:?}"
            );
        }
    }

    /// `docs/agents.md` and the page of each agent describe it.
    #[test]
    fn documentation_lists_every_agent() {
        let text = include_str!("../../../docs/agents.md");
        for entry in AGENTS {
            let row = format!("| `{}` | {} |", entry.form, entry.summary);
            assert!(text.contains(&row), "docs/agents.md needs the row\n{row}");
            let page = format!("agents/{}.md", entry.name);
            assert!(
                text.contains(&page),
                "docs/agents.md needs a link to {page}"
            );
            let path = Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("../../docs")
                .join(page);
            assert!(path.is_file(), "{}", path.display());
        }
    }
}
