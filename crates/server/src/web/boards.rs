//! The pages of leaderboards. Each page shows the document of the REST API of the same name, so that
//! visitors see what any caller of the API sees.

use std::sync::Arc;

use axum::extract::{Path, RawQuery, State};
use axum::response::{Html, Response};
use rhae_web::{ROWS_PER_PAGE, board_entry_page, board_page, boards_page};

use super::PageVisitor;
use crate::boards::Boards;
use crate::query::parameter;
use crate::{ApiError, board_api};

pub(crate) async fn list(
    boards: State<Arc<Boards>>,
    visitor: PageVisitor,
) -> Result<Html<String>, ApiError> {
    let listed = board_api::list(boards, visitor.caller).await?;
    Ok(Html(boards_page(visitor.viewer, &listed.0)))
}

pub(crate) async fn board(
    boards: State<Arc<Boards>>,
    visitor: PageVisitor,
    board: Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Html<String>, ApiError> {
    let number = parameter(query.as_deref(), "page").and_then(|text| text.parse().ok());
    let offset = number
        .unwrap_or(1_usize)
        .saturating_sub(1)
        .saturating_mul(ROWS_PER_PAGE);
    let rows = RawQuery(Some(format!("offset={offset}&limit={ROWS_PER_PAGE}")));
    let page = board_api::read(boards, visitor.caller, board, rows).await?;
    Ok(Html(board_page(visitor.viewer, &page.0)))
}

pub(crate) async fn entry(
    boards: State<Arc<Boards>>,
    visitor: PageVisitor,
    path: Path<(String, String)>,
) -> Result<Html<String>, ApiError> {
    let view = board_api::entry(boards, visitor.caller, path).await?;
    Ok(Html(board_entry_page(visitor.viewer, &view.0)))
}

pub(crate) async fn plot(
    boards: State<Arc<Boards>>,
    visitor: PageVisitor,
    board: Path<String>,
    query: RawQuery,
) -> Result<Response, ApiError> {
    board_api::plot(boards, visitor.caller, board, query).await
}

pub(crate) async fn picture(
    boards: State<Arc<Boards>>,
    visitor: PageVisitor,
    board: Path<String>,
    query: RawQuery,
) -> Result<Response, ApiError> {
    board_api::picture(boards, visitor.caller, board, query).await
}

pub(crate) async fn export(
    boards: State<Arc<Boards>>,
    visitor: PageVisitor,
    board: Path<String>,
    query: RawQuery,
) -> Result<Response, ApiError> {
    board_api::export(boards, visitor.caller, board, query).await
}

pub(crate) async fn table(
    boards: State<Arc<Boards>>,
    visitor: PageVisitor,
    board: Path<String>,
) -> Result<Response, ApiError> {
    board_api::table(boards, visitor.caller, board).await
}
