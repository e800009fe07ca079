//! Verifies a study in its database: its log, the counts of its plays, and its published numbers.

use rhae_engine::Catalog;
use rhae_protocol::{BaselineFile, StudyId, StudyVerification};
use rhae_store::Store;
use rhae_study::{Finding, Study, verify_study};

use crate::counts::{CountError, count_play};
use crate::{StudyError, StudyService};

/// Verifies the chain of the log, the automatic exclusions, the ledger, every published baseline,
/// and the counts of every attempt against a replay of its play.
///
/// # Errors
///
/// Returns [`StudyError`] if the study cannot be read. What does not agree is a finding, not an
/// error.
pub async fn verify_stored_study(
    service: &StudyService,
    store: &dyn Store,
    catalog: &dyn Catalog,
    id: &StudyId,
) -> Result<StudyVerification, StudyError> {
    let records = service.records(id).await?;
    let mut unreadable = Vec::new();
    let mut files: Vec<BaselineFile> = Vec::new();
    for file in service.files(id).await? {
        match serde_json::from_str(&file.content) {
            Ok(baselines) => files.push(baselines),
            Err(error) => unreadable.push(format!(
                "the published file `{}` cannot be read: {error}",
                file.name
            )),
        }
    }
    let mut findings = verify_study(&records, &files);
    // The inputs of a publication that were erased are a fact of the study, not a fault.
    findings.retain(|finding| !matches!(finding, Finding::ErasedInputs { .. }));
    let mut verification = StudyVerification {
        study: id.clone(),
        records: records.len(),
        replayed: 0,
        publications: files.len(),
        findings: findings.iter().map(ToString::to_string).collect(),
    };
    verification.findings.extend(unreadable);
    if let Ok(study) = Study::replay(&records) {
        count_attempts(&study, store, catalog, &mut verification).await?;
    }
    Ok(verification)
}

async fn count_attempts(
    study: &Study,
    store: &dyn Store,
    catalog: &dyn Catalog,
    verification: &mut StudyVerification,
) -> Result<(), StudyError> {
    for (id, sitting) in &study.state().sittings {
        for (position, _, attempt) in sitting.ended() {
            let counted = count_play(store, catalog, &attempt.play, sitting, attempt.started_ms);
            match counted.await {
                Ok(counts) if counts == attempt.counts => {}
                Ok(_) => verification.findings.push(format!(
                    "sitting `{id}`, attempt {position}: the counts differ from the replayed play `{}`",
                    attempt.play
                )),
                Err(CountError::Store(error)) => return Err(error.into()),
                Err(error) => verification
                    .findings
                    .push(format!("sitting `{id}`, attempt {position}: {error}")),
            }
            verification.replayed += 1;
        }
    }
    Ok(())
}
