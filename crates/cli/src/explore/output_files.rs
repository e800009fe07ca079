//! The output files of an exploration: the graph for other programs, its picture, and the shortest
//! win as a recording.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use rhae_engine::{Action, LevelIndex};
use rhae_explore::{Explorable, Graph, edge_actions};
use rhae_protocol::SOFTWARE;
use rhae_pyhost::Games;
use rhae_report::{
    GraphMetadata, GraphPage, LevelGraph, graph_dot, graph_graphml, graph_json, graph_page,
    growth_plot,
};
use rhae_validate::Subject;

use super::report::{self, LevelReport};
use crate::output::ensure_writable;
use crate::validate::recording;

/// The maximum number of states of a graph that `--export` writes.
const MAX_EXPORTED_STATES: usize = 500_000;

type FormatGraph = fn(&GraphMetadata<'_>, &Graph, &[Action]) -> String;

/// The files that the flags ask for.
pub(super) struct OutputFiles {
    export: Option<(PathBuf, FormatGraph)>,
    picture: Option<(PathBuf, Picture)>,
    recording: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Picture {
    Svg,
    Html,
}

impl OutputFiles {
    /// Checks the file names and folders. Callers do this before the search, so that a wrong flag
    /// does not waste the search.
    pub(super) fn new(
        export: Option<&Path>,
        picture: Option<&Path>,
        recording: Option<&Path>,
        levels: usize,
    ) -> Result<Self> {
        let extension = |path: &Path| {
            path.extension()
                .map(|extension| extension.to_string_lossy().to_lowercase())
                .unwrap_or_default()
        };
        let export_format = match export {
            None => None,
            Some(path) => {
                let format: FormatGraph = match extension(path).as_str() {
                    "json" => graph_json,
                    "graphml" => graph_graphml,
                    "dot" => graph_dot,
                    _ => bail!(
                        "cannot export to `{}`: expected a file name that ends in .json, .graphml or .dot",
                        path.display()
                    ),
                };
                Some((path.to_owned(), format))
            }
        };
        let picture_kind = match picture {
            None => None,
            Some(path) => {
                let kind = match extension(path).as_str() {
                    "svg" => Picture::Svg,
                    "html" => Picture::Html,
                    _ => bail!(
                        "cannot draw to `{}`: expected a file name that ends in .svg or .html",
                        path.display()
                    ),
                };
                Some((path.to_owned(), kind))
            }
        };
        for path in [export, picture, recording].into_iter().flatten() {
            ensure_writable(path)?;
        }
        let one_level_only = export.is_some()
            || recording.is_some()
            || matches!(picture_kind, Some((_, Picture::Svg)));
        ensure!(
            levels == 1 || !one_level_only,
            "--export, --recording and an .svg picture hold one level; select it with --level"
        );
        Ok(Self {
            export: export_format,
            picture: picture_kind,
            recording: recording.map(Path::to_owned),
        })
    }

    pub(super) const fn wants_picture(&self) -> bool {
        self.picture.is_some()
    }

    pub(super) fn write_graph<E: Explorable<Error: std::error::Error + Sync + 'static>>(
        &self,
        metadata: &GraphMetadata<'_>,
        level: &E,
        graph: &Graph,
    ) -> Result<()> {
        let Some((path, format)) = &self.export else {
            return Ok(());
        };
        ensure!(
            graph.nodes() <= MAX_EXPORTED_STATES,
            "the graph has {} states, but --export writes at most {MAX_EXPORTED_STATES}; limit it with --nodes or --depth",
            graph.nodes()
        );
        let actions = edge_actions(level, graph)?;
        write(path, &format(metadata, graph, &actions))
    }

    /// Writes the picture of one level, or the page with all levels.
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

    /// Writes a recording of the environment from its first level to the win of this level. Earlier
    /// levels are won by their stored solutions or by wins that a search found.
    pub(super) fn write_recording(
        &self,
        games: &Games,
        subject: &dyn Subject,
        seed: u64,
        index: LevelIndex,
        win: &[Action],
    ) -> Result<()> {
        let Some(path) = &self.recording else {
            return Ok(());
        };
        ensure!(
            !win.is_empty(),
            "no win was found, so `{}` was not written",
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
            &[&before, win].concat(),
        )?;
        fs::write(path, bytes).with_context(|| format!("cannot write `{}`", path.display()))
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display()))
}
