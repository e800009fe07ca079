//! Recording of a human play, written line by line so that a crash of the program loses no entries.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Instant;

use rhae_engine::Action;
use rhae_protocol::{Details, Ending, Header, RecordingWriter, SOFTWARE};
use rhae_session::{Play, PlayStep};

use crate::TuiError;

/// The agent name in recordings.
const PLAYER: &str = "human";

/// Writes the recording of a play in progress.
pub(crate) struct Recorder {
    path: PathBuf,
    writer: RecordingWriter<File>,
    started: Instant,
}

impl Recorder {
    /// Creates the recording with the header and the opening entry. Fails if the file exists.
    pub(crate) fn create(path: &Path, play: &Play, seed: u64) -> Result<Self, TuiError> {
        let file = match File::create_new(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                return Err(TuiError::RecordingExists(path.to_owned()));
            }
            Err(error) => {
                let path = path.to_owned();
                return Err(TuiError::CreateRecording { path, error });
            }
        };
        let opening = play.current();
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
            source_digest: play.info().source_digest.clone(),
        };
        let written = RecordingWriter::new(file, &header);
        let mut recorder = Self {
            path: path.to_owned(),
            writer: written.map_err(write_error(path))?,
            started: Instant::now(),
        };
        recorder.add(opening.observation.action, &opening)?;
        Ok(recorder)
    }

    /// Appends an action and its result.
    pub(crate) fn add(&mut self, action: Action, answer: &PlayStep<'_>) -> Result<(), TuiError> {
        let t_ms = u64::try_from(self.started.elapsed().as_millis()).ok();
        let entry = answer.entry(
            action,
            Details {
                t_ms,
                ..Details::default()
            },
        );
        self.writer.entry(&entry).map_err(write_error(&self.path))
    }

    /// Writes the closing line, syncs the file and returns its path.
    pub(crate) fn end(self, ending: &Ending, message: Option<&str>) -> Result<PathBuf, TuiError> {
        self.writer
            .end(ending, message)
            .and_then(|file| file.sync_all())
            .map_err(write_error(&self.path))?;
        Ok(self.path)
    }
}

fn write_error(path: &Path) -> impl FnOnce(io::Error) -> TuiError {
    move |error| TuiError::WriteRecording {
        path: path.to_owned(),
        error,
    }
}
