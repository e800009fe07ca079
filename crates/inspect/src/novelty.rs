//! The similarity of environments, pair by pair.

use rhae_engine::{Catalog, Frame, Game, GameInfo, LevelIndex, Rng};
use rhae_explore::{Explorable, NativeLevel};
use rhae_games::{Visitor, rule_sources};
use rhae_protocol::{NoveltyPair, NoveltyReport};
use rhae_validate::{
    GraphLimits, Language, SIMILARITY_LIMIT, Similarity, Traits, graph_shape, level_graph, tokens,
};

use crate::InspectError;

/// The maximum number of states of a level's graph.
const MAX_NODES: usize = 20_000;

/// Compares all pairs of the given environments. Calls `progress` after the analysis of each
/// environment.
///
/// # Errors
///
/// Returns an error if an environment cannot be opened.
pub fn compare_environments(
    games: &dyn Catalog,
    environments: &[GameInfo],
    progress: &mut dyn FnMut(),
) -> Result<NoveltyReport, InspectError> {
    let mut compared: Vec<(String, Traits)> = Vec::new();
    for info in environments {
        compared.push((info.id.to_string(), traits(games, info)?));
        progress();
    }
    let mut pairs = Vec::new();
    for (index, (other, theirs)) in compared.iter().enumerate() {
        for (one, own) in &compared[..index] {
            let similarity = Similarity::of(own, theirs);
            pairs.push(NoveltyPair {
                one: one.clone(),
                other: other.clone(),
                rules: similarity.source,
                frames: similarity.frames,
                graphs: similarity.graphs,
                warning: similarity.is_too_similar(),
            });
        }
    }
    let rules = |pair: &NoveltyPair| pair.rules.unwrap_or(-1.0);
    pairs.sort_by(|a, b| rules(b).total_cmp(&rules(a)));
    Ok(NoveltyReport {
        limit: SIMILARITY_LIMIT,
        pairs,
    })
}

fn traits(games: &dyn Catalog, info: &GameInfo) -> Result<Traits, InspectError> {
    let id = info.id.as_str();
    let native = rule_sources(id);
    if native.is_empty() {
        let source = games
            .source(id)?
            .map_or_else(Vec::new, |text| tokens(&text, Language::Python));
        let frames = vec![games.open(id, 0)?.observation().settled().clone()];
        return Ok(Traits {
            source,
            frames,
            graphs: Vec::new(),
        });
    }
    let source = native
        .iter()
        .flat_map(|text| tokens(without_tests(text), Language::Rust))
        .collect();
    let (frames, graphs) =
        rhae_games::visit(id, LevelTraits).ok_or_else(|| InspectError::NotNative(id.to_owned()))?;
    Ok(Traits {
        source,
        frames,
        graphs,
    })
}

/// Removes the tests, which are at the end of a source.
fn without_tests(text: &str) -> &str {
    text.find("#[cfg(test)]\nmod tests {")
        .map_or(text, |tests| &text[..tests])
}

/// A visitor that returns the first frames and the shapes of the state graphs of a native game's
/// levels.
struct LevelTraits;

impl Visitor for LevelTraits {
    type Output = (Vec<Frame>, Vec<[f64; 5]>);

    fn visit<G: Game>(self) -> Self::Output {
        let limits = GraphLimits {
            nodes: MAX_NODES,
            checks: 0,
            blind_nodes: 0,
            ..GraphLimits::default()
        };
        let levels = 0..u8::try_from(G::FACTS.level_count()).unwrap_or(u8::MAX);
        levels
            .map(|index| {
                let level = NativeLevel::<G>::new(0, LevelIndex(index));
                let start = level.start();
                let Ok(graph) =
                    level_graph(&level, "", 0, &limits, &mut Rng::new(0, 0), &mut |_| true);
                (level.render(&start), graph_shape(&graph))
            })
            .unzip()
    }
}
