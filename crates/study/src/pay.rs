//! The pay of a sitting: a fee and a bonus for each solved environment.
//!
//! Pay does not depend on exclusions, on the validity of attempts, or on consent to publish.

use rhae_protocol::{
    AttemptOutcome, EarlyLeave, PaymentItem, PaymentKey, PaymentLine, SittingEndReason, SittingId,
    StudyLimits, StudyStage,
};

use crate::state::{Sitting, SittingEnding, StudyState};

const QUARTER_HOUR_MS: u64 = 15 * 60 * 1000;

/// Returns the fee of a sitting in minor units.
///
/// A participant who leaves early gets the share of the quarters of an hour that have begun, rounded
/// up to a whole minor unit, unless the protocol promises the full fee. Every other ending, a
/// technical failure included, pays the full fee.
///
/// # Examples
///
/// Leaving a 90-minute sitting after 31 minutes pays 3 of 6 quarters:
///
/// ```
/// use rhae_protocol::{EarlyLeave, SittingEndReason};
/// use rhae_study::{Preset, sitting_fee_minor};
///
/// let limits = Preset::Paper.protocol().limits;
/// let fee = |reason| {
///     sitting_fee_minor(13_000, &limits, EarlyLeave::PerQuarterHour, reason, 31 * 60_000)
/// };
/// assert_eq!(fee(SittingEndReason::Left), 6_500);
/// assert_eq!(fee(SittingEndReason::Lost), 13_000);
/// ```
pub fn sitting_fee_minor(
    fee_minor: u64,
    limits: &StudyLimits,
    early_leave: EarlyLeave,
    reason: SittingEndReason,
    clock_ms: u64,
) -> u64 {
    let left_early = matches!(reason, SittingEndReason::Left | SittingEndReason::Withdrawn);
    if !left_early || early_leave == EarlyLeave::Full {
        return fee_minor;
    }
    let quarters = (limits.sitting_s * 1000).div_ceil(QUARTER_HOUR_MS).max(1);
    let begun = (clock_ms / QUARTER_HOUR_MS + 1).min(quarters);
    (fee_minor * begun).div_ceil(quarters)
}

/// Returns the lines of the ledger for a sitting that ends as given. Test rows are not paid.
pub(crate) fn sitting_lines(
    state: &StudyState,
    id: &SittingId,
    sitting: &Sitting,
    ending: &SittingEnding,
    solved: u64,
) -> Vec<PaymentLine> {
    if sitting.stage == StudyStage::Test {
        return Vec::new();
    }
    let protocol = state.protocol_of(sitting);
    let money = &protocol.money;
    let site_fee = state
        .sites
        .get(&sitting.site)
        .and_then(|site| site.fee_minor);
    let fee = sitting_fee_minor(
        site_fee.unwrap_or(money.fee_minor),
        &protocol.limits,
        money.early_leave,
        ending.reason,
        ending.clock_ms,
    );
    let line = |item: PaymentItem, amount: u64, note: String| PaymentLine {
        key: PaymentKey(format!("{id}/{}", item.name())),
        participant: sitting.participant.clone(),
        item,
        amount_minor: i64::try_from(amount).unwrap_or(i64::MAX),
        currency: money.currency.clone(),
        note,
    };
    let mut lines = vec![line(PaymentItem::Fee, fee, ending.reason.name().to_owned())];
    if solved > 0 {
        let note = format!("{solved} solved");
        lines.push(line(PaymentItem::Bonus, solved * money.bonus_minor, note));
    }
    lines.retain(|line| line.amount_minor != 0);
    lines
}

/// Returns the number of environments that a sitting solved.
pub(crate) fn solved_count(sitting: &Sitting) -> u64 {
    let attempts = sitting.ended().map(|(_, _, attempt)| attempt.outcome);
    attempts
        .filter(|&outcome| outcome == AttemptOutcome::Solved)
        .count() as u64
}

/// Returns whether the ledger contains exactly the lines that the sittings give rise to, apart from
/// adjustments and the lines of erased people, and whether no amount lacks a currency.
pub fn books_balance(state: &StudyState) -> bool {
    let mut expected: Vec<PaymentLine> = state
        .sittings
        .iter()
        .filter_map(|(id, sitting)| {
            let ending = sitting.ending.as_ref()?;
            Some(sitting_lines(
                state,
                id,
                sitting,
                ending,
                solved_count(sitting),
            ))
        })
        .flatten()
        .collect();
    expected.sort_unstable_by(|one, other| one.key.cmp(&other.key));
    let mut found: Vec<&PaymentLine> = state
        .ledger
        .entries()
        .map(|entry| &entry.line)
        .filter(|line| line.item != PaymentItem::Adjustment)
        .filter(|line| !state.erased.contains_key(&line.participant))
        .collect();
    found.sort_unstable_by(|one, other| one.key.cmp(&other.key));
    expected.iter().eq(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preset::Preset;

    fn fee(reason: SittingEndReason, minutes: u64) -> u64 {
        let limits = Preset::Paper.protocol().limits;
        sitting_fee_minor(
            13_000,
            &limits,
            EarlyLeave::PerQuarterHour,
            reason,
            minutes * 60_000,
        )
    }

    #[test]
    fn leaving_pays_for_each_begun_quarter() {
        assert_eq!(fee(SittingEndReason::Left, 31), 6_500);
        assert_eq!(fee(SittingEndReason::Left, 0), 2_167);
        assert_eq!(fee(SittingEndReason::Left, 14), 2_167);
        assert_eq!(fee(SittingEndReason::Left, 15), 4_334);
        assert_eq!(fee(SittingEndReason::Withdrawn, 89), 13_000);
        assert_eq!(fee(SittingEndReason::Left, 200), 13_000);
    }

    #[test]
    fn every_other_ending_pays_in_full() {
        for reason in [
            SittingEndReason::TimeUp,
            SittingEndReason::NothingLeft,
            SittingEndReason::Lost,
            SittingEndReason::Staff,
        ] {
            assert_eq!(fee(reason, 3), 13_000);
        }
        let limits = Preset::Paper.protocol().limits;
        let full = sitting_fee_minor(9_000, &limits, EarlyLeave::Full, SittingEndReason::Left, 0);
        assert_eq!(full, 9_000);
    }
}
