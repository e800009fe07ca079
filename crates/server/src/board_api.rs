//! `/api/boards…`: leaderboards, their rows and the evidence for them.
//!
//! Every caller reads the same documents, except that the organiser, who has an admin key, sees
//! everything of a hidden set.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use rhae_board::{Audience, BoardState, compare_rows};
use rhae_board_service::{board_listing, entry_play, entry_view, rows_csv};
use rhae_protocol::{
    BoardChange, BoardCreation, BoardListing, BoardPage, BoardRecord, BoardRequest, BoardRow,
    BoardView, Digest, EntryId, EntryPlay, EntryView, RegistrationBody, RowComparison,
    SubmissionBody,
};
use rhae_report::{board_history_plot, board_history_plot_png, board_plot, board_plot_png};
use tokio_stream::wrappers::ReceiverStream;

use crate::ApiError;
use crate::access::Caller;
use crate::boards::{Boards, audience};
use crate::body::{self, Body};
use crate::openapi::{Always, Bodied, ErrorBody, Named};
use crate::plays::Plays;
use crate::query::parameter;

/// The rows of a page if the request names no limit, and the maximum.
const DEFAULT_ROWS: usize = 100;
const MAX_ROWS: usize = 1_000;
/// The maximum number of records in a response.
const MAX_RECORDS: usize = 1_000;

/// Lists the boards.
#[utoipa::path(
    get,
    path = "/api/boards",
    tag = "boards",
    responses((status = OK, body = Vec<BoardListing>, description = "The boards in the order of their ids"), Always)
)]
pub(crate) async fn list(
    State(boards): State<Arc<Boards>>,
    _: Caller,
) -> Result<Json<Vec<BoardListing>>, ApiError> {
    let mut listed = Vec::new();
    for board in boards.service()?.list().await? {
        let newest = boards.newest(board.as_str()).await?;
        listed.push(board_listing(&newest.board));
    }
    Ok(Json(listed))
}

/// Creates a board.
#[utoipa::path(
    post,
    path = "/api/boards",
    tag = "boards",
    request_body = BoardCreation,
    responses((status = OK, body = BoardChange, description = "The board was created"),
        (status = FORBIDDEN, body = ErrorBody, description = "The caller is not the organiser"),
        (status = CONFLICT, body = ErrorBody, description = "The definition is not accepted, or a board has this id"), Always, Bodied)
)]
pub(crate) async fn create(
    State(boards): State<Arc<Boards>>,
    State(plays): State<Arc<Plays>>,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<BoardChange>, ApiError> {
    let body: BoardCreation = body::parse(&headers, body, plays.limits())?;
    Ok(Json(boards.create(&caller, body).await?))
}

/// Returns a board with some of its rows: the ranked ones by rank, then the others.
#[utoipa::path(
    get,
    path = "/api/boards/{board}",
    tag = "boards",
    params(("board" = String, Path, description = "The board"),
        ("offset" = Option<usize>, Query, description = "The rows to leave out at the start"),
        ("limit" = Option<usize>, Query, description = "The maximum number of rows, at most 1000; 100 by default")),
    responses((status = OK, body = BoardPage, description = "The board"), Always, Named)
)]
pub(crate) async fn read(
    State(boards): State<Arc<Boards>>,
    caller: Caller,
    Path(board): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Json<BoardPage>, ApiError> {
    let number = |field: &'static str, usual: usize| match parameter(query.as_deref(), field) {
        None => Ok(usual),
        Some(text) => text.parse().map_err(|_| ApiError::Field {
            field,
            expected: "a number of rows",
        }),
    };
    let (offset, limit) = (number("offset", 0)?, number("limit", DEFAULT_ROWS)?);
    let page = boards.read(&board, audience(&caller), move |_, view| {
        page(view, offset, limit.min(MAX_ROWS))
    });
    Ok(Json(page.await?))
}

