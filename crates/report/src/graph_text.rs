//! State graphs as text for other programs: JSON, GraphML and DOT.
//!
//! Invariant: all three formats contain every state with its depth and kind, and every edge with
//! its action.

use std::fmt::Write as _;

use rhae_engine::{Action, Outcome};
use rhae_explore::Graph;
use serde_json::json;

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

/// Formats the graph as GraphML.
pub fn graph_graphml(metadata: &GraphMetadata<'_>, graph: &Graph, actions: &[Action]) -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n\
         <key id=\"depth\" for=\"node\" attr.name=\"depth\" attr.type=\"int\"/>\n\
         <key id=\"kind\" for=\"node\" attr.name=\"kind\" attr.type=\"string\"/>\n\
         <key id=\"action\" for=\"edge\" attr.name=\"action\" attr.type=\"string\"/>\n\
         <key id=\"cells\" for=\"edge\" attr.name=\"cells\" attr.type=\"int\"/>\n",
    );
    let _ = writeln!(
        text,
        "<graph id=\"{}-level{}-seed{}\" edgedefault=\"directed\">",
        metadata.game_id, metadata.level, metadata.seed
    );
    for node in 0..graph.nodes() as u32 {
        let (depth, kind) = (graph.depth_of(node), kind(graph, node));
        let _ = writeln!(
            text,
            "<node id=\"n{node}\"><data key=\"depth\">{depth}</data><data key=\"kind\">{kind}</data></node>"
        );
    }
    for Edge {
        from,
        to,
        action,
        cells,
    } in edges(graph, actions)
    {
        let cells = cells.map_or_else(String::new, |cells| {
            format!("<data key=\"cells\">{cells}</data>")
        });
        let _ = writeln!(
            text,
            "<edge source=\"n{from}\" target=\"n{to}\"><data key=\"action\">{action}</data>{cells}</edge>"
        );
    }
    text.push_str("</graph>\n</graphml>\n");
    text
}
