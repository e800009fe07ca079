//! The report for the author of an environment: its results, click maps and the ends of the plays
//! that ended unsolved.

use rhae_engine::Catalog;
use rhae_protocol::{EnvironmentVersion, StoppedPlayResult, StudyId};
use rhae_report::{AuthorReport, Film, Moment, StoppedReplay, author_page};
use rhae_session::{Origin, Replica};
use rhae_store::{LogEntry, PlayId, Store};
use rhae_study::{Rejection, Verdict};

use crate::{CountError, StudyError, StudyService, add_optima, click_map, plays_of, study_results};

/// The number of log entries per read.
const CHUNK: u32 = 1024;
/// The number of replays in one report. A study has about ten people per environment; more plays
/// would make the page slow.
const MAX_REPLAYS: usize = 40;

/// Why a report for an author cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum AuthorReportError {
    #[error(transparent)]
    Study(#[from] StudyError),
    #[error(transparent)]
    Play(#[from] CountError),
}

/// Returns the report for the author of an environment version as a self-contained HTML page. Its
/// replays come from the logs of the plays and show the last actions before each person stopped.
///
/// # Errors
///
/// Returns [`AuthorReportError`] if the environment is not part of the study, or a play cannot be
/// replayed.
pub async fn author_report(
    service: &StudyService,
    store: &dyn Store,
    catalog: &dyn Catalog,
    (study, environment): (&StudyId, &EnvironmentVersion),
) -> Result<String, AuthorReportError> {
    let found = service.read(study, |one| {
        let state = one.state();
        let results = study_results(state, std::slice::from_ref(environment));
        (state.title.clone(), results, plays_of(state, environment))
    });
    let (title, mut results, plays) = found.await?;
    add_optima(&mut results, catalog);
    let unknown = || Rejection::UnknownEnvironment(environment.clone());
    let details = results.environments.pop().ok_or_else(unknown);
    let details = details.map_err(StudyError::Rejected)?;
    let clicks = click_map(store, catalog, &plays).await?;
    let mut replays = Vec::new();
    for play in details.stopped.iter().take(MAX_REPLAYS) {
        replays.push(StoppedReplay {
            play: play.clone(),
            film: ending(store, catalog, play).await?,
        });
    }
    Ok(author_page(&AuthorReport {
        study: &title,
        environment: &details,
        clicks: &clicks,
        replays: &replays,
    }))
}

/// Returns the reports of several environments, see [`author_report`].
///
/// # Errors
///
/// Returns the errors of [`author_report`].
pub async fn author_reports(
    service: &StudyService,
    store: &dyn Store,
    catalog: &dyn Catalog,
    study: &StudyId,
    environments: &[EnvironmentVersion],
) -> Result<Vec<(EnvironmentVersion, String)>, AuthorReportError> {
    let mut pages = Vec::new();
    for environment in environments {
        let page = author_report(service, store, catalog, (study, environment)).await?;
        pages.push((environment.clone(), page));
    }
    Ok(pages)
}

/// Returns the environments of a study with the verdict `returned`.
///
/// # Errors
///
/// Returns the errors of [`StudyService::read`].
pub async fn returned_environments(
    service: &StudyService,
    study: &StudyId,
) -> Result<Vec<EnvironmentVersion>, StudyError> {
    let covered = service.read(study, |one| crate::coverage(one.state()));
    let covered = covered.await?.into_iter();
    let returned = covered.filter(|one| one.verdict == Verdict::Returned);
    Ok(returned.map(|one| one.environment).collect())
}

/// Replays a play and returns its last actions as a film.
async fn ending(
    store: &dyn Store,
    catalog: &dyn Catalog,
    play: &StoppedPlayResult,
) -> Result<Film, CountError> {
    let unknown = || CountError::UnknownPlay(play.play.clone());
    let id: PlayId = play.play.parse().map_err(|_| unknown())?;
    let stored = store.play(id).await?.ok_or_else(unknown)?;
    let failed = |error| CountError::Replay {
        play: play.play.clone(),
        error,
    };
    let origin = Origin {
        game_id: &stored.game_id,
        seed: stored.seed,
        rule: stored.rule,
        win_levels: stored.win_levels,
        source_digest: stored.source_digest.as_deref(),
    };
    let speed = catalog
        .find(stored.game_id.as_str())
        .map_or(10, |info| info.frames_per_second);
    let subtitle = format!("the end of a play that stopped on level {}", play.level);
    let mut film = Film::new(stored.game_id.as_str(), subtitle, speed, stored.win_levels);
    let mut replica = Replica::open(catalog, origin).map_err(failed)?;
    let mut counted = 0;
    loop {
        let part = store.log_from(stored.key, replica.next(), CHUNK).await?;
        if part.is_empty() {
            return Ok(film);
        }
        for LogEntry { entry, at_ms, .. } in &part {
            let step = replica.follow(entry).map_err(failed)?;
            let moment = Moment {
                action: entry.action,
                frames: step.frames.to_vec(),
                state: entry.state,
                levels_completed: entry.levels_completed,
                changed: entry.changed.unwrap_or(true),
                counted: entry.counted,
                full_reset: entry.full_reset,
                reasoning: None,
                work: None,
                t_ms: Some(*at_ms),
            };
            counted += u64::from(entry.counted);
            if counted >= play.replay_from {
                film.moments.push(moment);
            }
        }
    }
}
