//! The recording of a person's play, written line by line so that a crash loses nothing.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use rhae_engine::Action;
use rhae_protocol::{Details, Ending, Header, RecordingWriter, SOFTWARE};
use rhae_session::{Answer, Play};

/// The player's name in recordings.
const PLAYER: &str = "human";

/// A recording under way.
pub(crate) struct Recorder {
    path: PathBuf,
    writer: RecordingWriter<File>,
    begun: Instant,
}

impl Recorder {
    /// Begins a recording with what the player sees first. A file that exists is left alone.
    pub(crate) fn create(path: &Path, play: &Play, seed: u64) -> Result<Self> {
        let file = match File::create_new(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                bail!(
                    "`{}` exists already; name another file with --record, or remove it first",
                    path.display()
                )
            }
            Err(error) => {
                return Err(error).with_context(|| format!("cannot create `{}`", path.display()));
            }
        };
        let opening = play.opening();
        let header = Header {
            game_id: play.info().id.clone(),
            seed,
            agent: PLAYER.to_owned(),
            agent_seed: None,
            software: SOFTWARE.to_owned(),
            guid: None,
            resets: play.rule(),
            win_levels: opening.observation.win_levels,
            available: play.info().actions,
        };
        let written = RecordingWriter::new(file, &header);
        let mut recorder = Self {
            path: path.to_owned(),
            writer: written.with_context(|| failed(path))?,
            begun: Instant::now(),
        };
        recorder.add(opening.observation.action, &opening)?;
        Ok(recorder)
    }

    /// Adds an action and its answer.
    pub(crate) fn add(&mut self, action: Action, answer: &Answer<'_>) -> Result<()> {
        let t_ms = u64::try_from(self.begun.elapsed().as_millis()).ok();
        let entry = answer.entry(
            action,
            Details {
                t_ms,
                ..Details::default()
            },
        );
        self.writer
            .entry(&entry)
            .with_context(|| failed(&self.path))
    }

    /// Closes the recording and gives its path.
    pub(crate) fn end(self, ending: &Ending) -> Result<PathBuf> {
        self.writer
            .end(ending)
            .and_then(|file| file.sync_all())
            .with_context(|| failed(&self.path))?;
        Ok(self.path)
    }
}

fn failed(path: &Path) -> String {
    format!("cannot write the recording `{}`", path.display())
}
