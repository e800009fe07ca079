//! `/api/studies/{study}/…`: what researchers read of a study.
//!
//! Members see what their role permits. Authors see only their own environments, and only in
//! `coverage`, `results` and recordings.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use rhae_protocol::{
    BaselineFile, EnvironmentCoverage, EnvironmentVersion, LevelClicks, LiveSitting, SittingRow,
    StudyPayments, StudyRecord, StudyResults, StudyVerification, current_level,
};
use rhae_store::{PlayFacts, PlayId};
use rhae_study::Permission;
use rhae_study_service::{
    AuthorReportError, CountError, StudyError, add_optima, author_report, click_map,
    coverage as coverage_of, live_sittings, next_baselines, open_payments, payment_csv, plays_of,
    prolific_lines, sitting_of_play, sitting_rows, study_payments, study_results,
    verify_stored_study,
};
use serde_json::Value;
use tokio_stream::wrappers::ReceiverStream;

use crate::ApiError;
use crate::access::{Access, Caller};
use crate::listeners::Listeners;
use crate::network::ClientAddress;
use crate::openapi::{Always, ErrorBody, Named};
use crate::play_api::recording_response;
use crate::query::parameter;
use crate::studies::{Membership, Studies, export_archive};

/// The records of one response of the log.
const MAX_RECORDS: usize = 1000;

/// The open sittings.
#[utoipa::path(
    get,
    path = "/api/studies/{study}/live",
    tag = "studies",
    params(("study" = String, Path, description = "The study")),
    responses((status = OK, body = Vec<LiveSitting>, description = "The open sittings"),
        (status = FORBIDDEN, body = ErrorBody, description = "The role lacks the permission"), Always, Named)
)]
pub(crate) async fn live(
    State(studies): State<Arc<Studies>>,
    member: Membership,
) -> Result<Json<Vec<LiveSitting>>, ApiError> {
    member.require(Permission::RunSittings)?;
    let contact_ms = |sitting: &_| studies.contact_ms(sitting);
    let now_ms = studies.now_ms();
    let (mut live, plays) = studies
        .read(&member.study, |one| {
            let state = one.state();
            let live = live_sittings(state, now_ms, contact_ms);
            let play = |one: &LiveSitting| {
                let attempt = state.sittings.get(&one.sitting)?.open_attempt()?;
                attempt.2.play.parse::<PlayId>().ok()
            };
            let plays: Vec<Option<PlayId>> = live.iter().map(play).collect();
            (live, plays)
        })
        .await?;
    for (sitting, play) in live.iter_mut().zip(plays) {
        let Some(play) = play else { continue };
        let facts = studies.plays().store().play_facts(play).await?;
        let level = facts.map(|one| current_level(one.levels_completed, one.play.win_levels));
        sitting.level = level;
    }
    Ok(Json(live))
}

/// How far every environment is.
#[utoipa::path(
    get,
    path = "/api/studies/{study}/coverage",
    tag = "studies",
    params(("study" = String, Path, description = "The study")),
    responses((status = OK, body = Vec<EnvironmentCoverage>, description = "The environments that the member may see"),
        (status = FORBIDDEN, body = ErrorBody, description = "The role lacks the permission"), Always, Named)
)]
pub(crate) async fn coverage(
    State(studies): State<Arc<Studies>>,
    member: Membership,
) -> Result<Json<Vec<EnvironmentCoverage>>, ApiError> {
    member.require_results()?;
    let mut rows = studies
        .read(&member.study, |one| coverage_of(one.state()))
        .await?;
    rows.retain(|row| member.sees(&row.environment));
    Ok(Json(rows))
}

