//! The outputs of an explored level: its report, the graph for other programs, its picture, and the
//! shortest win as a recording.

use std::time::Duration;

use rhae_engine::{Action, Catalog, Frame, LevelIndex};
use rhae_explore::{Analysis, AnalysisOptions, Explorable, Graph, edge_actions};
use rhae_protocol::ExploredLevel;
use rhae_report::{GraphMetadata, GraphView, graph_dot, graph_graphml, graph_json, graph_picture};
use rhae_validate::Subject;

use crate::exploration_form::explored_level;
use crate::{InspectError, record};

/// The maximum number of states of a graph that is exported.
const MAX_EXPORTED_STATES: usize = 500_000;

/// The agent's name in recordings of shortest wins.
const AGENT: &str = "explore";

/// The outputs of a level that are produced in addition to its report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LevelOutputs {
    pub graph: Option<GraphFormat>,
    /// Whether the graph is drawn as SVG.
    pub picture: bool,
    /// Whether the shortest win is recorded.
    pub recording: bool,
}

/// A file format of graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphFormat {
    Json,
    GraphMl,
    Dot,
}

/// The results of one level.
#[derive(Debug)]
pub struct LevelResult {
    pub report: ExploredLevel,
    /// The graph as SVG, if it was asked for.
    pub picture: Option<String>,
    /// The graph in the format that was asked for.
    pub graph: Option<Result<String, InspectError>>,
    /// The shortest win as a recording, if it was asked for. The recording starts at the first
    /// level and wins the earlier levels by stored solutions or by wins that a search found.
    pub recording: Option<Result<Vec<u8>, InspectError>>,
}

/// Returns the settled frame of the start of a level and those after each action.
type FramesOf<'a> = dyn Fn(&[Action]) -> Result<Vec<Frame>, InspectError> + 'a;

/// What the outputs need in addition to the states of a level.
pub(crate) struct LevelContext<'a> {
    pub(crate) games: &'a dyn Catalog,
    pub(crate) seed: u64,
    pub(crate) index: LevelIndex,
    pub(crate) subject: &'a dyn Subject,
    /// How states are identified if they do not pack into 126 bits, as named in the report.
    pub(crate) identity: &'static str,
    pub(crate) frames: &'a FramesOf<'a>,
}

/// Converts an analysis into the report of the level and the other outputs.
pub(crate) fn level_result<E: Explorable<Error: Into<InspectError>>>(
    level: &E,
    context: &LevelContext<'_>,
    options: &AnalysisOptions,
    analysis: &Analysis,
    search_time: Duration,
    outputs: &LevelOutputs,
) -> Result<LevelResult, InspectError> {
    let win = analysis.report.shortest_win.as_ref();
    let win = win.map_or(&[][..], |win| &win.actions);
    let picture = if outputs.picture {
        Some(graph_picture(&GraphView {
            graph: &analysis.graph,
            is_dead: &|node| analysis.is_dead_end(node),
            shortest_win: &analysis.win_path,
            frames: &(context.frames)(win)?,
        })?)
    } else {
        None
    };
    let metadata = GraphMetadata {
        game_id: context.subject.info().id.as_str(),
        level: context.index.0 + 1,
        seed: context.seed,
    };
    Ok(LevelResult {
        report: explored_level(context, options, &analysis.report, search_time),
        picture,
        graph: outputs
            .graph
            .map(|format| exported(format, &metadata, level, &analysis.graph)),
        recording: outputs.recording.then(|| recorded(context, win)),
    })
}

fn exported<E: Explorable<Error: Into<InspectError>>>(
    format: GraphFormat,
    metadata: &GraphMetadata<'_>,
    level: &E,
    graph: &Graph,
) -> Result<String, InspectError> {
    if graph.nodes() > MAX_EXPORTED_STATES {
        return Err(InspectError::GraphTooLarge {
            states: graph.nodes(),
            max: MAX_EXPORTED_STATES,
        });
    }
    let actions = edge_actions(level, graph).map_err(Into::into)?;
    let format = match format {
        GraphFormat::Json => graph_json,
        GraphFormat::GraphMl => graph_graphml,
        GraphFormat::Dot => graph_dot,
    };
    Ok(format(metadata, graph, &actions))
}

/// Records the environment from its first level to the win of this level.
fn recorded(context: &LevelContext<'_>, win: &[Action]) -> Result<Vec<u8>, InspectError> {
    if win.is_empty() {
        return Err(InspectError::NoWin);
    }
    let before = context
        .subject
        .prefix(context.index.0)
        .ok_or(InspectError::NoWin)?;
    let id = context.subject.info().id.as_str();
    let actions = [&before, win].concat();
    record(context.games, id, context.seed, AGENT, &actions)
}
