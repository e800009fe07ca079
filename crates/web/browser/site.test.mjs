/** Tests of the web app in a real browser against a real server: the tasks of a visitor, and access control. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";

import { TestServer, SOLUTIONS, launch, playSteps, ready, until } from "./test_server.mjs";
import { signIn, replayLoaded, moments, number, windows } from "./visitor.mjs";

let browser, server, visitor;

before(async () => {
  browser = await launch();
  server = await TestServer.start("--auth", "keys", "--visitors", "public");
  visitor = windows(browser, server);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** Opens the replay of the visitor's latest play. */
async function lastReplay(page) {
  await page.goto("/replay");
  await page.locator(".mine tbody a").first().click();
  await replayLoaded(page);
}

test("a replay shows as many actions as were played, in three environments", async () => {
  const page = await visitor({ reducedMotion: "no-preference" });
  for (const [name, steps] of Object.entries(SOLUTIONS)) {
    await page.goto("/");
    await page.click(`a[href^="/play/${name}"]`);
    await ready(page);
    assert.equal(await number(page, "level"), 1);
    await playSteps(page, steps.slice(0, 2));
    // Reload the page in the middle of the level.
    await page.reload();
    await ready(page);
    assert.equal(await number(page, "actions"), 2);
    await playSteps(page, steps.slice(2));
    await until(page, () => document.querySelector("[data-show=level]")?.textContent === "2");
    assert.equal(await number(page, "actions"), steps.length);
    await until(page, () => document.querySelector("[data-show=announcement]")?.textContent?.startsWith("Level 1 completed"));
    await lastReplay(page);
    assert.equal(await number(page, "actions"), steps.length);
    const last = await page.evaluate(() => document.querySelector("rhae-player").moments.at(-1));
    assert.deepEqual([last.number, last.levels], [steps.length, 1]);
  }
  await page.goto("/");
  assert.equal(await page.locator(".gallery .dots i.on").count(), 3);
  assert.deepEqual(page.errors, []);
});

test("looking at an environment does not count on the scorecard", async () => {
  const page = await visitor();
  await page.goto("/play/kq19");
  await ready(page);
  assert.equal((await page.context().cookies()).length, 0, "a key was created before the first action");
  await playSteps(page, SOLUTIONS.kq19);
  await page.goto("/scorecards");
  const card = await page.locator("tbody a").first().getAttribute("href");
  const score = async () => (await (await page.request.get(`${card}/scorecard.json`)).json()).score;
  const before = await score();
  assert.ok(before > 0);
  await page.goto("/play/ym39");
  await ready(page);
  const board = await page.evaluate(() => [...document.querySelector("rhae-board").cells]);
  assert.ok(new Set(board).size > 1, "the first frame is not shown");
  assert.equal(await score(), before);
  // The first action opens the play on the same card, and it counts.
  await playSteps(page, SOLUTIONS.ym39.slice(0, 1));
  assert.ok((await score()) < before);
  await page.reload();
  await ready(page);
  assert.equal(await number(page, "actions"), 1);
  assert.deepEqual(page.errors, []);
});

test("undo is U as in the terminal, or Z", async () => {
  const page = await visitor();
  await page.goto("/play/kq19");
  await ready(page);
  await playSteps(page, ["ArrowUp", "u", "ArrowUp", "z"]);
  await lastReplay(page);
  const played = await page.evaluate(() => document.querySelector("rhae-player").moments.map((moment) => moment.action));
  assert.deepEqual(played, [0, 1, 7, 1, 7]);
  assert.deepEqual(page.errors, []);
});

