//! From flags, or from a folder, to all that a run needs. Nothing is written before everything is known to be right.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail, ensure};
use rhae_engine::Rng;
use rhae_eval::solver::{Random, Replay, Search, Solver};
use rhae_eval::{EvalFolder, PlannedSet, load_lines, shard};
use rhae_harness::new_run_id;
use rhae_protocol::{EVAL_VERSION, EvalConfig, EvalLimits, SOFTWARE, compact_utc};
use rhae_solve::Budget;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::EvalArgs;
use crate::arc::data::{DataArgs, read, submission};
use crate::arc::protocol::Failures;

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
        let data = if args.data.is_empty() { config.data.clone() } else { args.data.clone() };
        let loaded = DataArgs::new(data, Vec::new()).load()?;
        let sets = config.sets.iter().map(|set| PlannedSet::of_record(set, &loaded.sets)).collect::<Result<_, _>>()?;
        let (solver, settings) = solver(&config.solver, config.solver_settings.clone())?;
        ensure!(
            settings == config.solver_settings,
            "the solver `{}` is not the one that the run was begun with: {} then, {} now",
            config.solver,
            json!(config.solver_settings),
            json!(settings)
        );
        let limits = args.limits.over(Some(config.limits), cores)?;
        return Ok(Prepared { folder, config, sets, solver, limits });
    }
    let name = args.solver.clone().context("--solver says who answers")?;
    let mut settings = BTreeMap::new();
    if let Some(work) = args.work {
        ensure!(name == "search", "--work is for `--solver search`");
        settings.insert("work".to_owned(), json!(work * 1_000_000));
    }
    if let Some(seed) = args.seed {
        ensure!(name == "random", "--seed is for `--solver random`");
        settings.insert("seed".to_owned(), json!(seed));
    }
    let (solver, solver_settings) = solver(&name, settings)?;
    let data = DataArgs::new(args.data.clone(), args.set.clone());
    let mut sets = Vec::new();
    for set in data.sets()? {
        let selection = args.select.selection(&set)?;
        sets.push(PlannedSet { set, selection });
    }
    let shard = args.shard.as_deref().map(part).transpose()?;
    if let Some([part, parts]) = shard {
        self::shard(&mut sets, part, parts)?;
        ensure!(sets.iter().any(|set| !set.selection.is_empty()), "part {part} of {parts} has no tasks");
    }
    let rules = args.protocol.rules();
    let limits = args.limits.over(None, cores)?;
    let config = EvalConfig {
        version: EVAL_VERSION,
        software: SOFTWARE.to_owned(),
        run_id: new_run_id()?,
        solver: name.clone(),
        solver_settings,
        protocol: args.protocol.name().to_owned(),
        attempts: args.attempts.map_or(rules.attempts, |attempts| attempts as usize),
        parser: args.parser.unwrap_or(rules.parser).name().to_owned(),
        stop_at_failure: args.failures == Failures::Hard,
        shard,
        data: data.absolute()?,
        sets: sets.iter().map(PlannedSet::record).collect(),
        limits,
    };
    let path = args.out.clone().unwrap_or_else(|| default_folder(&name));
    let folder = EvalFolder::create(&path, &config)?;
    Ok(Prepared { folder, config, sets, solver, limits })
}

/// The solver of a name, and all settings that its answers depend on.
fn solver(name: &str, mut settings: BTreeMap<String, Value>) -> Result<(Box<dyn Solver>, BTreeMap<String, Value>)> {
    match name.split_once(':') {
        None if name == "search" => {
            let work = settings.get("work").and_then(Value::as_u64).unwrap_or(Budget::default().work);
            let budget = Budget { work, ..Budget::default() };
            settings.insert("work".to_owned(), json!(budget.work));
            settings.insert("cells".to_owned(), json!(budget.cells));
            Ok((Box::new(Search { budget }), settings))
        }
        None if name == "random" => {
            let seed = settings.get("seed").and_then(Value::as_u64).unwrap_or(0);
            settings.insert("seed".to_owned(), json!(seed));
            settings.insert("generator".to_owned(), json!(Rng::NAME));
            Ok((Box::new(Random { seed }), settings))
        }
        Some(("replay", file)) => {
            // A run's folder is read again when it is resumed, so its place must not depend on where that happens.
            let given = settings.get("file").and_then(Value::as_str).map_or_else(|| PathBuf::from(file), PathBuf::from);
            let path = given.canonicalize().with_context(|| format!("cannot read `{}`", given.display()))?;
            let journal = if path.is_dir() { path.join("journal.jsonl") } else { path.clone() };
            let of_a_run = journal.extension().is_some_and(|ending| ending == "jsonl") && journal.is_file();
            let replay = if of_a_run {
                Replay::of_journal(&load_lines(journal.parent().unwrap_or(Path::new(".")))?)
            } else {
                Replay::of_submission(&submission(&path)?)
            };
            settings.insert("file".to_owned(), json!(path.display().to_string()));
            let content = if of_a_run { Some(&journal) } else { Some(&path) }.filter(|path| path.is_file());
            if let Some(path) = content {
                let hash: String = Sha256::digest(read(path)?).iter().map(|byte| format!("{byte:02x}")).collect();
                settings.insert("sha256".to_owned(), json!(hash));
            }
            Ok((Box::new(replay), settings))
        }
        _ => bail!("`{name}` is not a solver: expected `search`, `random` or `replay:FILE`"),
    }
}

/// `2/5` as part and parts.
fn part(text: &str) -> Result<[usize; 2]> {
    let numbers = text.split_once('/').map(|(part, parts)| (part.parse::<usize>(), parts.parse::<usize>()));
    match numbers {
        Some((Ok(part), Ok(parts))) if (1..=parts).contains(&part) => Ok([part, parts]),
        _ => bail!("`{text}` is not a part: expected a number, `/` and how many parts there are, such as `1/4`"),
    }
}

/// A folder named after the time and the solver, with a number if there is one already.
fn default_folder(solver: &str) -> PathBuf {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
    let plain: String = solver.chars().take(40).map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect();
    let name = format!("{}-arc-{}", compact_utc(now), plain.trim_end_matches('-'));
    let numbered = |number: u32| {
        if number == 1 { PathBuf::from(format!("runs/{name}")) } else { PathBuf::from(format!("runs/{name}-{number}")) }
    };
    (1..).map(numbered).find(|path| !path.exists()).expect("some number is free")
}
