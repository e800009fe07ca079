//! Tests of the engine's public behaviour.

mod episode;
mod official_scenes;
