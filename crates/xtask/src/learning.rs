//! Runs the tests of the training examples, which need PyTorch, stable-baselines3, RLlib and JAX.
//!
//! Their wheels weigh gigabytes, so the suite is part of `cargo xtask test --full` only. Other runs
//! list it as left out; they test the environments of the examples.

use std::process::Command;

use anyhow::Result;

use crate::test::Context;
use crate::{python_package, root, venv};

/// Packages installed in the environment. When this list changes, change [`FOLDER`] too. maturin
/// builds the package.
const PACKAGES: [&str; 8] = [
    "jax==0.12.0.1",
    "maturin==1.16.0",
    "polars==2.1.0",
    "pydantic==2.14.3",
    "pytest==9.2.0",
    "ray[rllib]==2.60.0",
    "sb3-contrib==2.9.2",
    "torch==2.15.0",
];
const FOLDER: &str = "target/python/learning-1";

/// Builds the wheel, installs it next to the libraries, and runs `python/learning_tests`.
pub(crate) fn run(context: &Context) -> Result<()> {
    if !context.full {
        return context.leave_to_full("learning", "PyTorch and its libraries weigh gigabytes");
    }
    let folder = root().join(FOLDER);
    let check = "import jax, maturin, polars, pydantic, pytest, ray.rllib, sb3_contrib, torch";
    if let Err(why) = venv::create(&folder, &PACKAGES, check) {
        return context.skip_suite("learning", &why);
    }
    let python = folder.join("bin/python");
    println!("building the Python package");
    python_package::build_and_install(&python)?;
    let mut tests = Command::new(&python);
    tests
        .args(["-P", "-m", "pytest", "-q", "-p", "no:cacheprovider"])
        .args(["learning_tests", "tests/test_docs.py"])
        .current_dir(root().join("python"));
    context.set_env(&mut tests);
    python_package::run_pytest(&mut tests)
}
