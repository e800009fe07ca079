//! The hosted games with which a recording was made.

use std::path::{Path, PathBuf};

use rhae_protocol::RunConfig;
use rhae_runs::load_config;

/// Returns the folders of hosted games of the runs to which recordings belong. A recording that is
/// not in a run folder has none, and folders that no longer exist are left out.
pub fn games_dirs_of_recordings<'a>(files: impl Iterator<Item = &'a Path>) -> Vec<String> {
    let mut runs: Vec<PathBuf> = files.filter_map(run_folder).collect();
    runs.sort();
    runs.dedup();
    let mut folders: Vec<String> = runs
        .iter()
        .filter_map(|run| load_config::<RunConfig>(run).ok())
        .flat_map(|config| config.games_dirs)
        .filter(|folder| Path::new(folder).is_dir())
        .collect();
    folders.sort();
    folders.dedup();
    folders
}

/// Returns the run folder of a recording: the parent of the folder `recordings` that contains it.
fn run_folder(file: &Path) -> Option<PathBuf> {
    let file = file.canonicalize().ok()?;
    let recordings = file.parent()?;
    (recordings.file_name()? == "recordings").then(|| recordings.parent().map(Path::to_owned))?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunRequest;

    #[test]
    fn folders_come_from_the_configuration_of_the_run() {
        let temp = tempfile::tempdir().unwrap();
        let games = temp.path().join("games");
        std::fs::create_dir(&games).unwrap();
        let existing = games.display().to_string();
        let request = RunRequest {
            games: Some("kq19".to_owned()),
            out: Some(temp.path().join("run")),
            games_dirs: vec![existing.clone(), "/no/such/folder".to_owned()],
            ..RunRequest::default()
        };
        request.prepare(&rhae_games::Builtin, None).unwrap();
        let recordings = temp.path().join("run/recordings");
        std::fs::create_dir(&recordings).unwrap();
        let files = [recordings.join("1.jsonl"), recordings.join("2.jsonl")];
        files
            .iter()
            .for_each(|file| std::fs::write(file, "").unwrap());
        let of = |files: &[PathBuf]| games_dirs_of_recordings(files.iter().map(PathBuf::as_path));
        assert_eq!(of(&files), [existing]);
        let alone = temp.path().join("alone.jsonl");
        std::fs::write(&alone, "").unwrap();
        assert!(of(&[alone, PathBuf::from("missing.jsonl")]).is_empty());
    }
}
