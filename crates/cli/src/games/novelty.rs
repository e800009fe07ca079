//! `rhae games novelty`: compares environments pair by pair for similarity.

use std::fmt::Write as _;
use std::io::IsTerminal;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::Args;
use indicatif::ProgressBar;
use rhae_engine::{Catalog, Frame, Game, GameInfo, LevelIndex, Rng};
use rhae_explore::NativeLevel;
use rhae_games::{Visitor, rule_sources};
use rhae_pyhost::Games;
use rhae_report::{HeatMap, heat_page};
use rhae_validate::{
    GraphLimits, Language, SIMILARITY_LIMIT, Similarity, Traits, graph_shape, level_graph, tokens,
};
use serde_json::json;

use crate::hosted_games::{HostedGamesArgs, find_each};
use crate::output;

/// The maximum number of states of a level's graph.
const MAX_NODES: usize = 20_000;

#[derive(Args)]
pub(super) struct NoveltyArgs {
    /// Environment ids [default: all]
    ids: Vec<String>,
    /// Write heat maps of all pairs as an HTML page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print the similarities as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    hosted: HostedGamesArgs,
}

struct Pair {
    one: String,
    other: String,
    similarity: Similarity,
}

pub(super) fn run(args: &NoveltyArgs) -> Result<()> {
    let games = args.hosted.games()?;
    let chosen = match &args.ids[..] {
        [] => games.list(),
        ids => find_each(&games, ids)?,
    };
    ensure!(
        chosen.len() > 1,
        "a comparison needs at least two environments; name another one, or none to compare all"
    );
    args.html
        .as_deref()
        .map_or(Ok(()), output::ensure_writable)?;
    let bar = if args.json || !std::io::stderr().is_terminal() {
        ProgressBar::hidden()
    } else {
        ProgressBar::new(chosen.len() as u64)
    };
    let mut compared = Vec::new();
    for info in &chosen {
        compared.push((info.id.to_string(), traits(&games, info)?));
        bar.inc(1);
    }
    bar.finish_and_clear();
    let mut pairs = Vec::new();
    for (index, (other, theirs)) in compared.iter().enumerate() {
        for (one, own) in &compared[..index] {
            pairs.push(Pair {
                one: one.clone(),
                other: other.clone(),
                similarity: Similarity::of(own, theirs),
            });
        }
    }
    pairs.sort_by(|a, b| {
        b.similarity
            .source
            .unwrap_or(-1.0)
            .total_cmp(&a.similarity.source.unwrap_or(-1.0))
    });
    if let Some(file) = &args.html {
        let names: Vec<String> = compared.into_iter().map(|(name, _)| name).collect();
        let page = heat_page(&maps(&names, &pairs), &warnings(&pairs));
        std::fs::write(file, page).with_context(|| format!("cannot write `{}`", file.display()))?;
    }
    if args.json {
        let pair = |pair: &Pair| {
            let Similarity {
                source,
                frames,
                graphs,
            } = pair.similarity;
            json!({ "one": pair.one, "other": pair.other, "rules": source, "frames": frames, "graphs": graphs, "warning": pair.similarity.is_too_similar() })
        };
        return output::print_json(
            &json!({ "limit": SIMILARITY_LIMIT, "pairs": pairs.iter().map(pair).collect::<Vec<_>>() }),
        );
    }
    output::print(&table(&pairs))?;
    if let Some(file) = &args.html {
        output::print(&format!("wrote {}", file.display()))?;
    }
    Ok(())
}

fn traits(games: &Games, info: &GameInfo) -> Result<Traits> {
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
    let (frames, graphs) = rhae_games::visit(id, LevelTraits)
        .context("the environment is not in the registry of native games")?;
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
                let start = rhae_explore::Explorable::start(&level);
                let Ok(graph) =
                    level_graph(&level, "", 0, &limits, &mut Rng::new(0, 0), &mut |_| true);
                (level.render(&start), graph_shape(&graph))
            })
            .unzip()
    }
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), |share| format!("{:.0} %", 100.0 * share))
}

fn table(pairs: &[Pair]) -> String {
    let mut text = "pair                 rules   frames   graphs\n".to_owned();
    for Pair {
        one,
        other,
        similarity,
    } in pairs
    {
        let [source, frames, graphs] =
            [similarity.source, similarity.frames, similarity.graphs].map(percent);
        let mark = if similarity.is_too_similar() {
            "  !"
        } else {
            ""
        };
        let _ = writeln!(
            text,
            "{one} {other:<9} {source:>8} {frames:>8} {graphs:>8}{mark}"
        );
    }
    for warning in warnings(pairs) {
        let _ = writeln!(text, "warning: {warning}");
    }
    text.push_str(
        "\nThe column `rules` approximates the paper's novelty test by compressing two rule sources together (docs/novelty.md).\n",
    );
    text
}

fn warnings(pairs: &[Pair]) -> Vec<String> {
    let too_similar = pairs.iter().filter(|pair| pair.similarity.is_too_similar());
    too_similar
        .map(|pair| {
            format!(
                "the rules of {} and {} are too similar: {} of the shorter source is redundant given the other",
                pair.one,
                pair.other,
                percent(pair.similarity.source)
            )
        })
        .collect()
}

fn maps(names: &[String], pairs: &[Pair]) -> Vec<HeatMap> {
    let map = |title: &'static str, note: &'static str, share: fn(&Similarity) -> Option<f64>| {
        let cell = |one: &String, other: &String| {
            let found = pairs.iter().find(|pair| {
                pair.one == *one && pair.other == *other || pair.one == *other && pair.other == *one
            });
            found.and_then(|pair| share(&pair.similarity))
        };
        let cells = names
            .iter()
            .map(|one| names.iter().map(|other| cell(one, other)).collect())
            .collect();
        HeatMap {
            title,
            note,
            names: names.to_vec(),
            cells,
        }
    };
    vec![
        map(
            "Rules",
            "share of the shorter rule source that is redundant given the other; more than half is too similar",
            |similarity| similarity.source,
        ),
        map(
            "Frames",
            "similarity of the small patterns in first frames, independent of colours",
            |similarity| similarity.frames,
        ),
        map(
            "Graphs",
            "similarity of the shapes of state graphs: where actions lead, and how many states are dead ends",
            |similarity| similarity.graphs,
        ),
    ]
}
