//! Executes the commands of studies.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rhae_protocol::{StudyChain, StudyEvent, StudyId, StudyRecord};
use rhae_store::{PlayId, StoreError, StudyAppend, StudyFile, StudyStore};
use rhae_study::{Command, Moment, Rejection, Study, canonical_json};
use tokio::sync::{Mutex as AsyncMutex, MutexGuard};

use crate::StudyError;

/// The number of records per read.
const PAGE: u32 = 5_000;
/// How long a command is decided again because other servers have appended first. The server that
/// has just appended does not read before its next append, so it may win many times in a row. The
/// limit is a time, shorter than the timeouts of clients, and not a number of attempts.
const MAX_CONTENTION: Duration = Duration::from_secs(8);

/// The studies of a database.
///
/// The state of a study stays in memory after its first use, and only newer records are read later.
/// Commands of one study are executed one after the other. Servers that share a database find out
/// about each other's records when they append: the store accepts an append only after the last
/// record.
///
/// # Examples
///
/// ```
/// use rhae_store::Database;
/// use rhae_study::{Command, Moment, Preset, SetupCommand};
/// use rhae_study_service::StudyService;
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let folder = tempfile::tempdir()?;
/// let database = Database::open(&folder.path().join("rhae.db")).await?;
/// let service = StudyService::new(database.studies());
/// let lab = "lab".into();
/// service.create(Moment::at(1_000), &lab, "Pilot", 7).await?;
///
/// let protocol = Box::new(Preset::Rhae1.protocol());
/// let command = Command::Setup(SetupCommand::SetProtocol(protocol));
/// service.execute(&lab, Moment::at(2_000), &command).await?;
/// assert_eq!(service.read(&lab, |study| study.last_seq()).await?, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct StudyService {
    store: Arc<dyn StudyStore>,
    slots: Mutex<BTreeMap<StudyId, Arc<Slot>>>,
}

/// A study in memory.
#[derive(Default)]
struct Slot {
    /// `None` before it was loaded.
    study: AsyncMutex<Option<Study>>,
    /// When the last read of the database began.
    read_at: Mutex<Option<Instant>>,
}

impl Slot {
    /// Returns whether a read of the database began after this time.
    fn was_read_after(&self, time: Instant) -> bool {
        let read_at = self.read_at.lock().unwrap_or_else(PoisonError::into_inner);
        read_at.is_some_and(|read_at| read_at > time)
    }

    fn set_read_at(&self, time: Instant) {
        *self.read_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(time);
    }
}

/// Checks that a text can be the id of a study.
///
/// # Errors
///
/// Returns [`StudyError::Id`] if it cannot.
pub fn check_study_id(id: &str) -> Result<StudyId, StudyError> {
    let plain =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-');
    if (1..=40).contains(&id.len()) && id.bytes().all(plain) {
        Ok(StudyId::from(id))
    } else {
        Err(StudyError::Id(id.to_owned()))
    }
}

impl StudyService {
    pub fn new(store: Arc<dyn StudyStore>) -> Self {
        Self {
            store,
            slots: Mutex::default(),
        }
    }

    /// Creates a study.
    ///
    /// # Errors
    ///
    /// Returns [`StudyError::Id`] for an id that is not valid, and [`StudyError::Exists`] if there
    /// is a study with this id.
    pub async fn create(
        &self,
        moment: Moment,
        id: &StudyId,
        title: &str,
        seed: u64,
    ) -> Result<(), StudyError> {
        check_study_id(id.as_str())?;
        let (_, records) = Study::create(moment, id.clone(), title, seed);
        let append = StudyAppend {
            study: id.clone(),
            last_seq: 0,
            records,
            removed: Vec::new(),
            removed_plays: Vec::new(),
            file: None,
        };
        match self.store.append_study(append).await {
            Err(StoreError::StudyConflict(_)) => Err(StudyError::Exists(id.clone())),
            other => Ok(other?),
        }
    }