test("a replay runs at the recorded pace", async () => {
  const key = server.key();
  const agent = server.agent(key);
  const play = await agent.open("kq19");
  for (const pause of [0, 900, 0]) {
    await new Promise((done) => setTimeout(done, pause));
    await agent.act(play, 1);
  }
  const page = await visitor();
  await page.clock.install();
  await signIn(page, key);
  await page.goto(`/replay/${play.guid}`);
  await replayLoaded(page);
  const times = await (await page.request.get(`/replay/${play.guid}/times`)).json();
  assert.deepEqual([times.length, times[0]], [4, 0]);
  const pause = times[2] - times[1];
  assert.ok(pause >= 900, String(times));
  const shown = () => page.evaluate(() => document.querySelector("rhae-player").moment);
  const select = page.getByRole("combobox", { name: "Speed" });
  await select.selectOption({ label: "Recorded pace" });
  await page.evaluate(() => document.querySelector("rhae-player").seek(1));
  await page.clock.pauseAt(Date.now() + 60000);
  await page.getByRole("button", { name: "Play", exact: true }).click();
  // The time of the page stands still unless the test lets it pass. At an even pace the action would be over after 300 ms.
  await page.clock.runFor(pause - 200);
  assert.equal(await shown(), 1);
  await page.clock.runFor(300);
  assert.ok((await shown()) > 1);
  assert.deepEqual(page.errors, []);
});

test("a replay shows what perception sees", async () => {
  const key = server.key();
  const agent = server.agent(key);
  const play = await agent.open("kq19");
  for (const action of [1, 4, 1]) await agent.act(play, action);
  const page = await visitor();
  await signIn(page, key);
  await page.goto(`/replay/${play.guid}`);
  await replayLoaded(page);
  await page.evaluate(() => document.querySelector("rhae-player").seek(1));
  const seen = await (await page.request.get(`/replay/${play.guid}/perception`)).json();
  assert.equal(seen.length, 4);
  const perceived = page.locator(".perceived");
  assert.equal(await perceived.isVisible(), false);
  const button = page.getByRole("button", { name: "Objects", exact: true });
  await button.click();
  await perceived.waitFor();
  assert.equal(await perceived.textContent(), seen[1].text);
  assert.ok(seen.some((one) => one.boxes.length > 0));
  await button.click();
  await perceived.waitFor({ state: "hidden" });
  assert.deepEqual(page.errors, []);
});

test("an owner publishes a replay and revokes the link", async () => {
  const page = await visitor();
  await page.goto("/play/kq19");
  await ready(page);
  await playSteps(page, SOLUTIONS.kq19.slice(0, 3));
  await lastReplay(page);
  await page.getByRole("button", { name: "Publish" }).click();
  const link = await page.getByRole("status").getByRole("link").getAttribute("href");
  assert.match(link, /^\/shared\/[0-9a-f]{64}$/);
  // Another browser, without a key.
  const other = await visitor();
  await other.goto(link);
  await replayLoaded(other);
  assert.equal(await moments(other), 4);
  assert.equal((await other.context().cookies()).length, 0);
  assert.equal(await other.getByRole("button", { name: "Publish" }).count(), 0);
  await page.getByRole("button", { name: /^Revoke link/ }).click();
  await page.waitForURL("**/links");
  assert.equal(await page.getByRole("button", { name: /^Revoke link/ }).count(), 0);
  assert.equal((await other.goto(link)).status(), 404);
  assert.deepEqual([...page.errors, ...other.errors], []);
});

test("a lost connection is shown, and no action is lost or executed twice", async () => {
  const page = await visitor();
  await page.goto("/play/kq19");
  await ready(page);
  // One interceptor for all cases, installed early: a late one could miss the first request after it.
  let cut = 0;
  let isCut = () => false;
  let executes = true;
  await page.route("**/api/cmd/ACTION1", async (route) => {
    if (!isCut()) return route.continue();
    if (executes) await route.fetch();
    await route.abort();
  });
  await page.context().setOffline(true);
  await page.keyboard.press("ArrowUp");
  await page.getByText("Connection lost").waitFor();
  // Input while disconnected is ignored.
  await page.keyboard.press("ArrowUp");
  await page.context().setOffline(false);
  await until(page, () => document.querySelector("[data-show=actions]")?.textContent === "1");
  assert.equal(await page.getByText("Connection lost").isVisible(), false);
  isCut = () => cut++ < 2;
  // The server executes the command, but its response is lost twice: the retries must not add actions.
  await page.keyboard.press("ArrowUp");
  await until(page, () => document.querySelector("[data-show=actions]")?.textContent === "2");
  assert.equal(cut, 3);
  // The page is reloaded before it receives the response.
  isCut = () => true;
  executes = false;
  await page.keyboard.press("ArrowUp");
  await page.getByText("Connection lost").waitFor();
  isCut = () => false;
  await page.reload();
  await ready(page);
  assert.equal(await number(page, "actions"), 3);
  await lastReplay(page);
  assert.equal(await moments(page), 4);
  assert.deepEqual(page.errors, []);
});

