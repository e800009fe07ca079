//! Runs the checks: first the parts that need the process to themselves, then all others on
//! threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Result, anyhow};
use rhae_engine::GameInfo;
use rhae_validate::{
    Finding, Monitor, Options, Part, Rule, RuleReport, Verdict, check, parts, reports,
};

use super::monitor::CommandMonitor;
use super::subjects::Candidate;

/// The results of one environment.
pub(super) struct Validated {
    pub(super) info: GameInfo,
    pub(super) options: Options,
    pub(super) hosted: bool,
    pub(super) reports: Vec<RuleReport>,
    /// The number of checks.
    pub(super) checks: usize,
    /// The number of checks that an interrupt skipped or cut short.
    pub(super) unfinished: usize,
    /// The time spent on the environment, summed over all threads.
    pub(super) seconds: f64,
}

impl Validated {
    pub(super) fn fails(&self) -> bool {
        self.count(Verdict::Fail) > 0
    }

    pub(super) fn passes(&self) -> bool {
        !self.fails() && self.unfinished == 0
    }

    /// Returns the levels that could not be reached, counted from 0.
    pub(super) fn unreached(&self) -> Vec<u8> {
        let loads = self
            .reports
            .iter()
            .filter(|report| report.rule == Rule::Loads)
            .flat_map(|report| &report.findings);
        loads
            .filter(|finding| finding.verdict == Verdict::Open)
            .filter_map(|finding| finding.level)
            .collect()
    }

    pub(super) fn count(&self, verdict: Verdict) -> usize {
        self.reports
            .iter()
            .filter(|report| report.verdict == verdict)
            .count()
    }
}

/// Runs all checks of all candidates on up to `jobs` threads.
///
/// # Errors
///
/// Returns an error if a thread panics outside of an environment.
pub(super) fn validate(
    candidates: &[Candidate<'_>],
    jobs: usize,
    monitor: &CommandMonitor<'_>,
) -> Result<Vec<Validated>> {
    let mut exclusive: Vec<(usize, Part, u64)> = Vec::new();
    let mut parallel: Vec<(usize, Part, u64)> = Vec::new();
    for (index, one) in candidates.iter().enumerate() {
        let Ok(subject) = &one.subject else { continue };
        for (part, weight) in parts(&**subject, &one.options) {
            if part.is_exclusive() {
                &mut exclusive
            } else {
                &mut parallel
            }
            .push((index, part, weight.0));
        }
    }
    // Parts of weight 0 are cheap and run first, so that an interrupted command has their results.
    // The others run in order of decreasing weight, so that no long part starts last.
    parallel.sort_by_key(|&(_, _, weight)| (weight > 0, std::cmp::Reverse(weight)));
    let total: u64 = exclusive
        .iter()
        .chain(&parallel)
        .map(|&(_, _, weight)| weight)
        .sum();
    monitor.bar().set_length(total.max(1));
    let done: Mutex<Vec<DonePart>> = Mutex::new(Vec::new());
    let work = |&(index, part, weight): &(usize, Part, u64)| {
        let one = &candidates[index];
        let Ok(subject) = &one.subject else { return };
        let started = Instant::now();
        let findings = if monitor.should_continue() {
            monitor
                .bar()
                .set_message(format!("{} {}", one.info.id, part.name()));
            let part_monitor = PartMonitor {
                monitor,
                steps: Mutex::new(0),
                max_steps: weight,
            };
            let findings = check(&**subject, part, &one.options, &part_monitor);
            part_monitor.finish();
            findings
        } else {
            part.interrupted(Vec::new())
        };
        let (seconds, finished) = (started.elapsed().as_secs_f64(), monitor.should_continue());
        done.lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .push(DonePart {
                index,
                seconds,
                findings,
                finished,
            });
    };
    exclusive.iter().for_each(&work);
    let next = AtomicUsize::new(0);
    let joined = std::thread::scope(|scope| {
        let run = || {
            while let Some(item) = parallel.get(next.fetch_add(1, Ordering::Relaxed)) {
                work(item);
            }
        };
        let threads: Vec<_> = (0..jobs.clamp(1, parallel.len().max(1)))
            .map(|_| scope.spawn(run))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().is_ok())
            .collect::<Vec<_>>()
    });
    if joined.contains(&false) {
        return Err(anyhow!("a thread panicked"));
    }
    let done = done
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok(candidates
        .iter()
        .enumerate()
        .map(|(index, one)| collect(one, index, &done))
        .collect())
}

/// The results of one part.
struct DonePart {
    /// The index of the candidate.
    index: usize,
    seconds: f64,
    findings: Vec<Finding>,
    finished: bool,
}

/// Collects the results of one candidate.
fn collect(one: &Candidate<'_>, index: usize, done: &[DonePart]) -> Validated {
    let own = done.iter().filter(|done| done.index == index);
    let mut findings: Vec<Finding> = own
        .clone()
        .flat_map(|done| done.findings.iter().cloned())
        .collect();
    // Sort, because threads finish in any order and reports must be reproducible.
    findings.sort_by(|a, b| (a.rule, a.level, &a.text).cmp(&(b.rule, b.level, &b.text)));
    if let Err(reason) = &one.subject {
        let text = format!("the environment does not open: {reason}");
        findings.push(Finding {
            rule: Rule::Loads,
            level: None,
            verdict: Verdict::Fail,
            text,
            evidence: Vec::new(),
        });
    }
    Validated {
        info: one.info.clone(),
        options: one.options,
        hosted: one
            .subject
            .as_ref()
            .is_ok_and(|subject| subject.is_hosted()),
        reports: reports(&findings),
        checks: own.clone().count(),
        unfinished: own.clone().filter(|done| !done.finished).count(),
        seconds: own.map(|done| done.seconds).sum(),
    }
}

/// The monitor of one part. It forwards progress so that the part always adds exactly its weight to
/// the bar: never more, and the remainder when it finishes.
struct PartMonitor<'a> {
    monitor: &'a CommandMonitor<'a>,
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
        let mut forwarded = self
            .steps
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
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
        subject: &dyn rhae_validate::Subject,
        actions: &[rhae_engine::Action],
    ) -> Option<Result<(), String>> {
        self.monitor.replay_in_fresh_process(subject, actions)
    }
}