/// Returns some rows of a board.
fn page(view: &BoardView, offset: usize, limit: usize) -> BoardPage {
    let rows = view.rows.iter().skip(offset).take(limit);
    BoardPage {
        offset,
        row_count: view.rows.len(),
        view: BoardView {
            board: view.board.clone(),
            title: view.title.clone(),
            set: view.set.clone(),
            set_sha256: view.set_sha256.clone(),
            tasks: view.tasks.clone(),
            method: view.method.clone(),
            budget: view.budget.clone(),
            head: view.head.clone(),
            rows: rows.cloned().collect(),
            registrations: view.registrations.clone(),
            releases: view.releases.clone(),
            references: view.references.clone(),
            ..*view
        },
    }
}

/// Returns a row with its history and, for a public set, its replayed runs.
#[utoipa::path(
    get,
    path = "/api/boards/{board}/entries/{entry}",
    tag = "boards",
    params(("board" = String, Path, description = "The board"), ("entry" = String, Path, description = "The row")),
    responses((status = OK, body = EntryView, description = "The row"), Always, Named)
)]
pub(crate) async fn entry(
    State(boards): State<Arc<Boards>>,
    caller: Caller,
    Path((board, entry)): Path<(String, String)>,
) -> Result<Json<EntryView>, ApiError> {
    let audience = audience(&caller);
    let id = EntryId::from(entry.as_str());
    let find = move |_: &_, view: &BoardView| find_row(view, &id);
    let row = boards.read(&board, audience, find).await?;
    let unknown = || ApiError::BoardItem(format!("unknown row `{entry}`"));
    let row = row.ok_or_else(unknown)?;
    let newest = boards.newest(&board).await?;
    let records = boards.records_of(&newest, &row.entry).await?;
    let view = entry_view(newest.board.state(), audience, row, &records);
    Ok(Json(view.ok_or_else(unknown)?))
}

fn find_row(view: &BoardView, id: &EntryId) -> Option<BoardRow> {
    view.rows.iter().find(|row| row.entry == *id).cloned()
}

/// Compares two rows on the environments that both played, with an exact test.
#[utoipa::path(
    get,
    path = "/api/boards/{board}/comparison",
    tag = "boards",
    params(("board" = String, Path, description = "The board"),
        ("a" = String, Query, description = "The first row"), ("b" = String, Query, description = "The second row")),
    responses((status = OK, body = RowComparison, description = "The comparison; numbers of a hidden set are rounded to 0.01"),
        (status = CONFLICT, body = ErrorBody, description = "The rows have no environment in common"), Always, Named)
)]
pub(crate) async fn compare(
    State(boards): State<Arc<Boards>>,
    caller: Caller,
    Path(board): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Json<RowComparison>, ApiError> {
    let id = |field: &'static str| {
        let expected = "the id of a row";
        let found = parameter(query.as_deref(), field);
        found
            .map(EntryId::from)
            .ok_or(ApiError::Field { field, expected })
    };
    let (a, b) = (id("a")?, id("b")?);
    let newest = boards.newest(&board).await?;
    let state = newest.board.state();
    let compared = compare_rows(state, &a, &b).map_err(rhae_board_service::BoardError::from)?;
    let none = || ApiError::BoardRejected("the rows have no environment in common".to_owned());
    let mut compared = compared.ok_or_else(none)?;
    if audience(&caller) == Audience::Public && state.definition.set.visibility.is_hidden() {
        round(&mut compared);
    }
    Ok(Json(compared))
}

/// Rounds the numbers of a hidden set.
fn round(compared: &mut RowComparison) {
    let round = |value: f64| (value * 100.0).round() / 100.0;
    compared.mean_a = round(compared.mean_a);
    compared.mean_b = round(compared.mean_b);
    compared.difference = round(compared.difference);
    compared.interval = compared.interval.map(round);
    compared.p = round(compared.p);
}

