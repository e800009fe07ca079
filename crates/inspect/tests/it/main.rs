//! Exploration and validation of built-in environments through the catalogue.

mod exploration;
mod validation;
