//! How long attempts took, by outcome: the paper's figure 5.

use rhae_protocol::{DurationBin, EnvironmentVersion};

use crate::attempt_rule::Standing;
use crate::rows::{Selection, live_attempts};
use crate::state::StudyState;

const BIN_MINUTES: u64 = 2;
/// The last range contains the plays up to the hard limit, which take 30 minutes.
const BINS: u64 = 16;

/// Returns the durations of all valid attempts, or of those of one environment version.
pub fn duration_bins(
    state: &StudyState,
    environment: Option<&EnvironmentVersion>,
    selection: Selection,
) -> Vec<DurationBin> {
    let attempts = live_attempts(state)
        .filter(|row| environment.is_none_or(|wanted| row.environment == wanted))
        .map(|row| (row.attempt.duration_ms, row.standing(selection)));
    let valid = attempts.filter(|(_, standing)| standing.is_valid());
    binned(valid)
}

fn binned(attempts: impl Iterator<Item = (u64, Standing)>) -> Vec<DurationBin> {
    let bin = |number| DurationBin {
        from_minutes: number * BIN_MINUTES,
        solved: 0,
        unsolved: 0,
    };
    let mut bins: Vec<DurationBin> = (0..BINS).map(bin).collect();
    for (duration_ms, standing) in attempts {
        let number = (duration_ms / (BIN_MINUTES * 60_000)).min(BINS - 1);
        let bin = &mut bins[number as usize];
        if standing == Standing::Solved {
            bin.solved += 1;
        } else {
            bin.unsolved += 1;
        }
    }
    bins
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_contain_their_start_and_the_last_one_has_no_end() {
        let minute = 60_000;
        let bins = binned(
            [
                (0, Standing::Failed),
                (2 * minute - 1, Standing::Solved),
                (2 * minute, Standing::Solved),
                (30 * minute, Standing::Failed),
                (50 * minute, Standing::Failed),
            ]
            .into_iter(),
        );
        let counts: Vec<(u64, u64, u64)> = bins
            .iter()
            .filter(|bin| bin.solved + bin.unsolved > 0)
            .map(|bin| (bin.from_minutes, bin.solved, bin.unsolved))
            .collect();
        assert_eq!(counts, [(0, 1, 1), (2, 1, 0), (30, 0, 2)]);
        assert_eq!(bins.len(), 16);
    }
}