/// The results of the study, or of one environment.
#[utoipa::path(
    get,
    path = "/api/studies/{study}/results",
    tag = "studies",
    params(("study" = String, Path, description = "The study"),
        ("environment" = Option<String>, Query, description = "An environment whose details are wanted")),
    responses((status = OK, body = StudyResults, description = "The results. Authors get only their own environments"),
        (status = FORBIDDEN, body = ErrorBody, description = "The role lacks the permission"), Always, Named)
)]
pub(crate) async fn results(
    State(studies): State<Arc<Studies>>,
    member: Membership,
    RawQuery(query): RawQuery,
) -> Result<Json<StudyResults>, ApiError> {
    member.require_results()?;
    let wanted = parameter(query.as_deref(), "environment").map(EnvironmentVersion::from);
    let wanted: Vec<EnvironmentVersion> = wanted.into_iter().collect();
    let hidden = wanted.iter().find(|one| !member.sees(one));
    if let Some(environment) = hidden {
        return Err(ApiError::NoSuchGame(environment.to_string()));
    }
    let mut results = studies
        .read(&member.study, |one| study_results(one.state(), &wanted))
        .await?;
    add_optima(&mut results, studies.games().catalog().as_ref());
    if !member.may(Permission::ReadResults) {
        results.summaries.clear();
        results.durations.clear();
        results.demographics.clear();
    }
    Ok(Json(results))
}

/// Where people clicked in an environment.
#[utoipa::path(
    get,
    path = "/api/studies/{study}/clicks",
    tag = "studies",
    params(("study" = String, Path, description = "The study"),
        ("environment" = String, Query, description = "The environment")),
    responses((status = OK, body = Vec<LevelClicks>, description = "The levels with clicks"),
        (status = FORBIDDEN, body = ErrorBody, description = "The role lacks the permission"), Always, Named)
)]
pub(crate) async fn clicks(
    State(studies): State<Arc<Studies>>,
    member: Membership,
    RawQuery(query): RawQuery,
) -> Result<Json<Vec<LevelClicks>>, ApiError> {
    member.require_results()?;
    let environment = parameter(query.as_deref(), "environment").unwrap_or_default();
    let environment = EnvironmentVersion::from(environment);
    let missing = || ApiError::NoSuchGame(environment.to_string());
    let found = studies.read(&member.study, |one| {
        let state = one.state();
        let is_known = state.environments.contains_key(&environment);
        is_known.then(|| plays_of(state, &environment))
    });
    let plays = found.await?.filter(|_| member.sees(&environment));
    let plays = plays.ok_or_else(missing)?;
    let runtime = tokio::runtime::Handle::current();
    // Hosted games block while they replay.
    let map = crate::blocking::blocking(move || {
        let store = studies.plays().store();
        let catalog = studies.games().catalog().as_ref();
        let map = click_map(store, catalog, &plays);
        runtime.block_on(map).map_err(|error| match error {
            CountError::Store(error) => error.into(),
            error => ApiError::Failed(error.to_string()),
        })
    });
    Ok(Json(map.await??))
}

/// The report for the author of an environment.
#[utoipa::path(
    get,
    path = "/api/studies/{study}/report",
    tag = "studies",
    params(("study" = String, Path, description = "The study"),
        ("environment" = String, Query, description = "The environment")),
    responses((status = OK, body = String, content_type = "text/html", description = "A self-contained page with the funnel, times, click maps and the ends of the plays that stopped"),
        (status = FORBIDDEN, body = ErrorBody, description = "The role lacks the permission"), Always, Named)
)]
pub(crate) async fn report(
    State(studies): State<Arc<Studies>>,
    member: Membership,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    member.require_results()?;
    let environment = parameter(query.as_deref(), "environment").unwrap_or_default();
    let environment = EnvironmentVersion::from(environment);
    let known = studies.read(&member.study, |one| {
        one.state().environments.contains_key(&environment)
    });
    if !known.await? || !member.sees(&environment) {
        return Err(ApiError::NoSuchGame(environment.to_string()));
    }
    let name = format!(
        "attachment; filename=\"{}-{environment}.html\"",
        member.study
    );
    let runtime = tokio::runtime::Handle::current();
    // Hosted games block while they replay.
    let page = crate::blocking::blocking(move || {
        let (service, catalog) = (studies.service()?, studies.games().catalog().as_ref());
        let of = (&member.study, &environment);
        let made = author_report(service, studies.plays().store(), catalog, of);
        runtime.block_on(made).map_err(|error| match error {
            AuthorReportError::Study(error) => error.into(),
            AuthorReportError::Play(CountError::Store(error)) => error.into(),
            AuthorReportError::Play(error) => ApiError::Failed(error.to_string()),
        })
    });
    let page: String = page.await??;
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8".to_owned()),
        (header::CONTENT_DISPOSITION, name),
    ];
    Ok((headers, page).into_response())
}

