//! Confidence intervals and exact tests for results of evaluations. Functions take and return plain
//! numbers.
//!
//! | question | function |
//! | --- | --- |
//! | mean of independent values | [`mean_interval_95`] |
//! | probability behind a count of independent successes | [`clopper_pearson_95`] |
//! | mean of independent values between 0 and 1 | [`wilson_95`] |
//! | share of successes in groups of dependent trials | [`wilson_95`] with [`effective_sample_size`] |
//! | difference of two solvers on the same tasks | [`mcnemar_p`] |
//!
//! Quantiles and distribution functions come from `statrs`. Its tests, and the published values in
//! the tests of this crate, verify them.
//!
//! **Boundary:** this crate knows no plays, tasks or files, and its results depend only on its
//! arguments.

mod binomial;
mod mean;

pub use binomial::{Interval, clopper_pearson_95, effective_sample_size, mcnemar_p, wilson_95};
pub use mean::{MeanInterval, mean_interval_95};
