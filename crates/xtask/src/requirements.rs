//! Programs that the tests need in addition to a Rust toolchain.

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A program and the package that provides it.
pub(crate) struct Requirement {
    /// Alternative names of the program. At least one of them must be on the path.
    programs: &'static [&'static str],
    /// The Debian package that contains the program.
    package: &'static str,
    /// What the tests use the program for.
    purpose: &'static str,
}

const REQUIREMENTS: [Requirement; 11] = [
    Requirement {
        programs: &["tmux"],
        package: "tmux",
        purpose: "`rhae play` in a real terminal",
    },
    Requirement {
        programs: &["python3"],
        package: "python3",
        purpose: "agents in separate processes",
    },
    Requirement {
        programs: &["chromium", "chromium-browser", "google-chrome"],
        package: "chromium",
        purpose: "pages in a real browser",
    },
    Requirement {
        programs: &["node"],
        package: "nodejs",
        purpose: "the web app's pages",
    },
    Requirement {
        programs: &["npm"],
        package: "npm",
        purpose: "the web app's pages",
    },
    Requirement {
        programs: &["postgres"],
        package: "postgresql",
        purpose: "servers with a shared database",
    },
    Requirement {
        programs: &["strace"],
        package: "strace",
        purpose: "checks that responses follow their commits",
    },
    Requirement {
        programs: &["slurmctld"],
        package: "slurmctld",
        purpose: "runs on a Slurm cluster",
    },
    Requirement {
        programs: &["slurmd"],
        package: "slurmd",
        purpose: "runs on a Slurm cluster",
    },
    Requirement {
        programs: &["sbatch"],
        package: "slurm-client",
        purpose: "runs on a Slurm cluster",
    },
    Requirement {
        programs: &["munged"],
        package: "munge",
        purpose: "runs on a Slurm cluster",
    },
];

impl Requirement {
    fn is_met(&self) -> bool {
        self.programs.iter().any(|program| on_path(program))
    }
}

/// Installs missing programs if possible. Returns one line for each program that is still missing.
pub(crate) fn provide() -> Vec<String> {
    let missing: Vec<&Requirement> = REQUIREMENTS.iter().filter(|need| !need.is_met()).collect();
    let packages: Vec<&str> = missing.iter().map(|need| need.package).collect();
    if !packages.is_empty() {
        install(&packages);
    }
    let line = |need: &&Requirement| {
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

/// Installs Debian packages, if this is a Debian system and the user is root.
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

/// Returns whether this is a Debian system and the user is root.
fn may_install() -> bool {
    let user = Command::new("id").arg("-u").output();
    on_path("apt-get") && user.is_ok_and(|output| output.stdout == b"0\n")
}

/// Returns whether a program is on the path or among PostgreSQL's programs.
pub(crate) fn on_path(program: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders)
        .chain(postgres_folders())
        .map(|folder| folder.join(program))
        .any(|path| path.is_file())
}

/// Returns the folders of PostgreSQL's programs on Debian, which are not on the path.
fn postgres_folders() -> impl Iterator<Item = PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten();
    versions.map(|version| version.path().join("bin"))
}
