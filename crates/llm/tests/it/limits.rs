use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rhae_llm::{CancelToken, FailureKind};
use rhae_testkit::{Fault, Faults, ModelServer};

use crate::setup::{FORMS, QUICK, RecordingObserver, hello, model, server};

#[test]
fn threads_share_the_concurrency_limit() {
    let server = server(std::iter::repeat_n(
        Fault::Late(Duration::from_millis(20)),
        64,
    ));
    let model = model(
        &server,
        FORMS[0],
        &format!("{QUICK}limits = {{ in_flight = 8 }}\n"),
    );
    let good = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..64 {
            scope.spawn(|| {
                if model
                    .ask(&hello(), &CancelToken::default(), None, &mut ())
                    .reply
                    .is_ok()
                {
                    good.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(good.load(Ordering::Relaxed), 64);
    assert_eq!(server.max_concurrent_requests(), 8);
}

#[test]
fn request_that_the_observer_refuses_does_not_count_towards_the_rate() {
    let server = server([]);
    let rate = format!("{QUICK}limits = {{ rate_limit = \"1/h\" }}\n");
    let model = model(&server, FORMS[0], &rate);
    let mut refusing = RecordingObserver {
        max_requests: Some(0),
        ..RecordingObserver::default()
    };
    let refused = model.ask(&hello(), &CancelToken::default(), None, &mut refusing);
    assert_eq!(refused.reply.unwrap_err().kind, FailureKind::Halted);
    let deadline = Instant::now() + Duration::from_secs(60);
    let sent = model.ask(&hello(), &CancelToken::default(), Some(deadline), &mut ());
    assert!(sent.reply.is_ok(), "{:?}", sent.reply);
}

#[test]
fn concurrent_calls_survive_every_fault() {
    let server = ModelServer::start(Faults::mixed(40, 7), |_| "good".to_owned());
    let more = format!(
        "stream = true\n{}breaker = {{ failures = 1000 }}\n",
        QUICK.replace("attempts = 4", "attempts = 12")
    );
    let model = model(&server, FORMS[0], &more);
    let outcomes: Vec<_> = std::thread::scope(|scope| {
        let calls: Vec<_> = (0..64)
            .map(|_| {
                scope.spawn(|| {
                    (0..4)
                        .map(|_| model.ask(&hello(), &CancelToken::default(), None, &mut ()))
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        calls
            .into_iter()
            .flat_map(|call| call.join().unwrap())
            .collect()
    });
    assert!(outcomes.iter().all(|outcome| outcome.reply.is_ok()));
    let served = server.served();
    let attempts: Vec<_> = outcomes
        .iter()
        .flat_map(|outcome| &outcome.attempts)
        .collect();
    assert_eq!(attempts.len(), served.len());
    // Uncounted tokens are exactly those that the server billed without reporting them.
    for attempt in attempts {
        let entry = served
            .iter()
            .find(|entry| entry.id.as_deref() == Some(&attempt.id))
            .unwrap();
        let billed = entry.input_tokens + entry.output_tokens;
        match &attempt.usage {
            Some(usage) => assert_eq!(usage.total_tokens(), billed, "{attempt:?}"),
            None if billed > 0 => assert!(
                attempt.failure.as_ref().unwrap().may_have_consumed_tokens(),
                "{attempt:?}"
            ),
            None => {}
        }
    }
}

#[test]
fn retry_after_pauses_all_calls() {
    let server = server([Fault::Status(429, Some("0.4"))]);
    let model = model(&server, FORMS[0], QUICK);
    let first = model.ask(&hello(), &CancelToken::default(), None, &mut ());
    // The second attempt, after the pause, was answered.
    assert_eq!(first.attempts.len(), 2);
    assert_eq!(server.served().len(), 2);
    // A call whose deadline is before the end of the pause sends nothing.
    let server = crate::setup::server([Fault::Status(429, Some("600"))]);
    let model = crate::setup::model(&server, FORMS[0], QUICK);
    let deadline = Some(Instant::now() + Duration::from_millis(400));
    let failure = model
        .ask(&hello(), &CancelToken::default(), deadline, &mut ())
        .reply
        .unwrap_err();
    assert_eq!(failure.status, Some(429));
    let failure = model
        .ask(&hello(), &CancelToken::default(), deadline, &mut ())
        .reply
        .unwrap_err();
    assert_eq!(failure.kind, FailureKind::TimedOut);
    assert_eq!(server.served().len(), 1);
}

#[test]
fn circuit_breaker_opens_and_closes() {
    let server = server(std::iter::repeat_n(Fault::Status(500, None), 5));
    let more = format!(
        "{}breaker = {{ failures = 3, cool_down_s = 0.05, rounds = 9 }}\n",
        QUICK.replace("attempts = 4", "attempts = 9")
    );
    let outcome =
        model(&server, FORMS[0], &more).ask(&hello(), &CancelToken::default(), None, &mut ());
    assert!(
        outcome.reply.is_ok(),
        "the call succeeds when the server has recovered"
    );
    assert_eq!(server.served().len(), 6);
}

#[test]
fn circuit_breaker_stays_open_after_the_last_round() {
    let server = server(std::iter::repeat_n(Fault::Status(500, None), 100));
    let more = format!("{QUICK}breaker = {{ failures = 3, cool_down_s = 0.01, rounds = 2 }}\n");
    let model = model(&server, FORMS[0], &more);
    let mut last = None;
    for _ in 0..5 {
        last = model
            .ask(&hello(), &CancelToken::default(), None, &mut ())
            .reply
            .err();
    }
    let last = last.unwrap();
    assert_eq!(last.kind, FailureKind::CircuitOpen);
    assert!(last.affects_all_calls());
    assert_eq!(
        server.served().len(),
        5,
        "three failures, and one for each round"
    );
}

#[test]
fn cancelled_call_returns_at_once() {
    let hour = Duration::from_secs(3600);
    let situations = [
        (vec![Fault::Late(hour)], "before the response"),
        (vec![Fault::Stall(hour)], "in the middle of the response"),
        (vec![Fault::Status(429, Some("600"))], "in a pause"),
    ];
    for (faults, when) in situations {
        let server = server(faults);
        let model = model(&server, FORMS[0], QUICK);
        let cancel = CancelToken::default();
        let outcome = std::thread::scope(|scope| {
            let call = scope.spawn(|| model.ask(&hello(), &cancel, None, &mut ()));
            while server.served().is_empty() {
                std::thread::sleep(Duration::from_millis(5));
            }
            std::thread::sleep(Duration::from_millis(50));
            cancel.cancel();
            call.join().unwrap()
        });
        assert_eq!(
            outcome.reply.unwrap_err().kind,
            FailureKind::Cancelled,
            "{when}"
        );
        assert_eq!(outcome.attempts.len(), 1, "{when}");
        let after = model.ask(&hello(), &cancel, None, &mut ());
        assert_eq!(
            (after.reply.unwrap_err().kind, after.attempts.len()),
            (FailureKind::Cancelled, 0),
            "{when}"
        );
    }
}

#[test]
fn observer_can_stop_retries() {
    let server = server(std::iter::repeat_n(Fault::Status(500, None), 9));
    let model = model(&server, FORMS[0], QUICK);
    let mut observer = RecordingObserver {
        max_requests: Some(2),
        ..RecordingObserver::default()
    };
    let failure = model
        .ask(&hello(), &CancelToken::default(), None, &mut observer)
        .reply
        .unwrap_err();
    assert_eq!(
        (failure.kind, failure.message.as_str()),
        (FailureKind::Halted, "the money is spent")
    );
    assert_eq!((server.served().len(), observer.ended.len()), (2, 2));
}
