//! The launcher with small programs: exit status, descriptors, files, and the end of its processes.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use rhae_sandbox::{Launcher, Layers, ResourceLimits, SETUP_FAILED, SandboxSpec};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

const LAUNCHER: &str = env!("CARGO_BIN_EXE_rhae-sandboxed");
const LIMITS: ResourceLimits = ResourceLimits {
    memory_mb: 1024,
    cpu_seconds: 60,
};

/// The launcher with namespaces, where the system allows them, and without.
fn specs() -> [SandboxSpec; 2] {
    [false, true].map(|without_namespaces| SandboxSpec {
        system: true,
        limits: LIMITS,
        without_namespaces,
        ..SandboxSpec::default()
    })
}

fn launcher() -> Launcher {
    Launcher::new(vec![LAUNCHER.into()])
}

fn layers() -> Layers {
    launcher().layers(LIMITS).unwrap()
}

/// Returns the command that runs a shell script in the sandbox.
fn shell(spec: &SandboxSpec, script: &str) -> Command {
    launcher().command(&SandboxSpec {
        program: ["/bin/sh", "-c", script].map(Into::into).to_vec(),
        ..spec.clone()
    })
}

fn run(spec: &SandboxSpec, script: &str) -> Output {
    shell(spec, script).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}

#[test]
fn launcher_ends_like_its_program() {
    for spec in specs() {
        assert_eq!(run(&spec, "exit 3").status.code(), Some(3));
        // Signals are sent to the shell itself, the only process that it may signal.
        for signal in [6, 11, 14, 15, 34] {
            let status = run(&spec, &format!("kill -{signal} $$")).status;
            assert_eq!(status.signal(), Some(signal), "{status}");
        }
        let mut missing = launcher().command(&SandboxSpec {
            program: vec!["/absent".into()],
            ..spec
        });
        let output = missing.output().unwrap();
        assert_eq!(output.status.code(), Some(SETUP_FAILED.into()));
        let error = text(&output.stderr);
        assert!(error.contains("cannot start `/absent`"), "{error}");
    }
}

/// Starts a program that prints a line and then waits forever.
fn start_waiting(spec: &SandboxSpec) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut child = shell(spec, "echo started; while :; do :; done")
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert_eq!(line, "started\n");
    (child, output)
}

#[test]
fn program_ends_with_its_launcher() {
    type Kill = fn(Pid, Signal) -> rustix::io::Result<()>;
    let ways: [Kill; 2] = [kill_process, kill_process_group];
    for (spec, kill) in specs()
        .into_iter()
        .flat_map(|spec| ways.map(|way| (spec.clone(), way)))
    {
        let (mut child, mut output) = start_waiting(&spec);
        let pid = Pid::from_raw(child.id().try_into().unwrap()).unwrap();
        kill(pid, Signal::KILL).unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(9));
        // The pipe ends when no process has it open any more.
        assert_eq!(output.read_to_end(&mut Vec::new()).unwrap(), 0);
    }
}

#[test]
fn program_is_found_by_the_id_of_its_launcher() {
    for spec in specs() {
        let (mut child, _output) = start_waiting(&spec);
        let program = rhae_sandbox::program_id(child.id());
        let name = std::fs::read_to_string(format!("/proc/{program}/cmdline")).unwrap();
        assert!(name.starts_with("/bin/sh"), "{name}");
        let separate = !spec.without_namespaces && layers().private_processes;
        assert_eq!(program != child.id(), separate);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

#[test]
fn inherited_descriptors_are_closed() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret");
    std::fs::write(&secret, "secret").unwrap();
    for spec in specs() {
        let inner = shell(&spec, "read line <&7; echo \"read: $line\"");
        let outer = Command::new("/bin/sh")
            .args(["-c", "exec 7<\"$0\"; \"$@\""])
            .args([secret.as_os_str(), inner.get_program()])
            .args(inner.get_args())
            .output()
            .unwrap();
        assert!(!text(&outer.stdout).contains("secret"), "{outer:?}");
        assert!(text(&outer.stderr).contains('7'), "{outer:?}");
    }
}

#[test]
fn launcher_is_hidden_from_its_program() {
    if !layers().private_root {
        rhae_testkit::skip("this system does not allow a private root");
        return;
    }
    let folder = Path::new(LAUNCHER).parent().unwrap();
    let spec = SandboxSpec {
        read: vec![folder.to_owned()],
        ..specs()[0].clone()
    };
    let script = format!("test -e {LAUNCHER} && echo exists; test -s {LAUNCHER} && echo readable");
    let output = run(&spec, &script);
    assert_eq!(text(&output.stdout), "exists", "{output:?}");
}

#[test]
fn only_readable_files_exist() {
    if !layers().private_root {
        rhae_testkit::skip("this system does not allow a private root");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let shown = folder.path().join("shown");
    std::fs::create_dir(&shown).unwrap();
    std::fs::write(shown.join("file"), "contents\n").unwrap();
    std::fs::write(folder.path().join("secret"), "secret").unwrap();
    let spec = SandboxSpec {
        read: vec![shown.clone()],
        ..specs()[0].clone()
    };
    let mut command = shell(
        &spec,
        "read line < file; echo $line; test -e ../secret && echo visible; test -e /etc/passwd && echo visible; \
         test -e /proc/self && echo visible; echo changed > file; echo $$ $PPID; pwd",
    );
    let output = command.current_dir(&shown).output().unwrap();
    let expected = format!("contents\n2 0\n{}", shown.canonicalize().unwrap().display());
    assert_eq!(text(&output.stdout), expected, "{output:?}");
    let contents = std::fs::read_to_string(shown.join("file")).unwrap();
    assert_eq!(contents, "contents\n");
}
