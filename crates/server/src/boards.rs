//! The leaderboards of the server.
//!
//! The server keeps the newest state of each board and its rows in memory. A request reads only the
//! records that are newer, so a board of many rows is computed once after each change.
//!
//! **Invariant:** readers other than the organiser get the rows for [`Audience::Public`], which
//! contain only aggregates of a hidden set.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use axum::body::Bytes;
use rhae_board::{Audience, Board, Command, ORGANISER, ReplayError};
use rhae_board_service::{
    BoardError, BoardService, RunFiles, Submission, board_change, board_view, check_board_id,
    export_board,
};
use rhae_protocol::{
    BoardChange, BoardCreation, BoardId, BoardRecord, BoardRequest, BoardView, EntryId,
    PublishedResult, RegistrationBody, RetractionReason, SubmissionBody,
};
use rhae_store::{BoardStore, Store, StoreError};
use tokio::sync::Semaphore;
use tokio::sync::mpsc::Receiver;

use crate::access::Caller;
use crate::blocking::blocking;
use crate::folder_archive::archive_folder;
use crate::games::Games;
use crate::{ApiError, Clock};

/// The boards of a server.
pub(crate) struct Boards {
    /// `None` if the server has no boards.
    store: Option<Arc<dyn BoardStore>>,
    service: Option<BoardService>,
    references: Vec<PublishedResult>,
    games: Arc<Games>,
    plays: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    newest: Mutex<HashMap<BoardId, Arc<BoardState>>>,
    /// Permits of exports, which read all files of a board.
    exports: Arc<Semaphore>,
}

/// The maximum number of exports that are read at a time. Further ones wait.
const MAX_EXPORTS: usize = 2;

/// A board as one number of records gives it, with its rows once they were needed.
pub(crate) struct BoardState {
    pub(crate) board: Board,
    /// The numbers of the records of each row, so that a row is shown without reading the whole log.
    history: HashMap<EntryId, Vec<u64>>,
    public: OnceLock<BoardView>,
    organiser: OnceLock<BoardView>,
}

impl BoardState {
    /// Returns the document of the board. The first call computes all ranks.
    fn view(&self, audience: Audience, references: &[PublishedResult]) -> &BoardView {
        let cell = match audience {
            Audience::Public => &self.public,
            Audience::Organiser => &self.organiser,
        };
        cell.get_or_init(|| board_view(&self.board, audience, references.to_vec()))
    }
}

/// Returns what a caller may see of a board.
pub(crate) fn audience(caller: &Caller) -> Audience {
    if caller.is_admin() {
        Audience::Organiser
    } else {
        Audience::Public
    }
}

impl Boards {
    pub(crate) fn new(
        store: Option<Arc<dyn BoardStore>>,
        references: Vec<PublishedResult>,
        games: Arc<Games>,
        (plays, clock): (Arc<dyn Store>, Arc<dyn Clock>),
    ) -> Self {
        Self {
            service: store.clone().map(BoardService::new),
            store,
            references,
            games,
            plays,
            clock,
            newest: Mutex::default(),
            exports: Arc::new(Semaphore::new(MAX_EXPORTS)),
        }
    }

    /// Returns the boards again with other environments, as when a server is assembled.
    pub(crate) fn rebuilt(&self, games: &Arc<Games>) -> Self {
        let storage = (Arc::clone(&self.plays), Arc::clone(&self.clock));
        let references = self.references.clone();
        Self::new(self.store.clone(), references, Arc::clone(games), storage)
    }

    /// Returns the boards, if the server has any.
    pub(crate) fn service(&self) -> Result<&BoardService, ApiError> {
        self.service.as_ref().ok_or(ApiError::NoSuchPath)
    }

