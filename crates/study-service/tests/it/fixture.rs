//! A study in a test database.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rhae_protocol::{Devices, SittingId, StudyId, StudyProtocol, StudyRecord, StudyStage};
use rhae_store::Database;
use rhae_study::{
    Command, Moment, PersonCommand, Preset, SetupCommand, SittingCommand, text_digest,
};
use rhae_study_service::{StudyError, StudyService};
use rhae_testkit::Postgres;
use tempfile::TempDir;

pub(crate) const START_MS: u64 = 1_794_736_800_000;
const CONSENT: &str = "You play games for 90 minutes.";

/// A database and the servers that use it.
pub(crate) struct Fixture {
    backend: Backend,
    servers: Vec<(Database, StudyService)>,
}

enum Backend {
    Sqlite(TempDir),
    Postgres(Postgres),
}

impl Fixture {
    /// Creates a database file with one server.
    pub(crate) async fn sqlite() -> Self {
        Self::with(Backend::Sqlite(tempfile::tempdir().unwrap()), 1).await
    }

    /// Starts PostgreSQL with some servers. Returns `None` if PostgreSQL is not installed and the
    /// environment allows that.
    pub(crate) async fn postgres(servers: usize) -> Option<Self> {
        Some(Self::with(Backend::Postgres(Postgres::start()?), servers).await)
    }

    async fn with(backend: Backend, servers: usize) -> Self {
        let mut fixture = Self {
            backend,
            servers: Vec::new(),
        };
        for _ in 0..servers {
            let database = Database::open(&fixture.db()).await.unwrap();
            let service = StudyService::new(database.studies());
            fixture.servers.push((database, service));
        }
        fixture
    }

    pub(crate) fn db(&self) -> PathBuf {
        match &self.backend {
            Backend::Sqlite(folder) => folder.path().join("rhae.db"),
            Backend::Postgres(server) => server.url().into(),
        }
    }

    /// Returns a server. Numbers beyond the last one start again with the first.
    pub(crate) fn server(&self, number: usize) -> &StudyService {
        &self.servers[number % self.servers.len()].1
    }

    pub(crate) fn database(&self) -> &Database {
        &self.servers[0].0
    }

    /// Returns a server that has not read anything yet.
    pub(crate) fn restarted(&self) -> StudyService {
        StudyService::new(self.database().studies())
    }
}

/// Returns the id of the study of all tests.
pub(crate) fn lab() -> StudyId {
    "lab".into()
}

/// Returns the protocol of a preset with a consent text.
pub(crate) fn protocol(preset: Preset) -> StudyProtocol {
    let mut protocol = preset.protocol();
    protocol.consent.get_mut("en").unwrap().text = CONSENT.to_owned();
    protocol
}

/// Creates and opens a study.
pub(crate) async fn open_study(
    service: &StudyService,
    protocol: StudyProtocol,
    environments: &[(&str, u32)],
) {
    let moment = Moment::at(START_MS);
    service.create(moment, &lab(), "Test", 7).await.unwrap();
    let mut commands = vec![
        SetupCommand::SetProtocol(Box::new(protocol)),
        SetupCommand::AddArm {
            arm: "all".into(),
            weight: 1,
            max_participants: None,
        },
        SetupCommand::AddSite {
            site: "online".into(),
            seats: 0,
            languages: BTreeSet::from(["en".to_owned()]),
            fee_minor: None,
        },
    ];
    for (environment, levels) in environments {
        commands.push(SetupCommand::AddEnvironment {
            environment: (*environment).into(),
            arm: "all".into(),
            levels: *levels,
            needs: Devices::default(),
        });
    }
    commands.extend([SetupCommand::Freeze, SetupCommand::Open]);
    for command in commands {
        run(service, START_MS, Command::Setup(command)).await;
    }
}

pub(crate) async fn attempt(
    service: &StudyService,
    at_ms: u64,
    command: Command,
) -> Result<Vec<StudyRecord>, StudyError> {
    let moment = Moment {
        now_ms: at_ms,
        contact_ms: Some(at_ms),
    };
    service.execute(&lab(), moment, &command).await
}

pub(crate) async fn run(service: &StudyService, at_ms: u64, command: Command) -> Vec<StudyRecord> {
    let text = format!("{command:?}");
    match attempt(service, at_ms, command).await {
        Ok(records) => records,
        Err(error) => panic!("{text}: {error}"),
    }
}

/// Enrols a person, who consents and starts the sitting `s-ID`.
pub(crate) async fn arrive(service: &StudyService, at_ms: u64, id: &str) -> SittingId {
    let enrol = PersonCommand::Enrol {
        person_key: format!("key-{id}").as_str().into(),
        site: "online".into(),
        source: "panel".to_owned(),
        stage: StudyStage::Live,
        families_seen: BTreeSet::new(),
    };
    let consent = PersonCommand::Consent {
        text: text_digest(CONSENT),
        language: "en".to_owned(),
        publish_replays: true,
        later_contact: false,
    };
    for command in [enrol, consent] {
        run(service, at_ms, Command::Person(id.into(), command)).await;
    }
    let sitting = SittingId::from(format!("s-{id}").as_str());
    let start = SittingCommand::Start {
        participant: id.into(),
        seat: None,
    };
    run(service, at_ms, Command::Sitting(sitting.clone(), start)).await;
    sitting
}

/// Checks that the stored log gives the state that a server has in memory.
pub(crate) async fn assert_replayable(fixture: &Fixture) {
    let stored = fixture.restarted().read(&lab(), Clone::clone).await;
    let stored = stored.unwrap();
    for number in 0..fixture.servers.len() {
        let cached = fixture.server(number).read(&lab(), Clone::clone).await;
        assert!(cached.unwrap() == stored, "server {number} differs");
    }
}

/// Creates a test for SQLite, and one for two servers with one PostgreSQL.
macro_rules! on_both_databases {
    ($($rule:ident),* $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $rule() {
                super::$rule(&crate::fixture::Fixture::sqlite().await).await;
            })*
        }
        mod two_servers {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $rule() {
                if let Some(fixture) = crate::fixture::Fixture::postgres(2).await {
                    super::$rule(&fixture).await;
                }
            })*
        }
    };
}
pub(crate) use on_both_databases;

/// Executes a statement on a database file directly.
pub(crate) fn sql(db: &Path, statement: &str) {
    rusqlite::Connection::open(db)
        .unwrap()
        .execute_batch(statement)
        .unwrap();
}
