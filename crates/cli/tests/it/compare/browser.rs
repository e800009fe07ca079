//! Tests the page of a comparison in a real browser: two replays stay at the same action.

use std::fs;
use std::process::Command;

use super::play;
use crate::rhae::rhae;

/// A script that runs in the page's module, moves the players and writes their positions into the
/// page.
const PROBE: &str = include_str!("duo_probe.js");

#[test]
fn replays_are_scrubbed_together() {
    let found = ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| {
            let version = Command::new(name).arg("--version").output();
            version.is_ok_and(|output| output.status.success())
        });
    let Some(browser) = found else {
        rhae_testkit::skip("Chromium is missing");
        return;
    };
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path();
    play(folder, "explorer", &["--games", "ym39", "--seed", "1"]);
    play(folder, "random", &["--games", "ym39", "--agent", "random"]);
    rhae(
        folder,
        &["compare", "explorer", "random", "--html", "page.html"],
    )
    .succeeded();
    let page = folder.join("page.html");
    let html = fs::read_to_string(&page).unwrap();
    let (before, after) = html.rsplit_once("</script>\n</body>").unwrap();
    fs::write(&page, format!("{before}\n{PROBE}</script></body>{after}")).unwrap();

    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu"])
        .args(["--disable-background-networking", "--no-first-run"])
        .arg(format!(
            "--user-data-dir={}",
            folder.join("profile").display()
        ))
        .args(["--virtual-time-budget=5000", "--dump-dom"])
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    let dom = String::from_utf8(output.stdout).unwrap();
    let found = dom
        .split_once("<pre id=\"duo\">")
        .and_then(|(_, rest)| rest.split_once("</pre>"))
        .unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&output.stderr)))
        .0;
    // The explorer completes level 1, so its first moment of level 2 is the last of level 1.
    assert_eq!(
        found,
        "start 0 0\nlevel 1, action 5: 5 5\nleft moved: 7 7\nright moved: 3 3\n\
         last action of level 1: left has completed it, right stays at its end\n\
         apart: 9 2\nslider 5: 5 5\n"
    );
}