/// All sittings with their attempts and exclusions.
#[utoipa::path(
    get,
    path = "/api/studies/{study}/sittings",
    tag = "studies",
    params(("study" = String, Path, description = "The study")),
    responses((status = OK, body = Vec<SittingRow>, description = "The sittings"),
        (status = FORBIDDEN, body = ErrorBody, description = "The role lacks the permission"), Always, Named)
)]
pub(crate) async fn sittings(
    State(studies): State<Arc<Studies>>,
    member: Membership,
) -> Result<Json<Vec<SittingRow>>, ApiError> {
    member.require(Permission::ReadResults)?;
    let rows = studies.read(&member.study, |one| sitting_rows(one.state()));
    Ok(Json(rows.await?))
}

/// The recording of a participant's play.
#[utoipa::path(
    get,
    path = "/api/studies/{study}/plays/{guid}/recording",
    tag = "studies",
    params(("study" = String, Path, description = "The study"), ("guid" = String, Path, description = "The play")),
    responses((status = OK, body = String, content_type = "application/x-ndjson", description = "One JSON line per command, in the format of the official toolkit"),
        (status = FORBIDDEN, body = ErrorBody, description = "The role lacks the permission"), Always, Named)
)]
pub(crate) async fn recording(
    State(studies): State<Arc<Studies>>,
    State(listeners): State<Arc<Listeners>>,
    member: Membership,
    caller: Caller,
    Path((_, guid)): Path<(String, String)>,
    address: ClientAddress,
) -> Result<Response, ApiError> {
    let facts = readable_play(&studies, &member, &guid).await?;
    let plays = Arc::clone(studies.plays());
    recording_response(plays, &listeners, caller.owner, facts, address).await
}

/// Returns a participant's play that the member may see.
pub(crate) async fn readable_play(
    studies: &Studies,
    member: &Membership,
    guid: &str,
) -> Result<PlayFacts, ApiError> {
    member.require_results()?;
    let missing = || ApiError::NoSuchGuid(guid.to_owned());
    let id: PlayId = guid.parse().map_err(|_| missing())?;
    let sees = studies
        .read(&member.study, |one| {
            let found = sitting_of_play(one.state(), &id.to_string());
            found.is_some_and(|(_, _, environment)| member.sees(environment))
        })
        .await?;
    let facts = studies.plays().store().play_facts(id).await?;
    facts.filter(|_| sees).ok_or_else(missing)
}

/// The ledger.
#[utoipa::path(
    get,
    path = "/api/studies/{study}/payments",
    tag = "studies",
    params(("study" = String, Path, description = "The study")),
    responses((status = OK, body = StudyPayments, description = "The ledger"),
        (status = FORBIDDEN, body = ErrorBody, description = "The role lacks the permission"), Always, Named)
)]
pub(crate) async fn payments(
    State(studies): State<Arc<Studies>>,
    member: Membership,
) -> Result<Json<StudyPayments>, ApiError> {
    member.require(Permission::ReadPayments)?;
    let payments = studies.read(&member.study, |one| study_payments(one.state()));
    Ok(Json(payments.await?))
}