    /// Returns the newest state of a board.
    pub(crate) async fn newest(&self, board: &str) -> Result<Arc<BoardState>, ApiError> {
        let unknown = || ApiError::NoSuchBoard(board.to_owned());
        let id = BoardId::from(check_board_id(board).map_err(|_| unknown())?);
        let known = self.known(&id);
        let after = known.as_ref().map_or(0, |known| known.board.last_seq());
        let records = self.service()?.records_after(&id, after).await?;
        match known {
            Some(known) if records.is_empty() => return Ok(known),
            None if records.is_empty() => return Err(unknown()),
            _ => {}
        }
        let advanced = blocking(move || {
            let board = advanced(known.as_deref(), &records)?;
            let history = history(known.as_deref(), &records);
            Ok::<_, ReplayError>((board, history))
        });
        let advanced = advanced.await?;
        let (board, history) = advanced.map_err(|error| ApiError::Failed(error.to_string()))?;
        let newest = Arc::new(BoardState {
            board,
            history,
            public: OnceLock::new(),
            organiser: OnceLock::new(),
        });
        let mut all = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(id, Arc::clone(&newest));
        Ok(newest)
    }

    /// Returns the records of a row.
    pub(crate) async fn records_of(
        &self,
        newest: &BoardState,
        entry: &EntryId,
    ) -> Result<Vec<BoardRecord>, ApiError> {
        let numbers = newest.history.get(entry).map_or(&[][..], Vec::as_slice);
        let id = &newest.board.state().id;
        Ok(self.service()?.records_at(id, numbers).await?)
    }

    fn known(&self, id: &BoardId) -> Option<Arc<BoardState>> {
        let all = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(id).cloned()
    }