    /// Returns the ids of all studies in ascending order.
    ///
    /// # Errors
    ///
    /// Returns [`StudyError::Store`] if the database fails.
    pub async fn list(&self) -> Result<Vec<StudyId>, StudyError> {
        Ok(self.store.studies().await?)
    }

    /// Passes the newest state of a study to a function. It contains everything that was appended
    /// before the call, by any server. Calls that wait for each other share a read of the database.
    ///
    /// # Errors
    ///
    /// Returns [`StudyError::Unknown`] if there is no such study, and [`StudyError::Log`] if its log
    /// is not valid.
    pub async fn read<T>(
        &self,
        id: &StudyId,
        read: impl FnOnce(&Study) -> T,
    ) -> Result<T, StudyError> {
        let called_at = Instant::now();
        let slot = self.slot(id);
        let mut study = slot.study.lock().await;
        if study.is_none() || !slot.was_read_after(called_at) {
            let begun_at = Instant::now();
            self.catch_up(id, &mut study).await?;
            slot.set_read_at(begun_at);
        }
        Ok(read(loaded(&study)))
    }

    /// Executes a command and returns the records it caused. A command that was executed before may
    /// cause none.
    ///
    /// # Errors
    ///
    /// Returns [`StudyError::Rejected`] if the rules do not accept the command, and the errors of
    /// [`StudyService::read`].
    pub async fn execute(
        &self,
        id: &StudyId,
        moment: Moment,
        command: &Command,
    ) -> Result<Vec<StudyRecord>, StudyError> {
        self.execute_with(id, moment, |_| Ok(command.clone())).await
    }