/// What is due, as a table for the payment.
#[utoipa::path(
    get,
    path = "/api/studies/{study}/payments/list",
    tag = "studies",
    params(("study" = String, Path, description = "The study"),
        ("form" = Option<String>, Query, description = "`csv`, or `prolific` for lines of external ids and amounts, which needs access to identities")),
    responses((status = OK, body = String, content_type = "text/csv", description = "One line per participant"),
        (status = FORBIDDEN, body = ErrorBody, description = "The role lacks the permission"), Always, Named)
)]
pub(crate) async fn payment_list(
    State(studies): State<Arc<Studies>>,
    member: Membership,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    member.require(Permission::Pay)?;
    let form = parameter(query.as_deref(), "form").unwrap_or("csv");
    let payments = studies
        .read(&member.study, |one| open_payments(one.state()))
        .await?;
    let text = match form {
        "csv" => payment_csv(&payments, &Default::default()),
        "prolific" => {
            member.require(Permission::ReadIdentities)?;
            let people = payments.iter().map(|payment| payment.participant.clone());
            let contacts = studies.contacts_of(&member.study, people, &member.by);
            prolific_lines(&payments, &contacts.await?).0
        }
        _ => {
            return Err(ApiError::Field {
                field: "form",
                expected: "`csv` or `prolific`",
            });
        }
    };
    Ok(([(header::CONTENT_TYPE, "text/csv; charset=utf-8")], text).into_response())
}

/// The baselines that the next publication would contain.
#[utoipa::path(
    get,
    path = "/api/studies/{study}/baselines",
    tag = "studies",
    params(("study" = String, Path, description = "The study")),
    responses((status = OK, body = Object, description = "The baselines, in the form of a published file"),
        (status = FORBIDDEN, body = ErrorBody, description = "The role lacks the permission"),
        (status = CONFLICT, body = ErrorBody, description = "The protocol is not frozen"), Always, Named)
)]
pub(crate) async fn baselines(
    State(studies): State<Arc<Studies>>,
    member: Membership,
) -> Result<Json<BaselineFile>, ApiError> {
    member.require(Permission::ReadResults)?;
    let next = studies.read(&member.study, next_baselines).await?;
    Ok(Json(next.map_err(StudyError::Rejected)?))
}

/// A published revision of the baselines.
#[utoipa::path(
    get,
    path = "/api/studies/{study}/baselines/{revision}",
    tag = "studies",
    params(("study" = String, Path, description = "The study"), ("revision" = String, Path, description = "The revision, from 1")),
    responses((status = OK, body = Object, description = "The published file"),
        (status = FORBIDDEN, body = ErrorBody, description = "The role lacks the permission"), Always, Named)
)]
pub(crate) async fn published(
    State(studies): State<Arc<Studies>>,
    member: Membership,
    Path((_, revision)): Path<(String, String)>,
) -> Result<Json<Value>, ApiError> {
    member.require(Permission::ReadResults)?;
    let missing = || ApiError::StudyItem(format!("revision `{revision}` was not published"));
    let wanted: u64 = revision.parse().map_err(|_| missing())?;
    let files = studies.service()?.files(&member.study).await?;
    let mut files = files.into_iter().filter_map(|file| {
        let content: Value = serde_json::from_str(&file.content).ok()?;
        (content["revision"] == wanted).then_some(content)
    });
    Ok(Json(files.next().ok_or_else(missing)?))
}

/// The log of the study.
#[utoipa::path(
    get,
    path = "/api/studies/{study}/log",
    tag = "studies",
    params(("study" = String, Path, description = "The study"),
        ("after" = Option<u64>, Query, description = "Only records with a higher number")),
    responses((status = OK, body = Vec<Object>, description = "At most 1,000 records, in the order of their numbers"),
        (status = FORBIDDEN, body = ErrorBody, description = "The role lacks the permission"), Always, Named)
)]
pub(crate) async fn log(
    State(studies): State<Arc<Studies>>,
    member: Membership,
    RawQuery(query): RawQuery,
) -> Result<Json<Vec<StudyRecord>>, ApiError> {
    member.require(Permission::ReadLog)?;
    let after = parameter(query.as_deref(), "after").unwrap_or("0");
    let after: u64 = after.parse().map_err(|_| ApiError::Field {
        field: "after",
        expected: "the number of a record",
    })?;
    let records = studies.service()?.records(&member.study).await?;
    let newer = records.into_iter().filter(|record| record.seq > after);
    Ok(Json(newer.take(MAX_RECORDS).collect()))
}

