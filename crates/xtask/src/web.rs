//! Type checks, tests and screenshots of the web app in a real browser.
//!
//! **Invariant:** the npm packages are exactly those of the lock file, and npm verifies their
//! hashes. They are installed in `target` and are not part of the product.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use clap::Args;

use crate::test::{Context, program, succeed};
use crate::{requirements, root, venv};

const FOLDER: &str = "target/web";
const SOURCES: &str = "crates/web/browser";
const TESTS: [&str; 7] = [
    "site.test.mjs",
    "appearance.test.mjs",
    "compare.test.mjs",
    "replay.test.mjs",
    "study.test.mjs",
    "study_admin.test.mjs",
    "board.test.mjs",
];
/// The files that pin the npm packages.
const LOCK: [&str; 2] = ["package.json", "package-lock.json"];
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

#[derive(Args)]
pub(crate) struct ScreenshotsArgs {
    /// Folder for the pictures.
    #[arg(long, default_value = "docs/pictures")]
    out: PathBuf,
}

/// Checks the types of the scripts and runs the browser tests.
pub(crate) fn run(context: &Context) -> Result<()> {
    if let Err(why) = provide() {
        return context.skip_suite("web", &format!("{why:#}"));
    }
    let compiler = root().join(FOLDER).join("node_modules/typescript/bin/tsc");
    succeed(
        Command::new("node")
            .arg(compiler)
            .arg("--project")
            .arg(root().join(SOURCES)),
    )?;
    if let Err(why) = browser() {
        return context.skip_suite("web (browser)", &format!("{why:#}"));
    }
    // The interpreter of hosted games.
    let engine = match venv::official() {
        Ok(engine) => engine,
        Err(why) => return context.skip_suite("web (browser)", &why),
    };
    let mut tests = node(&["--test", "--test-concurrency=1"], &TESTS)?;
    tests.env("VIRTUAL_ENV", engine);
    context.set_env(&mut tests);
    succeed(&mut tests)
}

/// Creates the documentation's pictures: every page of the web app in both themes, and reports.
pub(crate) fn screenshots(args: &ScreenshotsArgs) -> Result<()> {
    provide()?;
    let engine = venv::official().map_err(anyhow::Error::msg)?;
    let (out, web) = (root().join(&args.out), root().join(&args.out).join("web"));
    fs::create_dir_all(&web)?;
    succeed(node(&[], &["screenshots.mjs"])?.arg(web))?;
    succeed(
        node(&[], &["reports.mjs"])?
            .arg(out)
            .arg(root())
            .env("VIRTUAL_ENV", engine),
    )
}

/// Installs the npm packages of the lock file, unless they are installed already.
fn provide() -> Result<()> {
    for program in ["node", "npm"] {
        ensure!(
            requirements::on_path(program),
            "{program} is missing; install it, for example with `apt-get install nodejs npm`"
        );
    }
    let (folder, sources) = (root().join(FOLDER), root().join(SOURCES));
    let same = |name: &str| fs::read(folder.join(name)).ok() == fs::read(sources.join(name)).ok();
    if LOCK.into_iter().all(same) && folder.join("node_modules/typescript").is_dir() {
        return Ok(());
    }
    println!("installing npm packages for the browser tests");
    fs::create_dir_all(&folder)?;
    for name in LOCK {
        fs::copy(sources.join(name), folder.join(name))
            .with_context(|| format!("cannot copy {name}"))?;
    }
    let mut npm = Command::new("npm");
    npm.args([
        "ci",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--silent",
    ])
    .current_dir(&folder)
    .stdout(Stdio::null());
    if let Err(error) = succeed(&mut npm) {
        // Removing the lock file marks the folder as incomplete, so the packages are installed
        // again next time.
        let _ = fs::remove_file(folder.join(LOCK[1]));
        return Err(error);
    }
    Ok(())
}

/// Returns a Node command with the environment variables that the scripts read: the paths of the
/// binary, the npm packages and the browser.
fn node(flags: &[&str], scripts: &[&str]) -> Result<Command> {
    let (program, browser) = (program()?, browser()?);
    let mut node = Command::new("node");
    node.args(flags).args(
        scripts
            .iter()
            .map(|script| root().join(SOURCES).join(script)),
    );
    node.env("RHAE_BINARY", program);
    node.env("RHAE_MODULES", root().join(FOLDER))
        .env("RHAE_CHROMIUM", browser);
    Ok(node)
}

/// Returns the path of the browser.
fn browser() -> Result<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut places = BROWSERS
        .iter()
        .flat_map(|name| std::env::split_paths(&folders).map(move |folder| folder.join(name)));
    places
        .find(|path: &PathBuf| path.is_file())
        .context("chromium is missing; install it, for example with `apt-get install chromium`")
}