    /// Passes the document of a board to a function on a thread that may compute for long.
    pub(crate) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        board: &str,
        audience: Audience,
        read: impl FnOnce(&Board, &BoardView) -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let newest = self.newest(board).await?;
        let boards = Arc::clone(self);
        blocking(move || {
            let view = newest.view(audience, &boards.references);
            read(&newest.board, view)
        })
        .await
    }

    /// Creates a board.
    pub(crate) async fn create(
        &self,
        caller: &Caller,
        body: BoardCreation,
    ) -> Result<BoardChange, ApiError> {
        check_organiser(caller)?;
        let now_ms = self.clock.now_ms();
        let (id, tasks) = (body.board, body.tasks.as_deref());
        let created = self
            .service()?
            .create_of_tasks(now_ms, &id, body.definition, tasks);
        let records = created.await?;
        self.changed(caller, &id, &records, None).await
    }

    /// Exports a board as it is now, and returns the archive in chunks.
    pub(crate) async fn export(
        self: &Arc<Self>,
        board: &str,
        audience: Audience,
    ) -> Result<Receiver<io::Result<Bytes>>, ApiError> {
        let id = self.id_of(board).await?;
        let failed = |error: String| ApiError::Failed(error);
        let permit = Arc::clone(&self.exports).acquire_owned().await;
        let permit = permit.map_err(|error| failed(error.to_string()))?;
        let folder = tempfile::tempdir().map_err(|error| failed(error.to_string()))?;
        let (runtime, boards) = (tokio::runtime::Handle::current(), Arc::clone(self));
        let (at, name) = (folder.path().join("export"), id.to_string());
        let root = at.clone();
        let exported = blocking(move || {
            let references = boards.references.clone();
            let exported = export_board(boards.service()?, &id, &at, audience, references);
            Ok::<_, ApiError>(runtime.block_on(exported).map(drop)?)
        });
        exported.await??;
        Ok(archive_folder(name, root, (folder, permit)))
    }

    /// Announces runs. The time is that of the server.
    pub(crate) async fn register(
        &self,
        caller: &Caller,
        board: &str,
        body: RegistrationBody,
    ) -> Result<BoardChange, ApiError> {
        let actor = author(caller)?;
        check_id("registration", body.registration.as_str())?;
        let id = self.id_of(board).await?;
        let command = Command::Register {
            registration: body.registration,
            system: Box::new(body.system),
            seeds: body.seeds,
        };
        self.execute(caller, &id, &actor, &command, None).await
    }

    /// Submits a system, and replays its runs.
    pub(crate) async fn submit(
        self: &Arc<Self>,
        caller: &Caller,
        board: &str,
        body: SubmissionBody,
    ) -> Result<BoardChange, ApiError> {
        let actor = author(caller)?;
        check_id("entry", body.entry.as_str())?;
        let id = self.id_of(board).await?;
        let submission = Submission {
            actor,
            registration: body.registration,
            runs: body.runs.into_iter().map(RunFiles::from_texts).collect(),
            ..Submission::default()
        };
        let (runtime, boards) = (tokio::runtime::Handle::current(), Arc::clone(self));
        let (at, entry) = (id.clone(), body.entry.clone());
        // Replays compute for long, and hosted games block.
        let submitted = blocking(move || {
            let catalog = boards.games.catalog().as_ref();
            let now_ms = boards.clock.now_ms();
            let service = boards.service()?;
            let submitted = service.submit(&at, now_ms, &entry, body.system, submission, catalog);
            Ok::<_, ApiError>(runtime.block_on(submitted)?)
        });
        let records = submitted.await??;
        self.changed(caller, &id, &records, Some(&body.entry)).await
    }

    /// Changes a board.
    pub(crate) async fn change(
        self: &Arc<Self>,
        caller: &Caller,
        board: &str,
        request: BoardRequest,
    ) -> Result<BoardChange, ApiError> {
        let entry = request.entry().cloned();
        let actor = self.actor_of(caller, board, &request).await?;
        let id = self.id_of(board).await?;
        if let BoardRequest::Witness { entry, cards } = &request {
            let now_ms = self.clock.now_ms();
            let plays = self.plays.as_ref();
            let witnessed = self.service()?.witness(&id, now_ms, entry, cards, plays);
            let records = witnessed.await?;
            return self.changed(caller, &id, &records, Some(entry)).await;
        }
        if let BoardRequest::Rescore { note } = request {
            let (runtime, boards) = (tokio::runtime::Handle::current(), Arc::clone(self));
            let at = id.clone();
            let rescored = blocking(move || {
                let catalog = boards.games.catalog().as_ref();
                let now_ms = boards.clock.now_ms();
                let rescored = boards.service()?.rescore(&at, now_ms, &note, catalog);
                Ok::<_, ApiError>(runtime.block_on(rescored)?)
            });
            let records = rescored.await??;
            return self.changed(caller, &id, &records, None).await;
        }
        if let BoardRequest::Erase { entry } = &request {
            let now_ms = self.clock.now_ms();
            let erased = self.service()?.erase(&id, now_ms, &actor, entry);
            let records = erased.await?;
            return self.changed(caller, &id, &records, Some(entry)).await;
        }
        let command = command(request);
        self.execute(caller, &id, &actor, &command, entry.as_ref())
            .await
    }

    /// Returns the name under which the log records a change, if the caller may make it.
    async fn actor_of(
        &self,
        caller: &Caller,
        board: &str,
        request: &BoardRequest,
    ) -> Result<String, ApiError> {
        match request {
            BoardRequest::Contest { .. } => author(caller),
            BoardRequest::Erase { entry } if !caller.is_admin() => {
                self.submitter(caller, board, entry).await
            }
            BoardRequest::Retract {
                reason: RetractionReason::Author,
                entry,
                ..
            } => self.submitter(caller, board, entry).await,
            _ => {
                check_organiser(caller)?;
                Ok(ORGANISER.to_owned())
            }
        }
    }

    /// Returns the name of the key that submitted a row, if it is the caller's.
    async fn submitter(
        &self,
        caller: &Caller,
        board: &str,
        entry: &EntryId,
    ) -> Result<String, ApiError> {
        let actor = author(caller)?;
        let newest = self.newest(board).await?;
        let row = newest.board.state().entries.get(entry);
        if row.is_some_and(|row| row.actor != actor) {
            return Err(ApiError::BoardForbidden(
                "only the key that submitted the row may retract it for the reason `author`, or erase its names",
            ));
        }
        Ok(actor)
    }

    async fn id_of(&self, board: &str) -> Result<BoardId, ApiError> {
        Ok(self.newest(board).await?.board.state().id.clone())
    }

    async fn execute(
        &self,
        caller: &Caller,
        id: &BoardId,
        actor: &str,
        command: &Command,
        entry: Option<&EntryId>,
    ) -> Result<BoardChange, ApiError> {
        let now_ms = self.clock.now_ms();
        let executed = self
            .service()?
            .execute(id, now_ms, actor, command, Vec::new());
        let records = executed.await?;
        self.changed(caller, id, &records, entry).await
    }

    async fn changed(
        &self,
        caller: &Caller,
        id: &BoardId,
        records: &[BoardRecord],
        entry: Option<&EntryId>,
    ) -> Result<BoardChange, ApiError> {
        let newest = self.newest(id.as_str()).await?;
        let (audience, records, entry) = (audience(caller), records.to_vec(), entry.cloned());
        blocking(move || board_change(&newest.board, audience, &records, entry.as_ref())).await
    }
}

