//! `POST /api/cmd/…`: RESET opens or resets a play; ACTION1 to ACTION7 advance one.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use rhae_engine::{Action, ActionKind};
use rhae_protocol::{CommandBody, CompactResponse, FrameBody};
use tracing::Instrument;

use crate::ApiError;
use crate::access::Caller;
use crate::body::{self, Body};
use crate::detach_on_drop::DetachOnDrop;
use crate::idempotency::idempotency_key;
use crate::openapi::{Always, Bodied, CommandName, ErrorBody, Named};
use crate::plays::{Command, PlayTarget, Plays, ResponseForm};

/// Executes a command: RESET opens a play or resets it, an action advances it.
#[utoipa::path(
    post,
    path = "/api/cmd/{name}",
    tag = "commands",
    params(
        ("name" = inline(CommandName), Path, description = "The command"),
        ("Idempotency-Key" = Option<String>, Header, description = "A request repeated with the same key, path and body is executed once", min_length = 1, max_length = 255, pattern = "^[!-~]+$")),
    request_body = CommandBody,
    responses((status = OK, body = FrameBody, description = "The frames and the state after the command"),
        (status = CONFLICT, body = ErrorBody, description = "The play is frozen, or the limit on plays per scorecard or on stored bytes is reached"),
        (status = UNPROCESSABLE_ENTITY, body = ErrorBody, description = "The idempotency key was already used for a different request"), Always, Bodied, Named)
)]
pub(crate) async fn command(
    State(plays): State<Arc<Plays>>,
    caller: Caller,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let kind = ActionKind::from_name(&name).ok_or(ApiError::NoSuchPath)?;
    let idempotency_key = idempotency_key(&headers, caller.owner, &name, &body)?;
    let body: CommandBody = body::parse(&headers, body, plays.limits())?;
    let action = match kind.simple() {
        Some(action) => action,
        None => Action::Action6 {
            x: body::coordinate("x", body.x)?,
            y: body::coordinate("y", body.y)?,
        },
    };
    let command = Command {
        action,
        game_id: body::required_text("game_id", body.game_id)?,
        reasoning: body::extra("reasoning", body.reasoning, plays.limits().extra_bytes)?,
        form: match headers.get(header::ACCEPT) {
            Some(kind) if kind == CompactResponse::CONTENT_TYPE => ResponseForm::Compact,
            _ => ResponseForm::Official,
        },
    };
    let target = PlayTarget {
        guid: body::text("guid", body.guid)?,
        card: body::text("card_id", body.card_id)?,
    };
    let work = async move {
        plays
            .execute(&caller, &target, &command, idempotency_key)
            .await
    };
    let json = DetachOnDrop::new(work.in_current_span()).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], json).into_response())
}
