//! Evidence as recordings and frames: the actions that demonstrate a finding are played again.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rhae_engine::{Action, Catalog, Frame, PlayState};
use rhae_protocol::{Details, Ending, Header, RecordingWriter, ResetRule, SOFTWARE};
use rhae_session::Play;
use rhae_validate::{Evidence, Finding, RuleReport, Validated, Verdict};

use crate::InspectError;

/// The agent's name in recordings of evidence.
pub(crate) const AGENT: &str = "validate";

/// The recording of one piece of evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvidenceFile {
    /// The name of the file, which is unique within a validation.
    pub name: String,
    pub bytes: Vec<u8>,
}

/// Plays the actions and returns the recording. If the environment fails or panics, the recording
/// ends there as `environment failed`.
///
/// # Errors
///
/// Fails if the environment cannot be opened.
pub fn record(
    games: &dyn Catalog,
    id: &str,
    seed: u64,
    agent: &str,
    actions: &[Action],
) -> Result<Vec<u8>, InspectError> {
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
        source_digest: play.info().source_digest.clone(),
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
                return Ok(writer.end(&Ending::EnvironmentFailed, Some(&reason))?);
            }
            Err(_) => {
                let reason = format!("{action}: the environment panicked");
                return Ok(writer.end(&Ending::EnvironmentFailed, Some(&reason))?);
            }
        }
    }
    let won = play.current().observation.state == PlayState::Win;
    Ok(writer.end(if won { &Ending::Won } else { &Ending::Stopped }, None)?)
}

/// Returns whether the evidence of a finding is recorded: only that of warnings and failures is.
pub(crate) fn is_recorded(finding: &Finding) -> bool {
    finding.verdict >= Verdict::Warn
}

/// Returns the file name of the recording of one piece of evidence, counted from 0 within its
/// finding. If a rule has several pieces for one level, they are numbered from the second on.
pub(crate) fn file_name(id: &str, report: &RuleReport, finding: &Finding, number: usize) -> String {
    let earlier = report
        .findings
        .iter()
        .take_while(|earlier| !std::ptr::eq(*earlier, finding));
    let same_level =
        earlier.filter(|earlier| is_recorded(earlier) && earlier.level == finding.level);
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

/// Records the evidence of all warnings and failures of one environment.
pub(crate) fn recordings_of(
    games: &dyn Catalog,
    seed: u64,
    one: &Validated,
) -> impl Iterator<Item = Result<EvidenceFile, InspectError>> {
    let id = one.info.id.as_str();
    let findings = one.reports.iter().flat_map(|report| {
        let recorded = report
            .findings
            .iter()
            .filter(|finding| is_recorded(finding));
        recorded.map(move |finding| (report, finding))
    });
    findings.flat_map(move |(report, finding)| {
        let evidence = finding.evidence.iter().enumerate();
        evidence.map(move |(number, Evidence { actions, .. })| {
            Ok(EvidenceFile {
                name: file_name(id, report, finding, number),
                bytes: record(games, id, seed, AGENT, actions)?,
            })
        })
    })
}

/// Plays the actions and returns the last `max_frames` settled frames, oldest first. Stops where
/// the environment fails or panics.
pub(crate) fn last_frames(
    games: &dyn Catalog,
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
