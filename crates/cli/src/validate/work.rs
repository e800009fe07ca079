//! Doing the work: parts that need the process for themselves first, then all others on threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Result, anyhow};
use rhae_engine::GameInfo;
use rhae_validate::{
    Finding, Options, Part, Rule, RuleReport, Verdict, Watch, check, parts, reports,
};

use super::subjects::Checked;
use super::watch::CommandWatch;

/// What came of one environment.
pub(super) struct Validated {
    pub(super) info: GameInfo,
    pub(super) options: Options,
    pub(super) hosted: bool,
    pub(super) reports: Vec<RuleReport>,
    /// How many of its checks there are, and how many of them were not done, or not to their end.
    pub(super) checks: usize,
    pub(super) unfinished: usize,
    /// Time spent on it, over all threads.
    pub(super) seconds: f64,
}

impl Validated {
    pub(super) fn fails(&self) -> bool {
        self.count(Verdict::Fail) > 0
    }

    pub(super) fn passes(&self) -> bool {
        !self.fails() && self.unfinished == 0
    }

    /// The levels that could not be come to, from 0.
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

pub(super) fn validate(
    checked: &[Checked<'_>],
    jobs: usize,
    watch: &CommandWatch<'_>,
) -> Result<Vec<Validated>> {
    let mut alone: Vec<(usize, Part, u64)> = Vec::new();
    let mut together: Vec<(usize, Part, u64)> = Vec::new();
    for (index, one) in checked.iter().enumerate() {
        let Ok(subject) = &one.subject else { continue };
        for (part, weight) in parts(&**subject, &one.options) {
            if part.is_alone() {
                &mut alone
            } else {
                &mut together
            }
            .push((index, part, weight.0));
        }
    }
    // What takes no time first, so that whoever interrupts has it. Then long parts, so that no thread is left with one at the end.
    together.sort_by_key(|&(_, _, weight)| (weight > 0, std::cmp::Reverse(weight)));
    let total: u64 = alone
        .iter()
        .chain(&together)
        .map(|&(_, _, weight)| weight)
        .sum();
    watch.bar().set_length(total.max(1));
    let done: Mutex<Vec<Done>> = Mutex::new(Vec::new());
    let work = |&(index, part, weight): &(usize, Part, u64)| {
        let one = &checked[index];
        let Ok(subject) = &one.subject else { return };
        let begun = Instant::now();
        let findings = if watch.goes_on() {
            watch
                .bar()
                .set_message(format!("{} {}", one.info.id, part.name()));
            let told = Told {
                watch,
                steps: Mutex::new(0),
                most: weight,
            };
            let findings = check(&**subject, part, &one.options, &told);
            told.finish();
            findings
        } else {
            part.cut_short(Vec::new())
        };
        let (seconds, finished) = (begun.elapsed().as_secs_f64(), watch.goes_on());
        done.lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .push(Done {
                index,
                seconds,
                findings,
                finished,
            });
    };
    alone.iter().for_each(&work);
    let next = AtomicUsize::new(0);
    let ended = std::thread::scope(|scope| {
        let run = || {
            while let Some(item) = together.get(next.fetch_add(1, Ordering::Relaxed)) {
                work(item);
            }
        };
        let threads: Vec<_> = (0..jobs.clamp(1, together.len().max(1)))
            .map(|_| scope.spawn(run))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().is_ok())
            .collect::<Vec<_>>()
    });
    if ended.contains(&false) {
        return Err(anyhow!("a thread panicked"));
    }
    let done = done
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok(checked
        .iter()
        .enumerate()
        .map(|(index, one)| together_of(one, index, &done))
        .collect())
}

/// A part that was worked on.
struct Done {
    /// Whose it is.
    index: usize,
    seconds: f64,
    findings: Vec<Finding>,
    finished: bool,
}

fn together_of(one: &Checked<'_>, index: usize, done: &[Done]) -> Validated {
    let own = done.iter().filter(|done| done.index == index);
    let mut findings: Vec<Finding> = own
        .clone()
        .flat_map(|done| done.findings.iter().cloned())
        .collect();
    // Threads finish in any order; reports do not show it.
    findings.sort_by(|a, b| (a.rule, a.level, &a.text).cmp(&(b.rule, b.level, &b.text)));
    if let Err(reason) = &one.subject {
        let text = format!("it does not open: {reason}");
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

/// Passes progress on, but no more of it than the part was announced with, and the rest of it at the end.
struct Told<'a> {
    watch: &'a CommandWatch<'a>,
    steps: Mutex<u64>,
    most: u64,
}

impl Told<'_> {
    fn finish(&self) {
        self.steps(self.most);
    }
}

impl Watch for Told<'_> {
    fn steps(&self, steps: u64) {
        let mut told = self
            .steps
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let more = steps.min(self.most - *told);
        *told += more;
        self.watch.steps(more);
    }

    fn goes_on(&self) -> bool {
        self.watch.goes_on()
    }

    fn seconds(&self) -> Option<f64> {
        self.watch.seconds()
    }

    fn memory(&self) -> Option<u64> {
        self.watch.memory()
    }

    fn fresh(
        &self,
        subject: &dyn rhae_validate::Subject,
        actions: &[rhae_engine::Action],
    ) -> Option<Result<(), String>> {
        self.watch.fresh(subject, actions)
    }
}
