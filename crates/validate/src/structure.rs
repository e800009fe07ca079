//! Structural checks: levels start, frames are valid, solutions win, and plays can be replayed.

use rhae_engine::{
    Action, ActionKind, Environment, Frame, MAX_FRAMES, Observation, PlayState, Rng,
};

use crate::levels::{baseline, environment_failed, unreachable_level};
use crate::walk::{PlayFailure, Walk, catch_panic, observation_hash, random_action_of};
use crate::{ATTEMPT_FACTOR, Finding, Monitor, Options, Rule, Subject, Verdict};

/// The number of random plays per level in which a loss is searched for.
const PLAYS_FOR_A_LOSS: u32 = 20;

/// Checks all structural rules except those that need a state graph.
pub(crate) fn check(
    subject: &dyn Subject,
    options: &Options,
    monitor: &dyn Monitor,
) -> Vec<Finding> {
    let mut findings = vec![metadata(subject), six_levels(subject)];
    findings.extend(baselines(subject));
    for level in 0..subject.levels() {
        findings.extend(level_starts(subject, options, level));
    }
    findings.push(solutions(subject, options));
    findings.extend(recordings(subject, options, monitor));
    findings
}

fn metadata(subject: &dyn Subject) -> Finding {
    let info = subject.info();
    let mut missing = Vec::new();
    if info.title.trim().is_empty() {
        missing.push("a title");
    }
    if info.tags.is_empty() {
        missing.push("tags, such as `keyboard` or `click`");
    }
    if info.frames_per_second == 0 {
        missing.push("a frame rate above 0");
    }
    if info.actions.iter().all(|kind| kind == ActionKind::Reset) {
        missing.push("actions other than RESET");
    }
    if missing.is_empty() {
        Finding::pass(
            Rule::Metadata,
            "title, tags, actions and frame rate are present",
        )
    } else {
        let verdict = if subject.is_hosted() {
            Verdict::Warn
        } else {
            Verdict::Fail
        };
        Finding::new(
            Rule::Metadata,
            verdict,
            format!("the metadata lacks {}", missing.join(", ")),
        )
    }
}

fn six_levels(subject: &dyn Subject) -> Finding {
    match subject.levels() {
        levels @ 6.. => Finding::pass(Rule::SixLevels, format!("{levels} levels")),
        levels => Finding::warn(
            Rule::SixLevels,
            format!(
                "{levels} levels; at least six are needed, because later levels combine what earlier ones teach"
            ),
        ),
    }
}

fn baselines(subject: &dyn Subject) -> Option<Finding> {
    let (known, levels) = (
        subject.info().baselines.len(),
        usize::from(subject.levels()),
    );
    if known == levels {
        let zero = subject
            .info()
            .baselines
            .iter()
            .position(|baseline| baseline.actions == 0)?;
        return Some(Finding::fail(
            Rule::Baselines,
            format!("the baseline of level {} is 0 actions", zero + 1),
        ));
    }
    Some(match known {
        0 => Finding::warn(
            Rule::Baselines,
            "no baselines: plays get no score, and random attempts are 200 actions long",
        ),
        _ => Finding::fail(
            Rule::Baselines,
            format!("{known} baselines for {levels} levels"),
        ),
    })
}

/// Returns a description of the first invalid frame of an observation, or of an invalid number of
/// frames. Hosted games may return one frame more than native ones.
pub(crate) fn invalid_frames(seen: &Observation, hosted: bool) -> Option<String> {
    let frames = seen.frames.frames();
    let max = if hosted { MAX_FRAMES + 1 } else { MAX_FRAMES };
    if !(1..=max).contains(&frames.len()) {
        return Some(format!(
            "{} frames in one observation: expected 1 to {MAX_FRAMES}",
            frames.len()
        ));
    }
    let (number, frame) = frames
        .iter()
        .enumerate()
        .find(|(_, frame)| !frame.is_valid())?;
    let cell = frame
        .cells()
        .iter()
        .position(|&cell| cell > 15)
        .unwrap_or_default();
    Some(format!(
        "colour {} at column {}, row {} of frame {}: expected 0 to 15",
        frame.cells()[cell] as i8,
        cell % 64,
        cell / 64,
        number + 1
    ))
}

fn level_starts(subject: &dyn Subject, options: &Options, level: u8) -> Vec<Finding> {
    let walk = match Walk::enter(subject, options.env_seed, level) {
        Ok(Some(walk)) => walk,
        Ok(None) => {
            return [Rule::Loads, Rule::Frames, Rule::Actions]
                .map(|rule| unreachable_level(rule, level))
                .to_vec();
        }
        Err(failure) => {
            let mut findings = environment_failed(&[Rule::Frames, Rule::Actions], level, &failure);
            findings.push(
                Finding::fail(
                    Rule::Loads,
                    format!("the level does not start: {}", failure.reason),
                )
                .on_level(level),
            );
            return findings;
        }
    };
    let mut findings = vec![level_start(subject, &walk, level)];
    findings.extend(observations(subject, walk, level));
    findings
}

