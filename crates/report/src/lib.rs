//! Tables, plots, pictures and pages made from stored results.

pub mod picture;
