//! The description of the API. Whoever changes the API changes the snapshot and sees how.

use crate::running::Running;

#[test]
fn the_description_is_pinned() {
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(folder.path());
    let answer = running.client("k").get("/api/openapi.json");
    assert_eq!(
        (answer.status, answer.content_type.as_str()),
        (200, "application/json")
    );
    insta::assert_snapshot!(answer.text);
}
