//! The scheduler of checks: first the parts that need the process to themselves, then all others on
//! threads.
//!
//! **Invariant:** the results do not depend on the number of threads, except for measurements of
//! speed and memory.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rhae_engine::{Action, GameInfo};

use crate::{
    Finding, Monitor, Options, Part, Rule, RuleReport, Subject, Verdict, check, parts, reports,
};

/// An environment to validate, with its options.
pub struct Candidate<'a> {
    pub info: GameInfo,
    pub options: Options,
    /// The opened environment, or the reason why it does not open. An environment that does not
    /// open fails the rule [`Loads`](Rule::Loads).
    pub subject: Result<Box<dyn Subject + 'a>, String>,
}

/// The failure of a validation. It is a defect of this software, never of an environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValidateError {
    /// A check panicked outside the environment's code.
    #[error("a thread panicked")]
    Panicked,
}

/// The results of one environment.
#[derive(Clone, Debug, PartialEq)]
pub struct Validated {
    pub info: GameInfo,
    pub options: Options,
    /// Whether the environment is a hosted game.
    pub hosted: bool,
    /// The reports on the selected rules, and on other rules that failed.
    pub reports: Vec<RuleReport>,
    /// The number of checks.
    pub checks: usize,
    /// The number of checks that an interrupt skipped or cut short.
    pub unfinished: usize,
    /// The time spent on the environment, summed over all threads; 0 if the monitor has no
    /// clock.
    pub seconds: f64,
}

impl Validated {
    /// Returns the number of rules with a verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.reports
            .iter()
            .filter(|report| report.verdict == verdict)
            .count()
    }
}

/// Runs all checks of all candidates on up to `jobs` threads. The result has one entry per
/// candidate, in the same order.
///
/// The monitor receives progress in steps, where every part adds exactly its weight. If it stops
/// the validation, the remaining checks are reported as unfinished.
///
/// # Errors
///
/// Returns [`ValidateError::Panicked`] if a check panics outside the environment's code.
///
/// # Examples
///
/// ```
/// use rhae_engine::Game;
/// use rhae_validate::{
///     Candidate, EnvironmentVerdict, NativeSubject, Options, Subject, validate,
/// };
///
/// struct Open;
///
/// impl rhae_games::Visitor for Open {
///     type Output = Box<dyn Subject>;
///
///     fn visit<G: Game>(self) -> Box<dyn Subject> {
///         Box::new(NativeSubject::<G>::new(0, Vec::new()))
///     }
/// }
///
/// let subject = rhae_games::visit("bx20-v1", Open).expect("the game is registered");
/// let mut options = Options { steps: 500, ..Options::default() };
/// (options.limits.nodes, options.limits.boards) = (2_000, 2_000);
/// let info = subject.info().clone();
/// let validated = validate(&[Candidate { info, options, subject: Ok(subject) }], 2, &())?;
/// assert_eq!(validated[0].unfinished, 0);
/// // With so few steps, random play does not decide the rule about luck.
/// assert_eq!(validated[0].verdict(), EnvironmentVerdict::Incomplete);
/// assert_eq!(validated[0].missing(), ["undecided: luck-levels"]);
/// # Ok::<(), rhae_validate::ValidateError>(())
/// ```
pub fn validate(
    candidates: &[Candidate<'_>],
    jobs: usize,
    monitor: &dyn Monitor,
) -> Result<Vec<Validated>, ValidateError> {
    let schedule = Schedule::new(candidates);
    monitor.started(schedule.total_steps());
    let done: Mutex<Vec<DonePart>> = Mutex::new(Vec::new());
    let work = |item: &ScheduledPart| {
        if let Some(result) = run_part(&candidates[item.candidate], item, monitor) {
            done.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(result);
        }
    };
    schedule.exclusive.iter().for_each(&work);
    let next = AtomicUsize::new(0);
    let joined = std::thread::scope(|scope| {
        let run = || {
            while let Some(item) = schedule.parallel.get(next.fetch_add(1, Ordering::Relaxed)) {
                work(item);
            }
        };
        let threads: Vec<_> = (0..jobs.clamp(1, schedule.parallel.len().max(1)))
            .map(|_| scope.spawn(run))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().is_ok())
            .collect::<Vec<_>>()
    });
    if joined.contains(&false) {
        return Err(ValidateError::Panicked);
    }
    let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(candidates
        .iter()
        .enumerate()
        .map(|(index, one)| collect(one, index, &done))
        .collect())
}

/// A part of the validation of one candidate.
struct ScheduledPart {
    /// The index of the candidate.
    candidate: usize,
    part: Part,
    weight: u64,
}

