//! The rows of a board: ranked, with flags, and with what their state does not prove.

use std::collections::BTreeMap;

use rhae_protocol::{
    BoardFlag, BoardKind, BoardRow, CostBasis, EntryId, Exposure, RegistrationRow, ReleaseRow,
    Rescoring, RowFlag, RowRank, RowScore, Tombstone, VerificationState, rfc3339_utc,
};
use rhae_stats::{CostedScore, pareto_frontier, rank, rank_by_mean};

use crate::names::{EVIDENCE_BY, show_names};
use crate::scores::{EntryScores, entry_cost, entry_scores};
use crate::state::{BoardState, Correction, Entry};

/// The steps that the ranges of ranks may take: for each pair of rows, the sums of half of the
/// environments. This suffices for 362 rows of 25 environments.
const MAX_RANGE_WORK: usize = 1 << 28;
/// The steps that comparing two rows takes at least.
const MIN_PAIR_WORK: usize = 1 << 6;
/// The environments up to which the test of a pair is exact for arbitrary scores.
const EXACT_ENVIRONMENTS: usize = 40;
/// Units of a score.
const NANO: f64 = 1e9;

/// Who reads the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// All readers. Of a hidden set, they see only rounded aggregates.
    Public,
    /// The organiser, who sees everything.
    Organiser,
}

/// Returns the day of a time, such as `2026-11-18`.
pub(crate) fn day(at_ms: u64) -> String {
    rfc3339_utc(at_ms).chars().take(10).collect()
}

/// Returns the rows of a board: the ranked ones by rank, then the others in the order of submission.
pub fn board_rows(state: &BoardState, audience: Audience) -> Vec<BoardRow> {
    let mut rows = unnamed_rows(state, audience);
    for row in &mut rows {
        show_names(state, row);
    }
    rows
}

/// Returns the rows with hashes in the places of names, as the log has them.
pub(crate) fn unnamed_rows(state: &BoardState, audience: Audience) -> Vec<BoardRow> {
    let scored: Vec<(&EntryId, &Entry, EntryScores)> = state
        .entries
        .iter()
        .map(|(id, entry)| (id, entry, entry_scores(state, entry)))
        .collect();
    let ranked: Vec<&(&EntryId, &Entry, EntryScores)> = scored
        .iter()
        .filter(|(_, entry, _)| is_ranked(state, entry))
        .collect();
    let means: Vec<Vec<f64>> = ranked.iter().map(|(_, _, scores)| scores.means()).collect();
    let ids = ranked.iter().map(|(id, _, _)| *id);
    let ranks: BTreeMap<&EntryId, RowRank> = ids.zip(row_ranks(&means)).collect();
    let mut rows: Vec<(u64, BoardRow)> = scored
        .iter()
        .map(|(id, entry, scores)| {
            let rank = ranks.get(id).copied();
            (entry.seq, row(state, id, entry, scores, rank))
        })
        .collect();
    rows.sort_by_key(|(seq, row)| (row.rank.map_or(usize::MAX, |rank| rank.rank), *seq));
    let mut rows: Vec<BoardRow> = rows.into_iter().map(|(_, row)| row).collect();
    mark_frontier(&mut rows);
    if audience == Audience::Public && state.definition.set.visibility.is_hidden() {
        rows.iter_mut().for_each(hide);
    }
    rows
}

/// Returns the ranks of rows by the mean scores of their environments. The range is computed unless
/// that takes more than [`MAX_RANGE_WORK`] steps.
fn row_ranks(means: &[Vec<f64>]) -> Vec<RowRank> {
    let environments = means.first().map_or(0, Vec::len).min(EXACT_ENVIRONMENTS);
    let pairs = means.len() * means.len().saturating_sub(1) / 2;
    if pairs.saturating_mul(MIN_PAIR_WORK.max(1 << (environments / 2))) > MAX_RANGE_WORK {
        let ranks = rank_by_mean(means).into_iter();
        return ranks
            .map(|rank| RowRank {
                rank,
                best: None,
                worst: None,
                chance_of_first: None,
            })
            .collect();
    }
    let ranks = rank(means).ranks.into_iter();
    ranks
        .map(|rank| RowRank {
            rank: rank.rank,
            best: Some(rank.best),
            worst: Some(rank.worst),
            chance_of_first: Some(rank.chance_of_first),
        })
        .collect()
}

/// Returns whether a row takes part in the ranking: it is not retracted, its state is one that the
/// board ranks, and its registered plays are complete or overdue.
fn is_ranked(state: &BoardState, entry: &Entry) -> bool {
    let least = match state.definition.kind {
        BoardKind::Official => VerificationState::Official,
        BoardKind::Community => VerificationState::Replayed,
        BoardKind::Competition => VerificationState::Witnessed,
    };
    let registration = entry.registration.as_ref();
    let registered = registration.and_then(|id| state.registrations.get(id));
    let is_due = registered.is_none_or(|registration| {
        let (played, announced) = state.progress(registration);
        registration.abandoned || played >= announced
    });
    entry.is_live() && entry.state >= least && is_due
}

