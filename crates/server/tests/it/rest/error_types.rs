//! Responses of every error type, including those that no request can provoke in a test: a lost
//! database connection, a full disk, a failed environment.

use std::fmt::Write;

use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use rhae_server::{ApiError, Code};
use rhae_store::StoreError;

/// Returns one error of every variant of [`ApiError`].
fn api_errors() -> Vec<ApiError> {
    let text = || "TEXT".to_owned();
    let mut errors = vec![
        ApiError::Malformed(text()),
        ApiError::NotAnObject,
        ApiError::Field {
            field: "FIELD",
            expected: "EXPECTED",
        },
        ApiError::TooLong {
            field: "FIELD",
            max: 1234,
        },
        ApiError::TooDeep(1234),
    ];
    errors.extend(study_and_board_errors());
    errors.extend([
        ApiError::BodyIncomplete,
        ApiError::BodyTimeout,
        ApiError::Unauthorized,
        ApiError::NoAnonymousKeys,
        ApiError::NoSources,
        ApiError::RateLimit {
            max: 1234,
            retry_seconds: 56,
        },
        ApiError::TooManyCards(1234),
        ApiError::TooManyPlays(1234),
        ApiError::StorageFull(1234),
        ApiError::TooManyStreams {
            max: 1234,
            holder: "address",
        },
        ApiError::AddressConnections(1234),
        ApiError::TooManyConnections,
        ApiError::ForeignHost(text()),
        ApiError::ForeignSite,
        ApiError::MediaType,
        ApiError::TooLarge(1234),
        ApiError::NoSuchPath,
        ApiError::MethodNotAllowed,
        ApiError::NoSuchGame(text()),
        ApiError::GameNotAvailable(text()),
        ApiError::NoSource(text()),
        ApiError::NoSuchCard(text()),
        ApiError::CardNotOpen(text()),
        ApiError::CompetitionCardOpen,
        ApiError::SecondCompetitionCard,
        ApiError::AlreadyPlayed(text()),
        ApiError::NotOnCard(text()),
        ApiError::NoSuchPlay {
            game: "GAME".to_owned(),
            guid: "GUID".to_owned(),
        },
        ApiError::NoSuchGuid(text()),
        ApiError::NoSuchShare(text()),
        ApiError::NotPublic,
        ApiError::TooManyShares(1234),
        ApiError::TooManyListeners,
        ApiError::GameBusy(text()),
        ApiError::GameOver,
        ApiError::Frozen(text()),
        ApiError::IdempotencyKeyReused(text()),
        ApiError::OutcomeUnknown(StoreError::CommitUnknown(text())),
        ApiError::Unavailable(StoreError::Unavailable(text())),
        ApiError::Failed(text()),
        ApiError::Http(StatusCode::INTERNAL_SERVER_ERROR),
        ApiError::Http(StatusCode::LENGTH_REQUIRED),
        ApiError::Http(StatusCode::from_u16(499).unwrap()),
    ]);
    errors.iter().for_each(assert_listed);
    errors
}

fn study_and_board_errors() -> [ApiError; 12] {
    let text = || "TEXT".to_owned();
    [
        ApiError::NoSuchStudy(text()),
        ApiError::StudyItem(text()),
        ApiError::NoSuchLink,
        ApiError::StudyForbidden {
            role: "ROLE",
            permission: "PERMISSION",
        },
        ApiError::NoStudies,
        ApiError::NoIdentityKey,
        ApiError::StudyRejected(text()),
        ApiError::StudyLimitReached,
        ApiError::NoSuchBoard(text()),
        ApiError::BoardItem(text()),
        ApiError::BoardForbidden("TEXT"),
        ApiError::BoardRejected(text()),
    ]
}

