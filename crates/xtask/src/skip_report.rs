//! The tests of a run that were skipped or ran in a short form.
//!
//! Tests append records to a file (see [`rhae_testkit::SkipRecord`]). After the run the report lists
//! every record with its reason. In CI a skipped test is an error, except that the public data may
//! be absent, because they are not part of the repository.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rhae_testkit::{SkipKind, SkipRecord};

use crate::root;

/// A file that collects records while tests run.
pub(crate) struct SkipReport {
    path: PathBuf,
}

impl SkipReport {
    /// Creates an empty report in `target`.
    pub(crate) fn create() -> Result<Self> {
        Self::create_in(&root().join("target"))
    }

    /// Creates an empty report. The folder does not exist in a new clone if cargo's target folder is
    /// another one.
    fn create_in(folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot create `{}`", folder.display()))?;
        let path = folder.join("skipped-tests.jsonl");
        fs::write(&path, "").with_context(|| format!("cannot write `{}`", path.display()))?;
        Ok(Self { path })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a record about a test or a whole suite.
    pub(crate) fn add(&self, kind: SkipKind, test: &str, reason: &str) -> Result<()> {
        let record = SkipRecord {
            kind,
            test: test.to_owned(),
            reason: reason.to_owned(),
        };
        let text = fs::read_to_string(&self.path)? + &record.to_line();
        Ok(fs::write(&self.path, text)?)
    }

    /// Reads the records. A test that reported itself several times is listed once.
    pub(crate) fn read(&self) -> Result<Skipped> {
        let text = fs::read_to_string(&self.path)?;
        let parse = |line: &str| {
            SkipRecord::parse(line).with_context(|| format!("`{line}` is not a skipped test"))
        };
        let records: BTreeSet<SkipRecord> = text.lines().map(parse).collect::<Result<_>>()?;
        Ok(Skipped(records))
    }
}

/// The records of a run, in order and without duplicates.
pub(crate) struct Skipped(BTreeSet<SkipRecord>);

impl Skipped {
    fn of(&self, kinds: &[SkipKind]) -> Vec<&SkipRecord> {
        let records = self.0.iter();
        records
            .filter(|record| kinds.contains(&record.kind))
            .collect()
    }

    /// Returns whether CI accepts these records.
    pub(crate) fn is_allowed_in_ci(&self) -> bool {
        self.of(&[SkipKind::Missing]).is_empty()
    }

    /// Returns one line for each record, with its reason.
    pub(crate) fn lines(&self) -> Vec<String> {
        let line = |record: &SkipRecord| {
            let label = match record.kind {
                SkipKind::Missing | SkipKind::NoData => "skipped",
                SkipKind::Short => "not in this run (--full)",
            };
            format!("{label}: {}: {}", record.test, record.reason)
        };
        let order = [SkipKind::Short, SkipKind::NoData, SkipKind::Missing];
        let records = order.into_iter().flat_map(|kind| self.of(&[kind]));
        records.map(line).collect()
    }

    /// Returns the closing line: how many tests were skipped, and which.
    pub(crate) fn summary(&self) -> String {
        let skipped = self.of(&[SkipKind::Missing, SkipKind::NoData]);
        let short = self.of(&[SkipKind::Short]).len();
        let names: Vec<&str> = skipped.iter().map(|record| record.test.as_str()).collect();
        let skipped = match names.len() {
            0 => "no test was skipped".to_owned(),
            1 => format!("1 test was skipped: {}", names[0]),
            count => format!("{count} tests were skipped: {}", names.join(", ")),
        };
        match short {
            0 => skipped,
            _ => format!("{skipped}; tests with a longer form (--full): {short}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skipped(records: &[(SkipKind, &str)]) -> Skipped {
        let record = |&(kind, test): &(SkipKind, &str)| SkipRecord {
            kind,
            test: test.to_owned(),
            reason: "a reason".to_owned(),
        };
        Skipped(records.iter().map(record).collect())
    }

    #[test]
    fn summary_counts_and_names_skipped_tests() {
        assert_eq!(skipped(&[]).summary(), "no test was skipped");
        let all = skipped(&[
            (SkipKind::Short, "crash"),
            (SkipKind::NoData, "solve"),
            (SkipKind::Missing, "play"),
            (SkipKind::Missing, "play"),
        ]);
        assert_eq!(
            all.summary(),
            "2 tests were skipped: play, solve; tests with a longer form (--full): 1"
        );
        assert_eq!(
            all.lines(),
            [
                "not in this run (--full): crash: a reason",
                "skipped: solve: a reason",
                "skipped: play: a reason"
            ]
        );
    }

    #[test]
    fn report_is_created_in_a_new_folder_and_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let report = SkipReport::create_in(&folder.path().join("target")).unwrap();
        report
            .add(SkipKind::NoData, "suite shuffled tasks", "no public data")
            .unwrap();
        assert_eq!(
            report.read().unwrap().lines(),
            ["skipped: suite shuffled tasks: no public data"]
        );
    }

    #[test]
    fn ci_allows_only_absent_data_and_short_forms() {
        assert!(skipped(&[]).is_allowed_in_ci());
        assert!(
            skipped(&[(SkipKind::NoData, "solve"), (SkipKind::Short, "crash")]).is_allowed_in_ci()
        );
        assert!(!skipped(&[(SkipKind::Missing, "play")]).is_allowed_in_ci());
    }
}