/// Returns the records of the log, from which the rows follow.
#[utoipa::path(
    get,
    path = "/api/boards/{board}/log",
    tag = "boards",
    params(("board" = String, Path, description = "The board"),
        ("after" = Option<u64>, Query, description = "Only records with a greater number are returned, at most 1000")),
    responses((status = OK, body = Vec<BoardRecord>, description = "The records"),
        (status = FORBIDDEN, body = ErrorBody, description = "The set is hidden, and the caller is not the organiser"), Always, Named)
)]
pub(crate) async fn log(
    State(boards): State<Arc<Boards>>,
    caller: Caller,
    Path(board): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Json<Vec<BoardRecord>>, ApiError> {
    let after = match parameter(query.as_deref(), "after") {
        None => 0,
        Some(text) => text.parse().map_err(|_| ApiError::Field {
            field: "after",
            expected: "the number of a record",
        })?,
    };
    let newest = boards.newest(&board).await?;
    let state = newest.board.state();
    if audience(&caller) == Audience::Public && state.definition.set.visibility.is_hidden() {
        return Err(ApiError::BoardForbidden(
            "the set is hidden, so only the organiser may read the log",
        ));
    }
    let mut records = boards.service()?.records_after(&state.id, after).await?;
    records.truncate(MAX_RECORDS);
    Ok(Json(records))
}

/// Draws the score of the ranked rows against their cost, or the best score over time, as a picture.
#[utoipa::path(
    get,
    path = "/api/boards/{board}/plot.png",
    tag = "boards",
    params(("board" = String, Path, description = "The board"),
        ("x" = Option<String>, Query, description = "`cost`, which is the default, or `time`")),
    responses((status = OK, body = Vec<u8>, content_type = "image/png", description = "The plot"), Always, Named)
)]
pub(crate) async fn picture(
    State(boards): State<Arc<Boards>>,
    caller: Caller,
    Path(board): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let draw = match is_over_time(query.as_deref())? {
        false => board_plot_png,
        true => board_history_plot_png,
    };
    let png = boards.read(&board, audience(&caller), move |_, view| draw(view));
    let png = png.await?;
    let png = png.map_err(|error| ApiError::Failed(error.to_string()))?;
    Ok(([(header::CONTENT_TYPE, "image/png")], png).into_response())
}

fn is_over_time(query: Option<&str>) -> Result<bool, ApiError> {
    match parameter(query, "x") {
        None | Some("cost") => Ok(false),
        Some("time") => Ok(true),
        Some(_) => Err(ApiError::Field {
            field: "x",
            expected: "`cost` or `time`",
        }),
    }
}

/// Draws the score of the ranked rows against their cost, or the best score over time.
#[utoipa::path(
    get,
    path = "/api/boards/{board}/plot.svg",
    tag = "boards",
    params(("board" = String, Path, description = "The board"),
        ("x" = Option<String>, Query, description = "`cost`, which is the default, or `time`")),
    responses((status = OK, body = String, content_type = "image/svg+xml", description = "The plot"), Always, Named)
)]
pub(crate) async fn plot(
    State(boards): State<Arc<Boards>>,
    caller: Caller,
    Path(board): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let draw = match is_over_time(query.as_deref())? {
        false => board_plot,
        true => board_history_plot,
    };
    let svg = boards.read(&board, audience(&caller), move |_, view| draw(view));
    Ok(([(header::CONTENT_TYPE, "image/svg+xml")], svg.await?).into_response())
}

/// Returns all rows as a table.
#[utoipa::path(
    get,
    path = "/api/boards/{board}/rows.csv",
    tag = "boards",
    params(("board" = String, Path, description = "The board")),
    responses((status = OK, body = String, content_type = "text/csv", description = "The rows"), Always, Named)
)]
pub(crate) async fn table(
    State(boards): State<Arc<Boards>>,
    caller: Caller,
    Path(board): Path<String>,
) -> Result<Response, ApiError> {
    let csv = boards.read(&board, audience(&caller), |_, view| rows_csv(&view.rows));
    let headers = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8".to_owned()),
        (
            header::CONTENT_DISPOSITION,
            format!("attachment; filename=\"{board}.csv\""),
        ),
    ];
    Ok((headers, csv.await?).into_response())
}

