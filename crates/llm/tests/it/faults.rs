use std::time::{Duration, Instant};

use rhae_llm::{
    CancelToken, FailureKind, Finish, Parameter, Part, Request, Tool, ToolResult, Turn,
};
use rhae_testkit::{Fault, ModelAnswer};
use serde_json::json;

use crate::setup::{FORMS, KEY, QUICK, RecordingObserver, hello, model, server};

/// Runs a test for every provider, with and without streaming.
fn everywhere(test: impl Fn((&'static str, &'static str), String)) {
    for form in FORMS {
        for stream in [false, true] {
            test(form, format!("stream = {stream}\n{QUICK}"));
        }
    }
}

#[test]
fn answer_is_read_completely() {
    everywhere(|form, more| {
        let server = server([]);
        let model = model(&server, form, &more);
        let request = Request {
            system: Some("be kind".to_owned()),
            ..hello()
        };
        let outcome = model.ask(&request, &CancelToken::default(), None, &mut ());
        let reply = outcome
            .reply
            .clone()
            .unwrap_or_else(|failure| panic!("{form:?} {more}: {failure}"));
        assert_eq!(reply.text, "you said hello there, model", "{form:?} {more}");
        assert_eq!(
            reply.reasoning.as_deref(),
            Some("I thought about it."),
            "{form:?} {more}"
        );
        assert_eq!(reply.finish, Finish::Done);
        assert_eq!(reply.model, "test-model");
        assert_eq!(reply.id, "answer-0");
        let served = &server.served()[0];
        let usage = outcome.usage();
        assert_eq!(
            (usage.input_tokens, usage.output_tokens),
            (served.input_tokens, served.output_tokens),
            "{form:?} {more}"
        );
        assert!(usage.cached_tokens > 0 && served.head.contains(KEY));
        assert_eq!(served.id.as_deref(), Some(outcome.attempts[0].id.as_str()));
    });
}

#[test]
fn temporary_failures_are_retried_and_counted() {
    let faults = [
        Fault::Status(408, None),
        Fault::Status(409, None),
        Fault::Status(429, Some("0.001")),
        Fault::Status(500, None),
        Fault::Status(503, None),
        Fault::Status(529, None),
        Fault::Close,
        Fault::Cut,
        Fault::Malformed,
        Fault::ErrorInStream,
        Fault::Half,
    ];
    for fault in faults {
        everywhere(|form, more| {
            let server = server([fault.clone(), fault.clone()]);
            let model = model(&server, form, &more);
            let mut observer = RecordingObserver::default();
            let outcome = model.ask(&hello(), &CancelToken::default(), None, &mut observer);
            assert!(
                outcome.reply.is_ok(),
                "{fault:?} {form:?} {more}: {outcome:?}"
            );
            let served = server.served();
            assert_eq!(
                (served.len(), outcome.attempts.len()),
                (3, 3),
                "{fault:?} {form:?} {more}"
            );
            // Client and server list the same requests with the same tokens.
            let known: Vec<_> = served
                .iter()
                .map(|entry| entry.id.clone().unwrap())
                .collect();
            assert_eq!(
                observer
                    .sent
                    .iter()
                    .map(|sent| sent.id.clone())
                    .collect::<Vec<_>>(),
                known
            );
            assert_eq!(
                observer
                    .ended
                    .iter()
                    .map(|(attempt, _)| attempt.id.clone())
                    .collect::<Vec<_>>(),
                known
            );
            assert!(observer.ended[2].1.is_some() && observer.ended[0].1.is_none());
            // If the server closes the connection without a response, the consumption is unknown.
            let unknown = fault.is_billed() || fault == Fault::Close;
            assert_eq!(
                outcome.uncounted() > 0,
                unknown,
                "{fault:?} {form:?} {more}: {outcome:?}"
            );
        });
    }
}

