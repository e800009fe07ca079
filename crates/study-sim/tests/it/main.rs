//! A whole study through the REST API.

mod study;
