//! What the engine promises to those who build on it.

mod episode;
mod official_scenes;
