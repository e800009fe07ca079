//! Joins the shards of a run into one run folder.
//!
//! **Invariant:** a merged folder contains only plays whose recordings were replayed here with the
//! counts of the journal, and each play once.
//!
//! **Invariant:** the merged folder differs from that of a run on one machine only in times, paths and
//! ids. It appears under its name when it is complete.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rhae_agents::log_path;
use rhae_engine::Catalog;
use rhae_protocol::{Digest, JournalLine, PlayResult, RunConfig, Shard};
use rhae_runs::{Journal, RunFolder, RunsError, load_lines, resume};
use rhae_work::{Unit, first_difference, units};

use crate::conclusion::report_recorded;
use crate::location::open_local;
use crate::shard::load_shard;
use crate::verified_play::verify_play;
use crate::{HarnessError, Results};

/// The maximum number of missing plays that an error names.
const MAX_NAMED: usize = 5;

/// The shards to join, see [`merge()`].
#[derive(Clone, Debug, Default)]
pub struct MergeRequest {
    /// The folders of the shards, in any order.
    pub folders: Vec<PathBuf>,
    /// The folder of the complete run, which must be empty or not exist.
    pub out: PathBuf,
    /// Whether plays may be missing. They count as 0, and the run can be resumed.
    pub allow_missing: bool,
    /// The folders of hosted games; by default those of the first shard.
    pub games_dirs: Vec<PathBuf>,
}

/// A merged run.
#[derive(Clone, Debug)]
pub struct Merged {
    pub results: Results,
    /// The plays that no shard has, such as `kq19-v1 in repeat 2`.
    pub missing: Vec<String>,
    /// The number of plays that several folders have with the same result.
    pub repeated: usize,
}

/// A folder of a shard.
struct Source {
    folder: PathBuf,
    shard: Shard,
    config: RunConfig,
    lines: Vec<JournalLine>,
}

/// A verified play, and the folder that has it.
struct MergedPlay<'a> {
    at_ms: u64,
    result: &'a PlayResult,
    digest: Digest,
    source: &'a Path,
}

/// Verifies the shards of a run and joins them. `load` returns the built-in environments and the
/// games of folders.
///
/// # Errors
///
/// Returns an error if a folder is not a shard, shards have different settings, a recording does not
/// replay, two folders have different results of one play, or plays are missing that may not be. The
/// output folder is then not created.
pub fn merge<E: From<HarnessError>>(
    request: &MergeRequest,
    load: impl Fn(&[PathBuf]) -> Result<Arc<dyn Catalog>, E>,
) -> Result<Merged, E> {
    let sources = load_sources(&request.folders)?;
    let config = merged_config(&sources)?;
    let catalog = open_local(&config, &request.games_dirs, load)?;
    let units = units(&config);
    let (plays, repeated) = verified_plays(&sources, &units, catalog.as_ref())?;
    let has_play = |unit: &&Unit| !plays.contains_key(&(unit.repeat, unit.game_id.clone()));
    let missing: Vec<&Unit> = units.iter().filter(has_play).collect();
    if !missing.is_empty() && !request.allow_missing {
        return Err(missing_error(&sources, &units, &missing).into());
    }
    let mut ordered: Vec<&MergedPlay<'_>> = plays.values().collect();
    ordered.sort_by_key(|play| play.at_ms);
    let folder = write_folder(
        &request.out,
        &config,
        &sources,
        &ordered,
        missing.is_empty(),
    )?;
    let results = report_recorded(&folder, &config, &catalog)?;
    Ok(Merged {
        results,
        missing: missing.into_iter().map(name).collect(),
        repeated,
    })
}

/// Scores a run folder whose plays have ended and writes its results again, without playing anything.
/// `load` returns the built-in environments and the games of folders.
///
/// # Errors
///
/// Returns an error if the folder is not that of a run of this software, or its results cannot be
/// written.
pub fn recorded_results<E: From<HarnessError>>(
    folder: &Path,
    games_dirs: &[PathBuf],
    load: impl Fn(&[PathBuf]) -> Result<Arc<dyn Catalog>, E>,
) -> Result<Results, E> {
    let (folder, config) = resume::<RunConfig>(folder).map_err(HarnessError::from)?;
    let catalog = open_local(&config, games_dirs, load)?;
    Ok(report_recorded(&folder, &config, &catalog)?)
}

