//! `just-explore`: graph exploration of masked frames, without a model or training.
//!
//! The agent follows the third-placed agent of the ARC-AGI-3 preview, as described in "Just explore"
//! (arXiv 2512.24156). It builds a graph for each level: nodes are hashes of settled frames without
//! status bars, edges are simple actions and clicks on objects. It tests the untested actions of
//! the node where it is, walks to the nearest node that has some, and tests unlikely click targets
//! only when the likely ones are exhausted. `docs/agents/just-explore.md` lists the differences from
//! the original.
//!
//! The agent knows no goals, and transfers nothing from one level to the next.

mod frame_processor;
mod level_graph;
#[cfg(test)]
mod tests;

use rhae_engine::{Action, ActionSet, PlayState, Rng, StateKey};
use rhae_percept::Scene;

use crate::random::{nothing_offered, random_action};
use crate::registry::{AgentEntry, Constructor};
use crate::{Agent, AgentError, Decision, View};
use frame_processor::{StatusBarMask, Target, targets};
use level_graph::{ActionIndex, LevelGraph, NodeId};

pub(crate) const ENTRY: AgentEntry = AgentEntry {
    name: "just-explore",
    form: "just-explore",
    summary: "tests every action and object in every state without status bars, the likeliest click targets first",
    constructor: Constructor::FromSeed(|seed| Box::new(JustExplore::new(seed))),
};

/// The agent `just-explore`. Its decisions depend on the views and the seed alone.
///
/// # Examples
///
/// ```
/// use rhae_agents::{Agent, JustExplore, View};
/// use rhae_engine::{Action, ActionKind, ActionSet, Frame, PlayState};
///
/// let mut frame = Frame::filled(0);
/// frame.rect(20, 20, 6, 6, 9); // a button: a salient colour, a medium size
/// let view = View {
///     frames: &[frame],
///     state: PlayState::NotFinished,
///     levels_completed: 0,
///     win_levels: 3,
///     available: ActionSet::of(&[ActionKind::Action6]),
///     full_reset: true,
/// };
/// let Action::Action6 { x, y } = JustExplore::new(7).act(&view)?.action else {
///     panic!("only clicks are offered");
/// };
/// assert!((20..26).contains(&x) && (20..26).contains(&y));
/// # Ok::<(), rhae_agents::AgentError>(())
/// ```
pub struct JustExplore {
    rng: Rng,
    level: Option<u8>,
    mask: StatusBarMask,
    /// The hash of the level's first frame.
    first: StateKey,
    graph: LevelGraph,
    /// The last action of the graph, whose result is not yet recorded.
    last: Option<(NodeId, ActionIndex)>,
    /// Whether the last view was a lost level.
    was_lost: bool,
    /// Whether RESET would restart the game: the level has just begun, or the last command was RESET.
    was_reset: bool,
}

impl JustExplore {
    /// Creates the agent. The seed chooses among the untested actions and among the cells of an
    /// object.
    pub fn new(seed: u64) -> Self {
        Self {
            rng: Rng::new(seed, 3),
            level: None,
            mask: StatusBarMask::default(),
            first: 0,
            graph: LevelGraph::default(),
            last: None,
            was_lost: false,
            was_reset: true,
        }
    }

    /// Starts a level: finds its status bars and drops the graph of the previous level.
    fn start_level(&mut self, view: &View<'_>) {
        self.level = Some(view.levels_completed);
        self.mask = StatusBarMask::of_first_frame(view.settled());
        self.first = self.mask.key(view.settled(), view.available);
        self.was_lost = false;
        self.was_reset = true;
        self.restart_graph();
    }

    fn restart_graph(&mut self) {
        self.graph = LevelGraph::default();
        self.last = None;
    }

    /// Returns the node of the current frame, after recording that the last action led to it.
    fn observe(&mut self, view: &View<'_>, objects: &mut Objects) -> NodeId {
        let key = self.mask.key(view.settled(), view.available);
        let here = self.node(key, view, objects);
        let restarted = key == self.first && view.frames.len() > 1;
        let is_suspicious = restarted || self.was_lost;
        if let Some((from, action)) = self.last.take() {
            self.graph.record(from, action, here, is_suspicious);
        }
        here
    }

    fn node(&mut self, key: StateKey, view: &View<'_>, objects: &mut Objects) -> NodeId {
        if let Some(node) = self.graph.find(key) {
            return node;
        }
        if self.graph.is_full() {
            self.restart_graph();
        }
        let targets = objects.targets(&self.mask, view);
        self.graph
            .insert(key, targets.iter().map(|(_, tier)| *tier))
    }

    /// Returns the next action of a node: an untested one, or one on a shortest path to the frontier.
    /// Opens the next tier if there is neither, and drops the graph if all tiers are open.
    fn choose(&mut self, view: &View<'_>, here: NodeId, objects: &mut Objects) -> Option<Action> {
        let mut here = here;
        if objects.targets(&self.mask, view).is_empty() {
            return self.other_action(view.available);
        }
        let index = loop {
            let mut choices = self.graph.untested(here);
            if choices.is_empty() {
                choices = self.graph.steps_to_frontier(here);
            }
            if let Some(&index) = self.rng.choose(&choices) {
                break index;
            }
            if !self.graph.open_next_tier() {
                self.restart_graph();
                let key = self.mask.key(view.settled(), view.available);
                here = self.node(key, view, objects);
            }
        };
        let (target, _) = objects.targets(&self.mask, view)[usize::from(index)];
        self.last = Some((here, index));
        Some(match target {
            Target::Simple(kind) => kind.simple().expect("a simple action needs no coordinates"),
            Target::Object(id) => {
                let cells: Vec<(u8, u8)> =
                    objects.scene(&self.mask, view).cells(id).iter().collect();
                let &(x, y) = self.rng.choose(&cells).expect("an object has cells");
                Action::Action6 { x, y }
            }
        })
    }

    /// Returns the command for a view that offers nothing to explore: ACTION7 if it is offered, else
    /// RESET unless that would restart the game.
    fn other_action(&mut self, offered: ActionSet) -> Option<Action> {
        let reset = (!self.was_reset).then_some(Action::Reset);
        random_action(&mut self.rng, offered).or(reset)
    }
}

impl Agent for JustExplore {
    fn act(&mut self, view: &View<'_>) -> Result<Decision, AgentError> {
        if self.level != Some(view.levels_completed) || view.full_reset {
            self.start_level(view);
        }
        let action = if view.state == PlayState::GameOver {
            // The result of the last action is the frame after RESET.
            self.was_lost = true;
            Action::Reset
        } else {
            let mut objects = Objects::default();
            let here = self.observe(view, &mut objects);
            self.was_lost = false;
            self.choose(view, here, &mut objects)
                .ok_or_else(nothing_offered)?
        };
        self.was_reset = action == Action::Reset;
        Ok(action.into())
    }
}

/// The objects and targets of the current frame, read when they are first needed.
#[derive(Default)]
struct Objects {
    scene: Option<Scene>,
    targets: Option<Vec<(Target, u8)>>,
}

impl Objects {
    fn scene(&mut self, mask: &StatusBarMask, view: &View<'_>) -> &Scene {
        self.scene.get_or_insert_with(|| mask.scene(view.settled()))
    }

    fn targets(&mut self, mask: &StatusBarMask, view: &View<'_>) -> &[(Target, u8)] {
        if self.targets.is_none() {
            let scene = self.scene(mask, view);
            self.targets = Some(targets(scene, view.available));
        }
        self.targets.as_deref().unwrap_or_default()
    }
}