/// Returns the files from which others can compute the rows again, as an archive for `rhae board check`.
/// Of a hidden set, the public gets only the rows.
#[utoipa::path(
    get,
    path = "/api/boards/{board}/export",
    tag = "boards",
    params(("board" = String, Path, description = "The board"),
        ("organiser" = Option<bool>, Query, description = "Whether what only the organiser may see of a hidden set is wanted")),
    responses((status = OK, body = Vec<u8>, content_type = "application/x-tar", description = "The files of the export"),
        (status = FORBIDDEN, body = ErrorBody, description = "The caller is not the organiser"), Always, Named)
)]
pub(crate) async fn export(
    State(boards): State<Arc<Boards>>,
    caller: Caller,
    Path(board): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let wanted = match parameter(query.as_deref(), "organiser") {
        None | Some("false") => Audience::Public,
        Some("true") if audience(&caller) == Audience::Organiser => Audience::Organiser,
        Some("true") => {
            return Err(ApiError::BoardForbidden(
                "only the organiser, who has an admin key, may export everything",
            ));
        }
        Some(_) => {
            return Err(ApiError::Field {
                field: "organiser",
                expected: "`true` or `false`",
            });
        }
    };
    let archive = boards.export(&board, wanted).await?;
    let name = format!("attachment; filename=\"{board}.tar\"");
    let headers = [
        (header::CONTENT_TYPE, "application/x-tar".to_owned()),
        (header::CONTENT_DISPOSITION, name),
    ];
    let body = axum::body::Body::from_stream(ReceiverStream::new(archive));
    Ok((headers, body).into_response())
}

/// Returns a recording of a replayed run on a public set.
#[utoipa::path(
    get,
    path = "/api/boards/{board}/runs/{run}/recordings/{recording}",
    tag = "boards",
    params(("board" = String, Path, description = "The board"), ("run" = String, Path, description = "The hash of the run"),
        ("recording" = String, Path, description = "The hash of the recording")),
    responses((status = OK, body = String, content_type = "application/x-ndjson", description = "The recording, one JSON document per line"),
        (status = FORBIDDEN, body = ErrorBody, description = "The set is hidden, and the caller is not the organiser"), Always, Named)
)]
pub(crate) async fn recording(
    State(boards): State<Arc<Boards>>,
    caller: Caller,
    Path((board, run, recording)): Path<(String, String, String)>,
) -> Result<Response, ApiError> {
    let path = (board, run, recording);
    let found = stored_recording(&boards, &caller, &path).await?;
    let name = format!("attachment; filename=\"{}.jsonl\"", path.2);
    let headers = [
        (header::CONTENT_TYPE, "application/x-ndjson".to_owned()),
        (header::CONTENT_DISPOSITION, name),
    ];
    Ok((headers, found.text).into_response())
}

/// A recording with the row and the play to which it belongs.
pub(crate) struct StoredRecording {
    pub(crate) text: String,
    pub(crate) entry: EntryId,
    pub(crate) system: String,
    pub(crate) play: EntryPlay,
    pub(crate) levels: usize,
}

/// Returns a recording of a row, if the caller may read it.
pub(crate) async fn stored_recording(
    boards: &Boards,
    caller: &Caller,
    (board, run, recording): &(String, String, String),
) -> Result<StoredRecording, ApiError> {
    let newest = boards.newest(board).await?;
    let state = newest.board.state();
    let set = &state.definition.set;
    if audience(caller) == Audience::Public && set.visibility.is_hidden() {
        return Err(ApiError::BoardForbidden(
            "the set is hidden, so only the organiser may read recordings",
        ));
    }
    let unknown = || ApiError::BoardItem(format!("unknown recording `{recording}`"));
    let found = find_play(state, run, recording).ok_or_else(unknown)?;
    let (digest, recording) = (Digest::from(run.as_str()), &found.play.recording);
    let text = boards.service()?.recording(&state.id, &digest, recording);
    let text = text.await?.ok_or_else(unknown)?;
    Ok(StoredRecording { text, ..found })
}