fn name(unit: &Unit) -> String {
    format!("{} in repeat {}", unit.game_id, unit.repeat)
}

fn load_sources(folders: &[PathBuf]) -> Result<Vec<Source>, HarnessError> {
    let load = |folder: &PathBuf| {
        let (_, config) = resume::<RunConfig>(folder)?;
        let shard = load_shard(folder)?.ok_or_else(|| {
            HarnessError::Request(format!(
                "`{}` is not a shard of a run: it was not started with --shard",
                folder.display()
            ))
        })?;
        Ok(Source {
            folder: folder.clone(),
            shard,
            config,
            lines: load_lines(folder)?,
        })
    };
    folders.iter().map(load).collect()
}

/// Returns the configuration of the complete run. All shards must have the same settings.
fn merged_config(sources: &[Source]) -> Result<RunConfig, HarnessError> {
    let [first, others @ ..] = sources else {
        return Err(HarnessError::Request(
            "there are no shards to merge".to_owned(),
        ));
    };
    for other in others {
        let difference = first_difference(&first.config, &other.config).or_else(|| {
            let counts = [first.shard.count, other.shard.count].map(|count| count.to_string());
            let [one, other] = counts;
            (one != other).then(|| ("number of shards".to_owned(), one, other))
        });
        if let Some((field, one, two)) = difference {
            return Err(HarnessError::Request(format!(
                "`{}` and `{}` are shards of different runs: `{field}` is {one} and {two}",
                first.folder.display(),
                other.folder.display()
            )));
        }
    }
    let mut config = first.config.clone();
    if let Some(limit) = config
        .model
        .as_mut()
        .and_then(|model| model.max_cost_usd.as_mut())
    {
        *limit *= f64::from(first.shard.count);
    }
    Ok(config)
}

/// Replays all plays. Returns them by repeat and environment, and the number of plays that occur more
/// than once with the same result.
#[allow(
    clippy::type_complexity,
    reason = "the key of a play needs no separate type"
)]
fn verified_plays<'a>(
    sources: &'a [Source],
    units: &[Unit],
    catalog: &dyn Catalog,
) -> Result<(BTreeMap<(u32, String), MergedPlay<'a>>, usize), HarnessError> {
    let mut plays: BTreeMap<(u32, String), MergedPlay<'a>> = BTreeMap::new();
    let mut repeated = 0;
    for source in sources {
        for line in &source.lines {
            let JournalLine::Play { at_ms, result } = line else {
                continue;
            };
            let refused = |reason: &str| {
                HarnessError::Request(format!(
                    "`{}` is not accepted: {reason}",
                    source.folder.join(&result.recording).display()
                ))
            };
            let of_result =
                |unit: &Unit| unit.repeat == result.repeat && unit.game_id == result.game_id;
            let position = units.iter().position(of_result);
            if !position.is_some_and(|position| source.shard.contains(position)) {
                return Err(refused(&format!(
                    "it does not belong to shard {}",
                    source.shard
                )));
            }
            let text = read_recording_text(&source.folder.join(&result.recording))?;
            let digest = verify_play(&source.config, catalog, result, text.as_deref())
                .map_err(|reason| refused(&reason))?;
            let play = MergedPlay {
                at_ms: *at_ms,
                result,
                digest,
                source: &source.folder,
            };
            let key = (result.repeat, result.game_id.clone());
            match plays.get(&key) {
                None => drop(plays.insert(key, play)),
                Some(first) if first.digest == play.digest => repeated += 1,
                Some(first) => {
                    return Err(refused(&format!(
                        "`{}` has another result of the same play, so the agent is not reproducible; name only one of the two folders",
                        first.source.display()
                    )));
                }
            }
        }
    }
    Ok((plays, repeated))
}

/// Reads a recording, or returns `None` if it does not exist.
fn read_recording_text(path: &Path) -> Result<Option<String>, HarnessError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(RunsError::file("read", path)(error).into()),
    }
}

