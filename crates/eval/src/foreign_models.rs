//! Whether a run may choose the configuration file of its model.
//!
//! The file names the server that gets the user's API key, and a run folder names the file. If other
//! users can change the folder, the user must name the file as well.

use std::path::Path;

use rhae_protocol::EvalConfig;
use rhae_runs::{changeable_by_others, load_config};
use serde_json::Value;

use crate::EvalError;
use crate::solver::SolverHost;

/// Checks that the models of the run in `folder` come from the file that the user named, or that
/// only the user can change the folder.
///
/// # Errors
///
/// Returns [`EvalError::ForeignModels`] if the user must name the file.
pub(crate) fn check_models(
    folder: &Path,
    config: &EvalConfig,
    host: &SolverHost<'_>,
) -> Result<(), EvalError> {
    let models = config.solver_settings.get("models");
    let Some(models) = models.and_then(Value::as_str) else {
        return Ok(());
    };
    if host.has_named(models) {
        return Ok(());
    }
    let reason = match changeable_by_others(folder)? {
        Some(reason) => reason,
        None => {
            // The configuration was read before the check, perhaps through a path that led
            // elsewhere. The folder that was checked must contain the same one.
            let checked = folder.canonicalize();
            let checked: Option<EvalConfig> = checked.ok().and_then(|path| load_config(&path).ok());
            if checked.as_ref() == Some(config) {
                return Ok(());
            }
            "its configuration has just changed".to_owned()
        }
    };
    Err(EvalError::ForeignModels {
        folder: folder.to_owned(),
        models: models.to_owned(),
        reason,
    })
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;

    use rhae_agents_llm::PythonSettings;
    use rhae_llm::Model;
    use rhae_runs::RunFolder;
    use serde_json::json;

    use super::*;

    fn config(models: &str) -> EvalConfig {
        serde_json::from_value(json!({
            "version": 1, "software": "rhae", "run_id": "r", "solver": "model:big",
            "solver_settings": {"models": models}, "protocol": "standard", "attempts": 2,
            "parser": "lenient", "stop_at_failure": false, "data": [], "sets": [],
            "limits": {"concurrency": 1}
        }))
        .unwrap()
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn folder_that_others_can_change_may_not_choose_the_models() {
        let temp = tempfile::tempdir().unwrap();
        let theirs = temp.path().join("theirs.toml");
        let folder = temp.path().join("run");
        let config = config(&theirs.display().to_string());
        RunFolder::create(&folder, &config).unwrap();
        let open_model = |_: &Path, _: &str| -> Result<Model, EvalError> { unreachable!() };
        let check = |own: &Path, config: &EvalConfig| {
            let host = SolverHost {
                open_model: &open_model,
                models: own.to_owned(),
                python: PythonSettings::default(),
            };
            check_models(&folder, config, &host)
        };
        let own = PathBuf::from("models.toml");
        check(&own, &config).unwrap();
        set_mode(&folder, 0o777);
        let error = check(&own, &config).unwrap_err().to_string();
        for part in ["other users can write to", "--models", "theirs.toml"] {
            assert!(error.contains(part), "{part} is not in: {error}");
        }
        check(&theirs, &config).unwrap();
        // A solver without a model needs no file.
        let search = EvalConfig {
            solver_settings: Default::default(),
            ..config.clone()
        };
        check(&own, &search).unwrap();
        // The configuration that was read must be the one in the folder.
        set_mode(&folder, 0o755);
        let other = EvalConfig {
            run_id: "other".to_owned(),
            ..config
        };
        let error = check(&own, &other).unwrap_err().to_string();
        assert!(error.contains("has just changed"), "{error}");
    }
}
