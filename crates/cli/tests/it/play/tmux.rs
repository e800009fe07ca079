//! A tmux terminal of a given size that a test types into and captures.

use std::process::Command;
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

/// How often a condition is checked before the test fails, and the time between two checks.
const MAX_ATTEMPTS: u32 = 600;
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A shell in a dedicated tmux server. Dropping the value kills the server.
pub(crate) struct Terminal {
    /// The folder of the server's socket, which isolates it from other tmux servers.
    folder: TempDir,
}

impl Terminal {
    /// Opens a terminal. Returns `None` if tmux is missing and `RHAE_SKIP_MISSING=1` is set.
    pub(crate) fn open(columns: u16, rows: u16) -> Option<Self> {
        if Command::new("tmux").arg("-V").output().is_err() {
            rhae_testkit::skip("tmux is missing");
            return None;
        }
        let terminal = Self {
            folder: tempfile::tempdir().expect("a temporary folder can be created"),
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

    /// Presses one key, by its tmux name.
    pub(crate) fn send(&self, key: &str) {
        self.run_tmux(&["send-keys", key]);
    }

    /// Sends raw bytes.
    pub(crate) fn send_bytes(&self, bytes: &[u8]) {
        let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut arguments = vec!["send-keys", "-H"];
        arguments.extend(bytes.iter().map(String::as_str));
        self.run_tmux(&arguments);
    }

    /// Types a line and presses Enter.
    pub(crate) fn type_line(&self, line: &str) {
        self.run_tmux(&["send-keys", "-l", line]);
        self.send("Enter");
    }

    /// Returns the text on the screen.
    pub(crate) fn text(&self) -> String {
        self.run_tmux(&["capture-pane", "-p"])
    }

    /// Returns the text on the screen with the escape sequences of its colours.
    pub(crate) fn picture(&self) -> String {
        self.run_tmux(&["capture-pane", "-p", "-e"])
    }

    /// Returns whether the cursor is visible, the alternate screen active and the mouse captured.
    pub(crate) fn modes(&self) -> String {
        let format = "cursor #{cursor_flag} alternate #{alternate_on} mouse #{mouse_any_flag}";
        self.run_tmux(&["display-message", "-p", format])
            .trim()
            .to_owned()
    }

    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        self.run_tmux(&[
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
        self.wait_until(&format!("`{text}` disappears"), |terminal| {
            !terminal.text().contains(text)
        });
    }

    /// Waits until a condition holds. `description` completes the sentence "timed out waiting
    /// until".
    pub(crate) fn wait_until(&self, description: &str, condition: impl Fn(&Self) -> bool) {
        if !poll(|| condition(self)) {
            panic!(
                "timed out waiting until {description}; the screen shows\n{}",
                self.text()
            );
        }
    }

    /// Closes the terminal while its programs are running.
    pub(crate) fn close(self) {}

    fn tmux(&self) -> Command {
        let mut tmux = Command::new("tmux");
        tmux.env("TMUX_TMPDIR", self.folder.path())
            .env_remove("TMUX")
            .args(["-L", "test"]);
        tmux
    }

    fn run_tmux(&self, arguments: &[&str]) -> String {
        let output = self
            .tmux()
            .args(arguments)
            .output()
            .expect("tmux can be run");
        assert!(
            output.status.success(),
            "tmux {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).expect("tmux answers in UTF-8")
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A panic here would hide the failure of the test.
        let _ = self.tmux().arg("kill-server").output();
    }
}

/// Waits until a condition outside the terminal holds.
pub(crate) fn wait_until(description: &str, condition: impl Fn() -> bool) {
    assert!(poll(condition), "timed out waiting until {description}");
}

fn poll(condition: impl Fn() -> bool) -> bool {
    (0..MAX_ATTEMPTS).any(|_| {
        let holds = condition();
        if !holds {
            thread::sleep(POLL_INTERVAL);
        }
        holds
    })
}