    /// Executes a command that depends on the state. If another server has appended in the
    /// meantime, `make` is called again with the newer state.
    ///
    /// # Errors
    ///
    /// Returns the error of `make`, and those of [`StudyService::execute`].
    pub async fn execute_with(
        &self,
        id: &StudyId,
        moment: Moment,
        make: impl Fn(&Study) -> Result<Command, Rejection>,
    ) -> Result<Vec<StudyRecord>, StudyError> {
        let slot = self.slot(id);
        let mut slot = slot.study.lock().await;
        let mut is_current = false;
        let started = Instant::now();
        while started.elapsed() < MAX_CONTENTION {
            if slot.is_none() {
                self.catch_up(id, &mut slot).await?;
                is_current = true;
            }
            let study = loaded(&slot);
            let decided = make(study).and_then(|command| {
                let records = study.prepare(moment, &command)?;
                Ok((command, records))
            });
            let (command, records) = match decided {
                Ok((command, records)) if !records.is_empty() => (command, records),
                // Another process may have changed what this answer rests on.
                _ if !is_current => {
                    self.catch_up(id, &mut slot).await?;
                    is_current = true;
                    continue;
                }
                Ok((_, records)) => return Ok(records),
                Err(rejection) => return Err(rejection.into()),
            };
            let append = StudyAppend {
                study: id.clone(),
                last_seq: study.last_seq(),
                removed: removed_chains(study, &records),
                removed_plays: removed_plays(study, &records),
                records: records.clone(),
                file: published_file(&command),
            };
            match self.store.append_study(append).await {
                Ok(()) => {
                    if let Some(study) = slot.as_mut() {
                        study.commit_prepared(&records);
                    }
                    return Ok(records);
                }
                Err(StoreError::StudyConflict(_)) => {
                    self.catch_up(id, &mut slot).await?;
                    is_current = true;
                }
                Err(error @ StoreError::CommitUnknown(_)) => {
                    let before = loaded(&slot).last_seq();
                    let count = u32::try_from(records.len()).unwrap_or(u32::MAX);
                    let stored = self.store.study_records(id, before, count).await?;
                    *slot = None;
                    if stored == records {
                        return Ok(records);
                    }
                    return Err(error.into());
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(StudyError::Contended(id.clone()))
    }

    /// Returns the whole log of a study.
    ///
    /// # Errors
    ///
    /// Returns [`StudyError::Unknown`] if there is no such study.
    pub async fn records(&self, id: &StudyId) -> Result<Vec<StudyRecord>, StudyError> {
        let records = self.records_after(id, 0).await?;
        if records.is_empty() {
            return Err(StudyError::Unknown(id.clone()));
        }
        Ok(records)
    }

    /// Returns the files that a study has published.
    ///
    /// # Errors
    ///
    /// Returns [`StudyError::Store`] if the database fails.
    pub async fn files(&self, id: &StudyId) -> Result<Vec<StudyFile>, StudyError> {
        Ok(self.store.study_files(id).await?)
    }

    async fn records_after(
        &self,
        id: &StudyId,
        mut after: u64,
    ) -> Result<Vec<StudyRecord>, StudyError> {
        let mut records = Vec::new();
        loop {
            let page = self.store.study_records(id, after, PAGE).await?;
            let Some(last) = page.last() else {
                return Ok(records);
            };
            after = last.seq;
            let is_last = page.len() < usize::try_from(PAGE).unwrap_or(usize::MAX);
            records.extend(page);
            if is_last {
                return Ok(records);
            }
        }
    }

    fn slot(&self, id: &StudyId) -> Arc<Slot> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(slots.entry(id.clone()).or_default())
    }

    /// Reads the records that are newer than the state in memory.
    async fn catch_up(
        &self,
        id: &StudyId,
        slot: &mut MutexGuard<'_, Option<Study>>,
    ) -> Result<(), StudyError> {
        let last_seq = slot.as_ref().map_or(0, Study::last_seq);
        let mut records = self.records_after(id, last_seq).await?;
        if records.is_empty() && slot.is_some() {
            return Ok(());
        }
        if let Some(study) = slot.take() {
            // Records that were erased before this server has read them leave a gap, which only the
            // whole log explains.
            let mut follows = records.iter().zip(last_seq + 1..);
            if follows.all(|(record, seq)| record.seq == seq)
                && let Ok(extended) = study.extended(&records)
            {
                **slot = Some(extended);
                return Ok(());
            }
            records = self.records_after(id, 0).await?;
        }
        if records.is_empty() {
            // The id was never used, so nothing is remembered for it.
            let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
            slots.remove(id);
            return Err(StudyError::Unknown(id.clone()));
        }
        let replayed = Study::replay(&records).map_err(|error| StudyError::Log {
            study: id.clone(),
            error,
        })?;
        **slot = Some(replayed);
        Ok(())
    }
}

fn loaded<'a>(slot: &'a MutexGuard<'_, Option<Study>>) -> &'a Study {
    slot.as_ref().expect("the study was loaded above")
}

/// Returns the chains that must disappear with the append of these records.
fn removed_chains(study: &Study, records: &[StudyRecord]) -> Vec<StudyChain> {
    let mut chains = Vec::new();
    for record in records {
        match &record.event {
            StudyEvent::Erased { participant, .. } => chains.extend(study.chains_of(participant)),
            StudyEvent::Forgotten { participants } => {
                chains.extend(participants.iter().cloned().map(StudyChain::Memory));
            }
            _ => {}
        }
    }
    chains
}

/// Returns the plays of the people who are erased by these records.
fn removed_plays(study: &Study, records: &[StudyRecord]) -> Vec<PlayId> {
    let mut plays = Vec::new();
    for record in records {
        if let StudyEvent::Erased { participant, .. } = &record.event {
            let sittings = study.state().sittings_of(participant);
            let attempts = sittings.flat_map(|(_, sitting)| sitting.ended());
            plays
                .extend(attempts.filter_map(|(_, _, attempt)| attempt.play.parse::<PlayId>().ok()));
        }
    }
    plays
}

fn published_file(command: &Command) -> Option<StudyFile> {
    match command {
        Command::Publish(file) => Some(StudyFile {
            name: format!("baselines-{:04}.json", file.revision),
            content: canonical_json(file),
        }),
        _ => None,
    }
}
