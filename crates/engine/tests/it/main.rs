//! What the engine promises to those who build on it.

mod official_scenes;