/// Checks the state in which a newly entered level starts.
fn level_start(subject: &dyn Subject, walk: &Walk, level: u8) -> Finding {
    let seen = walk.observation();
    let finding = if seen.state == PlayState::NotFinished
        && seen.levels_completed == level
        && seen.win_levels == subject.levels()
    {
        Finding::pass(Rule::Loads, "starts")
    } else {
        let (state, completed, all) = (seen.state.name(), seen.levels_completed, seen.win_levels);
        Finding::fail(
            Rule::Loads,
            format!("the level starts as {state} with {completed} of {all} levels completed"),
        )
        .with_evidence("the start of the level", walk.full_log())
    };
    finding.on_level(level)
}

/// Checks the frames and the offered actions at the start of a level and after each action of its
/// solution.
fn observations(subject: &dyn Subject, mut walk: Walk, level: u8) -> Vec<Finding> {
    let (mut bad_frame, mut bad_offer) = (None, None);
    let mut played = Ok(());
    let solution = subject.solution(level).unwrap_or_default();
    for action in [None].into_iter().chain(solution.into_iter().map(Some)) {
        played = action.map_or(Ok(()), |action| walk.act(action).map(|_| ()));
        if played.is_err() {
            break;
        }
        let seen = walk.observation();
        if bad_frame.is_none() {
            bad_frame =
                invalid_frames(seen, subject.is_hosted()).map(|problem| (problem, walk.full_log()));
        }
        let foreign = seen
            .available
            .iter()
            .find(|&kind| kind != ActionKind::Reset && !subject.info().actions.contains(kind));
        if bad_offer.is_none() {
            bad_offer = foreign.map(|kind| (kind, walk.full_log()));
        }
    }
    let mut findings = Vec::new();
    match bad_frame {
        None => findings.push(Finding::pass(Rule::Frames, "draws valid frames").on_level(level)),
        Some((problem, line)) => {
            findings.push(
                Finding::fail(Rule::Frames, problem)
                    .on_level(level)
                    .with_evidence("the last observation has an invalid frame", line),
            );
        }
    }
    match bad_offer {
        None => findings
            .push(Finding::pass(Rule::Actions, "offers only listed actions").on_level(level)),
        // The actions of a hosted game are known only when it runs. The list in its metadata may
        // therefore be incomplete, and a missing action is only a warning.
        Some((kind, line)) => {
            let text = format!("{kind} is offered but not listed among the environment's actions");
            let finding = if subject.is_hosted() {
                Finding::warn(Rule::Actions, text)
            } else {
                Finding::fail(Rule::Actions, text)
            };
            findings.push(
                finding
                    .on_level(level)
                    .with_evidence("the last observation offers it", line),
            );
        }
    }
    if let Err(failure) = played {
        findings.extend(environment_failed(&[], level, &failure));
    }
    findings
}

/// Plays all solutions in sequence within one play.
fn solutions(subject: &dyn Subject, options: &Options) -> Finding {
    let stored = (0..subject.levels())
        .filter(|&level| subject.has_stored_solution(level))
        .count();
    let origin = if stored > 0 { "stored" } else { "found" };
    let mut play = match catch_panic(|| subject.open(options.env_seed))
        .and_then(|opened| opened.map_err(|error| error.to_string()))
    {
        Ok(play) => play,
        Err(reason) => return Finding::open(Rule::Solutions, reason),
    };
    let mut line = Vec::new();
    for level in 0..subject.levels() {
        let Some(solution) = subject.solution(level) else {
            let missing = format!("no solution of level {} is stored or was found", level + 1);
            return if subject.is_hosted() {
                let advice = "add a recording of a win (`rhae play --record`) to the game's folder";
                let later = if level + 1 < subject.levels() {
                    ", so later levels are not checked"
                } else {
                    ""
                };
                Finding::warn(Rule::Solutions, format!("{missing}{later}: {advice}"))
            } else {
                Finding::fail(
                    Rule::Solutions,
                    format!("{missing}; store one for each level"),
                )
            };
        };
        for (step, &action) in solution.iter().enumerate() {
            if play.observation().levels_completed != level {
                let text = format!(
                    "level {} is already won after {step} of the {} actions of its solution",
                    level + 1,
                    solution.len()
                );
                return Finding::fail(Rule::Solutions, text)
                    .on_level(level)
                    .with_evidence("the solutions up to that point", Some(line));
            }
            line.push(action);
            if let Err(reason) = catch_panic(|| {
                play.act(action)
                    .map(|_| ())
                    .map_err(|error| error.to_string())
            })
            .flatten()
            {
                return Finding::fail(Rule::Solutions, reason)
                    .on_level(level)
                    .with_evidence("the last action causes the failure", Some(line));
            }
        }
        if play.observation().levels_completed != level + 1 {
            let text = format!(
                "the {origin} solution does not win: the level is not completed after its {} actions",
                solution.len()
            );
            return Finding::fail(Rule::Solutions, text)
                .on_level(level)
                .with_evidence("the solutions up to that point", Some(line));
        }
    }
    if play.observation().state != PlayState::Win {
        return Finding::fail(
            Rule::Solutions,
            "all levels are completed, but the game is not won",
        )
        .with_evidence("all solutions", Some(line));
    }
    Finding::pass(
        Rule::Solutions,
        format!(
            "the {origin} solutions win all levels in {} actions",
            line.len()
        ),
    )
    .with_evidence("all solutions", Some(line))
}

