//! The output files of an exploration: the graph for other programs, its picture, and the shortest
//! win as a recording.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail, ensure};
use rhae_inspect::{GraphFormat, InspectError, LevelOutputs, exploration_page};
use rhae_protocol::ExploredLevel;

use crate::output::ensure_writable;

/// The files that the flags ask for.
pub(super) struct OutputFiles {
    export: Option<(PathBuf, GraphFormat)>,
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
                let format = match extension(path).as_str() {
                    "json" => GraphFormat::Json,
                    "graphml" => GraphFormat::GraphMl,
                    "dot" => GraphFormat::Dot,
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

    /// Returns what the exploration of a level must produce for the files.
    pub(super) fn outputs(&self) -> LevelOutputs {
        LevelOutputs {
            graph: self.export.as_ref().map(|&(_, format)| format),
            picture: self.picture.is_some(),
            recording: self.recording.is_some(),
        }
    }

    /// Writes the graph and the recording of a level.
    pub(super) fn write(
        &self,
        graph: Option<Result<String, InspectError>>,
        recording: Option<Result<Vec<u8>, InspectError>>,
    ) -> Result<()> {
        let graph_written = match (&self.export, graph) {
            (Some((path, _)), Some(graph)) => graph
                .map_err(Into::into)
                .and_then(|text| write(path, text.as_bytes())),
            _ => Ok(()),
        };
        let recording_written = match (&self.recording, recording) {
            (Some(path), Some(Ok(bytes))) => write(path, &bytes),
            (Some(path), Some(Err(error))) => {
                Err(anyhow!("{error}, so `{}` was not written", path.display()))
            }
            _ => Ok(()),
        };
        graph_written.and(recording_written)
    }

    /// Writes the picture of one level, or the page with all levels.
    pub(super) fn write_picture(
        &self,
        id: &str,
        seed: u64,
        levels: &[ExploredLevel],
        pictures: Vec<String>,
    ) -> Result<()> {
        match &self.picture {
            None => Ok(()),
            Some((path, Picture::Svg)) => write(path, pictures.concat().as_bytes()),
            Some((path, Picture::Html)) => {
                let page = exploration_page(id, seed, levels, pictures);
                write(path, page.as_bytes())
            }
        }
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes).with_context(|| format!("cannot write `{}`", path.display()))
}
