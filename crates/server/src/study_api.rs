//! `/api/studies…`: how researchers set up and run a study.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use rhae_protocol::{
    CheckBody, NewParticipants, NewStudyBody, PersonalLink, SessionRow, SiteRow, StudyChange,
    StudyCheck, StudyLinks, StudyListing, StudyOverview, StudyRequest,
};
use rhae_study::{Permission, Study, StudyState};
use rhae_study_service::{Expectation, check_study, study_listing, study_status};

use crate::ApiError;
use crate::access::{Access, Caller};
use crate::body::{self, Body};
use crate::openapi::{Always, Bodied, ErrorBody, Named};
use crate::studies::{Membership, NeededPermission, Studies};

/// Lists the studies in which the caller has a role.
#[utoipa::path(
    get,
    path = "/api/studies",
    tag = "studies",
    responses((status = OK, body = Vec<StudyListing>, description = "The studies"), Always)
)]
pub(crate) async fn list(
    State(studies): State<Arc<Studies>>,
    State(access): State<Arc<Access>>,
    caller: Caller,
) -> Result<Json<Vec<StudyListing>>, ApiError> {
    let mut listed = Vec::new();
    for study in studies.service()?.list().await? {
        match studies.membership(&access, &caller, study.as_str()).await {
            Ok(_) => listed.push(studies.read(&study, study_listing).await?),
            Err(ApiError::NoSuchStudy(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Json(listed))
}

/// Creates a study as a draft. The caller's key becomes its owner.
#[utoipa::path(
    post,
    path = "/api/studies",
    tag = "studies",
    request_body = NewStudyBody,
    responses((status = OK, body = StudyOverview, description = "The new study"),
        (status = FORBIDDEN, body = ErrorBody, description = "Visitors cannot create studies"),
        (status = NOT_FOUND, body = ErrorBody, description = "An environment does not exist"),
        (status = CONFLICT, body = ErrorBody, description = "The id is taken, or the rules do not accept the study"), Always, Bodied)
)]
pub(crate) async fn create(
    State(studies): State<Arc<Studies>>,
    State(access): State<Arc<Access>>,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<StudyOverview>, ApiError> {
    let body: NewStudyBody = body::parse(&headers, body, studies.plays().limits())?;
    let study = studies.create(&caller, body).await?;
    let member = studies.membership(&access, &caller, study.as_str()).await?;
    let overview = studies.read(&study, |one| overview(one, &member));
    Ok(Json(overview.await?))
}

/// Returns what the caller may see of a study at first.
#[utoipa::path(
    get,
    path = "/api/studies/{study}",
    tag = "studies",
    params(("study" = String, Path, description = "The study")),
    responses((status = OK, body = StudyOverview, description = "The study"), Always, Named)
)]
pub(crate) async fn read(
    State(studies): State<Arc<Studies>>,
    member: Membership,
) -> Result<Json<StudyOverview>, ApiError> {
    let overview = studies.read(&member.study, |one| overview(one, &member));
    Ok(Json(overview.await?))
}

