//! The pages of people who take part in a study.
//!
//! A page shows what `GET /api/sitting` returns for the token in its address. Looking at a page
//! changes nothing; its script sends the commands.

use std::sync::Arc;

use axum::extract::{Path, RawQuery, State};
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use rhae_protocol::SittingView;
use rhae_web::{Place, sitting_page};

use crate::ApiError;
use crate::query::parameter;
use crate::sitting_api::without_names;
use crate::studies::{LinkToken, Studies};

async fn view(studies: &Studies, token: &str, query: &RawQuery) -> Result<SittingView, ApiError> {
    let token = LinkToken::parse(token).ok_or(ApiError::NoSuchLink)?;
    let language = parameter(query.0.as_deref(), "language");
    let view = studies.view(&token, language).await;
    view.map_err(without_names)
}

/// The page of the participant's current step.
pub(crate) async fn home(
    State(studies): State<Arc<Studies>>,
    Path(token): Path<String>,
    query: RawQuery,
) -> Result<Html<String>, ApiError> {
    let view = view(&studies, &token, &query).await?;
    Ok(Html(sitting_page(&view, &token, Place::Home)))
}

pub(crate) async fn consent(
    State(studies): State<Arc<Studies>>,
    Path(token): Path<String>,
    query: RawQuery,
) -> Result<Html<String>, ApiError> {
    let view = view(&studies, &token, &query).await?;
    Ok(Html(sitting_page(&view, &token, Place::Consent)))
}

/// The consent text as a file, for the participant to keep.
pub(crate) async fn consent_text(
    State(studies): State<Arc<Studies>>,
    Path(token): Path<String>,
    query: RawQuery,
) -> Result<Response, ApiError> {
    let view = view(&studies, &token, &query).await?;
    let consent = view.consent.ok_or(ApiError::NoSuchPath)?;
    let headers = [
        (header::CONTENT_TYPE, "text/plain; charset=utf-8"),
        (
            header::CONTENT_DISPOSITION,
            "attachment; filename=\"consent.txt\"",
        ),
    ];
    Ok((headers, consent.text).into_response())
}

pub(crate) async fn withdraw(
    State(studies): State<Arc<Studies>>,
    Path(token): Path<String>,
    query: RawQuery,
) -> Result<Html<String>, ApiError> {
    let view = view(&studies, &token, &query).await?;
    Ok(Html(sitting_page(&view, &token, Place::Withdraw)))
}
