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

test("the page shows what an agent asked its model, and stays usable with 10,000 requests", async () => {
  rhae("run", "--agent", "random", "--games", "hk26", "--budget", "10000", "--out", "long");
  const [recording] = readdirSync(join(folder, "long", "recordings"));
  const lines = linesOf(join("long", "recordings", recording));
  let number = 0;
  for (const line of lines) {
    if (!("action" in line) || line.full_reset) continue;
    number++;
    line.cost_usd = 0.25;
    line.usage = { calls: 1, input_tokens: 900, output_tokens: 100 };
    const call = { tool: "python", input: "print(1)", output: `<b>${"1 ".repeat(400)}</b>` };
    const request = { agent: "solver-1", context_tokens: 12345, output_tokens: 100, cost_usd: 0.25, text: `I try ${number}. ${"why ".repeat(500)}`, calls: [call] };
    line.reasoning = { plan: "go up", requests: [request] };
  }
  assert.ok(number >= 10_000, `${number} actions`);
  writeFileSync(join(folder, "long.jsonl"), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  rhae("replay", "render", "long.jsonl", "--format", "html", "--out", "long.html");
  const html = readFileSync(join(folder, "long.html"), "utf8");
  assert.ok(html.length < 40 << 20, `${html.length} characters`);
  const page = await browser.newPage();
  await page.goto(pathToFileURL(join(folder, "long.html")).href);
  await until(page, () => document.querySelector("rhae-player").moments.length > 10_000);
  const shown = (name) => page.locator(`rhae-player [data-show=${name}]`).textContent();
  assert.match(await shown("requests"), /none for this action/);
  await page.evaluate(() => {
    const player = document.querySelector("rhae-player");
    for (let at = 0; at < player.moments.length; at += 50) player.seek(at);
    player.seek(2);
  });
  assert.equal(await shown("requests"), "1 request, 900 tokens in, 100 out");
  assert.equal(await shown("cost"), "0.2500 USD, 0.5000 USD so far");
  assert.equal(await shown("context"), "12,345 tokens");
  const text = () => page.locator("rhae-player .reasoning").textContent();
  await until(page, () => document.querySelector("rhae-player").shadowRoot.querySelector(".reasoning").textContent.includes("I try 2."));
  assert.match(await text(), /^PLAN\ngo up\n\nREQUEST 1 OF 1 \(solver-1, 12,345 tokens in context, 100 tokens of output, 0.2500 USD\)/);
  await page.getByRole("button", { name: /Show all/ }).click();
  assert.equal(await page.locator("rhae-player .reasoning b").count(), 0);
  await page.evaluate(() => document.querySelector("rhae-player").seek(1e9));
  assert.match(await shown("cost"), /, 2,?5\d\d\.\d{4} USD so far/);
  await page.close();
});