/// Checks the protocol and plans the study.
#[utoipa::path(
    post,
    path = "/api/studies/{study}/check",
    tag = "studies",
    params(("study" = String, Path, description = "The study")),
    request_body = CheckBody,
    responses((status = OK, body = StudyCheck, description = "What must be corrected, and the plan"),
        (status = FORBIDDEN, body = ErrorBody, description = "The role lacks the permission"), Always, Bodied, Named)
)]
pub(crate) async fn check(
    State(studies): State<Arc<Studies>>,
    member: Membership,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<StudyCheck>, ApiError> {
    member.require(Permission::ChangeProtocol)?;
    let body: CheckBody = body::parse_optional(&headers, body, studies.plays().limits())?;
    let usual = Expectation::default();
    let expectation = Expectation {
        per_sitting: body.per_sitting.unwrap_or(usual.per_sitting),
        solve_rate: body.solve_rate.unwrap_or(usual.solve_rate),
    };
    let protocol = body.protocol.as_deref();
    let check = studies.read(&member.study, |one| {
        check_study(one.state(), protocol, expectation)
    });
    Ok(Json(check.await?))
}

/// Changes a study. The permission depends on the command.
#[utoipa::path(
    post,
    path = "/api/studies/{study}/commands",
    tag = "studies",
    params(("study" = String, Path, description = "The study")),
    request_body = StudyRequest,
    responses((status = OK, body = StudyChange, description = "What was changed"),
        (status = FORBIDDEN, body = ErrorBody, description = "The role lacks the permission"),
        (status = CONFLICT, body = ErrorBody, description = "The rules of the study do not accept the command"), Always, Bodied, Named)
)]
pub(crate) async fn change(
    State(studies): State<Arc<Studies>>,
    member: Membership,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<StudyChange>, ApiError> {
    let request: StudyRequest = body::parse(&headers, body, studies.plays().limits())?;
    member.require(request.needed())?;
    Ok(Json(studies.change(&caller, &member, request).await?))
}

/// Enrols people and returns their personal links. The links are returned only here.
#[utoipa::path(
    post,
    path = "/api/studies/{study}/participants",
    tag = "studies",
    params(("study" = String, Path, description = "The study")),
    request_body = NewParticipants,
    responses((status = OK, body = Vec<PersonalLink>, description = "The links"),
        (status = FORBIDDEN, body = ErrorBody, description = "The role lacks the permission"),
        (status = CONFLICT, body = ErrorBody, description = "The study is not open, or the server has no identity key"), Always, Bodied, Named)
)]
pub(crate) async fn enrol(
    State(studies): State<Arc<Studies>>,
    member: Membership,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Vec<PersonalLink>>, ApiError> {
    member.require(Permission::RunSittings)?;
    let new: NewParticipants = body::parse(&headers, body, studies.plays().limits())?;
    Ok(Json(studies.enrol(&member.study, &new).await?))
}

/// Returns the links of recruiting sites and of seats.
#[utoipa::path(
    get,
    path = "/api/studies/{study}/links",
    tag = "studies",
    params(("study" = String, Path, description = "The study")),
    responses((status = OK, body = StudyLinks, description = "The links"),
        (status = FORBIDDEN, body = ErrorBody, description = "The role lacks the permission"),
        (status = CONFLICT, body = ErrorBody, description = "The server has no identity key"), Always, Named)
)]
pub(crate) async fn links(
    State(studies): State<Arc<Studies>>,
    member: Membership,
) -> Result<Json<StudyLinks>, ApiError> {
    member.require(Permission::RunSittings)?;
    Ok(Json(studies.links(&member.study).await?))
}

fn overview(study: &Study, member: &Membership) -> StudyOverview {
    let state = study.state();
    let permissions = Permission::ALL.into_iter();
    let permissions = permissions.filter(|permission| member.may(*permission));
    let sees_members = member.may(Permission::ManageMembers);
    let members = state.members.iter().filter(|_| sees_members);
    let sees_results = member.may(Permission::ReadResults);
    StudyOverview {
        listing: study_listing(study),
        role: member.role,
        permissions: permissions.collect(),
        protocol: state.protocol().map(|(_, protocol)| protocol.clone()),
        frozen: !state.frozen.is_empty(),
        sites: site_rows(state),
        sessions: session_rows(state, member),
        members: members.map(|(key, one)| (key.clone(), one.role)).collect(),
        status: sees_results.then(|| study_status(study)),
    }
}

fn site_rows(state: &StudyState) -> Vec<SiteRow> {
    let sites = state.sites.iter();
    sites
        .map(|(id, site)| SiteRow {
            site: id.clone(),
            seats: site.seats,
            fee_minor: site.fee_minor,
            recruiter: site.recruiter.as_ref().map(|one| one.name.clone()),
        })
        .collect()
}

/// Returns the calendar, with its check-in lists if the member runs sittings.
fn session_rows(state: &StudyState, member: &Membership) -> Vec<SessionRow> {
    let runs = member.may(Permission::RunSittings);
    let sessions = state.sessions.iter();
    sessions
        .map(|(id, session)| SessionRow {
            session: id.clone(),
            site: session.site.clone(),
            starts_ms: session.starts_ms,
            capacity: session.capacity,
            booked: session.booked.iter().filter(|_| runs).cloned().collect(),
            seats: match runs {
                true => session.seats.clone(),
                false => Default::default(),
            },
        })
        .collect()
}
