//! State graphs as text for other programs: JSON, GraphML and DOT.
//!
//! Invariant: all three formats contain every state with its depth and kind, and every edge with
//! its action.

use std::fmt::Write as _;

use askama::Template;
use rhae_engine::{Action, Outcome};
use rhae_explore::Graph;
use serde_json::json;

use crate::html::render;

/// Returns the kind of a state: `win`, `loss`, `frontier` (not expanded) or `going` (expanded).
pub(crate) fn kind(graph: &Graph, node: u32) -> &'static str {
    match graph.outcome(node) {
        Outcome::LevelWon => "win",
        Outcome::GameOver => "loss",
        Outcome::Continue if graph.is_frontier(node) => "frontier",
        Outcome::Continue => "going",
    }
}

/// Identifies the level that a graph describes.
#[derive(Clone, Copy, Debug)]
pub struct GraphMetadata<'a> {
    /// The id of the environment with its version.
    pub game_id: &'a str,
    /// The number of the level, from 1.
    pub level: u8,
    /// The seed of the environment.
    pub seed: u64,
}

struct Edge {
    from: u32,
    to: u32,
    action: Action,
    /// The number of equivalent cells, if this is a click and all cells were tried.
    cells: Option<u16>,
}

/// Returns every edge. `actions` holds the actions in the order of the edges.
fn edges<'a>(graph: &'a Graph, actions: &'a [Action]) -> impl Iterator<Item = Edge> + 'a {
    let of_state = |from: u32| {
        let cells = graph.cells(from);
        let cells = move |edge: usize| cells.map(|cells| cells[edge]).filter(|&cells| cells > 0);
        graph
            .targets(from)
            .iter()
            .enumerate()
            .map(move |(edge, &to)| (from, to, cells(edge)))
    };
    let all = (0..graph.nodes() as u32).flat_map(of_state);
    all.zip(actions).map(|((from, to, cells), &action)| Edge {
        from,
        to,
        action,
        cells,
    })
}

/// Formats the graph as JSON: `nodes` with `depth` and `kind`, and `edges` as `[from, to, action]`,
/// followed by the number of equivalent cells where it is known.
///
/// `actions` holds one action for each edge of the graph, in the order of the edges.
pub fn graph_json(metadata: &GraphMetadata<'_>, graph: &Graph, actions: &[Action]) -> String {
    let nodes: Vec<_> = (0..graph.nodes() as u32)
        .map(|node| json!({ "depth": graph.depth_of(node), "kind": kind(graph, node) }))
        .collect();
    let edge = |Edge {
                    from,
                    to,
                    action,
                    cells,
                }| match cells {
        None => json!([from, to, action.to_string()]),
        Some(cells) => json!([from, to, action.to_string(), cells]),
    };
    let edges: Vec<_> = edges(graph, actions).map(edge).collect();
    let graph = json!({
        "format": "rhae-graph",
        "version": 1,
        "game_id": metadata.game_id,
        "level": metadata.level,
        "seed": metadata.seed,
        "stopped_by": graph.stop().map(rhae_explore::StopReason::name),
        "nodes": nodes,
        "edges": edges,
    });
    graph.to_string() + "\n"
}

/// Formats the graph in the DOT language of Graphviz.
pub fn graph_dot(metadata: &GraphMetadata<'_>, graph: &Graph, actions: &[Action]) -> String {
    let mut text = String::from("digraph states {\n  rankdir=LR;\n  node [shape=point];\n");
    let _ = writeln!(
        text,
        "  label=\"{}, level {}, seed {}\";",
        metadata.game_id, metadata.level, metadata.seed
    );
    for node in 0..graph.nodes() as u32 {
        let style = match kind(graph, node) {
            "win" => " [shape=diamond,style=filled,fillcolor=\"#4FCC30\",label=\"\"]",
            "loss" => " [shape=box,style=filled,fillcolor=\"#F93C31\",label=\"\"]",
            "frontier" => " [shape=circle,style=dashed,label=\"\"]",
            _ => "",
        };
        let _ = writeln!(text, "  {node}{style};");
    }
    for Edge {
        from,
        to,
        action,
        cells,
    } in edges(graph, actions)
    {
        let cells = cells.map_or_else(String::new, |cells| format!(",weight={cells}"));
        let _ = writeln!(text, "  {from} -> {to} [label=\"{action}\"{cells}];");
    }
    text.push_str("}\n");
    text
}

#[derive(Template)]
#[template(path = "graph.xml")]
struct GraphMl<'a> {
    metadata: &'a GraphMetadata<'a>,
    graph: &'a Graph,
    actions: &'a [Action],
}

impl GraphMl<'_> {
    /// Every state with its depth and kind.
    fn nodes(&self) -> impl Iterator<Item = (u32, usize, &'static str)> {
        let node = |node| (node, self.graph.depth_of(node), kind(self.graph, node));
        (0..self.graph.nodes() as u32).map(node)
    }

    fn edges(&self) -> impl Iterator<Item = Edge> {
        edges(self.graph, self.actions)
    }
}

/// Formats the graph as GraphML.
pub fn graph_graphml(metadata: &GraphMetadata<'_>, graph: &Graph, actions: &[Action]) -> String {
    let text = render(&GraphMl {
        metadata,
        graph,
        actions,
    });
    text + "\n"
}

#[cfg(test)]
pub(crate) mod tests {
    use std::convert::Infallible;

    use rhae_engine::{ActionKind, ActionSet, StateKey, key_of};
    use rhae_explore::{Explorable, SearchOptions, edge_actions, explore};

    use super::*;

    /// A gambler with one coin who wins with three and loses with none.
    struct Gambler;

    impl Explorable for Gambler {
        type State = u8;
        type Error = Infallible;

        fn start(&self) -> u8 {
            1
        }

        fn offered(&self, _coins: &u8) -> ActionSet {
            ActionSet::of(&[ActionKind::Action1, ActionKind::Action2])
        }

        fn step(&self, coins: &mut u8, action: Action) -> Result<Outcome, Infallible> {
            if action == Action::Action1 {
                *coins += 1;
            } else {
                *coins -= 1;
            }
            Ok(match *coins {
                3 => Outcome::LevelWon,
                0 => Outcome::GameOver,
                _ => Outcome::Continue,
            })
        }

        fn key(&self, coins: &u8) -> StateKey {
            key_of(coins)
        }
    }

    /// A graph of four states with the actions of its edges.
    pub(crate) fn gambler_graph() -> (Graph, Vec<Action>) {
        let Ok(graph) = explore(&Gambler, &SearchOptions::default(), |_| true);
        let Ok(actions) = edge_actions(&Gambler, &graph);
        (graph, actions)
    }

    #[test]
    fn graphml_contains_every_state_and_edge() {
        let (graph, actions) = gambler_graph();
        let metadata = GraphMetadata {
            game_id: "\"<ab12>\"",
            level: 1,
            seed: 0,
        };
        insta::assert_snapshot!(graph_graphml(&metadata, &graph, &actions));
    }
}
