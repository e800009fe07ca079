//! State graphs as text for other programs: JSON, GraphML and DOT.
//!
//! Invariant: all three say the same: every state with its depth and how it ends, every edge with the action that it stands for.

use std::fmt::Write as _;

use rhae_engine::{Action, Outcome};
use rhae_explore::Graph;
use serde_json::json;

/// What a state is, in one word.
pub(crate) fn kind(graph: &Graph, node: u32) -> &'static str {
    match graph.outcome(node) {
        Outcome::LevelWon => "win",
        Outcome::GameOver => "loss",
        Outcome::Going if graph.is_frontier(node) => "frontier",
        Outcome::Going => "going",
    }
}

/// Which level a graph is of.
#[derive(Clone, Copy, Debug)]
pub struct GraphOf<'a> {
    /// The environment's id with the version.
    pub game_id: &'a str,
    /// The level, from 1.
    pub level: u8,
    /// The seed of the environment.
    pub seed: u64,
}

struct Edge {
    from: u32,
    to: u32,
    action: Action,
    /// How many cells it stands for, if it is a click and all cells were tried.
    cells: Option<u16>,
}

/// Every edge; `actions` lists their actions in the order of edges.
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

/// The graph as JSON: `nodes` with `depth` and `kind`, `edges` as `[from, to, action]`, with the number of cells behind it where that is known.
pub fn graph_json(of: &GraphOf<'_>, graph: &Graph, actions: &[Action]) -> String {
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
        "game_id": of.game_id,
        "level": of.level,
        "seed": of.seed,
        "stopped_by": graph.stop().map(rhae_explore::Stop::name),
        "nodes": nodes,
        "edges": edges,
    });
    graph.to_string() + "\n"
}

/// The graph in the language of Graphviz.
pub fn graph_dot(of: &GraphOf<'_>, graph: &Graph, actions: &[Action]) -> String {
    let mut text = String::from("digraph states {\n  rankdir=LR;\n  node [shape=point];\n");
    let _ = writeln!(
        text,
        "  label=\"{}, level {}, seed {}\";",
        of.game_id, of.level, of.seed
    );
    for node in 0..graph.nodes() as u32 {
        let look = match kind(graph, node) {
            "win" => " [shape=diamond,style=filled,fillcolor=\"#4FCC30\",label=\"\"]",
            "loss" => " [shape=box,style=filled,fillcolor=\"#F93C31\",label=\"\"]",
            "frontier" => " [shape=circle,style=dashed,label=\"\"]",
            _ => "",
        };
        let _ = writeln!(text, "  {node}{look};");
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

/// The graph as GraphML.
pub fn graph_graphml(of: &GraphOf<'_>, graph: &Graph, actions: &[Action]) -> String {
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
        of.game_id, of.level, of.seed
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