fn row(
    state: &BoardState,
    id: &EntryId,
    entry: &Entry,
    scores: &EntryScores,
    rank: Option<RowRank>,
) -> BoardRow {
    let system = &entry.system;
    let (proves, does_not_prove) = state.definition.set.proofs(entry.state);
    let shows_score = entry.is_live() && entry.state > VerificationState::Claimed;
    BoardRow {
        entry: id.clone(),
        rank,
        name: system.name.clone(),
        version: system.version.clone(),
        authors: system.authors.clone(),
        models: system.models.clone(),
        code_url: system.code_url.clone(),
        state: entry.state,
        proves: proves.to_owned(),
        does_not_prove: does_not_prove.to_owned(),
        score: shows_score.then(|| scores.row_score()).flatten(),
        cost: if shows_score {
            entry_cost(state, entry, scores.repeats)
        } else {
            Default::default()
        },
        flags: flags(state.definition.set.items(), entry, scores),
        exposure: system.exposure,
        registered: entry.registration.is_some(),
        date: day(entry.at_ms),
        failure: entry.failure.clone(),
        retraction: entry.retraction.as_ref().map(|retraction| Tombstone {
            date: day(retraction.at_ms),
            by: retraction.by.clone(),
            reason: retraction.reason,
            note: retraction.note.clone(),
        }),
        contest: entry.contest.clone(),
        rescored: entry
            .correction
            .as_ref()
            .filter(|_| shows_score)
            .map(rescoring),
        environments: if shows_score {
            scores.environments.clone()
        } else {
            Vec::new()
        },
    }
}

fn rescoring(correction: &Correction) -> Rescoring {
    Rescoring {
        date: day(correction.at_ms),
        release: correction.release.clone(),
        note: correction.note.clone(),
        old: correction.old_nano as f64 / NANO,
        new: correction.new_nano as f64 / NANO,
    }
}

/// Returns the flags that events have set, and those that follow from the row itself.
fn flags(items: &str, entry: &Entry, scores: &EntryScores) -> Vec<RowFlag> {
    let mut flags = entry.flags.clone();
    let (played, all) = (scores.played(), scores.environments.len());
    if !entry.runs.is_empty() && played < all {
        let verb = match items {
            "tasks" => "answered",
            _ => "played",
        };
        let evidence = format!("{played} of {all} {items} were {verb}");
        flags.insert(BoardFlag::Partial, evidence);
    }
    let exposed = match entry.system.exposure {
        Exposure::None => None,
        Exposure::Seen => Some("the authors say that the set was seen before"),
        Exposure::Unknown => Some("the authors do not say whether the set was seen before"),
    };
    if let Some(evidence) = exposed {
        flags
            .entry(BoardFlag::Exposed)
            .or_insert_with(|| evidence.to_owned());
    }
    if let Some(contest) = &entry.contest {
        flags.insert(BoardFlag::Contested, format!("{EVIDENCE_BY}{}", contest.by));
    }
    if let Some(retraction) = &entry.retraction {
        flags.insert(BoardFlag::Retracted, retraction.reason.name().to_owned());
    }
    let flags = flags.into_iter();
    flags
        .map(|(flag, evidence)| RowFlag { flag, evidence })
        .collect()
}

/// Marks the ranked rows of known cost that no other ranked row dominates.
fn mark_frontier(rows: &mut [BoardRow]) {
    let ranked = |row: &BoardRow| row.rank.is_some() && row.score.is_some();
    let systems: Vec<CostedScore> = rows
        .iter()
        .map(|row| CostedScore {
            cost: row
                .cost
                .usd
                .filter(|_| ranked(row) && row.cost.basis != CostBasis::Unknown),
            score: row.score.map_or(0.0, |score| score.mean),
        })
        .collect();
    for (row, is_on) in rows.iter_mut().zip(pareto_frontier(&systems)) {
        row.cost.on_frontier = is_on;
    }
}

/// Leaves only aggregates of a row on a hidden set, rounded to 0.01.
fn hide(row: &mut BoardRow) {
    let round = |value: f64| (value * 100.0).round() / 100.0;
    row.score = row.score.map(|score| RowScore {
        mean: round(score.mean),
        interval: score.interval.map(round),
        levels_completed: round(score.levels_completed),
        ..score
    });
    row.cost.usd = row.cost.usd.map(round);
    row.cost.usd_per_environment = row.cost.usd_per_environment.map(round);
    row.rank = row.rank.map(|rank| RowRank {
        chance_of_first: rank.chance_of_first.map(round),
        ..rank
    });
    row.rescored = row.rescored.take().map(|rescored| Rescoring {
        old: round(rescored.old),
        new: round(rescored.new),
        ..rescored
    });
    row.environments.clear();
    row.failure = row
        .failure
        .take()
        .map(|_| "a run was not accepted".to_owned());
}

/// Returns the announcements of runs in the order of their ids.
pub fn registration_rows(state: &BoardState) -> Vec<RegistrationRow> {
    let row = |(id, registration): (&rhae_protocol::RegistrationId, &crate::Registration)| {
        let (plays, announced) = state.progress(registration);
        RegistrationRow {
            registration: id.clone(),
            name: registration.system.name.clone(),
            version: registration.system.version.clone(),
            date: day(registration.at_ms),
            repeats: u32::try_from(registration.seeds.len()).unwrap_or(u32::MAX),
            seeds: registration.seeds.clone(),
            plays,
            announced,
            abandoned: registration.abandoned,
            entry: registration.entry.clone(),
        }
    };
    state.registrations.iter().map(row).collect()
}

/// Returns the releases in the order of their records.
pub fn release_rows(state: &BoardState) -> Vec<ReleaseRow> {
    let row = |release: &crate::Release| ReleaseRow {
        release: release.name.clone(),
        date: day(release.at_ms),
        seq: release.seq,
        rows: release.rows.clone(),
    };
    state.releases.iter().map(row).collect()
}
