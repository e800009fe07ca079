/** Tests of the appearance of the pages: themes, accessibility, error pages, long plays, and pages without JavaScript. */

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { TestServer, full, launch, playSteps, ready, until } from "./test_server.mjs";
import { signIn, replayLoaded, moments, serious, windows } from "./visitor.mjs";

let browser, server, visitor;
const KEYS = ["", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Space"];

before(async () => {
  browser = await launch();
  server = await TestServer.start("--auth", "keys", "--visitors", "public");
  visitor = windows(browser, server);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

test("axe finds no serious violation on any page, in either theme", async () => {
  const key = server.key();
  const agent = server.agent(key);
  const play = await agent.open("kq19", { opaque: { a: [1, 2] } });
  for (const action of [1, 1, 1, 1, 4, 4, 4, 1]) await agent.act(play, action, { reasoning: "because" });
  for (const colorScheme of ["light", "dark"]) {
    const page = await visitor({ colorScheme, bypassCSP: true });
    await page.goto("/enter");
    const found = [];
    const check = async (name) => found.push(...(await serious(page, `${colorScheme} ${name}`)));
    await check("/enter");
    await signIn(page, key);
    for (const path of ["/", "/replay", "/watch", "/scorecards", `/scorecards/${play.card_id}`, `/replay/${play.guid}`, `/watch/${play.guid}`, "/links", "/play/kq19", "/play/nothing"]) {
      await page.goto(path);
      if (path.includes(play.guid)) await replayLoaded(page);
      if (path === "/play/kq19") await ready(page);
      await check(path);
    }
    // Themes that the visitor chooses, regardless of the system's.
    await page.goto("/");
    for (const theme of ["light", "dark"]) {
      await page.locator("[data-switch=theme]").press("Enter");
      assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), theme);
      await check(`/ chosen ${theme}`);
    }
    assert.deepEqual(found, []);
  }
});

test("axe finds no serious violation on outcomes, invitations and error pages", async () => {
  const invites = await TestServer.start("--auth", "keys", "--visitors", "invite", "--visitor-requests-per-minute", "700");
  // Each line is the solution of one level.
  const solutions = readFileSync(new URL("../../games/src/kq19/solutions.txt", import.meta.url), "utf8").trim().split("\n");
  const levels = solutions.map((line) => line.trim().split(/\s+/).map(Number));
  try {
    for (const colorScheme of ["light", "dark"]) {
      const link = invites.run("keys", "invite", "--name", "study", "--visitors", "1", "--url", invites.url, "--db", invites.db).trim();
      const page = await visitor({ colorScheme, bypassCSP: true }, invites);
      await page.goto(link);
      assert.deepEqual(await serious(page, "/invite"), []);
      await page.getByRole("button", { name: "Accept invitation" }).click();
      await page.waitForURL(`${invites.url}/`);
      await page.goto("/play/kq19");
      await ready(page);
      const act = async (game, action, cell = {}) => {
        const { answer } = await (await page.request.get(`/play/${game}/state`)).json();
        const response = await page.request.post(`/api/cmd/ACTION${action}`, { data: { game_id: game, guid: answer.guid, ...cell } });
        return (await response.json()).state;
      };
      // The first action opens the play. The first levels are played through the API, and the last one on the page.
      const [first, ...rest] = levels.slice(0, -1).flat();
      await playSteps(page, [KEYS[first]]);
      for (const action of rest) assert.equal(await act("kq19", action), "NOT_FINISHED");
      await page.reload();
      await ready(page);
      await playSteps(page, levels.at(-1).map((action) => KEYS[action]));
      await page.locator(".outcome .won").waitFor();
      assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("aria-label")), "All environments");
      assert.deepEqual(await serious(page, "a win"), []);
      await page.locator(".outcome").getByRole("button", { name: "Play again from level 1" }).click();
      await page.getByRole("button", { name: "Restart" }).click();
      await page.locator(".outcome").waitFor({ state: "hidden" });
      // Every punch at a wrong place ruins a sheet, of which the level has few.
      await page.goto("/play/pz19");
      await ready(page);
      await playSteps(page, [KEYS[5]]);
      let punches = 0;
      while ((await act("pz19", 6, { x: 16, y: 21 })) !== "GAME_OVER") assert.ok(++punches < 100);
      await page.reload();
      await page.locator(".outcome .lost").waitFor();
      assert.deepEqual(await serious(page, "a loss"), []);
      await page.keyboard.press("r");
      await page.locator(".outcome").waitFor({ state: "hidden" });
      // Exceeds the rate limit. A browser gets an error page; scripts and programs get JSON.
      let refused;
      for (let asked = 0; asked < 800 && refused?.status() !== 429; asked++) refused = await page.request.get("/replay", { headers: { Accept: "*/*" } });
      assert.equal((await refused.json()).error, "RATE_LIMIT_EXCEEDED");
      assert.equal((await page.request.get("/api/games", { headers: { Accept: "text/html" } })).headers()["content-type"], "application/json");
      const shown = await page.goto("/scorecards");
      assert.equal(shown.status(), 429);
      const seconds = Number(shown.headers()["retry-after"]);
      assert.ok(seconds >= 1 && seconds <= 60);
      await page.getByText(seconds === 1 ? "Try again in 1 second." : `Try again in ${seconds} seconds.`).waitFor();
      assert.deepEqual(await serious(page, "an error page"), []);
      assert.deepEqual(page.errors, []);
    }
  } finally {
    await invites.stop();
  }
});

