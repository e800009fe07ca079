//! When servers are killed.

use crate::chance::Chance;
use crate::clock::{SITTING_MS, session_ms};
use crate::person::KILLS;
use crate::simulation::SimulationOptions;

/// The starts that an environment gets, and those that a person has at least, about.
const MAX_STARTS: u32 = 10;
const STARTS_PER_PERSON: u32 = 7;

/// The times at which servers are killed: random moments of the sessions.
///
/// *Invariant:* the times depend only on the options of the simulation.
#[derive(Clone, Debug)]
pub(crate) struct Kills {
    /// The times and servers of the kills that are still due, the next one last.
    planned: Vec<(u64, usize)>,
    pub(crate) executed: u32,
}

impl Kills {
    pub(crate) fn new(options: &SimulationOptions) -> Self {
        // Later people find no environment that needs them.
        let starts = options.environments.saturating_mul(MAX_STARTS);
        let players = options.people.min(starts.div_ceil(STARTS_PER_PERSON));
        let mut planned: Vec<(u64, usize)> = (0..options.kills)
            .map(|number| {
                let mut chance = Chance::new(options.seed, &[KILLS, number.into()]);
                let person = chance.index(players as usize);
                let within = chance.between(0.0, SITTING_MS as f64) as u64;
                let server = chance.index(options.servers as usize);
                (session_ms(person as u64) + within, server)
            })
            .collect();
        planned.sort_unstable_by(|one, other| other.cmp(one));
        Self {
            planned,
            executed: 0,
        }
    }

    /// Returns the server that is to be killed now, and counts it as killed.
    pub(crate) fn due(&mut self, now_ms: u64) -> Option<usize> {
        let (at_ms, server) = *self.planned.last()?;
        if at_ms > now_ms {
            return None;
        }
        self.planned.pop();
        self.executed += 1;
        Some(server)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::FIRST_SESSION_MS;

    #[test]
    fn servers_are_killed_once_at_repeatable_times() {
        let options = SimulationOptions {
            program: "rhae".into(),
            people: 40,
            environments: 30,
            seed: 3,
            database: None,
            servers: 2,
            kills: 5,
        };
        let mut kills = Kills::new(&options);
        assert_eq!(kills.due(FIRST_SESSION_MS - 1), None);
        assert_eq!(kills.planned, Kills::new(&options).planned);
        let end_ms = FIRST_SESSION_MS + SITTING_MS;
        let killed: Vec<usize> = std::iter::from_fn(|| kills.due(end_ms)).collect();
        assert_eq!((killed.len(), kills.executed), (5, 5));
        assert!(killed.iter().all(|&server| server < 2));
    }

    #[test]
    fn servers_are_killed_while_environments_need_people() {
        let mut kills = Kills::new(&SimulationOptions {
            program: "rhae".into(),
            people: 1000,
            environments: 50,
            seed: 3,
            database: None,
            servers: 2,
            kills: 20,
        });
        // At most 72 people have the 500 starts, all in the first session.
        let end_ms = FIRST_SESSION_MS + SITTING_MS;
        while kills.due(end_ms).is_some() {}
        assert_eq!(kills.executed, 20);
    }
}