test("everything works with the keyboard alone, including clicks", async () => {
  const page = await visitor();
  await page.goto("/");
  for (let tabs = 0; tabs < 40; tabs++) {
    await page.keyboard.press("Tab");
    if (await page.evaluate(() => document.activeElement?.getAttribute("href")?.startsWith("/play/ym39"))) break;
  }
  await page.keyboard.press("Enter");
  await ready(page);
  // The cursor starts in the middle of the board.
  let at = [32, 32];
  const winLevel1 = async () => {
    for (const step of SOLUTIONS.ym39) {
      const to = step.split(",").map(Number);
      for (const [axis, keys] of [[0, ["ArrowLeft", "ArrowRight"]], [1, ["ArrowUp", "ArrowDown"]]]) {
        for (; at[axis] !== to[axis]; at[axis] += Math.sign(to[axis] - at[axis])) await page.keyboard.press(keys[to[axis] > at[axis] ? 1 : 0]);
      }
      const before = await number(page, "actions");
      await page.keyboard.press("Enter");
      await until(page, (count) => Number(document.querySelector("[data-show=actions]")?.textContent) > count, before);
    }
    assert.equal(await number(page, "level"), 2);
  };
  // A reset at the start of a level restarts the whole game, and must be confirmed.
  const askForReset = async () => {
    await page.keyboard.press("r");
    await page.getByText("Restart from level 1?").waitFor();
  };
  await winLevel1();
  await askForReset();
  await page.keyboard.press("Enter");
  assert.equal(await number(page, "level"), 2);
  await askForReset();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await until(page, () => document.querySelector("[data-show=level]")?.textContent === "1");
  // A second confirmation before the `close` event of the first one takes effect, and only once.
  await winLevel1();
  await askForReset();
  let resets = 0;
  page.on("request", (request) => void (resets += request.url().endsWith("/api/cmd/RESET")));
  await page.evaluate(() => {
    const answer = (said) => document.querySelector(`dialog button[value=${said}]`).click();
    answer("no");
    document.querySelector("rhae-board").dispatchEvent(new KeyboardEvent("keydown", { code: "KeyR", bubbles: true }));
    answer("yes");
  });
  await until(page, () => document.querySelector("[data-show=level]")?.textContent === "1");
  // Commands are sent in order, so a second reset would have been sent before this one.
  const before = await number(page, "actions");
  const clicked = page.waitForRequest("**/api/cmd/ACTION6");
  await page.keyboard.press("Enter");
  await clicked;
  assert.equal(resets, 1);
  await until(page, (count) => Number(document.querySelector("[data-show=actions]")?.textContent) > count, before);
  await lastReplay(page);
  await page.locator("rhae-player .player").focus();
  const shown = () => page.evaluate(() => document.querySelector("rhae-player").moment);
  await page.keyboard.press("End");
  // Two wins of level 1, two resets and a click.
  const last = 2 * SOLUTIONS.ym39.length + 3;
  assert.equal(await shown(), last);
  await page.keyboard.press("ArrowLeft");
  assert.equal(await shown(), last - 1);
  await page.keyboard.press("d");
  assert.equal(await page.getByRole("button", { name: "Changes" }).getAttribute("aria-pressed"), "true");
  await until(page, (at) => location.hash === `#t=${at}`, last - 1);
  await page.goto(page.url().replace(`#t=${last - 1}`, "#t=2"));
  await page.reload();
  await replayLoaded(page);
  assert.equal(await shown(), 2);
  assert.deepEqual(page.errors, []);
});