test("the chosen theme applies to every page, is stored, and is set before the first paint", async () => {
  const key = server.key();
  const agent = server.agent(key);
  const play = await agent.open("kq19");
  await agent.act(play, 1);
  const page = await visitor({ colorScheme: "light" });
  // Records the theme at the time when the body exists.
  await page.addInitScript(() => {
    new MutationObserver((_, observer) => {
      if (!document.body) return;
      window.themeAtBody = document.documentElement.dataset.theme;
      observer.disconnect();
    }).observe(document, { childList: true, subtree: true });
  });
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await signIn(page, key);
  const button = page.locator("[data-switch=theme]");
  const light = await background();
  await page.locator("h1").click();
  for (let tabs = 0; tabs < 20 && !(await button.evaluate((element) => element === document.activeElement)); tabs++) await page.keyboard.press("Tab");
  for (const [name, changes] of [["light", false], ["dark", true]]) {
    await page.keyboard.press("Enter");
    assert.equal(await page.getByRole("button", { name: `Theme: ${name}` }).count(), 1);
    assert.equal((await background()) !== light, changes, name);
  }
  const dark = await background();
  const second = await page.context().newPage();
  for (const path of ["/", "/watch", "/replay", "/scorecards", `/scorecards/${play.card_id}`, `/replay/${play.guid}`, `/watch/${play.guid}`, "/play/kq19", "/enter", "/nothing"]) {
    await page.goto(path);
    assert.deepEqual([await page.evaluate(() => window.themeAtBody), await background()], ["dark", dark], path);
    assert.equal(await button.isVisible(), true, path);
  }
  // The symbols of a replay's strip follow the text colour when the theme changes, also in another window.
  await page.goto(`/replay/${play.guid}`);
  await replayLoaded(page);
  const signsAre = (bright) => until(page, (bright) => {
    const strip = document.querySelector("rhae-player").shadowRoot.querySelector(".strip");
    const { data } = strip.getContext("2d").getImageData(0, 0, strip.width, strip.height);
    const most = data.reduce((most, value, at) => (at % 4 === 0 && data[at + 3] === 255 ? Math.max(most, value) : most), 0);
    return bright ? most > 200 : most < 60;
  }, bright);
  await signsAre(true);
  await second.goto("/");
  await button.press("Enter");
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "system");
  await signsAre(false);
  await until(second, () => document.documentElement.dataset.theme === "system");
  // With the system's theme, the system decides.
  await page.emulateMedia({ colorScheme: "dark" });
  assert.equal(await background(), dark);
  await signsAre(true);
  assert.deepEqual(page.errors, []);
});

test("a long play opens and can be scrubbed", async ({ name }) => {
  const long = full(name, "400 instead of 10,000 actions");
  const actions = long ? 10000 : 400;
  const fast = await TestServer.start();
  try {
    const player = fast.agent("long");
    const play = await player.open("kq19");
    for (let at = 0; at < actions; at++) {
      const answer = await player.act(play, [1, 4, 2, 3][at % 4]);
      if (answer.state === "GAME_OVER") await player.post("/api/cmd/RESET", { game_id: "kq19", guid: play.guid });
    }
    const page = await visitor({}, fast);
    await page.addInitScript(() => document.addEventListener("rhae-moment", () => requestAnimationFrame(() => (window.shownAt ??= performance.now())), true));
    const asked = [];
    page.on("request", (request) => request.url().endsWith("/film") && asked.push(request.url()));
    await page.goto(`/replay/${play.guid}`);
    await replayLoaded(page);
    await until(page, () => window.shownAt > 0);
    if (long) console.log(`a play of ${actions} actions is shown after ${Math.round(await page.evaluate(() => window.shownAt))} ms`);
    // The script uses the preloaded response and sends no second request.
    assert.equal(asked.length, 1);
    const count = await moments(page);
    assert.ok(count > actions);
    const same = await page.evaluate((count) => {
      const player = document.querySelector("rhae-player");
      player.seek(count - 1);
      const end = player.cells.slice();
      for (let at = 0; at < count; at += 97) player.seek(at);
      player.seek(count - 1);
      return end.every((cell, at) => cell === player.cells[at]);
    }, count);
    assert.ok(same);
    assert.deepEqual(page.errors, []);
  } finally {
    await fast.stop();
  }
});