/// Continues a known board, or rebuilds a board from its whole log.
fn advanced(known: Option<&BoardState>, records: &[BoardRecord]) -> Result<Board, ReplayError> {
    match known {
        Some(known) => {
            let mut board = known.board.clone();
            board.commit(records)?;
            Ok(board)
        }
        None => Board::replay(records),
    }
}

/// Returns the numbers of the records of each row.
fn history(known: Option<&BoardState>, records: &[BoardRecord]) -> HashMap<EntryId, Vec<u64>> {
    let mut history = known.map_or_else(HashMap::new, |known| known.history.clone());
    for record in records {
        if let Some(entry) = record.event.entry() {
            history.entry(entry.clone()).or_default().push(record.seq);
        }
    }
    history
}

/// Returns the name under which the log records what an author does.
fn author(caller: &Caller) -> Result<String, ApiError> {
    match caller.key {
        Some(key) if !caller.visitor => Ok(format!("key {key}")),
        _ => Err(ApiError::BoardForbidden(
            "boards are changed with an API key of the server's operator, or with `rhae board` on the server",
        )),
    }
}

fn check_organiser(caller: &Caller) -> Result<(), ApiError> {
    if caller.is_admin() {
        Ok(())
    } else {
        Err(ApiError::BoardForbidden(
            "only the organiser, who has an admin key, may do this",
        ))
    }
}

fn check_id(field: &'static str, id: &str) -> Result<(), ApiError> {
    let expected = "1 to 40 lower-case letters, digits and hyphens";
    check_board_id(id)
        .map(|_| ())
        .map_err(|_| ApiError::Field { field, expected })
}

fn command(request: BoardRequest) -> Command {
    match request {
        BoardRequest::Retract {
            entry,
            reason,
            note,
        } => Command::Retract {
            entry,
            reason,
            note,
        },
        BoardRequest::Contest { entry, text } => Command::Contest { entry, text },
        BoardRequest::Answer { entry, text } => Command::Answer { entry, text },
        BoardRequest::Flag {
            entry,
            flag,
            evidence,
        } => Command::Flag {
            entry,
            flag,
            evidence,
        },
        BoardRequest::Unflag {
            entry,
            flag,
            reason,
        } => Command::Unflag {
            entry,
            flag,
            reason,
        },
        BoardRequest::Witness { entry, cards } => Command::Witness { entry, cards },
        BoardRequest::Certify { entry, statement } => Command::Certify { entry, statement },
        BoardRequest::Release => Command::Release,
        // The service verifies the stored runs before it executes this command.
        BoardRequest::Rescore { note } => Command::Rescore {
            note,
            rows: Vec::new(),
        },
        BoardRequest::Erase { entry } => Command::Erase { entry },
        BoardRequest::Close { reason } => Command::Close { reason },
    }
}

impl From<BoardError> for ApiError {
    fn from(error: BoardError) -> Self {
        use rhae_board::Rejection;
        match error {
            BoardError::Store(error) => error.into(),
            BoardError::Rejected(
                rejection @ (Rejection::UnknownEntry(_) | Rejection::UnknownRegistration(_)),
            ) => Self::BoardItem(rejection.to_string()),
            BoardError::Unknown(board) => Self::NoSuchBoard(board.to_string()),
            BoardError::Rejected(_)
            | BoardError::Exists(_)
            | BoardError::Run(_)
            | BoardError::Witness(_)
            | BoardError::Tasks(_)
            | BoardError::People(_)
            | BoardError::Submission { .. }
            | BoardError::Export(_) => Self::BoardRejected(error.to_string()),
            BoardError::Id(_) => Self::Field {
                field: "id",
                expected: "1 to 40 lower-case letters, digits and hyphens",
            },
            BoardError::Contended(_) => {
                Self::Unavailable(StoreError::Unavailable(error.to_string()))
            }
            BoardError::Log { .. } | BoardError::File { .. } => Self::Failed(error.to_string()),
        }
    }
}