test("pages fit a phone screen, and buttons are large enough for touch", async () => {
  const page = await visitor({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 3 });
  await page.goto("/play/kq19");
  await ready(page);
  const box = await page.locator("rhae-board canvas").boundingBox();
  assert.ok(box.width >= 380 && box.width <= 390, `${box.width}`);
  for (const step of ["Up", "Up", "Up", "Up", "Right", "Right", "Right"]) {
    const before = await number(page, "actions");
    const button = page.getByRole("button", { name: step, exact: true });
    const size = await button.boundingBox();
    assert.ok(size.width >= 44 && size.height >= 44 && size.y + size.height <= 844, `${step}: ${JSON.stringify(size)}`);
    await button.tap();
    await until(page, (count) => Number(document.querySelector("[data-show=actions]")?.textContent) > count, before);
  }
  assert.equal(await number(page, "level"), 2);
  for (const path of ["/", "/play/kq19", "/replay", "/watch", "/scorecards", "/enter"]) {
    await page.goto(path);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 390, `${path} is ${wide} wide`);
  }
  assert.deepEqual(page.errors, []);
});

test("an agent's play is followed live from a second window", async () => {
  const key = server.key();
  const agent = server.agent(key);
  const play = await agent.open("kq19");
  const page = await visitor();
  await signIn(page, key);
  await page.goto("/watch");
  await page.locator(`a[href="/watch/${play.guid}"]`).click();
  await replayLoaded(page);
  await page.getByText("live", { exact: true }).waitFor();
  for (const action of [1, 1, 1, 1, 4, 4, 4]) await agent.act(play, action, { reasoning: "on my way" });
  await until(page, () => document.querySelector("rhae-player").moments.length === 8);
  await until(page, () => document.querySelector("rhae-player").moment === 7);
  // After a reconnect, actions executed in the meantime appear exactly once.
  await page.context().setOffline(true);
  await agent.act(play, 1);
  await page.context().setOffline(false);
  await agent.act(play, 2);
  await until(page, () => document.querySelector("rhae-player").moments.length === 10);
  await agent.post("/api/scorecard/close", { card_id: play.card_id });
  await page.getByText("ended").waitFor();
  await until(page, () => document.querySelector("rhae-player").moment === 9 && !document.querySelector("rhae-player").playing);
  const cells = await page.evaluate(() => document.querySelector("rhae-player").cells.join());
  const lines = (await agent.get(`/api/plays/${play.guid}/recording`)).trim().split("\n");
  assert.ok(cells === JSON.parse(lines.at(-1)).data.frame.at(-1).flat().join(), "the last frame differs from the recording");
  assert.deepEqual(page.errors, []);
});

test("a scorecard page shows the values of the API", async () => {
  const key = server.key();
  const agent = server.agent(key);
  const play = await agent.open("kq19", { opaque: { plan: { steps: [1, 2, "<b>three</b>"] } }, source_url: "https://example.org/agent" });
  for (const action of [1, 1, 2, 1, 1, 1, 4, 4, 4, 1]) await agent.act(play, action);
  const card = await agent.get(`/api/scorecard/${play.card_id}`);
  const page = await visitor();
  await signIn(page, key);
  await page.goto("/scorecards");
  await page.locator(`a[href="/scorecards/${play.card_id}"]`).click();
  const value = (selector) => page.locator(selector).first().getAttribute("value");
  assert.ok(card.score > 0);
  assert.equal(Number(await value("[data-show=score]")), card.score);
  assert.equal(Number(await value("[data-show=actions]")), card.total_actions);
  assert.equal(Number(await value(`[data-environment="kq19-v1"] data`)), card.environments[0].score);
  await page.locator("summary", { hasText: "steps" }).click();
  for (const text of [card.method, "solver", "tester", "<b>three</b>", "https://example.org/agent"]) assert.ok(await page.getByText(text).first().isVisible(), text);
  assert.equal(await page.locator("svg.plot").count(), 2);
  const download = async (name) => {
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name }).click()]);
    return readFileSync(await file.path(), "utf8");
  };
  assert.deepEqual(JSON.parse(await download("JSON")), card);
  const rows = (await download("CSV")).trim().split("\r\n").map((row) => row.split(","));
  assert.equal(rows.length, 1 + card.environments[0].runs[0].level_actions.length);
  assert.deepEqual([rows[1][0], Number(rows[1][7])], ["kq19-v1", card.environments[0].runs[0].level_actions[0]]);
  assert.deepEqual(page.errors, []);
});