/// Plays a win and a loss and replays both in this process and in a new one. Also reports whether
/// the stored recordings replay.
fn recordings(subject: &dyn Subject, options: &Options, monitor: &dyn Monitor) -> Vec<Finding> {
    let mut findings = Vec::new();
    for stored in subject.recordings() {
        findings.push(match stored.replayed {
            Ok(result) => Finding::pass(
                Rule::Recordings,
                format!("`{}` replays: {result}", stored.name),
            ),
            Err(difference) => Finding::fail(
                Rule::Recordings,
                format!("`{}` does not replay: {difference}", stored.name),
            ),
        });
    }
    let win: Option<Vec<Vec<Action>>> = (0..subject.levels())
        .map(|level| subject.solution(level))
        .collect();
    let plays = [
        ("win", win.map(|lines| lines.concat())),
        ("loss", loss(subject, options)),
    ];
    for (kind, line) in plays {
        let Some(line) = line else {
            findings.push(Finding::open(
                Rule::Recordings,
                format!("no {kind} is known that could be replayed"),
            ));
            continue;
        };
        let finding = match replayed(subject, options, &line).and_then(|()| {
            monitor
                .replay_in_fresh_process(subject, &line)
                .unwrap_or(Ok(()))
        }) {
            Ok(()) => Finding::pass(
                Rule::Recordings,
                format!("a {kind} of {} actions replays", line.len()),
            ),
            Err(difference) => Finding::fail(
                Rule::Recordings,
                format!("a {kind} does not replay: {difference}"),
            ),
        };
        findings.push(finding.with_evidence(format!("a {kind}"), Some(line)));
    }
    findings
}

/// Replays actions in two new plays and compares all observations.
fn replayed(subject: &dyn Subject, options: &Options, line: &[Action]) -> Result<(), String> {
    let hashes = |subject: &dyn Subject| -> Result<Vec<u128>, String> {
        let mut play: Box<dyn Environment> = subject
            .open(options.env_seed)
            .map_err(|error| error.to_string())?;
        let mut hashes = vec![observation_hash(play.observation())];
        for &action in line {
            hashes.push(observation_hash(
                play.act(action).map_err(|error| error.to_string())?,
            ));
        }
        Ok(hashes)
    };
    let (one, two) = (
        catch_panic(|| hashes(subject)).flatten()?,
        catch_panic(|| hashes(subject)).flatten()?,
    );
    match one.iter().zip(&two).position(|(one, two)| one != two) {
        None => Ok(()),
        Some(at) => Err(format!(
            "two plays of the same actions differ after action {at}"
        )),
    }
}

/// Returns a play that ends in a loss, if random play on some level finds one.
fn loss(subject: &dyn Subject, options: &Options) -> Option<Vec<Action>> {
    let mut rng = Rng::new(options.seed, 40);
    for level in 0..subject.levels() {
        let plays = if subject.is_hosted() {
            2
        } else {
            PLAYS_FOR_A_LOSS
        };
        for _ in 0..plays {
            let mut walk = Walk::enter(subject, options.env_seed, level).ok()??;
            for _ in 0..2 * ATTEMPT_FACTOR * baseline(subject, level) {
                let action = random_action_of(walk.observation().available, &mut rng)?;
                let state = match walk.act(action) {
                    Ok(seen) if seen.levels_completed == level => seen.state,
                    Ok(_) | Err(PlayFailure { .. }) => break,
                };
                if state == PlayState::GameOver {
                    return walk.full_log();
                }
            }
        }
    }
    None
}

/// Returns the first frame of every level that can be entered.
pub(crate) fn first_frames(subject: &dyn Subject, options: &Options) -> Vec<(u8, Frame)> {
    let frame = |level: u8| match Walk::enter(subject, options.env_seed, level) {
        Ok(Some(walk)) => Some((level, walk.observation().settled().clone())),
        _ => None,
    };
    (0..subject.levels()).filter_map(frame).collect()
}
