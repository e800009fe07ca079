//! The files of an exploration: the graph for other programs, its picture, the shortest win as a recording.

use std::convert::Infallible;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use rhae_engine::{Action, Game, LevelIndex};
use rhae_explore::{Explorable, Graph, NativeLevel, edge_actions, shortest_win};
use rhae_protocol::{Details, Ending, Header, RecordingWriter, ResetRule, SOFTWARE};
use rhae_report::{GraphPage, LevelGraph, graph_dot, graph_graphml, graph_json, graph_page, growth_plot};
use rhae_session::{Builtin, Catalog, Play};

use super::report::{self, LevelReport};

/// The most states of a graph that is written to a file.
const MOST_EXPORTED: usize = 500_000;
/// How far to look for the wins that lead to a level whose solutions are not stored.
const MOST_PLACES: usize = 20_000_000;

type WriteGraph = fn(&Graph, &[Action]) -> String;

/// Where what is written.
pub(super) struct Files {
    export: Option<(PathBuf, WriteGraph)>,
    picture: Option<(PathBuf, Picture)>,
    recording: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Picture {
    Svg,
    Html,
}

impl Files {
    /// Refuses at once what could not be written at the end.
    pub(super) fn new(export: Option<&Path>, picture: Option<&Path>, recording: Option<&Path>, levels: usize) -> Result<Self> {
        let ending = |path: &Path| path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default();
        let export = match export {
            None => None,
            Some(path) => {
                let write: WriteGraph = match ending(path).as_str() {
                    "json" => graph_json,
                    "graphml" => graph_graphml,
                    "dot" => graph_dot,
                    _ => bail!("`{}` names no format: expected .json, .graphml or .dot", path.display()),
                };
                Some((path.to_owned(), write))
            }
        };
        let picture = match picture {
            None => None,
            Some(path) => {
                let kind = match ending(path).as_str() {
                    "svg" => Picture::Svg,
                    "html" => Picture::Html,
                    _ => bail!("`{}` names no picture: expected .svg or .html", path.display()),
                };
                Some((path.to_owned(), kind))
            }
        };
        let one_level_only = export.is_some() || recording.is_some() || matches!(picture, Some((_, Picture::Svg)));
        ensure!(
            levels == 1 || !one_level_only,
            "--export, --recording and a picture as .svg are of one level; name it with --level"
        );
        Ok(Self { export, picture, recording: recording.map(Path::to_owned) })
    }

    pub(super) const fn wants_picture(&self) -> bool {
        self.picture.is_some()
    }

    pub(super) fn write_graph<E: Explorable<Error = Infallible>>(&self, level: &E, graph: &Graph) -> Result<()> {
        let Some((path, text)) = &self.export else { return Ok(()) };
        ensure!(
            graph.nodes() <= MOST_EXPORTED,
            "the graph has {} states, and at most {MOST_EXPORTED} are written to a file; limit it with --nodes or --depth",
            graph.nodes()
        );
        let Ok(actions) = edge_actions(level, graph);
        write(path, &text(graph, &actions))
    }

    /// The picture of one level, or the page of all.
    pub(super) fn write_picture(&self, id: &str, seed: u64, reports: &[LevelReport], pictures: Vec<String>) -> Result<()> {
        match &self.picture {
            None => Ok(()),
            Some((path, Picture::Svg)) => write(path, &pictures.concat()),
            Some((path, Picture::Html)) => {
                let sizes: Vec<(u32, usize, bool)> =
                    reports.iter().map(|report| (u32::from(report.level), report.nodes, report.complete)).collect();
                let level = |(report, picture): (&LevelReport, String)| LevelGraph {
                    title: format!("Level {}", report.level),
                    facts: report::facts(report),
                    notices: report.warnings.clone(),
                    picture,
                };
                let page = GraphPage {
                    game_id: id.to_owned(),
                    subtitle: format!("seed {seed} · {SOFTWARE}"),
                    growth: (sizes.len() > 1).then(|| growth_plot(&sizes)),
                    levels: reports.iter().zip(pictures).map(level).collect(),
                };
                write(path, &graph_page(&page))
            }
        }
    }

    /// A play of the whole environment up to the end of the level: earlier levels by their stored or shortest wins.
    pub(super) fn write_recording<G: Game>(&self, seed: u64, index: LevelIndex, line: &[Action]) -> Result<()> {
        let Some(path) = &self.recording else { return Ok(()) };
        ensure!(!line.is_empty(), "there is no win to record: none was found");
        let facts = &G::FACTS;
        let mut play = Play::new(Builtin.open(facts.id, seed)?, ResetRule::Official);
        let opening = play.opening();
        let header = Header {
            game_id: facts.game_id(),
            seed,
            agent: "explore".to_owned(),
            agent_seed: None,
            software: SOFTWARE.to_owned(),
            guid: None,
            resets: ResetRule::Official,
            win_levels: opening.observation.win_levels,
            available: facts.actions,
        };
        let entry = opening.entry(Action::Reset, Details::default());
        let mut writer = RecordingWriter::new(Vec::new(), &header)?;
        writer.entry(&entry)?;
        let mut actions = Vec::new();
        for earlier in (0..index.0).map(LevelIndex) {
            let stored = if seed == 0 || !facts.seeded { facts.solution(earlier) } else { Vec::new() };
            if stored.is_empty() {
                let found = shortest_win(&NativeLevel::<G>::new(seed, earlier), MOST_PLACES);
                actions.extend(found.win.with_context(|| format!("no win of level {earlier} was found to come to level {index}"))?);
            } else {
                actions.extend(stored);
            }
        }
        actions.extend(line);
        for action in actions {
            let entry = play.command(action)?.entry(action, Details::default());
            writer.entry(&entry)?;
        }
        let won = play.opening().observation.levels_completed == play.opening().observation.win_levels;
        let bytes = writer.end(if won { &Ending::Won } else { &Ending::Stopped })?;
        fs::write(path, bytes).with_context(|| format!("cannot write `{}`", path.display()))
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display()))
}