test("a dropped recording plays without an upload and exports as GIF and PNG", async () => {
  const agent = server.agent(server.key());
  const play = await agent.open("ym39");
  for (const step of SOLUTIONS.ym39) await agent.act(play, 6, { x: Number(step.split(",")[0]), y: Number(step.split(",")[1]), reasoning: { cell: step } });
  const text = await agent.get(`/api/plays/${play.guid}/recording`);
  const page = await visitor();
  const sent = [];
  page.on("request", (request) => request.method() !== "GET" && sent.push(request.url()));
  await page.goto("/replay");
  const drop = (content, name) =>
    page.evaluate(([content, name]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([content], name));
      document.querySelector(".drop").dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: transfer }));
    }, [content, name]);
  await drop(text, "play.jsonl");
  await replayLoaded(page);
  const lines = text.trim().split("\n").map((line) => JSON.parse(line).data);
  assert.equal(await moments(page), lines.length);
  const frames = await page.evaluate(() => {
    const { reel } = document.querySelector("rhae-player");
    return reel.moments.map((_, at) => [...reel.frame(reel.settled(at))]);
  });
  assert.deepEqual(frames, lines.map((line) => line.frame.at(-1).flat()));
  await page.locator("rhae-player .player").focus();
  await page.keyboard.press("End");
  await page.getByText(`"cell": "${SOLUTIONS.ym39.at(-1)}"`).waitFor();
  const download = async (name) => {
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name }).click()]);
    return [...readFileSync(await file.path())];
  };
  // The browser's decoder reads the GIF; its last picture must be the last frame.
  const pixels = await page.evaluate(async (bytes) => {
    const decoder = new ImageDecoder({ data: Uint8Array.from(bytes), type: "image/gif" });
    await decoder.tracks.ready;
    const { image } = await decoder.decode({ frameIndex: decoder.tracks.selectedTrack.frameCount - 1 });
    const canvas = new OffscreenCanvas(image.displayWidth, image.displayHeight);
    const pen = canvas.getContext("2d");
    pen.drawImage(image, 0, 0);
    const cells = [];
    for (let y = 0; y < 64; y++) for (let x = 0; x < 64; x++) cells.push([...pen.getImageData(x * 4 + 1, y * 4 + 1, 1, 1).data.slice(0, 3)].join());
    return cells;
  }, await download("GIF"));
  const hex = "FFFFFF CCCCCC 999999 666666 333333 000000 E53AA3 FF7BCC F93C31 1E93FF 88D8F1 FFDC00 FF851B 921231 4FCC30 A356D6".split(" ");
  const palette = hex.map((color) => [0, 2, 4].map((at) => Number.parseInt(color.slice(at, at + 2), 16)).join());
  const wanted = lines.at(-1).frame.at(-1).flat();
  assert.deepEqual(pixels, wanted.map((color) => palette[color]));
  assert.deepEqual((await download("PNG")).slice(1, 4), [80, 78, 71]);
  // The format of the agents repository has numeric action ids. Errors name the line.
  const agents = lines.map((line) => JSON.stringify({ data: { ...line, action_input: { ...line.action_input, id: line.action_input.id === "RESET" ? 0 : 6 } } }));
  await drop(`${agents.join("\n")}\n`, "agents.jsonl");
  assert.equal(await moments(page), lines.length);
  for (const [content, reason] of [
    ['{"format":"rhae-recording","version":1}\n', "rhae replay convert"],
    ["<script>alert(1)</script>", "Line 1: this is not a recording"],
    [`${text.split("\n")[0]}\n{"data":{"game_id":"ym39-v1","action_input":{"id":"ACTION9"},"frame":[[]]}}`, "Line 2: a frame must have 64 rows"],
    ["", "no observation"],
  ]) {
    await drop(content, "wrong.jsonl");
    await page.locator("[data-show=error]", { hasText: reason }).waitFor();
  }
  assert.deepEqual(sent, []);
  assert.deepEqual(page.errors, []);
});

