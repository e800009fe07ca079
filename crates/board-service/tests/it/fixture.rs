//! A board in a database, and runs of the random agent.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rhae_board::{Audience, Command, board_rows};
use rhae_board_service::{BoardError, BoardService, RunFiles, Submission, board_set};
use rhae_engine::{Catalog, GameInfo};
use rhae_games::Builtin;
pub(crate) use rhae_harness::RunRequest;
use rhae_harness::{HarnessError, LocationRequest};
use rhae_protocol::{
    BOARD_RULES, BoardAuthor, BoardDefinition, BoardId, BoardKind, BoardRow, BoardSystem, Exposure,
    SetVisibility,
};
use rhae_store::Database;
use rhae_study::text_digest;
use tempfile::TempDir;

/// The environments of the boards.
const GAMES: &str = "kq19,ym39,ny40";

/// A board with its database.
pub(crate) struct Desk {
    pub(crate) folder: TempDir,
    pub(crate) service: BoardService,
    pub(crate) id: BoardId,
    pub(crate) definition: BoardDefinition,
    pub(crate) now_ms: u64,
}

/// Returns the time, which runs write into their journals.
pub(crate) fn now_ms() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    u64::try_from(now.unwrap().as_millis()).unwrap()
}

impl Desk {
    /// Opens a database without a board.
    pub(crate) async fn empty(now_ms: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::open(&folder.path().join("rhae.db"))
            .await
            .unwrap();
        let infos: Vec<GameInfo> = GAMES
            .split(',')
            .map(|game| Builtin.find(game).unwrap())
            .collect();
        Self {
            service: BoardService::new(database.boards()),
            folder,
            id: "main".into(),
            definition: BoardDefinition {
                rules_version: BOARD_RULES,
                kind: BoardKind::Community,
                title: "Three environments".to_owned(),
                set: board_set("three", SetVisibility::Public, &infos),
                method: "docs-2026-04".to_owned(),
                budget: "5x".to_owned(),
                prompt_sha256: None,
                people: None,
            },
            now_ms,
        }
    }

    /// Creates a community board of three built-in environments.
    pub(crate) async fn community() -> Self {
        let desk = Self::empty(now_ms()).await;
        let created = desk
            .service
            .create(desk.now_ms, &desk.id, desk.definition.clone());
        created.await.unwrap();
        desk
    }

    /// Creates an official board, whose environments are not part of the program.
    pub(crate) async fn official() -> Self {
        let mut desk = Self::empty(now_ms()).await;
        let definition = &mut desk.definition;
        definition.kind = BoardKind::Official;
        definition.prompt_sha256 = Some(text_digest("prompt"));
        definition.set.visibility = SetVisibility::SemiPrivate;
        for (environment, id) in definition
            .set
            .environments
            .iter_mut()
            .zip(["zz01", "zz02", "zz03"])
        {
            environment.id = format!("{id}-v1").as_str().into();
            environment.built_in = false;
            environment
                .levels
                .iter_mut()
                .for_each(|level| level.provisional = false);
        }
        let created = desk
            .service
            .create(desk.now_ms, &desk.id, desk.definition.clone());
        created.await.unwrap();
        desk
    }

    pub(crate) async fn execute(&self, actor: &str, command: &Command) -> Result<(), BoardError> {
        let executed = self
            .service
            .execute(&self.id, self.now_ms, actor, command, Vec::new());
        executed.await.map(|_| ())
    }

    pub(crate) async fn register(
        &self,
        registration: &str,
        system: &BoardSystem,
        seeds: &[u64],
    ) -> Result<(), BoardError> {
        let command = Command::Register {
            registration: registration.into(),
            system: Box::new(system.clone()),
            seeds: seeds.to_vec(),
        };
        self.execute("Ada", &command).await
    }

    pub(crate) async fn submit(
        &self,
        entry: &str,
        system: &BoardSystem,
        registration: Option<&str>,
        runs: &[&PathBuf],
    ) -> Result<(), BoardError> {
        let submission = Submission {
            actor: system.authors[0].name.clone(),
            registration: registration.map(Into::into),
            runs: runs
                .iter()
                .map(|run| RunFiles::read(run).unwrap())
                .collect(),
            ..Submission::default()
        };
        let (entry, system) = (entry.into(), system.clone());
        let submitted =
            self.service
                .submit(&self.id, self.now_ms, &entry, system, submission, &Builtin);
        submitted.await.map(|_| ())
    }

    pub(crate) async fn rows(&self) -> Vec<BoardRow> {
        let board = self.service.load(&self.id).await.unwrap();
        board_rows(board.state(), Audience::Public)
    }

    pub(crate) async fn row(&self, entry: &str) -> BoardRow {
        let mut rows = self.rows().await.into_iter();
        rows.find(|row| row.entry.as_str() == entry).unwrap()
    }
}

pub(crate) fn system(name: &str, author: &str) -> BoardSystem {
    BoardSystem {
        name: name.to_owned(),
        version: "1".to_owned(),
        authors: vec![BoardAuthor {
            name: author.to_owned(),
            link: "https://example.org".to_owned(),
            affiliation: None,
        }],
        description: "It walks at random.".to_owned(),
        code_url: "https://example.org/code".to_owned(),
        models: vec!["none".to_owned()],
        exposure: Exposure::None,
        hardware: None,
        paper_url: None,
    }
}

/// Returns all files below a folder.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .flat_map(|path| {
            if path.is_dir() {
                files(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

/// Replaces the byte in the middle of a file, and returns the old content.
pub(crate) fn change_byte(path: &Path) -> Vec<u8> {
    let old = fs::read(path).unwrap();
    let mut new = old.clone();
    let middle = new.len() / 2;
    let at = (middle..new.len()).find(|&at| new[at].is_ascii_alphanumeric());
    let at = at.unwrap_or(middle);
    new[at] = if new[at] == b'0' { b'1' } else { b'0' };
    fs::write(path, new).unwrap();
    old
}

/// Plays the environments with the random agent, and returns the run folder.
pub(crate) fn play(folder: &Path, name: &str, seed: u64, repeat: u32) -> PathBuf {
    let request = RunRequest {
        games: Some(GAMES.to_owned()),
        seed,
        repeat,
        ..RunRequest::default()
    };
    play_request(folder, name, request)
}

/// Plays what a request says with the random agent, and returns the run folder.
pub(crate) fn play_request(folder: &Path, name: &str, request: RunRequest) -> PathBuf {
    let out = folder.join(name);
    let request = RunRequest {
        agent: "random".to_owned(),
        out: Some(out.clone()),
        ..request
    };
    let load = |_: &[PathBuf]| Ok::<_, HarnessError>(Arc::new(Builtin) as Arc<dyn Catalog>);
    let run = LocationRequest::default().prepare(request, load).unwrap();
    run.execute(&AtomicBool::new(false), &mut |_| {}, &|_| {})
        .unwrap();
    out
}
