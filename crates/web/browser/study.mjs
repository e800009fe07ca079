/** What the tests and screenshots of studies share: a study on a server, and a participant who walks through its pages. */

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { cell, ready } from "./test_server.mjs";

const GAMES = join(import.meta.dirname, "../../games/src");
const KEYS = ["r", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Space"];
export const ENVIRONMENTS = ["pz19", "ym39", "kq19"];

/** The stored solution of an environment: for each level, key names and clicks as `x,y`. */
export function solution(environment) {
  const text = readFileSync(join(GAMES, environment.split("-")[0], "solutions.txt"), "utf8");
  const step = (word) => (word.startsWith("6@") ? word.slice(2) : KEYS[Number(word)]);
  return text.trim().split("\n").map((line) => line.split(" ").map(step));
}

/** A study that is open, on a server with open access. */
export class TestStudy {
  /** @param {{limits?: object, title?: string, sites?: object[], environments?: string[]}} [options] */
  static async open(server, id, { limits = {}, title = "A study of the Example Institute", sites, environments = ENVIRONMENTS } = {}) {
    const study = new TestStudy();
    study.api = server.agent("researcher");
    study.path = `/api/studies/${id}`;
    const consent = {
      en: "You take part in a study of the Example Institute.\n\nWhat you do is stored under a random number.\n\nYou can withdraw at any time.",
      de: "Sie nehmen an einer Studie teil.\n\nSie können jederzeit aufhören.",
    };
    await study.api.post("/api/studies", { id, title, environments, consent, ...(sites ? { sites } : {}) });
    const { protocol } = await study.api.get(study.path);
    await study.command("set_protocol", { protocol: { ...protocol, limits: { ...protocol.limits, ...limits } } });
    const codes = { complete: { code: "C0MPLETE" }, no_consent: { code: "N0CONSENT" } };
    if (!sites) await study.command("set_recruiter", { site: "online", recruiter: "prolific", codes });
    await study.command("freeze");
    await study.command("open");
    return study;
  }

  command(command, fields = {}) {
    return this.api.post(`${this.path}/commands`, { command, ...fields });
  }

  /** Enrols a person and returns the path of the personal link. */
  async link(stage = "live") {
    const [person] = await this.api.post(`${this.path}/participants`, { count: 1, site: "online", stage });
    return person.path;
  }

  /** The only open sitting. */
  async live() {
    const [sitting] = await this.api.get(`${this.path}/live`);
    return sitting;
  }

  sittings() {
    return this.api.get(`${this.path}/sittings`);
  }
}

/** Executes steps with keyboard and mouse, and waits until the server has executed each. */
export async function act(page, steps) {
  for (const step of steps) {
    const answered = page.waitForResponse((response) => response.url().includes("/api/sitting/actions/") && response.status() === 200);
    if (step.includes(",")) {
      const at = await cell(page, ...step.split(",").map(Number));
      await page.mouse.click(at.x, at.y);
    } else {
      await page.keyboard.press(step);
    }
    await answered;
  }
}

/** Waits for a page and its scripts: without them, a form is sent as an ordinary one. */
export async function heading(page, name) {
  await page.getByRole("heading", { name, level: 1 }).waitFor();
  await page.waitForLoadState("load");
}

export const press = (page, name) => page.getByRole("button", { name, exact: true }).click();

/** Consents, and answers the questions. `seen` is called on every page. */
export async function enter(page, path, seen = async () => {}) {
  await page.goto(path);
  await heading(page, "Welcome");
  await seen("welcome");
  await page.getByRole("link", { name: "Start" }).click();
  await heading(page, "Your consent");
  await seen("consent");
  await page.getByLabel("I have read this text").check();
  await page.getByLabel("The replays of my session").check();
  await press(page, "Take part");
  await heading(page, "About you");
  await seen("about");
  for (const question of await page.getByRole("group").all()) await question.getByLabel("rather not say").check();
  await press(page, "Continue");
  await heading(page, "Check your device");
  await page.keyboard.press("ArrowUp");
  await press(page, "Click or tap here");
  for (const row of await page.getByRole("group").all()) {
    const odd = await row.getAttribute("data-odd");
    await row.locator(`input[value="${odd}"]`).check();
  }
  await seen("check");
  await press(page, "Continue");
  await heading(page, "Ready to begin");
  await seen("begin");
}

/** Starts an environment and waits until it accepts input. */
export async function begin(page, button) {
  await press(page, button);
  await ready(page);
}

/** The time between two contacts in `spend`: the clock of a sitting stops after 15 s without one. */
const CONTACT_MS = 14000;

/**
 * Lets time pass on a simulated server for a person who stays in contact. A minute takes no minute, so the contacts of the page itself,
 * which come in real time, would be too rare.
 * @param {import("./test_server.mjs").TestServer} server @param {string} path the personal link @param {number} ms
 */
export async function spend(server, path, ms) {
  const headers = { "X-Study-Token": path.split("/")[2], "Content-Type": "application/json" };
  const body = JSON.stringify({ command: "contact" });
  for (let left = ms; left > 0; left -= CONTACT_MS) {
    await server.pass(Math.min(CONTACT_MS, left));
    const response = await fetch(`${server.url}/api/sitting/commands`, { method: "POST", headers, body });
    if (!response.ok) throw new Error(`the contact failed: ${response.status} ${await response.text()}`);
  }
}

/** Leaves the environment. */
export async function leave(page) {
  await press(page, "Leave this one");
  await press(page, "Leave");
  await heading(page, "Closed");
}