fn missing_error(sources: &[Source], units: &[Unit], missing: &[&Unit]) -> HarnessError {
    let count = sources[0].shard.count;
    let of_missing = |index: &u32| {
        let shard = Shard {
            index: *index,
            count,
        };
        let mut positions = units
            .iter()
            .enumerate()
            .filter(|(at, _)| shard.contains(*at));
        positions.any(|(_, unit)| missing.contains(&unit))
    };
    let shards: Vec<String> = (0..count)
        .filter(of_missing)
        .map(|index| format!("{index}/{count}"))
        .collect();
    let named: Vec<String> = missing
        .iter()
        .take(MAX_NAMED)
        .map(|unit| name(unit))
        .collect();
    let more = missing.len() - named.len();
    let more = match more {
        0 => String::new(),
        _ => format!(" and {more} more"),
    };
    let verb = if missing.len() == 1 { "is" } else { "are" };
    HarnessError::Request(format!(
        "{} of {} plays {verb} missing ({}{more}); repeat the commands of shard {}, or add --allow-missing",
        missing.len(),
        units.len(),
        named.join(", "),
        shards.join(", ")
    ))
}

/// Writes the folder of the run without its report, under another name, and renames it.
fn write_folder(
    out: &Path,
    config: &RunConfig,
    sources: &[Source],
    plays: &[&MergedPlay<'_>],
    complete: bool,
) -> Result<RunFolder, HarnessError> {
    // Creating and removing it checks that the name can be used, before anything is copied.
    if fs::read_dir(out).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(RunsError::FolderInUse(out.to_owned()).into());
    }
    let name = out
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let name = name.ok_or_else(|| {
        HarnessError::Request(format!("`{}` is not the name of a folder", out.display()))
    })?;
    let unfinished = out.with_file_name(format!(".{name}.unfinished"));
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished).map_err(RunsError::file("remove", &unfinished))?;
    }
    let folder = RunFolder::create(&unfinished, config)?;
    folder.create_subfolder("recordings")?;
    if config.agent_cmd.is_some() {
        folder.create_subfolder("outputs")?;
    }
    let (journal, _) = Journal::<JournalLine>::open(&folder)?;
    let times = || sources.iter().flat_map(|source| &source.lines).map(time_of);
    let started = times().min().unwrap_or_default();
    journal.append(&JournalLine::Started {
        at_ms: started,
        resumed: false,
    })?;
    for play in plays {
        copy_play(play, &folder)?;
        journal.append(&JournalLine::Play {
            at_ms: play.at_ms,
            result: play.result.clone(),
        })?;
    }
    if complete {
        let at_ms = times().max().unwrap_or(started);
        journal.append(&JournalLine::Finished { at_ms })?;
    }
    drop(journal);
    fs::rename(&unfinished, out).map_err(RunsError::file("create", out))?;
    Ok(RunFolder::open(out))
}

const fn time_of(line: &JournalLine) -> u64 {
    match line {
        JournalLine::Started { at_ms, .. }
        | JournalLine::Play { at_ms, .. }
        | JournalLine::Finished { at_ms } => *at_ms,
    }
}

/// Copies and syncs the files of a play: its recording, its model log, the standard error of its
/// agent and the files that the agent wrote.
fn copy_play(play: &MergedPlay<'_>, folder: &RunFolder) -> Result<(), HarnessError> {
    let recording = Path::new(&play.result.recording);
    let log = log_path(recording);
    let stderr = recording.with_extension("stderr.txt");
    for name in [recording, &log, &stderr] {
        copy_file(&play.source.join(name), &folder.path().join(name))?;
    }
    let outputs = Path::new("outputs").join(&play.result.guid);
    copy_tree(&play.source.join(&outputs), &folder.path().join(&outputs))
}

/// Copies and syncs a file if it exists.
fn copy_file(from: &Path, to: &Path) -> Result<(), HarnessError> {
    match fs::copy(from, to) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(RunsError::file("copy", from)(error).into()),
    }
    let synced = File::open(to).and_then(|file| file.sync_all());
    Ok(synced.map_err(RunsError::file("write", to))?)
}

/// Copies a folder if it exists. Symbolic links are not followed and not copied.
fn copy_tree(from: &Path, to: &Path) -> Result<(), HarnessError> {
    let entries = match fs::read_dir(from) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(RunsError::file("read", from)(error).into()),
    };
    fs::create_dir_all(to).map_err(RunsError::file("create", to))?;
    for entry in entries {
        let entry = entry.map_err(RunsError::file("read", from))?;
        let kind = entry.file_type().map_err(RunsError::file("read", from))?;
        let target = to.join(entry.file_name());
        if kind.is_dir() {
            copy_tree(&entry.path(), &target)?;
        } else if kind.is_file() {
            copy_file(&entry.path(), &target)?;
        }
    }
    Ok(())
}
