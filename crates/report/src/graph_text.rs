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

/// Every edge: from, to, and the action, which `actions` lists in the order of edges.
fn edges<'a>(graph: &'a Graph, actions: &'a [Action]) -> impl Iterator<Item = (u32, u32, Action)> + 'a {
    let pairs = (0..graph.nodes() as u32).flat_map(|node| graph.targets(node).iter().map(move |&target| (node, target)));
    pairs.zip(actions).map(|((from, to), &action)| (from, to, action))
}

/// The graph as JSON: `nodes` with `depth` and `kind`, `edges` as `[from, to, action]`.
pub fn graph_json(graph: &Graph, actions: &[Action]) -> String {
    let nodes: Vec<_> =
        (0..graph.nodes() as u32).map(|node| json!({ "depth": graph.depth_of(node), "kind": kind(graph, node) })).collect();
    let edges: Vec<_> = edges(graph, actions).map(|(from, to, action)| json!([from, to, action.to_string()])).collect();
    let stopped_by = graph.stop().map(rhae_explore::Stop::name);
    json!({ "format": "rhae-graph", "version": 1, "stopped_by": stopped_by, "nodes": nodes, "edges": edges }).to_string() + "\n"
}

/// The graph in the language of Graphviz.
pub fn graph_dot(graph: &Graph, actions: &[Action]) -> String {
    let mut text = String::from("digraph states {\n  rankdir=LR;\n  node [shape=point];\n");
    for node in 0..graph.nodes() as u32 {
        let look = match kind(graph, node) {
            "win" => " [shape=diamond,style=filled,fillcolor=\"#4FCC30\",label=\"\"]",
            "loss" => " [shape=box,style=filled,fillcolor=\"#F93C31\",label=\"\"]",
            "frontier" => " [shape=circle,style=dashed,label=\"\"]",
            _ => "",
        };
        let _ = writeln!(text, "  {node}{look};");
    }
    for (from, to, action) in edges(graph, actions) {
        let _ = writeln!(text, "  {from} -> {to} [label=\"{action}\"];");
    }
    text.push_str("}\n");
    text
}

/// The graph as GraphML.
pub fn graph_graphml(graph: &Graph, actions: &[Action]) -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n\
         <key id=\"depth\" for=\"node\" attr.name=\"depth\" attr.type=\"int\"/>\n\
         <key id=\"kind\" for=\"node\" attr.name=\"kind\" attr.type=\"string\"/>\n\
         <key id=\"action\" for=\"edge\" attr.name=\"action\" attr.type=\"string\"/>\n\
         <graph id=\"states\" edgedefault=\"directed\">\n",
    );
    for node in 0..graph.nodes() as u32 {
        let (depth, kind) = (graph.depth_of(node), kind(graph, node));
        let _ = writeln!(text, "<node id=\"n{node}\"><data key=\"depth\">{depth}</data><data key=\"kind\">{kind}</data></node>");
    }
    for (from, to, action) in edges(graph, actions) {
        let _ = writeln!(text, "<edge source=\"n{from}\" target=\"n{to}\"><data key=\"action\">{action}</data></edge>");
    }
    text.push_str("</graph>\n</graphml>\n");
    text
}