/// The match has no wildcard, so a new variant is a compile error until it is named here. Add it to
/// the list above as well.
fn assert_listed(error: &ApiError) {
    match error {
        ApiError::Malformed(_)
        | ApiError::NotAnObject
        | ApiError::Field { .. }
        | ApiError::TooLong { .. }
        | ApiError::TooDeep(_)
        | ApiError::NoSuchStudy(_)
        | ApiError::StudyItem(_)
        | ApiError::NoSuchLink
        | ApiError::StudyForbidden { .. }
        | ApiError::NoStudies
        | ApiError::NoIdentityKey
        | ApiError::StudyRejected(_)
        | ApiError::StudyLimitReached
        | ApiError::NoSuchBoard(_)
        | ApiError::BoardItem(_)
        | ApiError::BoardForbidden(_)
        | ApiError::BoardRejected(_)
        | ApiError::BodyIncomplete
        | ApiError::BodyTimeout
        | ApiError::Unauthorized
        | ApiError::NoAnonymousKeys
        | ApiError::NoSources
        | ApiError::RateLimit { .. }
        | ApiError::TooManyCards(_)
        | ApiError::TooManyPlays(_)
        | ApiError::StorageFull(_)
        | ApiError::TooManyStreams { .. }
        | ApiError::AddressConnections(_)
        | ApiError::TooManyConnections
        | ApiError::ForeignHost(_)
        | ApiError::ForeignSite
        | ApiError::MediaType
        | ApiError::TooLarge(_)
        | ApiError::NoSuchPath
        | ApiError::MethodNotAllowed
        | ApiError::NoSuchGame(_)
        | ApiError::GameNotAvailable(_)
        | ApiError::NoSource(_)
        | ApiError::NoSuchCard(_)
        | ApiError::CardNotOpen(_)
        | ApiError::CompetitionCardOpen
        | ApiError::SecondCompetitionCard
        | ApiError::AlreadyPlayed(_)
        | ApiError::NotOnCard(_)
        | ApiError::NoSuchPlay { .. }
        | ApiError::NoSuchGuid(_)
        | ApiError::NoSuchShare(_)
        | ApiError::NotPublic
        | ApiError::TooManyShares(_)
        | ApiError::TooManyListeners
        | ApiError::GameBusy(_)
        | ApiError::GameOver
        | ApiError::Frozen(_)
        | ApiError::IdempotencyKeyReused(_)
        | ApiError::OutcomeUnknown(_)
        | ApiError::Unavailable(_)
        | ApiError::Failed(_)
        | ApiError::Http(_) => {}
    }
}

/// Returns the errors of the database as the API reports them.
fn store_errors() -> Vec<ApiError> {
    let text = || "TEXT".to_owned();
    let errors = [
        StoreError::Full(text()),
        StoreError::ReadOnly(text()),
        StoreError::Unavailable(text()),
        StoreError::CommitUnknown(text()),
        StoreError::NewerSchema {
            found: 12,
            known: 3,
        },
        StoreError::Unsuitable(text()),
        StoreError::Foreign,
        StoreError::Corrupt(text()),
        StoreError::Conflict(1234),
        StoreError::CardNotOpen,
        StoreError::PlayedBefore,
        StoreError::OpenedBefore,
        StoreError::KeyUsed,
        StoreError::TooManyCards(1234),
        StoreError::TooManyPlays(1234),
        StoreError::TooManyShares(1234),
    ];
    errors.map(ApiError::from).to_vec()
}

/// Returns the status, headers and body of the response as text.
fn response_text(error: ApiError) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let response = error.into_response();
    let mut text = format!("< {}\n", response.status().as_u16());
    let mut headers: Vec<_> = response
        .headers()
        .iter()
        .filter(|(name, _)| *name != header::CONTENT_LENGTH)
        .map(|(name, value)| format!("< {name}: {}\n", value.to_str().unwrap()))
        .collect();
    headers.sort_unstable();
    text.push_str(&headers.concat());
    let body = runtime
        .block_on(axum::body::to_bytes(response.into_body(), usize::MAX))
        .unwrap();
    writeln!(text, "\n{}\n", String::from_utf8_lossy(&body)).unwrap();
    text
}

fn check(name: &str, errors: Vec<ApiError>) {
    let text: String = errors.into_iter().map(response_text).collect();
    insta::with_settings!({
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, {
        insta::assert_snapshot!(name, text);
    });
}

#[test]
fn every_api_error_has_a_status_code_and_message() {
    check("error_types", api_errors());
}

#[test]
fn every_database_error_has_a_status_code_and_message() {
    check("error_types_of_the_database", store_errors());
}

#[test]
fn every_code_belongs_to_an_error() {
    for code in Code::ALL {
        assert!(
            api_errors().iter().any(|error| error.kind().0 == code),
            "{code:?}"
        );
    }
}

#[test]
fn lost_commit_has_an_unknown_outcome() {
    let error = ApiError::from(StoreError::CommitUnknown("connection closed".to_owned()));
    let answer = super::exchange::parse_answer(&http_text(error));
    let request = "> POST /api/cmd/ACTION1\n";
    super::exchange::Exchanges::default().check("database_lost_in_a_commit", request, &answer);
}

/// Returns the response as it is sent, without the headers that the router adds.
fn http_text(error: ApiError) -> String {
    let text = response_text(error).replace("< ", "").replace('\n', "\r\n");
    format!("HTTP/1.1 {text}")
}
