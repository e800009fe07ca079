//! Fails for every route, documented status and error code without a snapshot.
//!
//! The routes and their statuses come from the OpenAPI document that the server serves, the codes
//! from [`Code::ALL`]. The covered exchanges are read from the snapshot files themselves.

use std::collections::BTreeSet;
use std::path::Path;

use rhae_server::Code;
use serde_json::{Value, json};

use crate::test_server::TestServer;

/// Error statuses that any route may return, because the server checks the request before it calls
/// the handler or because the database failed. One snapshot of each is enough.
const SHARED_STATUSES: [u16; 8] = [400, 401, 408, 413, 421, 429, 500, 503];

/// The request and the response that a snapshot shows.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Exchange {
    method: String,
    path: String,
    status: u16,
    /// The error code in the body.
    code: Option<String>,
}

impl Exchange {
    /// Parses a snapshot. Returns `None` if it does not show an exchange.
    fn parse(text: &str) -> Option<Self> {
        let request = text.lines().find_map(|line| line.strip_prefix("> "))?;
        let response = text.lines().find_map(|line| line.strip_prefix("< "))?;
        let (method, path) = request.split_once(' ')?;
        let path = path.split('?').next().unwrap_or_default();
        let code = text
            .lines()
            .find_map(|line| line.strip_prefix("  \"error\": \"")?.strip_suffix("\","));
        Some(Self {
            method: method.to_owned(),
            path: path.to_owned(),
            status: response.parse().ok()?,
            code: code.map(str::to_owned),
        })
    }
}

/// An operation of an OpenAPI document.
#[derive(Debug, PartialEq, Eq)]
struct Operation {
    method: String,
    template: String,
    statuses: BTreeSet<u16>,
}

fn operations(document: &Value) -> Vec<Operation> {
    let mut operations = Vec::new();
    for (template, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let statuses = operation["responses"].as_object().unwrap().keys();
            operations.push(Operation {
                method: method.to_ascii_uppercase(),
                template: template.clone(),
                statuses: statuses.map(|status| status.parse().unwrap()).collect(),
            });
        }
    }
    operations
}

/// Returns the number of literal segments of a path template, or `None` if it does not match the
/// path.
fn matched_literals(template: &str, path: &str) -> Option<usize> {
    let (template, path): (Vec<&str>, Vec<&str>) =
        (template.split('/').collect(), path.split('/').collect());
    let fits = |(pattern, segment): (&&str, &&str)| pattern.starts_with('{') || pattern == segment;
    let matches = template.len() == path.len() && template.iter().zip(&path).all(fits);
    matches.then(|| {
        template
            .iter()
            .filter(|pattern| !pattern.starts_with('{'))
            .count()
    })
}

/// Returns the operation that answers an exchange. If several templates match its path, the one
/// with the most literal segments wins.
fn operation_of<'a>(operations: &'a [Operation], exchange: &Exchange) -> Option<&'a Operation> {
    operations
        .iter()
        .filter(|operation| operation.method == exchange.method)
        .filter_map(|operation| {
            Some((
                matched_literals(&operation.template, &exchange.path)?,
                operation,
            ))
        })
        .max_by_key(|(literals, _)| *literals)
        .map(|(_, operation)| operation)
}

/// Returns a description of each route, documented status and error code without a snapshot.
fn missing(document: &Value, codes: &[&str], exchanges: &[Exchange]) -> Vec<String> {
    let operations = operations(document);
    let mut missing = Vec::new();
    for operation in &operations {
        for status in &operation.statuses {
            let is_covered = exchanges.iter().any(|exchange| {
                let is_shared = SHARED_STATUSES.contains(status);
                exchange.status == *status
                    && (is_shared || operation_of(&operations, exchange) == Some(operation))
            });
            if !is_covered {
                let Operation {
                    method, template, ..
                } = operation;
                missing.push(format!(
                    "{method} {template}: no snapshot with status {status}"
                ));
            }
        }
    }
    for code in codes {
        if !exchanges
            .iter()
            .any(|exchange| exchange.code.as_deref() == Some(code))
        {
            missing.push(format!("{code}: no snapshot with this error code"));
        }
    }
    missing
}

fn recorded_exchanges() -> Vec<Exchange> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/rest/snapshots");
    let files = std::fs::read_dir(folder).unwrap();
    files
        .map(|file| file.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "snap")
        })
        .filter_map(|path| Exchange::parse(&std::fs::read_to_string(path).unwrap()))
        .collect()
}

fn served_document() -> Value {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    server.client("k").get("/api/openapi.json").success()
}

#[test]
fn every_route_status_and_error_code_has_a_snapshot() {
    let codes = Code::ALL.map(Code::name);
    let missing = missing(&served_document(), &codes, &recorded_exchanges());
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn route_status_and_code_without_a_snapshot_are_reported() {
    let mut document = served_document();
    document["paths"]["/api/games/{id}/made-up"] =
        json!({"get": {"responses": {"200": {}, "404": {}, "503": {}}}});
    document["paths"]["/api/games/{id}"]["get"]["responses"]["418"] = json!({});
    let codes = ["NOT_FOUND", "MADE_UP"];
    assert_eq!(
        missing(&document, &codes, &recorded_exchanges()),
        [
            "GET /api/games/{id}: no snapshot with status 418",
            "GET /api/games/{id}/made-up: no snapshot with status 200",
            "GET /api/games/{id}/made-up: no snapshot with status 404",
            "MADE_UP: no snapshot with this error code",
        ]
    );
}

#[test]
fn exchange_belongs_to_the_most_literal_route() {
    let document = json!({"paths": {
        "/api/games/{id}": {"get": {"responses": {"200": {}}}},
        "/api/games/anonkey": {"get": {"responses": {"200": {}}}},
    }});
    let exchange = Exchange::parse("> GET /api/games/anonkey?a=b\n< 200\n\n{}").unwrap();
    assert_eq!(exchange.path, "/api/games/anonkey");
    assert_eq!(
        missing(&document, &[], &[exchange]),
        ["GET /api/games/{id}: no snapshot with status 200"]
    );
}

#[test]
fn error_code_is_read_from_the_body() {
    let text =
        "> GET /x\n< 404\n< a: b\n\n{\n  \"error\": \"NOT_FOUND\",\n  \"message\": \"m\"\n}\n";
    let expected = Exchange {
        method: "GET".to_owned(),
        path: "/x".to_owned(),
        status: 404,
        code: Some("NOT_FOUND".to_owned()),
    };
    assert_eq!(Exchange::parse(text), Some(expected));
}
