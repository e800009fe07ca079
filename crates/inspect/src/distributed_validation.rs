//! The environments of a validation as units that other processes check.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rhae_engine::{Action, Catalog, GameInfo};
use rhae_explore::Identity;
use rhae_protocol::{
    Digest, RuleVerdict, UnitKey, ValidationTask, ValidationUnitReport, ValidationWork,
    WorkEvidence, WorkFinding, WorkKind, WorkRule,
};
use rhae_validate::{Evidence, Finding, Rule, RuleReport, Validated, Verdict, reports};
use rhae_work::text_digest;
use rhae_work_service::{DistributeError, Executor, NamedUnit, UnitContext, UnitEnd, Workload};

use crate::evidence::{AGENT, is_recorded, record};
use crate::validation_form::rule_verdict;
use crate::{InspectError, Validation, ValidationOptions, VerifyCommand, find_each, is_hosted};

/// Rules whose findings depend on the machine.
const MEASURED: [Rule; 2] = [Rule::Memory, Rule::Speed];

/// The environments of a validation that workers check.
pub struct DistributedValidation {
    games: Arc<dyn Catalog>,
    selected: Vec<GameInfo>,
    options: ValidationOptions,
    work: ValidationWork,
    named: Vec<NamedUnit>,
    source_digests: BTreeMap<String, String>,
    done: Mutex<BTreeMap<UnitKey, Validated>>,
}

impl DistributedValidation {
    /// Creates the units of a validation: one for each selected environment. `recordings` and
    /// `games_dirs` are the absolute paths that workers use.
    ///
    /// # Errors
    ///
    /// Fails if nothing is selected.
    pub fn new(
        games: Arc<dyn Catalog>,
        selected: Vec<GameInfo>,
        options: ValidationOptions,
        recordings: Vec<String>,
        games_dirs: Vec<String>,
    ) -> Result<Self, InspectError> {
        if selected.is_empty() {
            return Err(InspectError::NothingSelected);
        }
        let rules = Rule::ALL.iter().copied();
        let rules = rules.filter(|rule| options.rules.contains(*rule));
        let work = ValidationWork {
            seed: options.seed,
            env_seed: options.env_seed,
            steps: options.steps,
            strict: options.strict,
            nodes: options.nodes,
            deep: options.identity == Identity::Deep,
            rules: rules.map(|rule| rule.name().to_owned()).collect(),
            jobs: options.jobs,
            recordings,
            games_dirs,
        };
        let source_digests: BTreeMap<String, String> = games
            .hosted_games()
            .into_iter()
            .map(|game| (game.id.to_string(), game.source_digest))
            .collect();
        let settings = ValidationWork {
            recordings: Vec::new(),
            games_dirs: Vec::new(),
            jobs: 0,
            ..work.clone()
        };
        let named = selected.iter().map(|info| {
            let id = info.id.to_string();
            let digest = source_digests.get(&id);
            NamedUnit {
                key: UnitKey(text_digest(&format!("{settings:?}\n{id}\n{digest:?}\n")).0),
                name: id,
            }
        });
        Ok(Self {
            named: named.collect(),
            games,
            selected,
            options,
            work,
            source_digests,
            done: Mutex::default(),
        })
    }

