//! From flags, or from a folder, to all that a run needs. Nothing is written before everything is known to be right.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail, ensure};
use rhae_eval::solver::Solver;
use rhae_eval::{EvalFolder, PlannedSet, shard};
use rhae_harness::new_run_id;
use rhae_protocol::{EVAL_VERSION, EvalConfig, EvalLimits, SOFTWARE, compact_utc};
use serde_json::{Value, json};

use super::EvalArgs;
use super::solvers::{given, solver};
use crate::arc::data::DataArgs;
use crate::arc::protocol::Failures;

/// Requests at a time to a model.
const MODEL_CONCURRENCY: usize = 8;

pub(super) struct Prepared {
    pub(super) folder: EvalFolder,
    pub(super) config: EvalConfig,
    pub(super) sets: Vec<PlannedSet>,
    pub(super) solver: Box<dyn Solver>,
    pub(super) limits: EvalLimits,
}

pub(super) fn prepare(args: &EvalArgs) -> Result<Prepared> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if let Some(path) = &args.resume {
        let (folder, config) = EvalFolder::resume(path)?;
        let data = if args.data.is_empty() {
            config.data.clone()
        } else {
            args.data.clone()
        };
        let loaded = DataArgs::new(data, Vec::new()).load()?;
        let sets = config
            .sets
            .iter()
            .map(|set| PlannedSet::of_record(set, &loaded.sets))
            .collect::<Result<_, _>>()?;
        let (solver, settings) = solver(args, &config.solver, config.solver_settings.clone())?;
        ensure!(
            settings == config.solver_settings,
            "the solver `{}` is not the one that the run was begun with: {} then, {} now",
            config.solver,
            json!(config.solver_settings),
            json!(settings)
        );
        let limits = args.limits.over(Some(config.limits), cores)?;
        measurable(&limits, solver.as_ref(), &settings)?;
        return Ok(Prepared {
            folder,
            config,
            sets,
            solver,
            limits,
        });
    }
    let Chosen {
        name,
        solver,
        settings,
        data,
        mut sets,
    } = choose(args)?;
    let shard = args.shard.as_deref().map(part).transpose()?;
    if let Some([part, parts]) = shard {
        self::shard(&mut sets, part, parts)?;
        ensure!(
            sets.iter().any(|set| !set.selection.is_empty()),
            "part {part} of {parts} has no tasks"
        );
    }
    let rules = args.protocol.rules();
    let limits = args.limits.over(
        None,
        if solver.costs() {
            MODEL_CONCURRENCY
        } else {
            cores
        },
    )?;
    measurable(&limits, solver.as_ref(), &settings)?;
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
    };
    let path = args.out.clone().unwrap_or_else(|| default_folder(&name));
    let folder = EvalFolder::create(&path, &config)?;
    Ok(Prepared {
        folder,
        config,
        sets,
        solver,
        limits,
    })
}

/// Refuses a limit that nothing could be measured against.
fn measurable(
    limits: &EvalLimits,
    solver: &dyn Solver,
    settings: &BTreeMap<String, Value>,
) -> Result<()> {
    ensure!(
        limits.cost_usd.is_none()
            || !solver.costs()
            || settings.get("priced") == Some(&json!(true)),
        "--spend-limit needs to know what tokens cost: give the model `prices`"
    );
    Ok(())
}

/// What flags name: a solver and sets with the tests that count.
pub(super) struct Chosen {
    name: String,
    pub(super) solver: Box<dyn Solver>,
    settings: BTreeMap<String, Value>,
    data: DataArgs,
    pub(super) sets: Vec<PlannedSet>,
}

pub(super) fn choose(args: &EvalArgs) -> Result<Chosen> {
    let name = args.solver.clone().context("--solver says who answers")?;
    let (solver, settings) = solver(args, &name, given(args, &name)?)?;
    let data = DataArgs::new(args.data.clone(), args.set.clone());
    let mut sets = Vec::new();
    for set in data.sets()? {
        let selection = args.select.selection(&set)?;
        sets.push(PlannedSet { set, selection });
    }
    Ok(Chosen {
        name,
        solver,
        settings,
        data,
        sets,
    })
}

/// `2/5` as part and parts.
fn part(text: &str) -> Result<[usize; 2]> {
    let numbers = text
        .split_once('/')
        .map(|(part, parts)| (part.parse::<usize>(), parts.parse::<usize>()));
    match numbers {
        Some((Ok(part), Ok(parts))) if (1..=parts).contains(&part) => Ok([part, parts]),
        _ => bail!(
            "`{text}` is not a part: expected a number, `/` and how many parts there are, such as `1/4`"
        ),
    }
}

/// A folder named after the time and the solver, with a number if there is one already.
fn default_folder(solver: &str) -> PathBuf {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_millis() as u64);
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
    let name = format!("{}-arc-{}", compact_utc(now), plain.trim_end_matches('-'));
    let numbered = |number: u32| {
        if number == 1 {
            PathBuf::from(format!("runs/{name}"))
        } else {
            PathBuf::from(format!("runs/{name}-{number}"))
        }
    };
    (1..)
        .map(numbered)
        .find(|path| !path.exists())
        .expect("some number is free")
}
