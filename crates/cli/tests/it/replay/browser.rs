//! Tests the page of a replay in a real browser: its player must show the frames of the replay.

use std::fmt::Write;
use std::fs;
use std::process::Command;

use rhae_engine::{Action, Frame, PlayState};
use rhae_games::Builtin;
use rhae_protocol::Recording;
use rhae_session::replay_with;

use super::{Fixture, solved_levels, succeeds, text};

/// A script that runs in the player's module. It reads the moments from the element, the cells from
/// the decoder and the pixels from the canvas, and writes the results into the page.
const PROBE: &str = include_str!("browser/probe.js");

/// Returns the browser's command, or `None` if it is missing and `RHAE_SKIP_MISSING=1` is set.
fn browser() -> Option<&'static str> {
    let found = ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| {
            Command::new(name)
                .arg("--version")
                .output()
                .is_ok_and(|output| output.status.success())
        });
    if found.is_none() {
        rhae_testkit::skip("Chromium is missing");
    }
    found
}

/// Returns one line per entry with its fields and the FNV-1a hash of all cells of its frames.
fn expected(recording: &Recording) -> String {
    let mut lines = String::new();
    let replayed = replay_with(&Builtin, recording, |entry, frames| {
        let (x, y) = match entry.action {
            Action::Action6 { x, y } => (i32::from(x), i32::from(y)),
            _ => (-1, -1),
        };
        let state = match entry.state {
            PlayState::NotFinished => 0,
            PlayState::Win => 1,
            PlayState::GameOver => 2,
        };
        let changed = entry.changed.unwrap();
        writeln!(
            lines,
            "{} {x} {y} {state} {} {changed} {} {} {} {:08x}",
            entry.action.kind().id(),
            entry.levels_completed,
            entry.counted,
            entry.full_reset,
            frames.len(),
            checksum(frames)
        )
        .unwrap();
    });
    assert_eq!(replayed.unwrap().mismatch, None);
    lines
}

fn checksum(frames: &[Frame]) -> u32 {
    let cells = frames.iter().flat_map(|frame| frame.cells());
    cells.fold(0x811C_9DC5, |hash, &cell| {
        (hash ^ u32::from(cell)).wrapping_mul(0x0100_0193)
    })
}

#[test]
fn page_shows_the_frames_of_the_replay() {
    let Some(browser) = browser() else { return };
    let fixture = Fixture::new();
    for file in [fixture.recording.clone(), solved_levels(&fixture, 8)] {
        let page = fixture.path("page.html");
        succeeds(&[
            "render",
            text(&file),
            "--format",
            "html",
            "--force",
            "--out",
            text(&page),
        ]);
        let html = fs::read_to_string(&page).unwrap();
        let (before, after) = html.rsplit_once("</script>").unwrap();
        fs::write(&page, format!("{before}\n{PROBE}</script>{after}")).unwrap();

        let profile = tempfile::tempdir().unwrap();
        let output = Command::new(browser)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
            ])
            .args([
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .args(["--virtual-time-budget=5000", "--dump-dom"])
            .arg(format!("file://{}", page.display()))
            .output()
            .unwrap();
        let dom = String::from_utf8(output.stdout).unwrap();
        let part = |id: &str| {
            let found = dom
                .split_once(&format!("<pre id=\"{id}\">"))
                .and_then(|(_, rest)| rest.split_once("</pre>"));
            found
                .unwrap_or_else(|| {
                    panic!(
                        "no `{id}` in the page: {}",
                        String::from_utf8_lossy(&output.stderr)
                    )
                })
                .0
        };
        let recording = Recording::parse(&fs::read_to_string(&file).unwrap()).unwrap();
        assert_eq!(part("decoded"), expected(&recording), "{}", file.display());
        assert_eq!(part("drawn"), "as decoded", "{}", file.display());
    }
}
