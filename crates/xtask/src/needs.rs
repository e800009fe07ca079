//! Programs that tests need besides a Rust toolchain.

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A program and how to get it.
pub(crate) struct Need {
    /// Its name on the path; any of these will do.
    programs: &'static [&'static str],
    /// The Debian package that has it.
    package: &'static str,
    /// What is tested with it.
    purpose: &'static str,
}

/// Everything that the tests use.
const NEEDS: [Need; 7] = [
    Need {
        programs: &["tmux"],
        package: "tmux",
        purpose: "`rhae play` in a real terminal",
    },
    Need {
        programs: &["python3"],
        package: "python3",
        purpose: "agents in processes of their own",
    },
    Need {
        programs: &["chromium", "chromium-browser", "google-chrome"],
        package: "chromium",
        purpose: "pages in a real browser",
    },
    Need {
        programs: &["node"],
        package: "nodejs",
        purpose: "the web app's pages",
    },
    Need {
        programs: &["npm"],
        package: "npm",
        purpose: "the web app's pages",
    },
    Need {
        programs: &["postgres"],
        package: "postgresql",
        purpose: "servers that share a database",
    },
    Need {
        programs: &["strace"],
        package: "strace",
        purpose: "that no answer leaves before its commit is on disk",
    },
];

impl Need {
    fn is_met(&self) -> bool {
        self.programs.iter().any(|program| on_path(program))
    }
}

/// Installs what is missing where that is possible, and gives a line about each thing that stays missing.
pub(crate) fn provide() -> Vec<String> {
    let missing: Vec<&Need> = NEEDS.iter().filter(|need| !need.is_met()).collect();
    let packages: Vec<&str> = missing.iter().map(|need| need.package).collect();
    if !packages.is_empty() {
        install(&packages);
    }
    let line = |need: &&Need| {
        format!(
            "{} is missing ({}); install it, for example with `apt-get install {}`",
            need.programs[0], need.purpose, need.package
        )
    };
    missing
        .iter()
        .filter(|need| !need.is_met())
        .map(line)
        .collect()
}

/// Installs Debian packages if this is such a system and we may change it.
pub(crate) fn install(packages: &[&str]) {
    if !may_install() {
        return;
    }
    println!("installing {}", packages.join(", "));
    let quiet = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        command
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdout(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let install: Vec<&str> = ["install", "-y", "--no-install-recommends"]
        .iter()
        .chain(packages)
        .copied()
        .collect();
    if !(quiet(&["update"]) && quiet(&install)) {
        println!("the installation failed");
    }
}

/// Whether this is a Debian system and we may change it.
fn may_install() -> bool {
    let user = Command::new("id").arg("-u").output();
    on_path("apt-get") && user.is_ok_and(|output| output.stdout == b"0\n")
}

/// Whether a program is found.
pub(crate) fn on_path(program: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders)
        .chain(servers())
        .map(|folder| folder.join(program))
        .any(|path| path.is_file())
}

/// Where Debian puts PostgreSQL's programs, which are not on the path.
fn servers() -> impl Iterator<Item = PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten();
    versions.map(|version| version.path().join("bin"))
}
