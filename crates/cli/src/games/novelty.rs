//! `rhae games novelty`: how alike environments are, pair by pair.

use std::fmt::Write as _;
use std::io::IsTerminal;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::Args;
use indicatif::ProgressBar;
use rhae_engine::{Frame, Game, GameInfo, LevelIndex, Rng};
use rhae_explore::NativeLevel;
use rhae_games::{Visitor, rule_sources};
use rhae_pyhost::Games;
use rhae_report::{HeatMap, heat_page};
use rhae_session::Catalog;
use rhae_validate::{
    Alike, GraphLimits, Language, TOO_MUCH_IN_COMMON, Traits, graph_shape, level_graph, tokens,
};
use serde_json::json;

use crate::output;
use crate::outside::{OutsideArgs, find_each};

/// States of a level's graph that are compared.
const NODES: usize = 20_000;

#[derive(Args)]
pub(super) struct NoveltyArgs {
    /// Environments; all if none is named
    ids: Vec<String>,
    /// Draw the pairs as a heat map on a page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print the numbers as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    outside: OutsideArgs,
}

struct Pair {
    one: String,
    other: String,
    alike: Alike,
}

pub(super) fn run(args: &NoveltyArgs) -> Result<()> {
    let games = args.outside.games()?;
    let chosen = match &args.ids[..] {
        [] => games.list(),
        ids => find_each(&games, ids)?,
    };
    ensure!(
        chosen.len() > 1,
        "at least two environments can be compared; name another, or none for all"
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
                alike: Alike::of(own, theirs),
            });
        }
    }
    pairs.sort_by(|a, b| {
        b.alike
            .source
            .unwrap_or(-1.0)
            .total_cmp(&a.alike.source.unwrap_or(-1.0))
    });
    if let Some(file) = &args.html {
        let names: Vec<String> = compared.into_iter().map(|(name, _)| name).collect();
        let page = heat_page(&maps(&names, &pairs), &warnings(&pairs));
        std::fs::write(file, page).with_context(|| format!("cannot write `{}`", file.display()))?;
    }
    if args.json {
        let pair = |pair: &Pair| {
            let Alike {
                source,
                frames,
                graphs,
            } = pair.alike;
            json!({ "one": pair.one, "other": pair.other, "rules": source, "frames": frames, "graphs": graphs, "warning": pair.alike.is_too_much() })
        };
        return output::print_json(
            &json!({ "limit": TOO_MUCH_IN_COMMON, "pairs": pairs.iter().map(pair).collect::<Vec<_>>() }),
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
        .flat_map(|text| tokens(rules_of(text), Language::Rust))
        .collect();
    let (frames, graphs) = rhae_games::visit(id, Levels).context("the registry lists it")?;
    Ok(Traits {
        source,
        frames,
        graphs,
    })
}

/// A source without its tests, which stand at its end.
fn rules_of(text: &str) -> &str {
    text.find("#[cfg(test)]\nmod tests {")
        .map_or(text, |tests| &text[..tests])
}

/// The first frames and the graphs of a native game's levels.
struct Levels;

impl Visitor for Levels {
    type Output = (Vec<Frame>, Vec<[f64; 5]>);

    fn visit<G: Game>(self) -> Self::Output {
        let limits = GraphLimits {
            nodes: NODES,
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
                (level.drawn(&start), graph_shape(&graph))
            })
            .unzip()
    }
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), |share| format!("{:.0} %", 100.0 * share))
}

fn table(pairs: &[Pair]) -> String {
    let mut text = "pair                 rules   frames   graphs\n".to_owned();
    for Pair { one, other, alike } in pairs {
        let [source, frames, graphs] = [alike.source, alike.frames, alike.graphs].map(percent);
        let mark = if alike.is_too_much() { "  !" } else { "" };
        let _ = writeln!(
            text,
            "{one} {other:<9} {source:>8} {frames:>8} {graphs:>8}{mark}"
        );
    }
    for warning in warnings(pairs) {
        let _ = writeln!(text, "warning: {warning}");
    }
    text.push_str(
        "\nA stand-in for the paper's test of novelty: what compressing two rule sources together saves (docs/novelty.md)\n",
    );
    text
}

fn warnings(pairs: &[Pair]) -> Vec<String> {
    let too_much = pairs.iter().filter(|pair| pair.alike.is_too_much());
    too_much
        .map(|Pair { one, other, alike }| {
            let share = percent(alike.source);
            format!("{share} of the shorter of {one} and {other} is said by the other already: are they two environments?")
        })
        .collect()
}

fn maps(names: &[String], pairs: &[Pair]) -> Vec<HeatMap> {
    let map = |title: &'static str, note: &'static str, share: fn(&Alike) -> Option<f64>| {
        let cell = |one: &String, other: &String| {
            let found = pairs.iter().find(|pair| {
                pair.one == *one && pair.other == *other || pair.one == *other && pair.other == *one
            });
            found.and_then(|pair| share(&pair.alike))
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
            "share of the shorter rule source that the other already says; above half is too much",
            |alike| alike.source,
        ),
        map(
            "Frames",
            "how alike the small patterns of first frames are, whatever their colours",
            |alike| alike.frames,
        ),
        map(
            "Graphs",
            "how alike it is where actions lead, and how many states are dead ends",
            |alike| alike.graphs,
        ),
    ]
}