test("markup in reasoning is escaped, and long reasoning is collapsed", async () => {
  const key = server.key();
  const agent = server.agent(key);
  const hostile = '</p><img src=x onerror="window.hacked=1"><script>window.hacked=1</script><svg onload=alert(1)>{{7*7}}\u202e';
  const play = await agent.open("kq19", { tags: [hostile], opaque: { [hostile]: hostile }, source_url: "javascript:alert(1)" });
  await agent.act(play, 1, { reasoning: hostile });
  await agent.act(play, 1, { reasoning: `begin ${"long ".repeat(2000)}end` });
  await agent.act(play, 1, { reasoning: { html: hostile } });
  const page = await visitor();
  await signIn(page, key);
  await page.goto(`/replay/${play.guid}#t=1`);
  await replayLoaded(page);
  const text = () => page.locator("rhae-player .reasoning").textContent();
  await until(page, () => document.querySelector("rhae-player").shadowRoot.querySelector(".reasoning").textContent.length > 20);
  assert.equal(await text(), hostile);
  await page.evaluate(() => document.querySelector("rhae-player").seek(2));
  await page.getByRole("button", { name: /Show all/ }).click();
  assert.ok((await text()).endsWith("end"));
  await page.goto(`/scorecards/${play.card_id}`);
  await page.goto(`/scorecards`);
  await page.goto(`/watch/${play.guid}`);
  await replayLoaded(page);
  await page.waitForTimeout(300);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.locator("main img[src=x], main script").count(), 0);
  assert.deepEqual(page.errors, []);
});

test("the requests and cost of a model that a client has sent are next to the frames", async () => {
  const key = server.key();
  const agent = server.agent(key);
  const play = await agent.open("kq19", { tags: ["agent"] });
  const request = { context_tokens: 12_345, output_tokens: 100, cost_usd: 0.25, text: "I try this.", calls: [{ tool: "python", input: "1 + 1", output: "2" }] };
  const spent = { calls: 1, input_tokens: 900, output_tokens: 100, cost_usd: 0.25 };
  await agent.act(play, 1, { reasoning: { plan: "go up", requests: [request], spent } });
  await agent.act(play, 1, { reasoning: "as planned" });
  await agent.act(play, 1, { reasoning: { requests: [request], spent: { ...spent, calls: 2 } } });
  const page = await visitor();
  await signIn(page, key);
  await page.goto(`/replay/${play.guid}`);
  await replayLoaded(page);
  await until(page, () => !document.querySelector("rhae-player").shadowRoot.querySelector(".work").hidden);
  const at = async (/** @type {number} */ moment, /** @type {string} */ name) => {
    await page.evaluate((moment) => document.querySelector("rhae-player").seek(moment), moment);
    return page.locator(`rhae-player [data-show=${name}]`).textContent();
  };
  assert.equal(await at(1, "requests"), "1 request, 900 tokens in, 100 out");
  assert.equal(await at(2, "cost"), "none, 0.2500 USD so far");
  assert.equal(await at(3, "requests"), "2 requests, 900 tokens in, 100 out");
  assert.equal(await at(3, "cost"), "0.2500 USD, 0.5000 USD so far");
  assert.equal(await at(3, "context"), "12,345 tokens");
  await at(1, "context");
  await until(page, () => document.querySelector("rhae-player").shadowRoot.querySelector(".reasoning").textContent.includes("CALL OF python"));
  assert.deepEqual(page.errors, []);
});

