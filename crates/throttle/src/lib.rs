//! Rates, rate limiters and the pauses between retries.
//!
//! Every part of Rhae that limits or repeats requests uses these types:
//!
//! | type | role |
//! | --- | --- |
//! | [`Rate`] | a number of requests per unit of time, such as `300/min`, in flags and files |
//! | [`Quota`] | how many requests are allowed in a period, and how the allowance is renewed |
//! | [`RateLimiter`] | decides when the next request may be sent |
//! | [`KeyedRateLimiter`] | one rate limiter per client |
//! | [`Backoff`] | exponential backoff with jitter, which respects `Retry-After` |
//!
//! A rate limiter reads no clock: the caller passes the current time as a duration since a fixed
//! start. What may be retried is decided by the caller, because it depends on the protocol.
//!
//! # Why not a crate
//!
//! `governor` decides and counts in one step and by its own clock. A language model's limiter is
//! one of several conditions that are checked under one lock before a request is counted, and the
//! server renews a client's allowance at the end of a window, which `governor` cannot express.
//! `backon` adds jitter on top of a pause and does not know pauses that a server requests; the
//! pauses here never exceed their nominal length.

mod backoff;
mod rate;
mod rate_limiter;

pub use backoff::{Backoff, parse_retry_after};
pub use rate::{Rate, RateError, RateUnit};
pub use rate_limiter::{KeyedRateLimiter, Quota, RateLimiter};
