//! The suite that every native game passes by being registered, and fixtures for other crates' tests.

mod conformance;

pub use conformance::conforms;