/// All data of the study, except contact data, as an archive.
#[utoipa::path(
    get,
    path = "/api/studies/{study}/export",
    tag = "studies",
    params(("study" = String, Path, description = "The study"),
        ("public" = Option<bool>, Query, description = "Whether only what may be published is wanted")),
    responses((status = OK, body = String, content_type = "application/x-tar", description = "The files of the export"),
        (status = FORBIDDEN, body = ErrorBody, description = "The role lacks the permission"), Always, Named)
)]
pub(crate) async fn export(
    State(studies): State<Arc<Studies>>,
    member: Membership,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let public = match parameter(query.as_deref(), "public") {
        None | Some("false") => false,
        Some("true") => true,
        Some(_) => {
            return Err(ApiError::Field {
                field: "public",
                expected: "`true` or `false`",
            });
        }
    };
    member.require(match public {
        true => Permission::ReadResults,
        false => Permission::ExportPrivate,
    })?;
    let archive = export_archive(&studies, &member.study, public).await?;
    let suffix = if public { "-public" } else { "" };
    let name = format!("attachment; filename=\"{}{suffix}.tar\"", member.study);
    let headers = [
        (header::CONTENT_TYPE, "application/x-tar".to_owned()),
        (header::CONTENT_DISPOSITION, name),
    ];
    let body = Body::from_stream(ReceiverStream::new(archive));
    Ok((headers, body).into_response())
}

/// Verifies the log, the counts of every play and every published number.
#[utoipa::path(
    get,
    path = "/api/studies/{study}/verification",
    tag = "studies",
    params(("study" = String, Path, description = "The study")),
    responses((status = OK, body = StudyVerification, description = "What does not agree; nothing if the study is intact"),
        (status = FORBIDDEN, body = ErrorBody, description = "The role lacks the permission"), Always, Named)
)]
pub(crate) async fn verification(
    State(studies): State<Arc<Studies>>,
    member: Membership,
) -> Result<Json<StudyVerification>, ApiError> {
    member.require(Permission::ReadLog)?;
    let runtime = tokio::runtime::Handle::current();
    // Hosted games block while they replay.
    let verified = crate::blocking::blocking(move || {
        let (service, catalog) = (studies.service()?, studies.games().catalog().as_ref());
        let store = studies.plays().store();
        let verifying = verify_stored_study(service, store, catalog, &member.study);
        Ok::<_, ApiError>(runtime.block_on(verifying)?)
    });
    Ok(Json(verified.await??))
}

impl axum::extract::FromRequestParts<crate::state::AppState> for Membership {
    type Rejection = ApiError;

    /// Returns the role of the caller in the study that the path names.
    async fn from_request_parts(
        parts: &mut axum::http::request::Parts,
        state: &crate::state::AppState,
    ) -> Result<Self, ApiError> {
        use axum::extract::FromRef;
        let caller = Caller::from_request_parts(parts, state).await?;
        let path = parts.uri.path();
        // The pages have the paths of the API without `/api`.
        let path = path.strip_prefix("/api").unwrap_or(path);
        let mut segments = path.split('/').filter(|segment| !segment.is_empty());
        let study = segments.nth(1).unwrap_or_default();
        let studies: Arc<Studies> = FromRef::from_ref(state);
        let access: Arc<Access> = FromRef::from_ref(state);
        studies.membership(&access, &caller, study).await
    }
}
