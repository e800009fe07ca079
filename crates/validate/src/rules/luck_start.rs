//! The rule `luck-start`, regime 1 of random play: one play from the start of the game.

use rhae_engine::Rng;

use crate::levels::{enter_level, environment_failed};
use crate::luck::{MAX_STEPS_FROM_START, REPORT_INTERVAL, START_STREAM};
use crate::rule::{Check, Context, Definition, Group};
use crate::walk::is_cancelled;
use crate::{Finding, Rule, Verdict};

pub(super) const DEFINITION: Definition = Definition {
    name: "luck-start",
    group: Group::Luck,
    severity: Verdict::Fail,
    requirement: "Random play from the start completes no level.",
    checks: &[Check::Start(check)],
};

fn check(context: Context<'_>) -> Vec<Finding> {
    let Context {
        options, monitor, ..
    } = context;
    let rule = Rule::Start;
    let mut walk = match enter_level(context, 0, &[rule]) {
        Ok(walk) => walk,
        Err(findings) => return findings,
    };
    let mut rng = Rng::new(options.seed, START_STREAM);
    let steps = options.steps.min(MAX_STEPS_FROM_START);
    let mut findings: Vec<Finding> = Vec::new();
    let mut completed = 0;
    for step in 0..steps {
        let action = walk.random_action(&mut rng);
        if let Err(failure) = walk.act(action) {
            findings.extend(environment_failed(&[rule], completed, &failure));
            return findings;
        }
        let now = walk.observation().levels_completed;
        if now > completed {
            let verdict = if completed == 0 && !options.strict {
                Verdict::Warn
            } else {
                Verdict::Fail
            };
            let known = findings
                .iter()
                .any(|finding| finding.level == Some(completed));
            if !known {
                let tutorial = if verdict == Verdict::Warn {
                    "; an easy first level is allowed"
                } else {
                    ""
                };
                let text = format!(
                    "random play won the level after {} steps{tutorial}",
                    step + 1
                );
                let finding = Finding::new(rule, verdict, text).on_level(completed);
                findings.push(finding.with_evidence("a win by random play", walk.full_log()));
            }
        }
        completed = now;
        if (step + 1) % REPORT_INTERVAL == 0 {
            monitor.add_steps(REPORT_INTERVAL);
        }
        if is_cancelled(monitor, step) {
            break;
        }
    }
    monitor.add_steps(steps % REPORT_INTERVAL);
    if findings.is_empty() {
        findings.push(Finding::pass(
            rule,
            format!("random play completed no level in {steps} steps"),
        ));
    }
    findings
}
