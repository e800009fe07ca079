use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use rhae_protocol::{Digest, UnitKey, ValidationTask, ValidationWork, WorkKind};
use rhae_runs::RunsError;

use crate::{NamedUnit, Workload};

/// What is stored, which survives a coordinator.
#[derive(Debug, Default)]
pub(super) struct Disk {
    pub(super) results: BTreeMap<UnitKey, String>,
    pub(super) lines: BTreeMap<UnitKey, Vec<String>>,
    pub(super) spent: u64,
}

/// Work whose result is the name of its unit.
pub(super) struct TestWork {
    units: Vec<NamedUnit>,
    digests: BTreeMap<String, String>,
    disk: Arc<Mutex<Disk>>,
}

impl TestWork {
    pub(super) fn new(disk: &Arc<Mutex<Disk>>) -> Self {
        let units = (0..4).map(|unit| NamedUnit {
            key: UnitKey(format!("unit{unit}")),
            name: format!("unit {unit}"),
        });
        Self {
            units: units.collect(),
            digests: BTreeMap::new(),
            disk: Arc::clone(disk),
        }
    }
}

impl Workload for TestWork {
    type Task = ValidationTask;
    type Report = String;
    type Verified = String;

    fn kind(&self) -> WorkKind {
        WorkKind::Validation(Box::new(ValidationWork {
            seed: 0,
            env_seed: 0,
            steps: None,
            strict: false,
            nodes: None,
            deep: false,
            rules: Vec::new(),
            jobs: 1,
            recordings: Vec::new(),
            games_dirs: Vec::new(),
        }))
    }

    fn source_digests(&self) -> &BTreeMap<String, String> {
        &self.digests
    }

    fn units(&self) -> &[NamedUnit] {
        &self.units
    }

    fn is_stored(&self, unit: &UnitKey) -> bool {
        self.disk.lock().unwrap().results.contains_key(unit)
    }

    fn task(&self, unit: &UnitKey) -> Result<ValidationTask, RunsError> {
        let disk = self.disk.lock().unwrap();
        let lines = disk.lines.get(unit).cloned().unwrap_or_default();
        Ok(ValidationTask {
            game_id: lines.join(" "),
        })
    }

    fn verify(&self, unit: &UnitKey, report: String) -> Result<(Digest, String), String> {
        if report == unit.0 {
            Ok((Digest(report.clone()), report))
        } else {
            Err("it is of another unit".to_owned())
        }
    }

    fn store(&self, unit: &UnitKey, result: String) -> Result<(), RunsError> {
        let earlier = self
            .disk
            .lock()
            .unwrap()
            .results
            .insert(unit.clone(), result);
        assert_eq!(earlier, None, "{unit} has two results");
        Ok(())
    }

    fn append_log(&self, unit: &UnitKey, epoch: u64, lines: &[String]) -> Result<(), String> {
        let mut disk = self.disk.lock().unwrap();
        let log = disk.lines.entry(unit.clone()).or_default();
        log.extend(lines.iter().map(|line| format!("{epoch}:{line}")));
        Ok(())
    }
}