test("scorecards and recordings are available without JavaScript", async () => {
  const key = server.key();
  const agent = server.agent(key);
  const play = await agent.open("kq19");
  await agent.act(play, 1);
  const page = await visitor({ javaScriptEnabled: false });
  await signIn(page, key);
  await page.goto(`/scorecards/${play.card_id}`);
  assert.ok(await page.getByText("docs-2026-04").isVisible());
  await page.goto(`/replay/${play.guid}`);
  assert.ok(await page.getByText("0 of 8 levels, 1 actions, in progress").isVisible());
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Recording" }).click()]);
  const path = join(server.folder, "downloaded.jsonl");
  writeFileSync(path, readFileSync(await file.path()));
  assert.match(server.run("replay", "verify", path), /verified/);
});

test("the gallery shows thirty environments side by side, and filters them", async () => {
  // Fifteen copies of the game of the hosting protocol, which needs no package, next to the built-in environments.
  const source = readFileSync(new URL("../../../examples/protocol-game/nm33/v1/game.py", import.meta.url), "utf8");
  const folder = mkdtempSync(join(tmpdir(), "rhae-gallery-"));
  for (let at = 0; at < 15; at++) {
    const name = `gal${"abcdefghijklmno"[at]}`;
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, "game.py"), source.replaceAll("nm33", name));
    const tags = [["keyboard", "click", "keyboard_click"][at % 3]];
    writeFileSync(join(folder, name, "metadata.json"), JSON.stringify({ game_id: `${name}-v1`, tags, command: ["python", "game.py"], baseline_actions: [4, 6] }));
  }
  const many = await TestServer.start("--games-dir", folder);
  try {
    for (const [width, height, columns] of [[1280, 800, 4], [390, 844, 2]]) {
      for (const colorScheme of ["light", "dark"]) {
        const context = await browser.newContext({ baseURL: many.url, viewport: { width, height }, colorScheme });
        const page = await context.newPage();
        await page.goto("/");
        const tiles = page.locator(".gallery > li");
        assert.equal(await tiles.count(), 30);
        // Pictures are loaded when the visitor scrolls to them.
        for (const tile of await tiles.all()) await tile.scrollIntoViewIfNeeded();
        await until(page, () => [...document.querySelectorAll(".gallery img")].every((picture) => picture.complete && picture.naturalWidth > 0));
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "the page is wider than the window");
        const boxes = await tiles.evaluateAll((all) => all.map((tile) => tile.getBoundingClientRect().toJSON()));
        assert.equal(boxes.filter((box) => box.top === boxes[0].top).length, columns);
        for (const [at, box] of boxes.entries()) {
          assert.equal(Math.round(box.width), Math.round(boxes[0].width), `tile ${at} has another width`);
          const above = boxes[at - columns];
          assert.ok(!above || box.top >= above.bottom, `tile ${at} overlaps the one above`);
        }
        await context.close();
      }
    }
    const context = await browser.newContext({ baseURL: many.url });
    const page = await context.newPage();
    const shown = async (path) => {
      await page.goto(path);
      return page.locator(".gallery > li").count();
    };
    assert.deepEqual([await shown("/?input=keys"), await shown("/?input=clicks"), await shown("/?input=both")], [10, 10, 10]);
    await page.goto("/play/gala");
    await ready(page);
    await playSteps(page, ["ArrowUp", "ArrowUp", "ArrowUp"]);
    await until(page, () => document.querySelector("[data-show=level]")?.textContent === "2");
    assert.equal(await shown("/?progress=started"), 1);
    assert.equal(await shown("/?input=clicks&progress=started"), 0);
    assert.equal(await shown("/?progress=new"), 29);
    await context.close();
  } finally {
    await many.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