#[test]
fn stream_without_its_end_marker_is_not_retried() {
    for form in FORMS {
        let server = server([Fault::NoEndMarker]);
        let outcome = model(&server, form, &format!("stream = true\n{QUICK}")).ask(
            &hello(),
            &CancelToken::default(),
            None,
            &mut (),
        );
        let reply = outcome
            .reply
            .clone()
            .unwrap_or_else(|failure| panic!("{form:?}: {failure}"));
        assert_eq!(
            (reply.text.as_str(), &reply.finish),
            ("you said hello there, model", &Finish::Done),
            "{form:?}"
        );
        let served = server.served();
        assert_eq!(
            (served.len(), outcome.attempts.len(), outcome.uncounted()),
            (1, 1, 0),
            "{form:?}"
        );
        assert_eq!(
            outcome.usage().output_tokens,
            served[0].output_tokens,
            "{form:?}"
        );
    }
}

#[test]
fn permanent_failures_are_not_retried() {
    for status in [400, 401, 403, 404, 413, 422] {
        everywhere(|form, more| {
            let server = server([Fault::Status(status, None)]);
            let outcome =
                model(&server, form, &more).ask(&hello(), &CancelToken::default(), None, &mut ());
            let failure = outcome.reply.unwrap_err();
            assert_eq!(
                (failure.kind, failure.status),
                (FailureKind::Status, Some(status))
            );
            assert_eq!(server.served().len(), 1, "{form:?} {more}");
        });
    }
}

#[test]
fn retries_stop_at_the_limit() {
    everywhere(|form, more| {
        let server = server(std::iter::repeat_n(Fault::Status(500, None), 20));
        let outcome =
            model(&server, form, &more).ask(&hello(), &CancelToken::default(), None, &mut ());
        assert_eq!(outcome.reply.unwrap_err().status, Some(500));
        assert_eq!((outcome.attempts.len(), server.served().len()), (4, 4));
    });
}

#[test]
fn empty_answers_and_refusals_are_answers_with_a_cost() {
    everywhere(|form, more| {
        let server = server([Fault::Empty, Fault::Refuse]);
        let prices = "prices = { date = \"2026-11-01\", input = 1000000, output = 1000000 }\n";
        let model = model(&server, form, &format!("{more}{prices}"));
        let empty = model.ask(&hello(), &CancelToken::default(), None, &mut ());
        let reply = empty
            .reply
            .clone()
            .unwrap_or_else(|failure| panic!("{form:?} {more}: {failure}"));
        assert_eq!(
            (reply.text.as_str(), &reply.finish),
            ("", &Finish::Done),
            "{form:?} {more}"
        );
        let refused = model.ask(&hello(), &CancelToken::default(), None, &mut ());
        let reply = refused
            .reply
            .clone()
            .unwrap_or_else(|failure| panic!("{form:?} {more}: {failure}"));
        assert!(
            matches!(reply.finish, Finish::Refused(_)),
            "{form:?} {more}: {reply:?}"
        );
        for (outcome, served) in [empty, refused].iter().zip(server.served()) {
            let billed = (served.input_tokens + served.output_tokens) as f64;
            assert!(
                (outcome.cost_usd() - billed).abs() < 1e-9,
                "{form:?} {more}: {outcome:?}"
            );
        }
    });
}

#[test]
fn slow_answer_is_read_and_silent_server_times_out() {
    everywhere(|form, more| {
        let server = server([Fault::Slow, Fault::Stall(Duration::from_secs(600))]);
        let model = model(
            &server,
            form,
            &format!("{more}timeouts = {{ read_s = 0.5 }}\n"),
        );
        assert!(
            model
                .ask(&hello(), &CancelToken::default(), None, &mut ())
                .reply
                .is_ok()
        );
        // The stalled request times out, and its retry is answered.
        let outcome = model.ask(&hello(), &CancelToken::default(), None, &mut ());
        assert!(outcome.reply.is_ok());
        let first = outcome.attempts[0].failure.as_ref().unwrap();
        assert_eq!(first.kind, FailureKind::Lost);
        assert!(first.message.contains("read_s"), "{first}");
    });
}