/// The order in which the parts run.
struct Schedule {
    exclusive: Vec<ScheduledPart>,
    parallel: Vec<ScheduledPart>,
}

impl Schedule {
    fn new(candidates: &[Candidate<'_>]) -> Self {
        let (mut exclusive, mut parallel) = (Vec::new(), Vec::new());
        for (candidate, one) in candidates.iter().enumerate() {
            let Ok(subject) = &one.subject else { continue };
            for (part, weight) in parts(&**subject, &one.options) {
                let list = if part.is_exclusive() {
                    &mut exclusive
                } else {
                    &mut parallel
                };
                list.push(ScheduledPart {
                    candidate,
                    part,
                    weight: weight.0,
                });
            }
        }
        // Parts of weight 0 are cheap and run first, so that an interrupted validation has their
        // results. The others run in order of decreasing weight, so that no long part starts last.
        parallel
            .sort_by_key(|item: &ScheduledPart| (item.weight > 0, std::cmp::Reverse(item.weight)));
        Self {
            exclusive,
            parallel,
        }
    }

    fn total_steps(&self) -> u64 {
        let items = self.exclusive.iter().chain(&self.parallel);
        items.map(|item| item.weight).sum()
    }
}

/// Runs one part, or reports it as interrupted. Returns `None` if the candidate did not open.
fn run_part(one: &Candidate<'_>, item: &ScheduledPart, monitor: &dyn Monitor) -> Option<DonePart> {
    let subject = one.subject.as_ref().ok()?;
    let started = monitor.seconds();
    let findings = if monitor.should_continue() {
        monitor.part_started(&one.info, item.part);
        let part_monitor = PartMonitor {
            monitor,
            steps: Mutex::new(0),
            max_steps: item.weight,
        };
        let findings = check(&**subject, item.part, &one.options, &part_monitor);
        part_monitor.finish();
        findings
    } else {
        item.part.interrupted(Vec::new())
    };
    let seconds = started.zip(monitor.seconds());
    Some(DonePart {
        candidate: item.candidate,
        seconds: seconds.map_or(0.0, |(started, ended)| ended - started),
        findings,
        finished: monitor.should_continue(),
    })
}

/// The results of one part.
struct DonePart {
    /// The index of the candidate.
    candidate: usize,
    seconds: f64,
    findings: Vec<Finding>,
    finished: bool,
}

/// Collects the results of one candidate.
fn collect(one: &Candidate<'_>, index: usize, done: &[DonePart]) -> Validated {
    let own = done.iter().filter(|done| done.candidate == index);
    let mut findings: Vec<Finding> = own
        .clone()
        .flat_map(|done| done.findings.iter().cloned())
        .collect();
    // Sort, because threads finish in any order and reports must be reproducible.
    findings.sort_by(|a, b| (a.rule, a.level, &a.text).cmp(&(b.rule, b.level, &b.text)));
    if let Err(reason) = &one.subject {
        let text = format!("the environment does not open: {reason}");
        findings.push(Finding::fail(Rule::Loads, text));
    }
    // An environment that does not work must not look sound because of the selection.
    let is_shown = |report: &RuleReport| {
        one.options.rules.contains(report.rule) || report.verdict == Verdict::Fail
    };
    Validated {
        info: one.info.clone(),
        options: one.options,
        hosted: one
            .subject
            .as_ref()
            .is_ok_and(|subject| subject.is_hosted()),
        reports: reports(&findings).into_iter().filter(is_shown).collect(),
        checks: own.clone().count(),
        unfinished: own.clone().filter(|done| !done.finished).count(),
        seconds: own.map(|done| done.seconds).sum(),
    }
}

/// The monitor of one part. It forwards progress so that the part always adds exactly its weight to
/// the progress: never more, and the remainder when it finishes.
struct PartMonitor<'a> {
    monitor: &'a dyn Monitor,
    steps: Mutex<u64>,
    max_steps: u64,
}

impl PartMonitor<'_> {
    fn finish(&self) {
        self.add_steps(self.max_steps);
    }
}

impl Monitor for PartMonitor<'_> {
    fn add_steps(&self, steps: u64) {
        let mut forwarded = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        let more = steps.min(self.max_steps - *forwarded);
        *forwarded += more;
        self.monitor.add_steps(more);
    }

    fn should_continue(&self) -> bool {
        self.monitor.should_continue()
    }

    fn seconds(&self) -> Option<f64> {
        self.monitor.seconds()
    }

    fn memory_bytes(&self) -> Option<u64> {
        self.monitor.memory_bytes()
    }

    fn replay_in_fresh_process(
        &self,
        subject: &dyn Subject,
        actions: &[Action],
    ) -> Option<Result<(), String>> {
        self.monitor.replay_in_fresh_process(subject, actions)
    }
}
