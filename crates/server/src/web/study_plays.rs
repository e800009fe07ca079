//! The replays of participants' plays, for researchers.
//!
//! **Invariant:** a member who may download the recording of a play, and no other member, sees the play.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, RawQuery, State};
use axum::response::{Html, Response};
use rhae_web::replay_page;
use serde_json::Value;

use super::{page_data, pages};
use crate::ApiError;
use crate::access::{Access, Caller};
use crate::games::Games;
use crate::listeners::Listeners;
use crate::network::ClientAddress;
use crate::studies::{Membership, Studies};
use crate::study_report_api::readable_play;

/// The page of a replay. It has no links to the scorecard, which belongs to the participant.
pub(crate) async fn replay(
    State(studies): State<Arc<Studies>>,
    State(access): State<Arc<Access>>,
    State(games): State<Arc<Games>>,
    caller: Caller,
    member: Membership,
    Path((study, guid)): Path<(String, String)>,
) -> Result<Html<String>, ApiError> {
    let facts = readable_play(&studies, &member, &guid).await?;
    let mut view = pages::replay_view(&games, &facts);
    view.base = format!("/studies/{study}/plays/{guid}");
    view.published = true;
    Ok(Html(replay_page(access.viewer(Some(&caller)), &view)))
}

pub(crate) async fn film(
    State(studies): State<Arc<Studies>>,
    State(listeners): State<Arc<Listeners>>,
    caller: Caller,
    member: Membership,
    Path((_, guid)): Path<(String, String)>,
    address: ClientAddress,
) -> Result<Response, ApiError> {
    let facts = readable_play(&studies, &member, &guid).await?;
    let plays = Arc::clone(studies.plays());
    page_data::pack_response(plays, &listeners, caller.owner, facts, address).await
}

pub(crate) async fn times(
    State(studies): State<Arc<Studies>>,
    State(listeners): State<Arc<Listeners>>,
    caller: Caller,
    member: Membership,
    Path((_, guid)): Path<(String, String)>,
    address: ClientAddress,
) -> Result<Json<Vec<u64>>, ApiError> {
    let facts = readable_play(&studies, &member, &guid).await?;
    page_data::times_of(studies.plays(), &listeners, caller.owner, &facts, address).await
}

pub(crate) async fn reasoning(
    State(studies): State<Arc<Studies>>,
    member: Membership,
    Path((_, guid)): Path<(String, String)>,
    RawQuery(query): RawQuery,
) -> Result<Json<Value>, ApiError> {
    let facts = readable_play(&studies, &member, &guid).await?;
    page_data::reasoning_of(studies.plays(), &facts, query.as_deref()).await
}