    fn done(&self) -> MutexGuard<'_, BTreeMap<UnitKey, Validated>> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the results. An environment that ended its workers fails, and one without a result is
    /// interrupted.
    pub fn validation(&self, given_up: &[UnitKey]) -> Validation<'_> {
        let mut done = std::mem::take(&mut *self.done());
        let units = self.selected.iter().zip(&self.named);
        let environments = units.map(|(info, unit)| {
            done.remove(&unit.key)
                .unwrap_or_else(|| self.without_result(info, given_up.contains(&unit.key)))
        });
        Validation {
            games: self.games.as_ref(),
            options: self.options.clone(),
            environments: environments.collect(),
        }
    }

    fn without_result(&self, info: &GameInfo, ended_workers: bool) -> Validated {
        let crash = Finding {
            rule: Rule::Failures,
            level: None,
            verdict: Verdict::Fail,
            text: "its validation ended several worker processes".to_owned(),
            evidence: Vec::new(),
            incomplete: false,
        };
        let findings = if ended_workers {
            vec![crash]
        } else {
            Vec::new()
        };
        let hosted = is_hosted(self.games.as_ref(), info);
        Validated {
            info: info.clone(),
            options: self.options.check_options(hosted),
            hosted,
            reports: reports(&findings),
            checks: 0,
            unfinished: usize::from(!ended_workers),
            seconds: 0.0,
        }
    }

    fn validated(&self, key: &UnitKey, report: &ValidationUnitReport) -> Result<Validated, String> {
        let units = self.selected.iter().zip(&self.named);
        let info = units
            .into_iter()
            .find(|(_, unit)| unit.key == *key)
            .map(|(info, _)| info)
            .ok_or("there is no such environment")?;
        let reports = report.rules.iter().map(rule_report);
        Ok(Validated {
            info: info.clone(),
            options: self
                .options
                .check_options(is_hosted(self.games.as_ref(), info)),
            hosted: report.hosted,
            reports: reports.collect::<Result<_, _>>()?,
            checks: report.checks,
            unfinished: 0,
            seconds: report.seconds,
        })
    }
}

impl Workload for DistributedValidation {
    type Task = ValidationTask;
    type Report = ValidationUnitReport;
    type Verified = Validated;

    fn kind(&self) -> WorkKind {
        WorkKind::Validation(Box::new(self.work.clone()))
    }

    fn source_digests(&self) -> &BTreeMap<String, String> {
        &self.source_digests
    }

    fn units(&self) -> &[NamedUnit] {
        &self.named
    }

    fn is_stored(&self, unit: &UnitKey) -> bool {
        self.done().contains_key(unit)
    }

    fn task(&self, key: &UnitKey) -> Result<ValidationTask, rhae_runs::RunsError> {
        let unit = self.named.iter().find(|unit| unit.key == *key);
        Ok(ValidationTask {
            game_id: unit.map(|unit| unit.name.clone()).unwrap_or_default(),
        })
    }

    /// Verdicts are computed here from the findings, and the evidence is played.
    fn verify(
        &self,
        key: &UnitKey,
        report: ValidationUnitReport,
    ) -> Result<(Digest, Validated), String> {
        let validated = self.validated(key, &report)?;
        let (id, seed) = (validated.info.id.as_str(), self.options.env_seed);
        let findings = validated.reports.iter().flat_map(|one| &one.findings);
        for finding in findings.filter(|finding| is_recorded(finding)) {
            for Evidence { actions, .. } in &finding.evidence {
                record(self.games.as_ref(), id, seed, AGENT, actions)
                    .map_err(|error| format!("its evidence cannot be played: {error}"))?;
            }
        }
        let stable = validated.reports.iter();
        let stable = stable.filter(|one| !MEASURED.contains(&one.rule));
        let text: Vec<String> = stable.map(|one| format!("{one:?}")).collect();
        Ok((text_digest(&text.join("\n")), validated))
    }

    fn store(&self, key: &UnitKey, validated: Validated) -> Result<(), rhae_runs::RunsError> {
        self.done().insert(key.clone(), validated);
        Ok(())
    }
}

/// Checks environments in a worker.
pub struct EnvironmentExecutor {
    games: Arc<dyn Catalog>,
    options: ValidationOptions,
}

impl EnvironmentExecutor {
    /// Creates an executor. `verify` is the command for replays in a new process.
    ///
    /// # Errors
    ///
    /// Fails if the work names an unknown rule.
    pub fn new(
        games: Arc<dyn Catalog>,
        work: &ValidationWork,
        verify: VerifyCommand,
    ) -> Result<Self, InspectError> {
        let rules = work.rules.iter().map(|name| {
            name.parse::<Rule>()
                .map_err(|error| InspectError::Worker(error.to_string()))
        });
        let options = ValidationOptions {
            seed: work.seed,
            env_seed: work.env_seed,
            steps: work.steps,
            strict: work.strict,
            nodes: work.nodes,
            identity: if work.deep {
                Identity::Deep
            } else {
                Identity::FrameAndHidden
            },
            rules: rules.collect::<Result<Vec<_>, _>>()?.into_iter().collect(),
            jobs: work.jobs,
            recordings: work.recordings.iter().map(PathBuf::from).collect(),
            verify: Some(verify),
        };
        Ok(Self { games, options })
    }

