/** Tests the page of `rhae compare` in a real browser. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";

import { launch, until } from "./test_server.mjs";

let browser, folder;

before(async () => {
  browser = await launch();
  folder = mkdtempSync(join(tmpdir(), "rhae-compare-"));
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

/** Runs the binary in the temporary folder. */
function rhae(...args) {
  execFileSync(process.env.RHAE_BINARY, args, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
}

test("two replays are scrubbed together", async () => {
  rhae("run", "--out", "explorer", "--games", "ym39", "--seed", "1");
  rhae("run", "--out", "random", "--games", "ym39", "--agent", "random");
  rhae("compare", "explorer", "random", "--html", "page.html");
  const page = await browser.newPage();
  await page.goto(pathToFileURL(join(folder, "page.html")).href);
  await page.locator("details.duo").evaluate((details) => {
    details.open = true;
    details.scrollIntoView();
  });
  await until(page, () => {
    const players = document.querySelector("rhae-duo")?.players ?? [];
    return players.length === 2 && players.every((player) => player?.moments.length > 0);
  });
  const found = await page.evaluate(() => {
    const duo = document.querySelector("rhae-duo");
    const [left, right] = duo.players;
    const at = () => [left.moment, right.moment];
    const found = { start: at() };
    duo.show(1, 5);
    found.shown = at();
    left.seek(7);
    found.leftMoved = at();
    right.seek(3);
    found.rightMoved = at();
    duo.show(1, 100000);
    found.leftCompletes = left.moments[left.moment].levels === 1;
    found.rightStays = right.moments.findLastIndex((moment) => moment.levels === 0) === right.moment;
    const together = duo.querySelector("input[type=checkbox]");
    duo.show(1, 2);
    together.checked = false;
    left.seek(9);
    found.apart = at();
    together.checked = true;
    const slider = duo.querySelector("input[type=range]");
    slider.value = "5";
    slider.dispatchEvent(new Event("input"));
    found.slider = at();
    return found;
  });
  assert.deepEqual(found, {
    start: [0, 0],
    shown: [5, 5],
    leftMoved: [7, 7],
    rightMoved: [3, 3],
    // The explorer completes level 1, so its first moment of level 2 is the last of level 1.
    leftCompletes: true,
    rightStays: true,
    apart: [9, 2],
    slider: [5, 5],
  });
});
