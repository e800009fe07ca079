//! Verification of a study: its log, its automatic exclusions, its books and its published numbers.

use rhae_protocol::{
    BaselineFile, ExclusionBasis, ExclusionId, SittingId, StudyEvent, StudyRecord,
};

use crate::baselines::publishable_baselines;
use crate::canonical::digest;
use crate::low_effort::{EffortVerdict, LOW_EFFORT, sitting_effort};
use crate::pay::books_balance;
use crate::state::StudyState;
use crate::study::{ReplayError, Study};

/// What a verification found. A study without findings is verified.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Finding {
    #[error("the log is not valid: {0}")]
    Log(ReplayError),
    #[error("the sitting `{0}` should be excluded for low effort")]
    MissingExclusion(SittingId),
    #[error("the exclusion `{0}` does not follow from the log")]
    UnfoundedExclusion(ExclusionId),
    #[error("the ledger differs from the sittings")]
    Books,
    #[error("revision {0} of the baselines was published, but its file was not given")]
    MissingFile(u32),
    #[error("the file of revision {0} has another hash than the published one")]
    FileHash(u32),
    #[error("revision {0} of the baselines differs from what the log gives at its publication")]
    Baselines(u32),
    #[error("revision {revision} cannot be computed again: {erased} of its inputs were erased")]
    ErasedInputs { revision: u32, erased: usize },
}

/// Verifies a log and the baseline files that were published from it. Each publication is computed
/// again from the records before it.
pub fn verify_study(records: &[StudyRecord], files: &[BaselineFile]) -> Vec<Finding> {
    let study = match Study::replay(records) {
        Ok(study) => study,
        Err(error) => return vec![Finding::Log(error)],
    };
    let state = study.state();
    let mut findings = exclusions(state);
    if !books_balance(state) {
        findings.push(Finding::Books);
    }
    for publication in &state.published {
        let revision = publication.revision;
        let Some(file) = files.iter().find(|file| file.revision == revision) else {
            findings.push(Finding::MissingFile(revision));
            continue;
        };
        if digest(file) != publication.file {
            findings.push(Finding::FileHash(revision));
            continue;
        }
        let erased = state.erased_inputs(publication);
        if erased > 0 {
            findings.push(Finding::ErasedInputs { revision, erased });
        } else if !is_reproduced(records, file) {
            findings.push(Finding::Baselines(revision));
        }
    }
    findings
}

/// Returns whether the records before a publication give the published file. The version of the
/// software is not compared, because a later version must give the same numbers.
fn is_reproduced(records: &[StudyRecord], file: &BaselineFile) -> bool {
    let is_publication = |record: &StudyRecord| matches!(&record.event, StudyEvent::BaselinesPublished { revision, .. } if *revision == file.revision);
    let Some(at) = records.iter().position(is_publication) else {
        return false;
    };
    // The part of a log before an erasure has gaps that only the erasure explains, so it is folded
    // without the check of missing records.
    let Some(state) = Study::state_of_prefix(&records[..at]) else {
        return false;
    };
    let computed = publishable_baselines(&state, file.revision);
    computed.is_some_and(|computed| {
        let software = file.software.clone();
        BaselineFile {
            software,
            ..computed
        } == *file
    })
}

/// Compares the automatic exclusions with the rule.
fn exclusions(state: &StudyState) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (id, sitting) in state.sittings.iter().filter(|(_, one)| !one.is_open()) {
        let rule = &state.protocol_of(sitting).low_effort;
        let expected = sitting_effort(rule, sitting).verdict == EffortVerdict::Excluded;
        let automatic = sitting.exclusions.iter().find(|one| {
            matches!(&one.basis, ExclusionBasis::Rule { id, version } if id == LOW_EFFORT && *version == rule.version)
        });
        match (expected, automatic) {
            (true, None) => findings.push(Finding::MissingExclusion(id.clone())),
            (false, Some(one)) => findings.push(Finding::UnfoundedExclusion(one.id.clone())),
            _ => {}
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use rhae_protocol::{AttemptOutcome, SittingEndReason};

    use super::*;
    use crate::fixtures::{attempt, open_sitting, protocol};
    use crate::preset::Preset;
    use crate::state::{AssignmentState, Exclusion, SittingEnding};

    /// Returns a study whose only sitting ended after the given numbers of quick quits and of longer
    /// plays.
    fn ended_sitting(quick: usize, longer: usize) -> StudyState {
        let mut state = StudyState::new("study".into(), String::new(), 7);
        let protocol = protocol(Preset::Rhae1);
        let hash = digest(&protocol);
        state.protocols.insert(hash.clone(), protocol);
        let mut sitting = open_sitting();
        sitting.protocol = hash;
        let mut assignment = sitting.assignments.remove(0);
        for actions in std::iter::repeat_n(5, quick).chain(std::iter::repeat_n(90, longer)) {
            let ended = attempt(AttemptOutcome::Left, &[actions], 300_000);
            assignment.state = AssignmentState::Ended(ended);
            sitting.assignments.push(assignment.clone());
        }
        sitting.ending = Some(SittingEnding {
            reason: SittingEndReason::NothingLeft,
            at_ms: 0,
            clock_ms: 0,
            note: None,
        });
        state.sittings.insert("s1".into(), sitting);
        state
    }

    fn exclude(state: &mut StudyState) {
        let exclusion = Exclusion {
            id: "x1".into(),
            position: None,
            basis: ExclusionBasis::Rule {
                id: LOW_EFFORT.to_owned(),
                version: 1,
            },
            evidence: String::new(),
            at_ms: 0,
            undone: None,
        };
        let sitting = state.sittings.get_mut(&"s1".into());
        sitting
            .expect("the sitting exists")
            .exclusions
            .push(exclusion);
    }

    #[test]
    fn automatic_exclusions_are_compared_with_the_rule() {
        let mut low = ended_sitting(3, 3);
        assert_eq!(exclusions(&low), [Finding::MissingExclusion("s1".into())]);
        exclude(&mut low);
        assert_eq!(exclusions(&low), []);
        let mut high = ended_sitting(2, 4);
        assert_eq!(exclusions(&high), []);
        exclude(&mut high);
        assert_eq!(
            exclusions(&high),
            [Finding::UnfoundedExclusion("x1".into())]
        );
    }
}