#[test]
fn total_timeout_ends_a_request() {
    everywhere(|form, more| {
        let server = server([
            Fault::Late(Duration::from_secs(600)),
            Fault::Late(Duration::from_secs(600)),
        ]);
        let model = model(
            &server,
            form,
            &format!("{more}timeouts = {{ total_s = 0.3 }}\n"),
        );
        let outcome = model.ask(&hello(), &CancelToken::default(), None, &mut ());
        assert_eq!(
            outcome.reply.as_ref().unwrap_err().kind,
            FailureKind::TimedOut
        );
        assert_eq!((outcome.attempts.len(), outcome.uncounted()), (1, 1));
        // The caller's deadline has the same effect.
        let model = crate::setup::model(&server, form, &more);
        let deadline = Instant::now() + Duration::from_millis(300);
        let outcome = model.ask(&hello(), &CancelToken::default(), Some(deadline), &mut ());
        assert_eq!(outcome.reply.unwrap_err().kind, FailureKind::TimedOut);
    });
}

#[test]
fn long_read_timeout_allows_a_late_answer() {
    everywhere(|form, more| {
        let server = server([Fault::Late(Duration::from_millis(700))]);
        let model = model(
            &server,
            form,
            &format!("{more}timeouts = {{ read_s = 86400, total_s = 172800 }}\n"),
        );
        assert!(
            model
                .ask(&hello(), &CancelToken::default(), None, &mut ())
                .reply
                .is_ok()
        );
        assert_eq!(server.served().len(), 1);
    });
}

#[test]
fn missing_server_is_reported_as_unreachable() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let text = format!(
        "[models.m]\nprovider = \"openai-chat\"\nmodel = \"x\"\nkey_env = \"\"\nbase_url = \"http://{}\"\n{QUICK}",
        free.local_addr().unwrap()
    );
    drop(free);
    let models = rhae_llm::Models::parse(&text).unwrap();
    let model = rhae_llm::Model::open(&models, "m").unwrap();
    let outcome = model.ask(&hello(), &CancelToken::default(), None, &mut ());
    let failure = outcome.reply.as_ref().unwrap_err();
    assert_eq!(failure.kind, FailureKind::NotSent);
    assert_eq!((outcome.attempts.len(), outcome.uncounted()), (4, 0));
}

#[test]
fn key_appears_only_in_its_header() {
    everywhere(|form, more| {
        let faults = [
            Fault::Echo(400),
            Fault::Echo(500),
            Fault::Status(429, None),
            Fault::Malformed,
            Fault::Close,
            Fault::None,
        ];
        let server = rhae_testkit::ModelServer::start(rhae_testkit::Faults::first(faults), |_| {
            format!("your key is {KEY}, is it not?")
        });
        let model = model(&server, form, &more);
        let mut observer = RecordingObserver::default();
        let mut output = format!("{:?}", model.config());
        for _ in 0..2 {
            let outcome = model.ask(&hello(), &CancelToken::default(), None, &mut observer);
            output += &format!("{outcome:?}");
            output += &outcome
                .reply
                .map_or_else(|failure| failure.to_string(), |reply| reply.text);
        }
        output += &serde_json::to_string(
            &observer
                .ended
                .iter()
                .map(|(attempt, reply)| json!([attempt, reply]))
                .collect::<Vec<_>>(),
        )
        .unwrap();
        assert!(
            output.contains("[key]"),
            "the server repeats the key: {output}"
        );
        assert!(!output.contains(KEY), "{form:?} {more}: {output}");
        assert!(
            server
                .served()
                .iter()
                .all(|served| served.head.contains(KEY) && !served.body.to_string().contains(KEY))
        );
    });
    let models =
        rhae_llm::Models::parse("[models.m]\nprovider = \"openai-chat\"\nmodel = \"x\"").unwrap();
    let bad = format!("{KEY}\n{KEY}");
    let error = rhae_llm::Model::open_with(&models, "m", &|_| Some(bad.clone()))
        .err()
        .unwrap()
        .to_string();
    assert!(
        error.contains("OPENAI_API_KEY") && !error.contains(KEY),
        "{error}"
    );
}

#[test]
fn conversations_and_images_are_sent() {
    everywhere(|form, more| {
        let server = rhae_testkit::ModelServer::start(rhae_testkit::Faults::none(), |request| {
            format!("{}|{:?}|{}", request.system, request.turns, request.images)
        });
        let model = model(&server, form, &more);
        let mut last = Turn::user("and this?");
        last.parts.push(Part::png(&[1, 2, 3]));
        let request = Request {
            system: Some("look".to_owned()),
            turns: vec![Turn::user("what is it?"), Turn::assistant("a cat"), last],
            ..Request::default()
        };
        let reply = model
            .ask(&request, &CancelToken::default(), None, &mut ())
            .reply
            .unwrap();
        let turns = [
            (false, "what is it?"),
            (true, "a cat"),
            (false, "and this?"),
        ];
        assert_eq!(reply.text, format!("look|{turns:?}|1"), "{form:?} {more}");
    });
}