/// Finds the play of a recording in a row that is not retracted. The text is left empty.
fn find_play(state: &BoardState, run: &str, recording: &str) -> Option<StoredRecording> {
    for (id, entry) in &state.entries {
        if entry.retraction.is_some() {
            continue;
        }
        let runs = entry.runs.iter().filter(|one| one.digest.as_str() == run);
        let mut plays = runs.flat_map(|one| &one.plays);
        let Some(play) = plays.find(|play| play.recording.as_str() == recording) else {
            continue;
        };
        let mut environments = state.definition.set.environments.iter();
        let environment = environments.find(|environment| environment.id == play.environment);
        return Some(StoredRecording {
            text: String::new(),
            entry: id.clone(),
            system: format!("{} {}", entry.system.name, entry.system.version),
            play: entry_play(play),
            levels: environment.map_or(0, |environment| environment.levels.len()),
        });
    }
    None
}

/// Announces runs before their first action. The announcement is public at once.
#[utoipa::path(
    post,
    path = "/api/boards/{board}/registrations",
    tag = "boards",
    params(("board" = String, Path, description = "The board")),
    request_body = RegistrationBody,
    responses((status = OK, body = BoardChange, description = "What was changed"),
        (status = FORBIDDEN, body = ErrorBody, description = "The caller has no key of the server's operator"),
        (status = CONFLICT, body = ErrorBody, description = "The rules of the board do not accept the registration"), Always, Bodied, Named)
)]
pub(crate) async fn register(
    State(boards): State<Arc<Boards>>,
    State(plays): State<Arc<Plays>>,
    caller: Caller,
    Path(board): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<BoardChange>, ApiError> {
    let body: RegistrationBody = body::parse(&headers, body, plays.limits())?;
    Ok(Json(boards.register(&caller, &board, body).await?))
}

/// Submits a system with its runs. Every recording is replayed before the response is sent.
#[utoipa::path(
    post,
    path = "/api/boards/{board}/entries",
    tag = "boards",
    params(("board" = String, Path, description = "The board")),
    request_body = SubmissionBody,
    responses((status = OK, body = BoardChange, description = "What was changed; a run that does not replay leaves the row `claimed`"),
        (status = FORBIDDEN, body = ErrorBody, description = "The caller has no key of the server's operator"),
        (status = CONFLICT, body = ErrorBody, description = "The rules of the board do not accept the submission"), Always, Bodied, Named)
)]
pub(crate) async fn submit(
    State(boards): State<Arc<Boards>>,
    State(plays): State<Arc<Plays>>,
    caller: Caller,
    Path(board): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<BoardChange>, ApiError> {
    let body: SubmissionBody = body::parse(&headers, body, plays.limits())?;
    Ok(Json(boards.submit(&caller, &board, body).await?))
}

/// Changes a board or a row.
#[utoipa::path(
    post,
    path = "/api/boards/{board}/commands",
    tag = "boards",
    params(("board" = String, Path, description = "The board")),
    request_body = BoardRequest,
    responses((status = OK, body = BoardChange, description = "What was changed"),
        (status = FORBIDDEN, body = ErrorBody, description = "The caller is neither the organiser nor the author of the row"),
        (status = CONFLICT, body = ErrorBody, description = "The rules of the board do not accept the change"), Always, Bodied, Named)
)]
pub(crate) async fn change(
    State(boards): State<Arc<Boards>>,
    State(plays): State<Arc<Plays>>,
    caller: Caller,
    Path(board): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<BoardChange>, ApiError> {
    let request: BoardRequest = body::parse(&headers, body, plays.limits())?;
    Ok(Json(boards.change(&caller, &board, request).await?))
}
