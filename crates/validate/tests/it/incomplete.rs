//! What makes a validation incomplete, and the losses that are replayed.

use std::sync::Mutex;

use rhae_engine::{Action, Environment, EnvironmentError, GameInfo, PlayState};
use rhae_explore::Progress;
use rhae_validate::{
    Candidate, EnvironmentVerdict, GraphError, GraphLimits, LevelGraph, Monitor, NativeSubject,
    Part, Rule, Subject, Validated, Verdict, check,
};

use crate::faulty::{Fault, hosted};
use crate::lock::{Lock, SOUND};
use crate::{Measured, options};

fn validated(subject: Box<dyn Subject + '_>) -> Validated {
    let candidate = Candidate {
        info: subject.info().clone(),
        options: options(),
        subject: Ok(subject),
    };
    let mut all = rhae_validate::validate(&[candidate], 1, &Measured::default()).unwrap();
    all.remove(0)
}

#[test]
fn environment_with_unreached_levels_is_incomplete() {
    let one = validated(Box::new(hosted(Fault::ConstantHiddenKey, 2)));
    assert_eq!(one.count(Verdict::Fail), 0);
    assert_eq!(one.verdict(), EnvironmentVerdict::Incomplete);
    assert_eq!(one.unreached(), [1, 2, 3, 4, 5]);
    // No win of the first level is known, so there is no win of the game to replay either.
    assert_eq!(
        one.missing(),
        ["levels 2 to 6 not checked", "undecided: recordings, wins"]
    );
}

#[test]
fn sound_environment_passes() {
    let one = validated(Box::new(NativeSubject::<Lock<SOUND>>::new(0, Vec::new())));
    assert_eq!(
        (one.verdict(), one.missing()),
        (EnvironmentVerdict::Pass, Vec::new())
    );
}

/// A monitor that collects the plays to be replayed in a new process.
#[derive(Default)]
struct Replays(Mutex<Vec<Vec<Action>>>);

impl Monitor for Replays {
    fn replay_in_fresh_process(
        &self,
        _subject: &dyn Subject,
        actions: &[Action],
    ) -> Option<Result<(), String>> {
        self.0.lock().unwrap().push(actions.to_vec());
        Some(Ok(()))
    }
}

/// The last level can be lost, too.
#[test]
fn losses_of_a_level_are_replayed_in_a_new_process() {
    let subject = NativeSubject::<Lock<SOUND>>::new(0, Vec::new());
    for part in [Part::Graph(5), Part::Fuzz(5)] {
        let replays = Replays::default();
        let findings = check(&subject, part, &options(), &replays);
        let recordings: Vec<_> = findings
            .iter()
            .filter(|finding| finding.rule == Rule::Recordings)
            .collect();
        assert_eq!(recordings.len(), 1, "{part:?}: {findings:?}");
        assert_eq!(recordings[0].verdict, Verdict::Pass, "{recordings:?}");
        assert!(
            recordings[0].text.starts_with("a loss of "),
            "{recordings:?}"
        );
        let replays = replays.0.into_inner().unwrap();
        assert_eq!(replays.len(), 1, "{part:?}");
        let mut play = subject.open(0).unwrap();
        for &action in &replays[0] {
            play.act(action).unwrap();
        }
        let seen = play.observation();
        assert_eq!(
            (seen.state, seen.levels_completed),
            (PlayState::GameOver, 5)
        );
    }
}

/// A native game whose levels can be entered although no path to them is known.
struct WithoutPaths(NativeSubject<Lock<SOUND>>);

impl Subject for WithoutPaths {
    fn info(&self) -> &GameInfo {
        self.0.info()
    }

    fn levels(&self) -> u8 {
        self.0.levels()
    }

    fn is_hosted(&self) -> bool {
        false
    }

    fn open(&self, seed: u64) -> Result<Box<dyn Environment>, EnvironmentError> {
        self.0.open(seed)
    }

    fn enter(
        &self,
        seed: u64,
        level: u8,
    ) -> Result<Option<Box<dyn Environment>>, EnvironmentError> {
        self.0.enter(seed, level)
    }

    fn prefix(&self, level: u8) -> Option<Vec<Action>> {
        (level == 0).then(Vec::new)
    }

    fn solution(&self, level: u8) -> Option<Vec<Action>> {
        self.0.solution(level)
    }

    fn has_stored_solution(&self, level: u8) -> bool {
        self.0.has_stored_solution(level)
    }

    fn graph(
        &self,
        seed: u64,
        level: u8,
        within: u32,
        limits: &GraphLimits,
        should_continue: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<LevelGraph, GraphError> {
        self.0.graph(seed, level, within, limits, should_continue)
    }
}

#[test]
fn level_that_can_be_lost_without_a_replayed_loss_is_incomplete() {
    let subject = WithoutPaths(NativeSubject::new(0, Vec::new()));
    for (level, incomplete) in [(0, false), (1, true)] {
        let findings = check(&subject, Part::Graph(level), &options(), &());
        let finding = findings
            .iter()
            .find(|finding| finding.rule == Rule::Recordings)
            .unwrap();
        assert_eq!(finding.incomplete, incomplete, "{finding:?}");
    }
    let one = validated(Box::new(subject));
    assert_eq!(one.verdict(), EnvironmentVerdict::Incomplete);
    assert_eq!(one.undecided_rules(), [Rule::Recordings]);
}
