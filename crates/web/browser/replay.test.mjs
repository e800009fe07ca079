/** Tests the page of `rhae replay render --format html` in a real browser: its player must show the frames of the replay. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

import { launch, until } from "./test_server.mjs";

/** A script that runs in the player's module and writes what the player decodes and draws into the page. */
const PROBE = readFileSync(join(dirname(fileURLToPath(import.meta.url)), "replay_probe.js"), "utf8");
const STATES = ["NOT_FINISHED", "WIN", "GAME_OVER"];

let browser, folder;

before(async () => {
  browser = await launch();
  folder = mkdtempSync(join(tmpdir(), "rhae-replay-"));
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

/** Runs the binary in the temporary folder. */
function rhae(...args) {
  execFileSync(process.env.RHAE_BINARY, args, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
}

function linesOf(file) {
  return readFileSync(join(folder, file), "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
}

/**
 * Returns one line per entry with its fields and the FNV-1a hash of all cells of its frames. The fields are those of the recording, the
 * frames those of its conversion to the toolkit's format, which a replay in Rust computes.
 */
function expected(file) {
  rhae("replay", "convert", file, "--to", "toolkit", "--out", `${file}.toolkit`);
  const entries = linesOf(file).filter((line) => "action" in line);
  const observations = linesOf(`${file}.toolkit`);
  assert.equal(observations.length, entries.length);
  const lines = entries.map((entry, index) => {
    const [kind, at] = entry.action.split("@");
    const { frame: frames, state, full_reset: fullReset } = observations[index].data;
    let hash = 0x811c9dc5;
    for (const cell of frames.flat(2)) hash = Math.imul(hash ^ cell, 0x01000193);
    const [x, y] = at ? at.split(",") : [-1, -1];
    const fields = [kind, x, y, STATES.indexOf(state), entry.levels, !entry.unchanged, !entry.uncounted && !fullReset, fullReset];
    return `${[...fields, frames.length, (hash >>> 0).toString(16).padStart(8, "0")].join(" ")}\n`;
  });
  return lines.join("");
}

async function assertShown(file) {
  rhae("replay", "render", file, "--format", "html", "--out", `${file}.html`);
  const path = join(folder, `${file}.html`);
  const html = readFileSync(path, "utf8");
  const end = html.lastIndexOf("</script>");
  writeFileSync(path, `${html.slice(0, end)}\n${PROBE}${html.slice(end)}`);
  const page = await browser.newPage();
  await page.goto(pathToFileURL(path).href);
  await until(page, () => document.getElementById("drawn") !== null);
  assert.equal(await page.locator("#decoded").textContent(), expected(file));
  assert.equal(await page.locator("#drawn").textContent(), "as decoded");
  await page.close();
}

test("the page shows the frames of a random play", async () => {
  rhae("run", "--agent", "random", "--games", "hk26", "--seed", "3", "--out", "run");
  const [recording] = readdirSync(join(folder, "run", "recordings"));
  await assertShown(join("run", "recordings", recording));
});

test("the page shows the frames of a solution", async () => {
  rhae("explore", "kq19", "--level", "8", "--checks", "0", "--recording", "solution.jsonl");
  await assertShown("solution.jsonl");
});
