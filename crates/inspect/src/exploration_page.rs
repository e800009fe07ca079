//! The HTML page of an exploration.

use rhae_protocol::{ExploredLevel, SOFTWARE};
use rhae_report::{GraphPage, LevelGraph, exploration_facts, graph_page, growth_plot};

/// Returns a page with all explored levels. `pictures` has the SVG of each level, in the same
/// order.
pub fn exploration_page(
    game_id: &str,
    seed: u64,
    levels: &[ExploredLevel],
    pictures: Vec<String>,
) -> String {
    let sizes: Vec<(u32, usize, bool)> = levels
        .iter()
        .map(|level| (u32::from(level.level), level.nodes, level.complete))
        .collect();
    let section = |(level, picture): (&ExploredLevel, String)| LevelGraph {
        title: format!("Level {}", level.level),
        facts: exploration_facts(level),
        notices: level.warnings.clone(),
        picture,
    };
    graph_page(&GraphPage {
        game_id: game_id.to_owned(),
        subtitle: format!("seed {seed} · {SOFTWARE}"),
        growth: (sizes.len() > 1).then(|| growth_plot(&sizes)),
        levels: levels.iter().zip(pictures).map(section).collect(),
    })
}
