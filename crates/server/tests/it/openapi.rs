//! The OpenAPI document. A change of the API shows up as a change of the snapshot.

use crate::test_server::TestServer;

#[test]
fn openapi_document_matches_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let answer = server.client("k").get("/api/openapi.json");
    assert_eq!(
        (answer.status, answer.content_type.as_str()),
        (200, "application/json")
    );
    insta::assert_snapshot!(answer.text);
}
