//! The state of a study as documents.

use std::collections::BTreeMap;

use rhae_protocol::{
    EnvironmentCoverage, EnvironmentVersion, FrozenStatus, MoneyStatus, PaymentRow, ProtocolStatus,
    PublicationStatus, RateInterval, StudyListing, StudyPayments, StudyStage, StudyStatus,
};
use rhae_study::{
    EnvironmentCounts, PaymentStatus, PooledEnvironment, Selection, Study, StudyState, Verdict,
    books_balance, environment_counts, environment_loads, need_tenths, verdicts,
};

/// Returns the line of a study in the list of studies.
pub fn study_listing(study: &Study) -> StudyListing {
    let state = study.state();
    StudyListing {
        study: state.id.clone(),
        title: state.title.clone(),
        phase: state.phase,
        participants: state.participants.len(),
        records: study.last_seq(),
    }
}

/// Returns the state of a study.
pub fn study_status(study: &Study) -> StudyStatus {
    let state = study.state();
    let mut people: BTreeMap<StudyStage, usize> = BTreeMap::new();
    for person in state.participants.values() {
        *people.entry(person.stage).or_default() += 1;
    }
    let withdrawn = state.participants.values();
    let withdrawn = withdrawn.filter(|person| person.withdrawn.is_some());
    let open_sittings = state.sittings.values().filter(|one| one.is_open()).count();
    StudyStatus {
        listing: study_listing(study),
        seed: state.seed,
        protocol: protocol_status(state),
        people,
        withdrawn: withdrawn.count(),
        erased: state.erased.len(),
        open_sittings,
        ended_sittings: state.sittings.len() - open_sittings,
        environments: coverage(state),
        money: money_status(state),
        publications: state
            .published
            .iter()
            .map(|publication| PublicationStatus {
                revision: publication.revision,
                file: publication.file.clone(),
                at_ms: publication.at_ms,
                inputs: publication.attempts.len(),
                inputs_erased: state.erased_inputs(publication),
            })
            .collect(),
    }
}

fn protocol_status(state: &StudyState) -> Option<ProtocolStatus> {
    let (hash, protocol) = state.protocol()?;
    let frozen = state.frozen.iter().map(|frozen| FrozenStatus {
        hash: frozen.hash.clone(),
        at_ms: frozen.at_ms,
        reason: frozen.reason.clone(),
    });
    Some(ProtocolStatus {
        hash: hash.clone(),
        version: protocol.version,
        preset: protocol.preset.clone(),
        attempt_rule: protocol.attempt_rule,
        target: protocol.target,
        frozen: frozen.collect(),
    })
}

/// Returns how far every environment is, under the attempt rule of the protocol and with
/// exclusions. A study without a protocol has no coverage.
pub fn coverage(state: &StudyState) -> Vec<EnvironmentCoverage> {
    let Some((_, protocol)) = state.protocol() else {
        return Vec::new();
    };
    let selection = Selection {
        rule: protocol.attempt_rule,
        exclusions: true,
    };
    let mut counts = environment_counts(state, selection);
    let loads = environment_loads(state);
    let verdicts = verdicts(state);
    let pool = state.environments.iter();
    pool.map(|(environment, pooled)| {
        let load = loads.get(environment).copied().unwrap_or_default();
        let need = need_tenths(protocol.target, load.counted, load.live, state.share_tenths);
        let verdict = verdicts.get(environment).copied();
        let verdict = verdict.unwrap_or(Verdict::Collecting);
        let counts = counts.remove(environment).unwrap_or_default();
        let need = if pooled.withdrawn.is_none() { need } else { 0 };
        one_coverage(environment, pooled, &counts, need, verdict)
    })
    .collect()
}

fn one_coverage(
    environment: &EnvironmentVersion,
    pooled: &PooledEnvironment,
    counts: &EnvironmentCounts,
    need_tenths: i64,
    verdict: Verdict,
) -> EnvironmentCoverage {
    EnvironmentCoverage {
        environment: environment.clone(),
        arm: pooled.arm.clone(),
        levels: pooled.levels,
        verdict,
        reserved: counts.reserved,
        playing: counts.playing,
        started: counts.started,
        valid: counts.valid,
        solved: counts.solved,
        censored: counts.censored,
        excluded: counts.excluded,
        need_tenths: u64::try_from(need_tenths).unwrap_or(0),
        solve_rate: counts.solve_rate().map(|rate| RateInterval {
            rate: rate.rate,
            low: rate.interval.low,
            high: rate.interval.high,
        }),
        withdrawn: pooled.withdrawn.clone(),
    }
}

fn money_status(state: &StudyState) -> MoneyStatus {
    let totals = state.ledger.totals();
    MoneyStatus {
        currency: state
            .protocol()
            .map(|(_, protocol)| protocol.money.currency.clone())
            .unwrap_or_default(),
        due_minor: totals.due_minor,
        sent_minor: totals.sent_minor,
        confirmed_minor: totals.confirmed_minor,
        books_balance: books_balance(state),
    }
}

/// Returns the ledger of a study.
pub fn study_payments(state: &StudyState) -> StudyPayments {
    let lines = state.ledger.entries().map(|entry| {
        let batch = match &entry.status {
            PaymentStatus::Due => None,
            PaymentStatus::Sent { batch } | PaymentStatus::Confirmed { batch } => {
                Some(batch.clone())
            }
        };
        PaymentRow {
            key: entry.line.key.to_string(),
            participant: entry.line.participant.to_string(),
            item: entry.line.item,
            amount_minor: entry.line.amount_minor,
            currency: entry.line.currency.clone(),
            status: entry.status.state(),
            batch,
            note: entry.line.note.clone(),
        }
    });
    StudyPayments {
        study: state.id.clone(),
        money: money_status(state),
        lines: lines.collect(),
    }
}
