//! The set of a board from the facts of environments.

use rhae_engine::{Baseline, BaselineSource, GameInfo};
use rhae_protocol::{BoardEnvironment, BoardLevel, BoardSet, SetVisibility};

/// Returns the set of some environments, with their baselines as they are now. Native environments
/// are part of the public program.
pub fn board_set(name: &str, visibility: SetVisibility, environments: &[GameInfo]) -> BoardSet {
    BoardSet {
        name: name.to_owned(),
        visibility,
        environments: environments.iter().map(environment).collect(),
        tasks: None,
    }
}

fn environment(info: &GameInfo) -> BoardEnvironment {
    let level = |baseline: &Baseline| BoardLevel {
        baseline: baseline.actions,
        source: baseline.source.to_string(),
        provisional: baseline.source.is_provisional(),
        // Only an exhaustive search proves that there is no shorter solution.
        optimum: baseline
            .solution_length()
            .filter(|_| baseline.source == BaselineSource::Solver),
    };
    BoardEnvironment {
        id: info.id.as_str().into(),
        built_in: info.source_digest.is_none(),
        source_digest: info.source_digest.clone(),
        luck_nano: None,
        people: None,
        levels: info.baselines.iter().map(level).collect(),
    }
}
