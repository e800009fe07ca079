/** Starts a real server process and a real browser for the tests and screenshots. */

import { execFileSync, spawn } from "node:child_process";
import { appendFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** The binary to test, the folder with the installed packages, and the browser: set by `cargo xtask`. */
const { RHAE_BINARY: binary, RHAE_MODULES: modules, RHAE_CHROMIUM: program } = process.env;
if (!binary || !modules || !program) throw new Error("run this with `cargo xtask test --suite web` or `cargo xtask screenshots`");
const load = createRequire(join(modules, "node_modules", "x.js"));
const { chromium } = load("playwright-core");
export const AXE = load.resolve("axe-core/axe.min.js");

/**
 * Returns whether the long form of a test is requested (`cargo xtask test --full`). Otherwise reports that only the short form runs.
 * @param {string} test @param {string} shortForm
 */
export function full(test, shortForm) {
  const { RHAE_FULL, RHAE_SKIP_REPORT } = process.env;
  if (!RHAE_FULL && RHAE_SKIP_REPORT) appendFileSync(RHAE_SKIP_REPORT, `${JSON.stringify({ kind: "short", test: `web ${test}`, reason: shortForm })}\n`);
  return Boolean(RHAE_FULL);
}

/** Solutions of first levels: key names, and clicks as `x,y`. */
export const SOLUTIONS = {
  kq19: ["ArrowUp", "ArrowUp", "w", "ArrowUp", "ArrowRight", "d", "ArrowRight"],
  ym39: ["45,17", "38,45", "10,38"],
  pz19: ["ArrowUp", "w", "ArrowUp", "34,19"],
};

export class TestServer {
  /** @type {string[]} */
  static folders = [];

  /** Starts `rhae serve` with a new database. */
  static async start(...flags) {
    const folder = mkdtempSync(join(tmpdir(), "rhae-web-"));
    const server = new TestServer();
    server.db = join(folder, "rhae.db");
    server.folder = folder;
    server.process = spawn(binary, ["serve", "--addr", "127.0.0.1:0", "--db", server.db, "--log-level", "error", ...flags], { stdio: ["ignore", "pipe", "inherit"] });
    for await (const line of createInterface({ input: server.process.stdout })) {
      const found = /listening at (http:\/\/\S+)/.exec(line);
      if (found) {
        server.url = found[1];
        return server;
      }
    }
    throw new Error("the server did not start");
  }

  /**
   * Starts a server of studies with a new database, whose clock stands still until `pass` moves it. It is the server of `rhae study
   * simulate`: only the process that started it can move its clock.
   */
  static async startSimulated(nowMs = Date.UTC(2026, 8, 7, 10)) {
    const folder = mkdtempSync(join(tmpdir(), "rhae-web-"));
    const server = new TestServer();
    Object.assign(server, { db: join(folder, "rhae.db"), folder, nowMs });
    server.process = spawn(binary, ["study", "simulation-server", "--db", server.db, "--now-ms", String(nowMs)], { stdio: ["pipe", "pipe", "inherit"] });
    server.lines = createInterface({ input: server.process.stdout })[Symbol.asyncIterator]();
    const { value } = await server.lines.next();
    const found = /listening at (http:\/\/\S+)/.exec(value);
    if (!found) throw new Error(`the server did not start: ${value}`);
    server.url = found[1];
    return server;
  }

  /** Moves the clock of a simulated server, and waits until it has executed what is due. @param {number} ms */
  async pass(ms) {
    this.nowMs += ms;
    this.process.stdin.write(`${this.nowMs}\n`);
    const { value } = await this.lines.next();
    if (value !== "settled") throw new Error(`the server did not follow its clock: ${value}`);
  }

  /** Runs a subcommand of the binary and returns its output. */
  run(...args) {
    return execFileSync(binary, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  }

  /** Creates an API key. */
  key(name = "agent") {
    return this.run("keys", "create", "--name", name, "--db", this.db).trim();
  }

  /** Returns an API client with this key. */
  agent(key) {
    const call = async (method, path, body) => {
      const response = await fetch(this.url + path, {
        method,
        headers: { "X-API-Key": key, ...(body ? { "Content-Type": "application/json" } : {}) },
        body: body ? JSON.stringify(body) : undefined,
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
      return path.endsWith("/recording") ? text : JSON.parse(text);
    };
    return {
      get: (path) => call("GET", path),
      post: (path, body) => call("POST", path, body),
      /** Opens a card and a play on it. */
      async open(game, card = {}) {
        const { card_id } = await call("POST", "/api/scorecard/open", { tags: ["agent", "tester"], ...card });
        const { guid } = await call("POST", "/api/cmd/RESET", { game_id: game, card_id });
        return { card_id, guid, game };
      },
      act: (play, action, more = {}) => call("POST", `/api/cmd/ACTION${action}`, { game_id: play.game, guid: play.guid, ...more }),
    };
  }

  async stop() {
    const ended = new Promise((done) => this.process.once("exit", done));
    this.process.kill("SIGTERM");
    await ended;
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Launches the browser. */
export function launch() {
  if (!existsSync(program)) throw new Error(`the browser ${program} does not exist`);
  return chromium.launch({ executablePath: program, args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"] });
}

/** The screen position of a cell's centre. */
export async function cell(page, x, y) {
  const box = await page.locator("rhae-board canvas").boundingBox();
  return { x: box.x + ((x + 0.5) * box.width) / 64, y: box.y + ((y + 0.5) * box.height) / 64 };
}

/** Waits until a condition holds in the page. It polls from outside, because the content security policy forbids `waitForFunction`. */
export async function until(page, condition, argument) {
  for (let attempt = 0; attempt < 400; attempt++) {
    if (await page.evaluate(condition, argument)) return;
    await page.waitForTimeout(50);
  }
  throw new Error(`timed out waiting for ${condition} (${argument})`);
}

/** Plays steps with keyboard and mouse, and waits until each is shown. */
export async function playSteps(page, steps) {
  for (const step of steps) {
    const before = Number(await page.locator("[data-show=actions]").textContent());
    if (step.includes(",")) {
      const at = await cell(page, ...step.split(",").map(Number));
      await page.mouse.click(at.x, at.y);
    } else {
      await page.keyboard.press(step);
    }
    await until(page, (count) => Number(document.querySelector("[data-show=actions]")?.textContent) > count, before);
  }
}

/** Waits until the board accepts input. */
export async function ready(page) {
  await page.waitForSelector(".play.ready");
}