#[test]
fn reasoning_is_returned_and_sent_back_if_requested() {
    everywhere(|form, more| {
        let server = server([]);
        let model = model(&server, form, &more);
        let first = Request {
            keep_reasoning: true,
            ..hello()
        };
        let reply = model
            .ask(&first, &CancelToken::default(), None, &mut ())
            .reply
            .unwrap();
        assert!(!reply.reasoning_items.is_empty(), "{form:?} {more}");
        let said = Turn {
            reasoning_items: reply.reasoning_items.clone(),
            ..Turn::assistant(&reply.text)
        };
        let second = Request {
            turns: vec![first.turns[0].clone(), said, Turn::user("go on")],
            ..first.clone()
        };
        assert!(
            model
                .ask(&second, &CancelToken::default(), None, &mut ())
                .reply
                .is_ok()
        );
        let served = server.served();
        // The second request contains the signature of the first answer or, for providers without
        // signatures, the reasoning itself.
        let seal = if form.0 == "openai-chat" {
            "I thought about it."
        } else {
            "sealed-0"
        };
        assert!(
            served[1].body.to_string().contains(seal),
            "{form:?} {more}: {}",
            served[1].body
        );
        assert!(!served[0].body.to_string().contains(seal));
        let plain = model
            .ask(&hello(), &CancelToken::default(), None, &mut ())
            .reply
            .unwrap();
        assert!(plain.reasoning_items.is_empty(), "{form:?} {more}");
    });
}

#[test]
fn request_parameters_are_passed_on() {
    for form in FORMS {
        let server = server([]);
        let more = if form.0 == "anthropic" {
            ""
        } else {
            "request = { temperature = 0.5, nested = { deep = [1, \"two\", true] } }\n"
        };
        let outcome =
            model(&server, form, more).ask(&hello(), &CancelToken::default(), None, &mut ());
        assert!(outcome.reply.is_ok());
        let body = &server.served()[0].body;
        if form.0 == "anthropic" {
            assert_eq!(body["max_tokens"], 500);
        } else {
            assert_eq!(
                (&body["temperature"], &body["nested"]),
                (&json!(0.5), &json!({"deep": [1, "two", true]}))
            );
        }
    }
}

#[test]
fn tools_are_called_over_http_in_every_format() {
    everywhere(|form, more| {
        let server =
            rhae_testkit::ModelServer::start(rhae_testkit::Faults::none(), |request| match request
                .results
                .last()
            {
                Some(result) => ModelAnswer::from(format!("{:?} gave {result}", request.tools)),
                None => ModelAnswer::call("add", &json!({"numbers": ["1", "2"]})),
            });
        let model = model(&server, form, &more);
        let tool = Tool::new(
            "add",
            "Adds.",
            &[Parameter::texts("numbers", "The numbers.")],
        );
        let mut request = Request {
            tools: vec![tool],
            keep_reasoning: true,
            ..hello()
        };
        let ask = |request: &Request| {
            let outcome = model.ask(request, &CancelToken::default(), None, &mut ());
            outcome.reply.unwrap()
        };
        let reply = ask(&request);
        let call = &reply.tool_calls[0];
        assert_eq!(
            (call.name.as_str(), &call.arguments),
            ("add", &json!({"numbers": ["1", "2"]})),
            "{form:?} {more}"
        );
        let result = ToolResult {
            id: call.id.clone(),
            name: call.name.clone(),
            output: "3".to_owned(),
            is_error: false,
        };
        request.turns.push(reply.to_turn());
        request.turns.push(Turn {
            parts: vec![Part::ToolResult(result)],
            ..Turn::user("")
        });
        assert_eq!(ask(&request).text, "[\"add\"] gave 3", "{form:?} {more}");
    });
}
