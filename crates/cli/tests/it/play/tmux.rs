//! A terminal of a given size that a test can type into and look at.

use std::process::Command;
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

/// How often a condition is looked at before it is taken to be never true, and the pause in between.
const TRIES: u32 = 600;
const PAUSE: Duration = Duration::from_millis(50);

/// A shell in a tmux server of its own, which ends with this value.
pub(crate) struct Terminal {
    /// Where the server's socket lies, so that no other server is ever spoken to.
    folder: TempDir,
}

impl Terminal {
    /// Opens one; `None` if there is no tmux and that was allowed.
    pub(crate) fn open(columns: u16, rows: u16) -> Option<Self> {
        if Command::new("tmux").arg("-V").output().is_err() {
            assert!(
                std::env::var("RHAE_SKIP_MISSING").is_ok_and(|value| value == "1"),
                "this test needs tmux, which `cargo xtask test` installs; RHAE_SKIP_MISSING=1 leaves the test out"
            );
            eprintln!("left out: there is no tmux here, and RHAE_SKIP_MISSING=1 is set");
            return None;
        }
        let terminal = Self {
            folder: tempfile::tempdir().expect("a folder can be made"),
        };
        let size = ["-x", &columns.to_string(), "-y", &rows.to_string()].map(str::to_owned);
        let mut new = terminal.tmux();
        new.args(["-f", "/dev/null", "new-session", "-d"])
            .args(size)
            .args(["env", "PS1=$ ", "ENV=", "sh"]);
        new.args([";", "set-option", "-g", "status", "off"]);
        new.args([";", "set-option", "-g", "window-size", "manual"]);
        assert!(
            new.status().is_ok_and(|status| status.success()),
            "tmux starts"
        );
        terminal.resize(columns, rows);
        terminal.wait_for("$");
        Some(terminal)
    }

    /// Presses one key, named as tmux names it.
    pub(crate) fn send(&self, key: &str) {
        self.ask(&["send-keys", key]);
    }

    /// Sends bytes as they are.
    pub(crate) fn send_bytes(&self, bytes: &[u8]) {
        let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut words = vec!["send-keys", "-H"];
        words.extend(bytes.iter().map(String::as_str));
        self.ask(&words);
    }

    /// Types a line for the shell.
    pub(crate) fn type_line(&self, line: &str) {
        self.ask(&["send-keys", "-l", line]);
        self.send("Enter");
    }

    /// What the screen shows.
    pub(crate) fn text(&self) -> String {
        self.ask(&["capture-pane", "-p"])
    }

    /// What the screen shows, with its colours.
    pub(crate) fn picture(&self) -> String {
        self.ask(&["capture-pane", "-p", "-e"])
    }

    /// Whether the cursor is visible, the alternate screen shown, the mouse reported.
    pub(crate) fn modes(&self) -> String {
        let format = "cursor #{cursor_flag} alternate #{alternate_on} mouse #{mouse_any_flag}";
        self.ask(&["display-message", "-p", format])
            .trim()
            .to_owned()
    }

    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        self.ask(&[
            "resize-window",
            "-x",
            &columns.to_string(),
            "-y",
            &rows.to_string(),
        ]);
    }

    /// Waits until the screen shows a text.
    pub(crate) fn wait_for(&self, text: &str) {
        self.wait_until(&format!("`{text}` appears"), |terminal| {
            terminal.text().contains(text)
        });
    }

    /// Waits until the screen no longer shows a text.
    pub(crate) fn wait_while(&self, text: &str) {
        self.wait_until(&format!("`{text}` goes away"), |terminal| {
            !terminal.text().contains(text)
        });
    }

    /// Waits until something is so.
    pub(crate) fn wait_until(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        if !comes_true(|| is_so(self)) {
            panic!(
                "waited in vain until {what}; the screen shows\n{}",
                self.text()
            );
        }
    }

    /// Closes the terminal under whatever runs in it.
    pub(crate) fn close(self) {}

    fn tmux(&self) -> Command {
        let mut tmux = Command::new("tmux");
        tmux.env("TMUX_TMPDIR", self.folder.path())
            .env_remove("TMUX")
            .args(["-L", "test"]);
        tmux
    }

    fn ask(&self, words: &[&str]) -> String {
        let output = self.tmux().args(words).output().expect("tmux can be run");
        assert!(
            output.status.success(),
            "tmux {words:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).expect("tmux answers in UTF-8")
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A panic here would hide the one that ended the test.
        let _ = self.tmux().arg("kill-server").output();
    }
}

/// Waits until something outside the terminal is so.
pub(crate) fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    assert!(comes_true(is_so), "waited in vain until {what}");
}

fn comes_true(is_so: impl Fn() -> bool) -> bool {
    (0..TRIES).any(|_| {
        let so = is_so();
        if !so {
            thread::sleep(PAUSE);
        }
        so
    })
}
