//! Executes the commands of boards.

use std::sync::Arc;

use rhae_board::{Board, Command, ORGANISER, VerifiedRow, check_environment, check_kind};
use rhae_engine::Catalog;
use rhae_protocol::{
    BoardCheck, BoardClaim, BoardDefinition, BoardEvent, BoardId, BoardRecord, BoardSystem, Digest,
    EntryId, RegistrationId,
};
use rhae_store::{BoardAppend, BoardFile, BoardStore, Store, StoreError};
use rhae_study::text_digest;
use uuid::Uuid;

use crate::BoardError;
use crate::export_check::read_export;
use crate::run_check::RunError;
use crate::run_files::{RunFiles, run_prefix};
use crate::submission::SubmittedVersion;
use crate::task_set::{TASKS, read_tasks, tasks_text};
use crate::verifier::Verifier;
use crate::witness::find_plays;

/// The number of records per read.
const PAGE: u32 = 5_000;
/// How often a command is decided again because another server has appended first.
pub(crate) const MAX_ATTEMPTS: usize = 100;

/// The boards of a database.
///
/// # Examples
///
/// ```
/// use rhae_board_service::{BoardService, board_set};
/// use rhae_engine::Catalog;
/// use rhae_games::Builtin;
/// use rhae_protocol::{BOARD_RULES, BoardDefinition, BoardKind, SetVisibility};
/// use rhae_store::Database;
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let folder = tempfile::tempdir()?;
/// let database = Database::open(&folder.path().join("rhae.db")).await?;
/// let service = BoardService::new(database.boards());
/// let definition = BoardDefinition {
///     rules_version: BOARD_RULES,
///     kind: BoardKind::Community,
///     title: "Built-in environments".to_owned(),
///     set: board_set("built-in", SetVisibility::Public, &Builtin.list()),
///     method: "docs-2026-04".to_owned(),
///     budget: "5x".to_owned(),
///     prompt_sha256: None,
///     people: None,
/// };
/// service.create(1_000, &"main".into(), definition).await?;
/// assert_eq!(service.load(&"main".into()).await?.last_seq(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct BoardService {
    pub(crate) store: Arc<dyn BoardStore>,
}

/// A submission: who submits what, and the files of its runs.
#[derive(Clone, Debug, Default)]
pub struct Submission {
    /// The author who submits.
    pub actor: String,
    pub registration: Option<RegistrationId>,
    pub claim: BoardClaim,
    pub runs: Vec<RunFiles>,
}

/// Checks that a text can be the id of a board, a row or a registration.
///
/// # Errors
///
/// Returns [`BoardError::Id`] if it cannot.
pub fn check_board_id(id: &str) -> Result<&str, BoardError> {
    let plain =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-');
    if (1..=40).contains(&id.len()) && id.bytes().all(plain) {
        Ok(id)
    } else {
        Err(BoardError::Id(id.to_owned()))
    }
}

impl BoardService {
    pub fn new(store: Arc<dyn BoardStore>) -> Self {
        Self { store }
    }

    /// Creates a board.
    ///
    /// # Errors
    ///
    /// Returns [`BoardError::Exists`] if there is a board with this id, and
    /// [`BoardError::Rejected`] if the definition is not accepted.
    pub async fn create(
        &self,
        now_ms: u64,
        id: &BoardId,
        definition: BoardDefinition,
    ) -> Result<Vec<BoardRecord>, BoardError> {
        self.create_of_tasks(now_ms, id, definition, None).await
    }

