//! Evidence as recordings and pictures: the actions that demonstrate a finding are played again and
//! recorded.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rhae_engine::{Action, Catalog, Frame, PlayState};
use rhae_protocol::{Details, Ending, Header, RecordingWriter, ResetRule, SOFTWARE};
use rhae_pyhost::Games;
use rhae_session::Play;
use rhae_validate::{Evidence, Finding, RuleReport, Verdict};

use super::work::Validated;

/// The agent's name in recordings of evidence.
pub(super) const AGENT: &str = "validate";

/// Plays the actions and returns the recording. If the environment fails or panics, the recording
/// ends there as failed.
pub(crate) fn recording(
    games: &Games,
    id: &str,
    seed: u64,
    agent: &str,
    actions: &[Action],
) -> Result<Vec<u8>> {
    let mut play = Play::new(games.open(id, seed)?, ResetRule::Official);
    let opening = play.current();
    let header = Header {
        game_id: games.find(id)?.id,
        seed,
        agent: agent.to_owned(),
        agent_seed: None,
        software: SOFTWARE.to_owned(),
        guid: None,
        resets: ResetRule::Official,
        win_levels: opening.observation.win_levels,
        available: opening.observation.available,
    };
    let entry = opening.entry(Action::Reset, Details::default());
    let mut writer = RecordingWriter::new(Vec::new(), &header)?;
    writer.entry(&entry)?;
    for &action in actions {
        let answered = catch_unwind(AssertUnwindSafe(|| {
            play.command(action)
                .map(|answer| answer.entry(action, Details::default()))
        }));
        match answered {
            Ok(Ok(entry)) => writer.entry(&entry)?,
            Ok(Err(error)) => {
                let reason = format!("{action}: {error}");
                return Ok(writer.end(&Ending::Failed, Some(&reason))?);
            }
            Err(_) => {
                let reason = format!("{action}: the environment panicked");
                return Ok(writer.end(&Ending::Failed, Some(&reason))?);
            }
        }
    }
    let won = play.current().observation.state == PlayState::Win;
    Ok(writer.end(if won { &Ending::Won } else { &Ending::Stopped }, None)?)
}

/// Returns whether the evidence of a finding is written: only warnings and failures have files.
pub(super) fn is_written(finding: &Finding) -> bool {
    finding.verdict >= Verdict::Warn
}

/// Returns the file name of the recording of one piece of evidence. If a rule has several pieces
/// for one level, they are numbered from the second on.
pub(super) fn name(id: &str, report: &RuleReport, finding: &Finding, number: usize) -> String {
    let earlier = report
        .findings
        .iter()
        .take_while(|earlier| !std::ptr::eq(*earlier, finding));
    let same_level =
        earlier.filter(|earlier| is_written(earlier) && earlier.level == finding.level);
    let number = number
        + same_level
            .map(|earlier| earlier.evidence.len())
            .sum::<usize>();
    let level = finding
        .level
        .map_or_else(String::new, |level| format!("-level{}", level + 1));
    let number = if number == 0 {
        String::new()
    } else {
        format!("-{}", number + 1)
    };
    format!("{id}-{}{level}{number}.jsonl", report.rule.name())
}

/// Writes the evidence of all warnings and failures and returns the number of files.
pub(super) fn write(
    folder: &Path,
    games: &Games,
    seed: u64,
    validated: &[Validated],
) -> Result<usize> {
    let mut written = 0;
    for one in validated {
        let id = one.info.id.as_str();
        for report in &one.reports {
            for finding in report.findings.iter().filter(|finding| is_written(finding)) {
                for (number, Evidence { actions, .. }) in finding.evidence.iter().enumerate() {
                    let file = folder.join(name(id, report, finding, number));
                    let bytes = recording(games, id, seed, AGENT, actions)?;
                    fs::write(&file, bytes)
                        .with_context(|| format!("cannot write `{}`", file.display()))?;
                    written += 1;
                }
            }
        }
    }
    Ok(written)
}

/// Plays the actions and returns the last `max_frames` settled frames, oldest first. Stops where
/// the environment fails or panics.
pub(super) fn last_frames(
    games: &Games,
    id: &str,
    seed: u64,
    actions: &[Action],
    max_frames: usize,
) -> Vec<Frame> {
    let Ok(mut play) = games.open(id, seed) else {
        return Vec::new();
    };
    let mut frames = vec![play.observation().settled().clone()];
    for &action in actions {
        let answered = catch_unwind(AssertUnwindSafe(|| {
            play.act(action).map(|seen| seen.settled().clone())
        }));
        let Ok(Ok(frame)) = answered else { break };
        frames.push(frame);
        if frames.len() > max_frames {
            frames.remove(0);
        }
    }
    frames
}

/// A temporary folder that is removed on drop.
pub(super) struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    pub(super) fn new() -> Result<Self> {
        static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let path =
            std::env::temp_dir().join(format!("rhae-validate-{}-{number}", std::process::id()));
        fs::create_dir(&path).with_context(|| format!("cannot create `{}`", path.display()))?;
        Ok(Self(path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // If this fails, the folder remains until the operating system cleans up temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}
