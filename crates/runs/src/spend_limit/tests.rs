use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rhae_llm::{Failure, FailureKind, TokenBound, UnboundedReason, Usage};

use super::*;

fn bound(usd: f64) -> CostBound {
    CostBound {
        tokens: Ok(TokenBound {
            prompt: 10,
            output: 5,
        }),
        usd: Ok(usd),
    }
}

fn limit(usd: f64, spent: f64) -> SpendLimit {
    let limits = SpendLimits {
        usd: Some(usd),
        tokens: None,
    };
    SpendLimit::new(
        limits,
        Spent {
            usd: spent,
            tokens: 0,
        },
    )
}

fn attempt(cost_usd: Option<f64>, failure: Option<FailureKind>) -> Attempt {
    Attempt {
        id: "a".to_owned(),
        number: 1,
        ms: 1,
        usage: cost_usd.map(|_| Usage {
            input_tokens: 3,
            output_tokens: 2,
            ..Usage::default()
        }),
        cost_usd,
        failure: failure.map(failure_of),
    }
}

fn failure_of(kind: FailureKind) -> Failure {
    serde_json::from_value(serde_json::json!({"kind": kind, "message": "failed"})).unwrap()
}

fn refusal(limit: &SpendLimit, worst: &CostBound) -> String {
    match limit.reserve(worst, &|| false) {
        Err(SpendRefusal::Limit(reason)) => reason,
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn first_request_that_cannot_fit_names_the_smallest_limit() {
    let small = limit(0.01, 0.0);
    let reason = small.check_first(&bound(0.01234)).unwrap_err();
    assert_eq!(
        reason,
        "the spend limit of 0.01 USD is too small: the first request may cost up to 0.0124 USD; the smallest limit that allows it is 0.0124 USD (`--max-cost 0.0124`)"
    );
    assert_eq!(refusal(&small, &bound(0.01234)), reason);
    assert_eq!(limit(0.0124, 0.0).check_first(&bound(0.01234)), Ok(()));
}

#[test]
fn earlier_spending_counts_towards_the_limit() {
    let resumed = limit(1.0, 0.85);
    assert_eq!(
        refusal(&resumed, &bound(0.2)),
        "the spend limit is reached: 0.85 of 1 USD are spent, and the next request may cost up to 0.2 USD; the smallest limit that allows it is 1.05 USD (`--max-cost 1.05`)"
    );
    // The limit itself may be reached exactly.
    resumed.reserve(&bound(0.15), &|| false).unwrap();
}

#[test]
fn unknown_cost_counts_at_its_worst_case() {
    let limit = limit(1.0, 0.0);
    for (worst, attempt) in [
        (0.3, attempt(None, Some(FailureKind::Lost))),
        (0.3, attempt(Some(0.1), Some(FailureKind::Lost))),
        (0.3, attempt(Some(0.1), None)),
        (0.3, attempt(None, Some(FailureKind::Status))),
    ] {
        limit.reserve(&bound(worst), &|| false).unwrap();
        limit.settle(&bound(worst), Some(&attempt));
    }
    // Twice the worst case, one measured cost, and a rejected request that is not billed.
    assert!(
        (limit.spent().usd - 0.7).abs() < 1e-9,
        "{:?}",
        limit.spent()
    );
    limit.reserve(&bound(0.3), &|| false).unwrap();
    limit.settle(&bound(0.3), None);
    assert!((limit.spent().usd - 0.7).abs() < 1e-9, "nothing was sent");
}

#[test]
fn unbounded_requests_are_sent_while_anything_is_left() {
    let unbounded = CostBound::unbounded(UnboundedReason::ProviderContent { field: "tools" });
    let limit = limit(1.0, 0.9);
    assert!(
        limit
            .warning(&unbounded)
            .unwrap()
            .contains("no upper bound")
    );
    assert_eq!(limit.warning(&bound(0.1)), None);
    limit.reserve(&unbounded, &|| false).unwrap();
    limit.reserve(&unbounded, &|| false).unwrap();
    limit.settle(&unbounded, Some(&attempt(Some(0.15), None)));
    assert_eq!(
        refusal(&limit, &unbounded),
        "the spend limit is reached: 1.05 of 1 USD are spent; raise it with `--max-cost`"
    );
}

#[test]
fn token_limit_covers_the_worst_case() {
    let limits = SpendLimits {
        usd: None,
        tokens: Some(40),
    };
    let limit = SpendLimit::new(limits, Spent::default());
    limit.reserve(&bound(1.0), &|| false).unwrap();
    limit.settle(&bound(1.0), Some(&attempt(Some(0.5), None)));
    limit.reserve(&bound(1.0), &|| false).unwrap();
    limit.settle(
        &bound(1.0),
        Some(&attempt(None, Some(FailureKind::TimedOut))),
    );
    limit.reserve(&bound(1.0), &|| false).unwrap();
    limit.settle(&bound(1.0), Some(&attempt(Some(0.5), None)));
    assert_eq!(limit.spent().tokens, 25);
    assert!(limit.check_first(&bound(1.0)).is_ok());
    limit.reserve(&bound(1.0), &|| false).unwrap();
    limit.settle(&bound(1.0), Some(&attempt(Some(0.5), None)));
    assert!(refusal(&limit, &bound(1.0)).contains("30 of 40 tokens are used"));
}

#[test]
fn token_limit_needs_no_prices() {
    let limits = SpendLimits {
        usd: None,
        tokens: Some(40),
    };
    let unpriced = CostBound {
        usd: Err(UnboundedReason::NoPrices),
        ..bound(0.0)
    };
    let limit = SpendLimit::new(limits, Spent::default());
    assert_eq!(limit.warning(&unpriced), None);
    // Three worst cases of 15 tokens do not fit together, so the third request waits for the others.
    limit.reserve(&unpriced, &|| false).unwrap();
    limit.reserve(&unpriced, &|| false).unwrap();
    assert_eq!(
        limit.reserve(&unpriced, &|| true),
        Err(SpendRefusal::Cancelled)
    );
    let mut lost = attempt(None, Some(FailureKind::Lost));
    limit.settle(&unpriced, Some(&lost));
    lost.usage = Some(Usage {
        input_tokens: 11,
        ..Usage::default()
    });
    limit.settle(&unpriced, Some(&lost));
    assert_eq!(limit.spent().tokens, 30, "both count at their worst case");
    assert_eq!(
        refusal(&limit, &unpriced),
        "the token limit is reached: 30 of 40 tokens are used, and the next request may use up to 15; the smallest limit that allows it is 45 (`--token-limit 45`)"
    );
    // Without a bound, requests are sent while anything is left, and the user is told.
    let unbounded = CostBound::unbounded(UnboundedReason::ProviderContent { field: "tools" });
    let warning = limit.warning(&unbounded).unwrap();
    assert!(warning.starts_with("the tokens of a request have no upper bound"));
    limit.reserve(&unbounded, &|| false).unwrap();
}

#[test]
fn waiting_reservation_can_be_cancelled() {
    let limit = limit(1.0, 0.0);
    limit.reserve(&bound(0.8), &|| false).unwrap();
    let polls = AtomicU64::new(0);
    let cancelled = || polls.fetch_add(1, Ordering::Relaxed) > 1;
    assert_eq!(
        limit.reserve(&bound(0.8), &cancelled),
        Err(SpendRefusal::Cancelled)
    );
    // The cancelled reservation does not block later ones.
    limit.reserve(&bound(0.2), &|| false).unwrap();
}

#[test]
fn limit_holds_under_64_concurrent_requests() {
    let limit = limit(1.0, 0.0);
    let (in_flight, paid) = (AtomicU64::new(0), AtomicU64::new(0));
    let exceeded = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for thread in 0..64_u64 {
            let (limit, in_flight, paid, exceeded) = (&limit, &in_flight, &paid, &exceeded);
            scope.spawn(move || {
                let worst = bound(0.05);
                while limit.reserve(&worst, &|| false).is_ok() {
                    // Reading in this order never counts a request twice.
                    let paid_before = paid.load(Ordering::SeqCst);
                    let open = in_flight.fetch_add(50, Ordering::SeqCst) + 50;
                    if open + paid_before > 1000 {
                        exceeded.store(true, Ordering::SeqCst);
                    }
                    // Each request costs between a tenth of its worst case and all of it.
                    let cost = 5 + thread % 46;
                    std::thread::yield_now();
                    in_flight.fetch_sub(50, Ordering::SeqCst);
                    paid.fetch_add(cost, Ordering::SeqCst);
                    limit.settle(&worst, Some(&attempt(Some(cost as f64 / 1000.0), None)));
                }
            });
        }
    });
    let paid = paid.into_inner();
    assert!(!exceeded.into_inner());
    assert!((951..=1000).contains(&paid), "{paid} thousandths are paid");
    assert!((limit.spent().usd - paid as f64 / 1000.0).abs() < 1e-6);
}