    fn check(
        &self,
        task: &ValidationTask,
        context: &UnitContext<'_>,
    ) -> Result<UnitEnd<ValidationUnitReport>, InspectError> {
        let games = self.games.as_ref();
        let selected = find_each(games, std::slice::from_ref(&task.game_id))?;
        let options = self.options.clone();
        let validation = Validation::run(games, &selected, options, &context.stop, &|_| {})?;
        let [one] = &validation.environments[..] else {
            unreachable!("one environment is selected")
        };
        if validation.is_interrupted() || context.is_stopped() {
            return Ok(UnitEnd::Stopped { stop: None });
        }
        let report = ValidationUnitReport {
            hosted: one.hosted,
            rules: one.reports.iter().map(work_rule).collect(),
            checks: one.checks,
            seconds: one.seconds,
        };
        Ok(UnitEnd::Finished { report, stop: None })
    }
}

impl Executor for EnvironmentExecutor {
    type Task = ValidationTask;
    type Report = ValidationUnitReport;

    fn source_digests(&self) -> BTreeMap<String, String> {
        let hosted = self.games.hosted_games().into_iter();
        hosted
            .map(|game| (game.id.to_string(), game.source_digest))
            .collect()
    }

    fn execute(
        &self,
        task: ValidationTask,
        context: &UnitContext<'_>,
    ) -> Result<UnitEnd<ValidationUnitReport>, DistributeError> {
        self.check(&task, context)
            .map_err(|error| DistributeError::Executor(error.to_string()))
    }
}

fn work_rule(report: &RuleReport) -> WorkRule {
    let finding = |finding: &Finding| WorkFinding {
        level: finding.level,
        verdict: rule_verdict(finding.verdict),
        text: finding.text.clone(),
        evidence: finding
            .evidence
            .iter()
            .map(|evidence| WorkEvidence {
                caption: evidence.caption.clone(),
                actions: joined(&evidence.actions),
            })
            .collect(),
        incomplete: finding.incomplete,
    };
    WorkRule {
        rule: report.rule.name().to_owned(),
        summary: report.summary.clone(),
        findings: report.findings.iter().map(finding).collect(),
    }
}

fn rule_report(form: &WorkRule) -> Result<RuleReport, String> {
    let rule: Rule = form.rule.parse().map_err(|error| format!("{error}"))?;
    let finding = |one: &WorkFinding| {
        let evidence = one.evidence.iter().map(|evidence| {
            Ok(Evidence {
                caption: evidence.caption.clone(),
                actions: actions(&evidence.actions)?,
            })
        });
        let verdict = match one.verdict {
            RuleVerdict::Open => Verdict::Open,
            RuleVerdict::Pass => Verdict::Pass,
            RuleVerdict::Warn => Verdict::Warn,
            RuleVerdict::Fail => Verdict::Fail,
        };
        if verdict > rule.severity() {
            return Err(format!(
                "a finding is more severe than its rule `{}`",
                form.rule
            ));
        }
        Ok(Finding {
            rule,
            level: one.level,
            verdict,
            text: one.text.clone(),
            evidence: evidence.collect::<Result<_, String>>()?,
            incomplete: one.incomplete,
        })
    };
    let findings: Vec<Finding> = form
        .findings
        .iter()
        .map(finding)
        .collect::<Result<_, String>>()?;
    let worst = findings.iter().map(|finding| finding.verdict).max();
    Ok(RuleReport {
        rule,
        verdict: worst.unwrap_or(Verdict::Open),
        summary: form.summary.clone(),
        findings,
    })
}

fn joined(actions: &[Action]) -> String {
    let texts: Vec<String> = actions.iter().map(Action::to_string).collect();
    texts.join(" ")
}

fn actions(text: &str) -> Result<Vec<Action>, String> {
    let action = |text: &str| {
        text.parse::<Action>()
            .map_err(|error| format!("its evidence has no valid actions: {error}"))
    };
    text.split_whitespace().map(action).collect()
}
