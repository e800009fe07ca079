//! The pages of researchers. Each page shows the document of the REST API of the same name, so the
//! same permissions apply.

use std::sync::Arc;

use axum::extract::{Path, RawQuery, State};
use axum::response::{Html, IntoResponse, Redirect, Response};
use rhae_study::Permission;
use rhae_study_service::{Expectation, check_study};
use rhae_web::{
    Viewer, studies_page, study_baselines_page, study_coverage_page, study_data_page,
    study_environment_page, study_live_page, study_payments_page, study_results_page,
    study_sessions_page, study_setup_page, study_sittings_page,
};

use crate::access::{Access, Caller};
use crate::games::Games;
use crate::studies::{Membership, Studies};
use crate::{ApiError, study_api, study_report_api};

/// The viewer of a page for callers with a key, or of a server with open access.
fn viewer(access: &Access, caller: &Caller) -> Viewer {
    access.viewer(Some(caller))
}

pub(crate) async fn list(
    State(studies): State<Arc<Studies>>,
    State(access): State<Arc<Access>>,
    State(games): State<Arc<Games>>,
    caller: Caller,
) -> Result<Html<String>, ApiError> {
    let environments: Vec<String> = games
        .visible(&caller)
        .map(|one| one.id.to_string())
        .collect();
    let viewer = viewer(&access, &caller);
    let listed = study_api::list(State(studies), State(access), caller).await?;
    Ok(Html(studies_page(viewer, &listed.0, &environments)))
}

/// The setup, or the first page that the role permits.
pub(crate) async fn setup(
    State(studies): State<Arc<Studies>>,
    State(access): State<Arc<Access>>,
    caller: Caller,
    member: Membership,
) -> Result<Response, ApiError> {
    if !member.may(Permission::ChangeProtocol) {
        let tab = if member.may(Permission::RunSittings) {
            "live"
        } else {
            "coverage"
        };
        let path = format!("/studies/{}/{tab}", member.study);
        return Ok(Redirect::to(&path).into_response());
    }
    let check = studies.read(&member.study, |one| {
        check_study(one.state(), None, Expectation::default())
    });
    let check = check.await?;
    let study = study_api::read(State(studies), member).await?;
    let page = study_setup_page(viewer(&access, &caller), &study.0, &check);
    Ok(Html(page).into_response())
}

/// Declares the handlers of pages that show one document.
macro_rules! document_pages {
    ($($name:ident = $page:ident;)*) => {$(
        pub(crate) async fn $name(
            State(studies): State<Arc<Studies>>,
            State(access): State<Arc<Access>>,
            caller: Caller,
            member: Membership,
        ) -> Result<Html<String>, ApiError> {
            let document =
                study_report_api::$name(State(Arc::clone(&studies)), member.clone()).await?;
            let study = study_api::read(State(studies), member).await?;
            Ok(Html($page(viewer(&access, &caller), &study.0, &document.0)))
        }
    )*};
}

document_pages! {
    live = study_live_page;
    coverage = study_coverage_page;
    sittings = study_sittings_page;
    payments = study_payments_page;
    baselines = study_baselines_page;
}

pub(crate) async fn environment(
    State(studies): State<Arc<Studies>>,
    State(access): State<Arc<Access>>,
    caller: Caller,
    member: Membership,
    Path((_, environment)): Path<(String, String)>,
) -> Result<Html<String>, ApiError> {
    let query = || RawQuery(Some(format!("environment={environment}")));
    let results =
        study_report_api::results(State(Arc::clone(&studies)), member.clone(), query()).await?;
    let clicks =
        study_report_api::clicks(State(Arc::clone(&studies)), member.clone(), query()).await?;
    let found = results.0.environments.first();
    let found = found.ok_or_else(|| ApiError::NoSuchGame(environment.clone()))?;
    let study = study_api::read(State(studies), member).await?;
    let viewer = viewer(&access, &caller);
    let page = study_environment_page(viewer, &study.0, found, &clicks.0);
    Ok(Html(page))
}

pub(crate) async fn results(
    State(studies): State<Arc<Studies>>,
    State(access): State<Arc<Access>>,
    caller: Caller,
    member: Membership,
) -> Result<Html<String>, ApiError> {
    let query = RawQuery(None);
    let results =
        study_report_api::results(State(Arc::clone(&studies)), member.clone(), query).await?;
    let study = study_api::read(State(studies), member).await?;
    let page = study_results_page(viewer(&access, &caller), &study.0, &results.0);
    Ok(Html(page))
}

pub(crate) async fn sessions(
    State(studies): State<Arc<Studies>>,
    State(access): State<Arc<Access>>,
    caller: Caller,
    member: Membership,
) -> Result<Html<String>, ApiError> {
    member.require(Permission::RunSittings)?;
    let study = study_api::read(State(studies), member).await?;
    Ok(Html(study_sessions_page(
        viewer(&access, &caller),
        &study.0,
    )))
}

pub(crate) async fn data(
    State(studies): State<Arc<Studies>>,
    State(access): State<Arc<Access>>,
    caller: Caller,
    member: Membership,
) -> Result<Html<String>, ApiError> {
    member.require(Permission::ReadLog)?;
    let study = study_api::read(State(studies), member).await?;
    Ok(Html(study_data_page(viewer(&access, &caller), &study.0)))
}
