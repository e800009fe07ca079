//! Resolves flags, or the folder of a resumed run, into everything that a run needs.
//!
//! The folder of a new run is created last, so an invalid flag leaves no files behind.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use rhae_eval::solver::Solver;
use rhae_eval::{Ledger, Plan, PlannedSet, check_limits, shard};
use rhae_protocol::{EVAL_VERSION, EvalConfig, EvalLimits, SOFTWARE, compact_utc};
use rhae_runs::{RunFolder, load_lines, new_run_id, now_ms, unused_folder};
use serde_json::{Value, json};

use super::EvalArgs;
use super::solvers::{create_solver, settings_from_flags};
use crate::arc::data::DataArgs;
use crate::arc::protocol::Failures;

/// Default number of requests in flight to a model.
const MODEL_CONCURRENCY: usize = 8;

/// Everything that a new or resumed run needs.
pub(super) struct PreparedRun {
    pub(super) folder: RunFolder,
    pub(super) config: EvalConfig,
    pub(super) plan: Plan,
    /// The state of a resumed run.
    pub(super) ledger: Ledger,
    pub(super) solver: Box<dyn Solver>,
    pub(super) limits: EvalLimits,
    /// A warning about limits that may be exceeded.
    pub(super) note: Option<String>,
}

/// Prepares a new run or, with `--resume`, the existing run in the given folder.
pub(super) fn prepare(args: &EvalArgs) -> Result<PreparedRun> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if let Some(path) = &args.resume {
        let (folder, config) = rhae_runs::resume::<EvalConfig>(path)?;
        let data = if args.data.is_empty() {
            config.data.clone()
        } else {
            args.data.clone()
        };
        let loaded = DataArgs::new(data, Vec::new()).load()?;
        let sets = config
            .sets
            .iter()
            .map(|set| PlannedSet::from_record(set, &loaded.sets))
            .collect::<Result<_, _>>()?;
        let (solver, settings) =
            create_solver(args, &config.solver, config.solver_settings.clone())?;
        ensure!(
            settings == config.solver_settings,
            "the settings of the solver `{}` differ from the start of the run: {} then, {} now; restore them, or start a new run",
            config.solver,
            json!(config.solver_settings),
            json!(settings)
        );
        let limits = args.limits.resolve(Some(config.limits), cores)?;
        ensure_measurable(&limits, solver.as_ref(), &settings)?;
        let plan = Plan::new(sets, config.attempts, solver.unit());
        let ledger = Ledger::from_lines(&load_lines(folder.path()).unwrap_or_default());
        let note = check_limits(&plan, solver.as_ref(), &limits, &ledger, args.retry_failed)?;
        return Ok(PreparedRun {
            folder,
            config,
            plan,
            ledger,
            solver,
            limits,
            note,
        });
    }
    let ResolvedFlags {
        name,
        solver,
        settings,
        data,
        mut sets,
    } = resolve(args)?;
    let shard = args.shard.as_deref().map(parse_shard).transpose()?;
    if let Some([part, parts]) = shard {
        self::shard(&mut sets, part, parts)?;
        ensure!(
            sets.iter().any(|set| !set.selection.is_empty()),
            "shard {part}/{parts} contains no tasks"
        );
    }
    let rules = args.protocol.rules();
    let limits = args.limits.resolve(
        None,
        if solver.is_billed() {
            MODEL_CONCURRENCY
        } else {
            cores
        },
    )?;
    ensure_measurable(&limits, solver.as_ref(), &settings)?;
    let config = EvalConfig {
        version: EVAL_VERSION,
        software: SOFTWARE.to_owned(),
        run_id: new_run_id()?,
        solver: name.clone(),
        solver_settings: settings,
        protocol: args.protocol.name().to_owned(),
        attempts: args
            .attempts
            .map_or(rules.attempts, |attempts| attempts as usize),
        parser: args.parser.unwrap_or(rules.parser).name().to_owned(),
        stop_at_failure: args.failures == Failures::Hard,
        shard,
        data: data.absolute()?,
        sets: sets.iter().map(PlannedSet::record).collect(),
        limits,
        identity: args.identity.resolve(),
    };
    let ledger = Ledger::default();
    let plan = Plan::new(sets, config.attempts, solver.unit());
    let note = check_limits(&plan, solver.as_ref(), &limits, &ledger, false)?;
    let path = args.out.clone().unwrap_or_else(|| default_folder(&name));
    let folder = RunFolder::create(&path, &config)?;
    Ok(PreparedRun {
        folder,
        config,
        plan,
        ledger,
        solver,
        limits,
        note,
    })
}

/// Returns an error if a spend limit is given for a billed solver without known prices.
fn ensure_measurable(
    limits: &EvalLimits,
    solver: &dyn Solver,
    settings: &BTreeMap<String, Value>,
) -> Result<()> {
    ensure!(
        limits.cost_usd.is_none()
            || !solver.is_billed()
            || settings.get("priced") == Some(&json!(true)),
        "--max-cost requires `prices` in the configuration of the model; without them the cost is unknown"
    );
    Ok(())
}

/// The solver and the data that the flags of a new run select.
pub(super) struct ResolvedFlags {
    name: String,
    pub(super) solver: Box<dyn Solver>,
    settings: BTreeMap<String, Value>,
    data: DataArgs,
    pub(super) sets: Vec<PlannedSet>,
}

pub(super) fn resolve(args: &EvalArgs) -> Result<ResolvedFlags> {
    let name = args.solver.clone().context("--solver is required")?;
    let (solver, settings) = create_solver(args, &name, settings_from_flags(args, &name)?)?;
    let data = DataArgs::new(args.data.clone(), args.set.clone());
    let mut sets = Vec::new();
    for set in data.sets()? {
        let selection = args.select.selection(&set)?;
        sets.push(PlannedSet { set, selection });
    }
    Ok(ResolvedFlags {
        name,
        solver,
        settings,
        data,
        sets,
    })
}

/// Parses a shard such as `2/5` into its number and the number of shards.
fn parse_shard(text: &str) -> Result<[usize; 2]> {
    let numbers = text
        .split_once('/')
        .map(|(part, parts)| (part.parse::<usize>(), parts.parse::<usize>()));
    match numbers {
        Some((Ok(part), Ok(parts))) if (1..=parts).contains(&part) => Ok([part, parts]),
        _ => bail!("`{text}` is not a shard; expected I/N with I from 1 to N, such as `1/4`"),
    }
}

/// Returns an unused folder name with the current time and the solver. Appends a number if the name
/// is taken.
fn default_folder(solver: &str) -> PathBuf {
    let plain: String = solver
        .chars()
        .take(40)
        .map(|letter| {
            if letter.is_ascii_alphanumeric() {
                letter
            } else {
                '-'
            }
        })
        .collect();
    let name = format!(
        "{}-arc-{}",
        compact_utc(now_ms()),
        plain.trim_end_matches('-')
    );
    unused_folder(Path::new("runs"), &name)
}