test("visitors cannot read each other's plays, and the cookie is hidden from scripts and other sites", async () => {
  const page = await visitor();
  await page.goto("/play/kq19");
  await ready(page);
  await playSteps(page, ["ArrowUp"]);
  const [cookie] = await page.context().cookies();
  assert.deepEqual([cookie.name, cookie.httpOnly, cookie.sameSite], ["rhae_key", true, "Lax"]);
  assert.equal(await page.evaluate(() => document.cookie), "");
  await page.goto("/replay");
  const replay = await page.locator(".mine tbody a").first().getAttribute("href");
  await page.goto(replay);
  const card = await page.getByRole("link", { name: "scorecard", exact: true }).getAttribute("href");
  const guid = replay.split("/").pop();
  const other = await visitor();
  await other.goto("/play/kq19");
  await ready(other);
  await playSteps(other, ["ArrowUp"]);
  const foreign = [replay, card, `/watch/${guid}`, `/replay/${guid}/film`, `/replay/${guid}/reasoning?from=0`, `/replay/${guid}/recording.jsonl`];
  foreign.push(`/replay/${guid}/times`, `/replay/${guid}/work`, `/replay/${guid}/perception`, `/watch/${guid}/events`, `/watch/${guid}/now.png`, `${card}/scorecard.json`, `${card}/scorecard.csv`);
  const anonymous = await browser.newContext({ baseURL: server.url });
  for (const path of foreign) {
    assert.equal((await other.request.get(path)).status(), 404, path);
    assert.ok([401, 404].includes((await anonymous.request.get(path)).status()), path);
    const mine = path.endsWith("now.png") || path.endsWith("/events") ? null : await page.request.get(path);
    if (mine) assert.equal(mine.status(), 200, path);
  }
  await other.goto("/watch");
  assert.equal(await other.locator(`a[href*="${guid}"]`).count(), 0);
  // A cross-site request is treated as one without a key.
  const body = { data: { tags: [] }, headers: { "Sec-Fetch-Site": "cross-site" } };
  assert.equal((await page.request.post("/api/scorecard/open", body)).status(), 401);
  const policy = (await page.request.get("/")).headers()["content-security-policy"];
  assert.ok(policy.includes("default-src 'none'") && policy.includes("script-src 'self';") && !policy.includes("unsafe"));
  assert.deepEqual(page.errors, []);
});

test("an invitation admits a limited number of visitors; others are redirected to sign-in", async () => {
  const closed = await TestServer.start("--auth", "keys", "--visitors", "invite");
  try {
    const link = closed.run("keys", "invite", "--name", "study", "--visitors", "1", "--url", closed.url, "--db", closed.db).trim();
    const page = await visitor({}, closed);
    await page.goto("/");
    assert.ok(page.url().endsWith("/enter"));
    await page.fill("#key", "rhae_wrong");
    await page.click("button.strong");
    await page.getByText("This key is not valid on this server.").waitFor();
    await page.goto(link);
    await page.getByRole("button", { name: "Accept invitation" }).click();
    await page.waitForURL(`${closed.url}/`);
    await page.click('a[href^="/play/kq19"]');
    await ready(page);
    await playSteps(page, ["ArrowUp"]);
    const late = await visitor({}, closed);
    assert.equal((await late.goto(link)).status(), 404);
    // The invitation token is not an API key.
    assert.equal((await fetch(`${closed.url}/api/games`, { headers: { "X-API-Key": link.split("/").pop() } })).status, 401);
    await page.getByRole("link", { name: "All environments" }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.waitForURL("**/enter");
    assert.deepEqual(page.errors, []);
  } finally {
    await closed.stop();
  }
});

test("with open access every visitor sees all plays and scorecards but continues only their own", async () => {
  const open = await TestServer.start();
  try {
    const agent = open.agent("anything");
    const play = await agent.open("kq19");
    await agent.act(play, 1);
    const page = await visitor({}, open);
    await page.goto("/scorecards");
    await page.locator(`a[href="/scorecards/${play.card_id}"]`).click();
    await page.getByRole("link", { name: "replay", exact: true }).first().click();
    await replayLoaded(page);
    assert.equal(await moments(page), 2);
    await page.goto("/play/kq19");
    await ready(page);
    assert.equal(await number(page, "actions"), 0);
    await playSteps(page, ["ArrowUp", "ArrowUp"]);
    await page.reload();
    await ready(page);
    assert.equal(await number(page, "actions"), 2);
    assert.deepEqual(page.errors, []);
  } finally {
    await open.stop();
  }
});
