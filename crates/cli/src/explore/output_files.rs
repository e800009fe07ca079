//! The files of an exploration: the graph for other programs, its picture, the shortest win as a recording.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use rhae_engine::{Action, LevelIndex};
use rhae_explore::{Explorable, Graph, edge_actions};
use rhae_protocol::SOFTWARE;
use rhae_pyhost::Games;
use rhae_report::{
    GraphOf, GraphPage, LevelGraph, graph_dot, graph_graphml, graph_json, graph_page, growth_plot,
};
use rhae_validate::Subject;

use super::report::{self, LevelReport};
use crate::output::ensure_writable;
use crate::validate::recording;

/// The most states of a graph that is written to a file.
const MOST_EXPORTED: usize = 500_000;

type WriteGraph = fn(&GraphOf<'_>, &Graph, &[Action]) -> String;

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
    pub(super) fn new(
        export: Option<&Path>,
        picture: Option<&Path>,
        recording: Option<&Path>,
        levels: usize,
    ) -> Result<Self> {
        let ending = |path: &Path| {
            path.extension()
                .map(|ending| ending.to_string_lossy().to_lowercase())
                .unwrap_or_default()
        };
        let written = match export {
            None => None,
            Some(path) => {
                let write: WriteGraph = match ending(path).as_str() {
                    "json" => graph_json,
                    "graphml" => graph_graphml,
                    "dot" => graph_dot,
                    _ => bail!(
                        "`{}` names no format: expected .json, .graphml or .dot",
                        path.display()
                    ),
                };
                Some((path.to_owned(), write))
            }
        };
        let drawn = match picture {
            None => None,
            Some(path) => {
                let kind = match ending(path).as_str() {
                    "svg" => Picture::Svg,
                    "html" => Picture::Html,
                    _ => bail!(
                        "`{}` names no picture: expected .svg or .html",
                        path.display()
                    ),
                };
                Some((path.to_owned(), kind))
            }
        };
        for path in [export, picture, recording].into_iter().flatten() {
            ensure_writable(path)?;
        }
        let one_level_only =
            export.is_some() || recording.is_some() || matches!(drawn, Some((_, Picture::Svg)));
        ensure!(
            levels == 1 || !one_level_only,
            "--export, --recording and a picture as .svg are of one level; name it with --level"
        );
        Ok(Self {
            export: written,
            picture: drawn,
            recording: recording.map(Path::to_owned),
        })
    }

    pub(super) const fn wants_picture(&self) -> bool {
        self.picture.is_some()
    }

    pub(super) fn write_graph<E: Explorable<Error: std::error::Error + Sync + 'static>>(
        &self,
        of: &GraphOf<'_>,
        level: &E,
        graph: &Graph,
    ) -> Result<()> {
        let Some((path, text)) = &self.export else {
            return Ok(());
        };
        ensure!(
            graph.nodes() <= MOST_EXPORTED,
            "the graph has {} states, and at most {MOST_EXPORTED} are written to a file; limit it with --nodes or --depth",
            graph.nodes()
        );
        let actions = edge_actions(level, graph)?;
        write(path, &text(of, graph, &actions))
    }

    /// The picture of one level, or the page of all.
    pub(super) fn write_picture(
        &self,
        id: &str,
        seed: u64,
        reports: &[LevelReport],
        pictures: Vec<String>,
    ) -> Result<()> {
        match &self.picture {
            None => Ok(()),
            Some((path, Picture::Svg)) => write(path, &pictures.concat()),
            Some((path, Picture::Html)) => {
                let sizes: Vec<(u32, usize, bool)> = reports
                    .iter()
                    .map(|report| (u32::from(report.level), report.nodes, report.complete))
                    .collect();
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
    pub(super) fn write_recording(
        &self,
        games: &Games,
        subject: &dyn Subject,
        seed: u64,
        index: LevelIndex,
        line: &[Action],
    ) -> Result<()> {
        let Some(path) = &self.recording else {
            return Ok(());
        };
        ensure!(
            !line.is_empty(),
            "there is no win to record, so `{}` was not written",
            path.display()
        );
        let before = subject
            .prefix(index.0)
            .with_context(|| format!("no win of the levels before level {index} was found"))?;
        let bytes = recording(
            games,
            subject.info().id.as_str(),
            seed,
            "explore",
            &[&before, line].concat(),
        )?;
        fs::write(path, bytes).with_context(|| format!("cannot write `{}`", path.display()))
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display()))
}
