use rhae_llm::{CancelToken, FailureKind, Model, Models, Request};
use rhae_testkit::Fault;

use crate::setup::{QUICK, hello, server};

#[test]
fn recorded_answers_are_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("answers.jsonl");
    let server = server([Fault::Status(500, None)]);
    let text = format!(
        "[models.real]\nprovider = \"openai-chat\"\nmodel = \"x\"\nkey_env = \"\"\nbase_url = \"{}/v1\"\n{QUICK}
[models.tape]\nprovider = \"record\"\nof = \"real\"\nfile = {file:?}
[models.again]\nprovider = \"replay\"\nfile = {file:?}",
        server.url()
    );
    let models = Models::parse(&text).unwrap();
    assert!(
        Model::open(&models, "again").is_err(),
        "there is no recording yet"
    );
    let tape = Model::open(&models, "tape").unwrap();
    let first = tape.ask(&hello(), &CancelToken::default(), None, &mut ());
    assert_eq!(
        (first.attempts.len(), tape.config().name.as_str()),
        (2, "real")
    );
    let second = tape.ask(
        &Request {
            sample: 1,
            ..hello()
        },
        &CancelToken::default(),
        None,
        &mut (),
    );
    let again = Model::open(&models, "again").unwrap();
    for (sample, recorded) in [first, second].into_iter().enumerate() {
        let request = Request {
            sample: sample as u32,
            ..hello()
        };
        let replayed = again.ask(&request, &CancelToken::default(), None, &mut ());
        assert_eq!(replayed.reply, recorded.reply);
        assert_eq!(replayed.usage(), recorded.usage());
    }
    let missing = again.ask(
        &Request::text("something else"),
        &CancelToken::default(),
        None,
        &mut (),
    );
    assert_eq!(missing.reply.unwrap_err().kind, FailureKind::NoAnswer);
    assert_eq!(missing.attempts.len(), 1);
    assert_eq!(server.served().len(), 3);
}