    /// Creates a board, of static tasks if `tasks` is the text of a file with their solutions.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`BoardService::create`], and [`BoardError::Tasks`] if the tasks are not
    /// those of the definition.
    pub async fn create_of_tasks(
        &self,
        now_ms: u64,
        id: &BoardId,
        definition: BoardDefinition,
        tasks: Option<&str>,
    ) -> Result<Vec<BoardRecord>, BoardError> {
        check_board_id(id.as_str())?;
        let mut files = Vec::new();
        if let Some(fixed) = &definition.set.tasks {
            let missing =
                || BoardError::Tasks("the file with their solutions is missing".to_owned());
            let set = read_tasks(&definition.set, fixed, tasks.ok_or_else(missing)?)?;
            files.push(BoardFile {
                name: TASKS.to_owned(),
                content: tasks_text(&set),
            });
        } else if tasks.is_some() {
            return Err(BoardError::Tasks("the board has environments".to_owned()));
        }
        let (_, records) = Board::create(now_ms, id.clone(), definition)?;
        let append = BoardAppend {
            board: id.clone(),
            last_seq: 0,
            records: records.clone(),
            files,
            replaced: Vec::new(),
        };
        match self.store.append_board(append).await {
            Ok(()) => Ok(records),
            Err(StoreError::BoardConflict(_)) => Err(BoardError::Exists(id.clone())),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the ids of all boards in ascending order.
    ///
    /// # Errors
    ///
    /// Returns [`BoardError::Store`] if the database fails.
    pub async fn list(&self) -> Result<Vec<BoardId>, BoardError> {
        Ok(self.store.boards().await?)
    }

    /// Returns the newest state of a board.
    ///
    /// # Errors
    ///
    /// Returns [`BoardError::Unknown`] if there is no such board, and [`BoardError::Log`] if its log
    /// is not valid.
    pub async fn load(&self, id: &BoardId) -> Result<Board, BoardError> {
        let records = self.records(id).await?;
        Board::replay(&records).map_err(|error| BoardError::Log {
            board: id.clone(),
            error,
        })
    }

    /// Returns the whole log of a board.
    ///
    /// # Errors
    ///
    /// Returns [`BoardError::Unknown`] if there is no such board.
    pub async fn records(&self, id: &BoardId) -> Result<Vec<BoardRecord>, BoardError> {
        let records = self.records_after(id, 0).await?;
        if records.is_empty() {
            return Err(BoardError::Unknown(id.clone()));
        }
        Ok(records)
    }

    /// Returns the records with a number above `after`; none for a board that does not exist.
    ///
    /// # Errors
    ///
    /// Returns [`BoardError::Store`] if the database fails.
    pub async fn records_after(
        &self,
        id: &BoardId,
        after: u64,
    ) -> Result<Vec<BoardRecord>, BoardError> {
        let mut records: Vec<BoardRecord> = Vec::new();
        loop {
            let after = records.last().map_or(after, |record| record.seq);
            let page = self.store.board_records(id, after, PAGE).await?;
            let is_last = page.len() < usize::try_from(PAGE).unwrap_or(usize::MAX);
            records.extend(page);
            if is_last {
                break;
            }
        }
        Ok(records)
    }

    /// Returns the records with these numbers.
    ///
    /// # Errors
    ///
    /// Returns [`BoardError::Store`] if the database fails.
    pub async fn records_at(
        &self,
        id: &BoardId,
        numbers: &[u64],
    ) -> Result<Vec<BoardRecord>, BoardError> {
        let mut records = Vec::new();
        for number in numbers {
            let after = number.saturating_sub(1);
            records.extend(self.store.board_records(id, after, 1).await?);
        }
        Ok(records)
    }

    /// Returns the recording of a run with a hash; `None` if the run has no such recording.
    ///
    /// # Errors
    ///
    /// Returns [`BoardError::Store`] if the database fails.
    pub async fn recording(
        &self,
        id: &BoardId,
        run: &Digest,
        recording: &Digest,
    ) -> Result<Option<String>, BoardError> {
        let prefix = format!("runs/{run}/recordings/");
        let files = self.store.board_files(id, &prefix).await?;
        let mut texts = files.into_iter().map(|file| file.content);
        Ok(texts.find(|text| text_digest(text) == *recording))
    }

    /// Compares the plays of a row with those on cards of the organiser's server, and raises the row
    /// to `witnessed`.
    ///
    /// # Errors
    ///
    /// Returns [`BoardError::Witness`] if a card does not contain what the row needs, and the errors
    /// of [`BoardService::execute`].
    pub async fn witness(
        &self,
        id: &BoardId,
        now_ms: u64,
        entry: &EntryId,
        cards: &[String],
        store: &dyn Store,
    ) -> Result<Vec<BoardRecord>, BoardError> {
        let board = self.load(id).await?;
        find_plays(board.state(), entry, cards, store).await?;
        let command = Command::Witness {
            entry: entry.clone(),
            cards: cards.to_vec(),
        };
        self.execute(id, now_ms, ORGANISER, &command, Vec::new())
            .await
    }

    /// Returns the files of all runs of a board.
    ///
    /// # Errors
    ///
    /// Returns [`BoardError::Store`] if the database fails.
    pub async fn files(&self, id: &BoardId) -> Result<Vec<BoardFile>, BoardError> {
        Ok(self.store.board_files(id, "").await?)
    }

    /// Executes a command of an actor, and stores files with its records.
    ///
    /// # Errors
    ///
    /// Returns [`BoardError::Rejected`] if the rules do not accept the command, and the errors of
    /// [`BoardService::load`].
    pub async fn execute(
        &self,
        id: &BoardId,
        now_ms: u64,
        actor: &str,
        command: &Command,
        files: Vec<BoardFile>,
    ) -> Result<Vec<BoardRecord>, BoardError> {
        for _ in 0..MAX_ATTEMPTS {
            let board = self.load(id).await?;
            let records = board.prepare_sealed(now_ms, actor, command, &salt())?;
            if records.is_empty() {
                return Ok(records);
            }
            let append = BoardAppend {
                board: id.clone(),
                last_seq: board.last_seq(),
                records: records.clone(),
                files: files.clone(),
                replaced: Vec::new(),
            };
            match self.store.append_board(append).await {
                Ok(()) => return Ok(records),
                Err(StoreError::BoardConflict(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(BoardError::Contended(id.clone()))
    }

    /// Submits a system and replays its runs. A run that does not replay leaves the row claimed and
    /// is recorded with the reason.
    ///
    /// # Errors
    ///
    /// Returns [`BoardError::Rejected`] if the rules refuse the submission or one of its runs. The
    /// runs are verified first, so that nothing is stored of a refused submission.
    pub async fn submit(
        &self,
        id: &BoardId,
        now_ms: u64,
        entry: &EntryId,
        system: BoardSystem,
        submission: Submission,
        catalog: &dyn Catalog,
    ) -> Result<Vec<BoardRecord>, BoardError> {
        check_board_id(entry.as_str())?;
        let submit = Command::Submit {
            entry: entry.clone(),
            system: Box::new(system),
            registration: submission.registration,
            claim: submission.claim,
        };
        let mut board = self.load(id).await?;
        let definition = board.state().definition.clone();
        let text = self.task_text(id, &definition).await?;
        let verifier = Verifier::new(&definition, catalog, text.as_deref())?;
        let mut all = board.prepare_sealed(now_ms, &submission.actor, &submit, &salt())?;
        commit(id, &mut board, &all)?;
        let mut files = Vec::new();
        for run in &submission.runs {
            let (command, stored) = run_command(&definition, entry, run, &verifier)?;
            let records = board.prepare(now_ms, ORGANISER, &command)?;
            commit(id, &mut board, &records)?;
            all.extend(records);
            files.extend(stored);
        }
        self.append(id, all, files).await
    }

    /// Submits the versions of a `submission.yaml` as claims: all of them, or none.
    ///
    /// # Errors
    ///
    /// Returns [`BoardError::Rejected`] if the rules refuse one of them.
    pub async fn submit_claims(
        &self,
        id: &BoardId,
        now_ms: u64,
        rows: Vec<(EntryId, SubmittedVersion)>,
    ) -> Result<Vec<BoardRecord>, BoardError> {
        let mut board = self.load(id).await?;
        let mut all = Vec::new();
        for (entry, version) in rows {
            let actor = version.system.authors.first();
            let actor = actor.map_or_else(String::new, |author| author.name.clone());
            let submit = Command::Submit {
                entry,
                system: Box::new(version.system),
                registration: None,
                claim: version.claim,
            };
            let records = board.prepare_sealed(now_ms, &actor, &submit, &salt())?;
            commit(id, &mut board, &records)?;
            all.extend(records);
        }
        self.append(id, all, Vec::new()).await
    }

    /// Replays a run and adds it to a row.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`BoardService::execute`].
    pub async fn add_run(
        &self,
        id: &BoardId,
        now_ms: u64,
        entry: &EntryId,
        run: &RunFiles,
        catalog: &dyn Catalog,
    ) -> Result<Vec<BoardRecord>, BoardError> {
        let definition = self.load(id).await?.state().definition.clone();
        let text = self.task_text(id, &definition).await?;
        let verifier = Verifier::new(&definition, catalog, text.as_deref())?;
        let (command, files) = run_command(&definition, entry, run, &verifier)?;
        self.execute(id, now_ms, ORGANISER, &command, files).await
    }

    /// Replays runs of the organiser, and compares the score of a row with them.
    ///
    /// # Errors
    ///
    /// Returns [`BoardError::Run`] if a run does not replay, and the errors of
    /// [`BoardService::execute`].
    pub async fn reproduce(
        &self,
        id: &BoardId,
        now_ms: u64,
        entry: &EntryId,
        runs: &[RunFiles],
        catalog: &dyn Catalog,
    ) -> Result<Vec<BoardRecord>, BoardError> {
        let definition = self.load(id).await?.state().definition.clone();
        let text = self.task_text(id, &definition).await?;
        let verifier = Verifier::new(&definition, catalog, text.as_deref())?;
        let mut verified = Vec::new();
        let mut files = Vec::new();
        for run in runs {
            verified.push(verifier.verify(run)?);
            files.extend(run.board_files());
        }
        let command = Command::Reproduce {
            entry: entry.clone(),
            runs: verified,
        };
        self.execute(id, now_ms, ORGANISER, &command, files).await
    }

    /// Verifies the stored runs of all rows again. The rows whose counts differ are corrected, in one
    /// release that shows their old and new scores.
    ///
    /// # Errors
    ///
    /// Returns [`BoardError::Rejected`] if nothing differs, and the errors of
    /// [`BoardService::execute`].
    pub async fn rescore(
        &self,
        id: &BoardId,
        now_ms: u64,
        note: &str,
        catalog: &dyn Catalog,
    ) -> Result<Vec<BoardRecord>, BoardError> {
        let board = self.load(id).await?;
        let definition = &board.state().definition;
        let text = self.task_text(id, definition).await?;
        let verifier = Verifier::new(definition, catalog, text.as_deref())?;
        let mut rows = Vec::new();
        for (entry, old) in &board.state().entries {
            let mut row = VerifiedRow {
                entry: entry.clone(),
                runs: Vec::new(),
                reruns: Vec::new(),
                failure: None,
            };
            for (old, new) in [(&old.runs, &mut row.runs), (&old.reruns, &mut row.reruns)] {
                for run in old {
                    let prefix = run_prefix(&run.digest);
                    let stored = self.store.board_files(id, &prefix).await?;
                    let files = stored.into_iter().map(|file| (file.name, file.content));
                    match verifier.verify(&RunFiles::stored(&run.digest, files)) {
                        Ok(run) => new.push(run),
                        Err(error) => row.failure = Some(error.to_string()),
                    }
                }
            }
            rows.push(row);
        }
        let note = note.to_owned();
        let records = board.prepare(now_ms, ORGANISER, &Command::Rescore { note, rows })?;
        self.append(id, records, Vec::new()).await
    }

    /// Returns the file with the static tasks of a board, if it has some.
    async fn task_text(
        &self,
        id: &BoardId,
        definition: &BoardDefinition,
    ) -> Result<Option<String>, BoardError> {
        if definition.set.tasks.is_none() {
            return Ok(None);
        }
        let files = self.store.board_files(id, TASKS).await?;
        Ok(files.into_iter().next().map(|file| file.content))
    }

    /// Imports a complete export as a board with the same id, after checking it. Returns the check;
    /// nothing is stored if it has findings.
    ///
    /// # Errors
    ///
    /// Returns [`BoardError::Export`] if the folder is not a complete export, and
    /// [`BoardError::Exists`] if there is a board with its id.
    pub async fn import(
        &self,
        folder: &std::path::Path,
        catalog: &dyn Catalog,
    ) -> Result<BoardCheck, BoardError> {
        let (check, records, files) = read_export(folder, catalog)?;
        if check.findings.is_empty() {
            match self.append(&check.board, records, files).await {
                Err(BoardError::Contended(id)) => return Err(BoardError::Exists(id)),
                other => other?,
            };
        }
        Ok(check)
    }

    /// Appends records that were decided on the log as it was.
    async fn append(
        &self,
        id: &BoardId,
        records: Vec<BoardRecord>,
        files: Vec<BoardFile>,
    ) -> Result<Vec<BoardRecord>, BoardError> {
        let append = BoardAppend {
            board: id.clone(),
            last_seq: records.first().map_or(0, |record| record.seq - 1),
            records: records.clone(),
            files,
            replaced: Vec::new(),
        };
        match self.store.append_board(append).await {
            Ok(()) => Ok(records),
            Err(StoreError::BoardConflict(_)) => Err(BoardError::Contended(id.clone())),
            Err(error) => Err(error.into()),
        }
    }
}

/// Returns the command that adds a run, or that records why it is not accepted, with the files to
/// store. Fails for a run on another set or with other settings than the board.
fn run_command(
    definition: &BoardDefinition,
    entry: &EntryId,
    run: &RunFiles,
    verifier: &Verifier<'_>,
) -> Result<(Command, Vec<BoardFile>), BoardError> {
    let entry = entry.clone();
    check_kind(definition, run.is_evaluation())?;
    // A run on another set is refused even if the catalogue cannot replay it.
    for environment in run.environments() {
        check_environment(definition, &environment)?;
    }
    Ok(match verifier.verify(run) {
        Err(error @ RunError::Setting { .. }) => return Err(error.into()),
        Ok(verified) => {
            let run_box = Box::new(verified);
            (
                Command::AddRun {
                    entry,
                    run: run_box,
                },
                run.board_files(),
            )
        }
        Err(error) => {
            let reason = error.to_string();
            (Command::RefuseRun { entry, reason }, Vec::new())
        }
    })
}

/// Returns a new salt for the names in the records of a command.
fn salt() -> String {
    Uuid::new_v4().simple().to_string()
}

fn commit(id: &BoardId, board: &mut Board, records: &[BoardRecord]) -> Result<(), BoardError> {
    board.commit(records).map_err(|error| BoardError::Log {
        board: id.clone(),
        error,
    })
}

/// Returns the kind of an event as its serialised form names it.
pub(crate) fn event_kind(event: &BoardEvent) -> String {
    let value = serde_json::to_value(event).unwrap_or_default();
    value["kind"].as_str().unwrap_or_default().to_owned()
}
