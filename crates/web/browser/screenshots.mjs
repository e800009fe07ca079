/** Takes the screenshots for the documentation: every page in both themes, on a server with plays of an agent and a person. */

import { join } from "node:path";

import { TestServer, SOLUTIONS, launch, playSteps, ready, until } from "./test_server.mjs";
import { TestStudy, act, begin, enter, heading, leave, solution } from "./study.mjs";

const out = process.argv[2];
/** The part of a page that a table with a few rows fills. */
const TABLE = { x: 0, y: 0, width: 1280, height: 380 };
const server = await TestServer.start();
const keyServer = await TestServer.start("--auth", "keys");
const browser = await launch();
try {
  // A card of an agent with plays of several environments.
  const agent = server.agent("screenshots");
  const { card_id } = await agent.post("/api/scorecard/open", { tags: ["agent", "explorer", "demonstration"], opaque: { model: { name: "none", budget: "5x" }, note: "made for the documentation" } });
  const plays = [];
  for (const [game, wander] of [["kq19", [2, 1, 3, 1, 1, 4]], ["ny40", [1, 4, 2, 2, 3]], ["pz19", [4, 3]], ["hk26", [4, 4, 2, 3, 1, 5, 4]]]) {
    const { guid } = await agent.post("/api/cmd/RESET", { game_id: game, card_id });
    const play = { guid, game };
    plays.push(play);
    for (let at = 0; at < 40; at++) {
      const answer = await agent.act(play, wander[at % wander.length], { reasoning: `Try ACTION${wander[at % wander.length]} and see what moves. The block at the top has not changed for ${at} actions.` });
      if (answer.state !== "NOT_FINISHED") break;
    }
    await agent.post("/api/cmd/RESET", { game_id: game, guid });
    const solution = { kq19: [1, 1, 1, 1, 4, 4, 4], ny40: [4, 1, 3, 2, 4], pz19: [1, 1, 1], hk26: [4, 4, 4, 5, 2, 2, 3] }[game];
    for (const action of solution) await agent.act(play, action, { reasoning: "The way to the goal is free now: straight on." });
  }
  const study = await TestStudy.open(server, "pictures");
  // Three people with different numbers of actions, for the figures of an environment.
  const figures = await TestStudy.open(server, "figures", { environments: ["pz19"] });
  for (const levels of [2, 1, 3]) {
    const context = await browser.newContext({ baseURL: server.url, viewport: { width: 1280, height: 800 } });
    const person = await context.newPage();
    await enter(person, await figures.link());
    await begin(person, "Begin");
    for (const level of solution("pz19").slice(0, levels)) {
      await act(person, Array(10 + 2 * levels).fill([level[0], "r"]).flat());
      await act(person, level);
    }
    await leave(person);
    await context.close();
  }
  for (const theme of ["light", "dark"]) {
    const context = await browser.newContext({ baseURL: server.url, colorScheme: theme, viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
    const page = await context.newPage();
    const shot = (name) => page.screenshot({ path: join(out, `${name}-${theme}.png`) });
    const film = () => until(page, () => document.querySelector("rhae-player")?.moments?.length > 0);
    for (const game of ["kq19", "ym39"]) {
      await page.goto(`/play/${game}`);
      await ready(page);
      await playSteps(page, SOLUTIONS[game]);
      await until(page, () => document.querySelector("[data-show=level]")?.textContent === "2");
    }
    await page.goto("/play/kq19");
    await ready(page);
    await playSteps(page, ["ArrowUp"]);
    await shot("play");
    await page.goto("/");
    await page.waitForLoadState("networkidle");
    await shot("gallery");
    await page.goto(`/replay/${plays[0].guid}#t=44`);
    await film();
    await page.waitForTimeout(400);
    await shot("replay");
    await page.goto(`/scorecards/${card_id}`);
    await shot("scorecard");
    await page.goto("/scorecards");
    await shot("scorecards");
    await page.goto("/watch");
    await page.waitForLoadState("networkidle");
    await shot("watch");
    await page.goto(`/watch/${plays[1].guid}`);
    await page.getByText("live", { exact: true }).waitFor();
    await page.waitForTimeout(400);
    await shot("watching");
    await page.goto("/replay");
    await shot("drop");
    await page.goto(`${keyServer.url}/enter`);
    await shot("enter");
    await enter(page, await study.link(), async (name) => {
      if (["consent", "check"].includes(name)) await shot(`study-${name}`);
    });
    await begin(page, "Begin");
    const { environment } = await study.live();
    await act(page, solution(environment)[0].slice(0, 2));
    await shot("study-environment");
    for (const [size, width, height] of [["kiosk", 1920, 1080], ["phone", 390, 844]]) {
      await page.setViewportSize({ width, height });
      await page.waitForTimeout(400);
      await shot(`study-${size}`);
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    const researcher = await context.newPage();
    await researcher.goto("/studies/pictures/live");
    await researcher.screenshot({ path: join(out, `study-live-${theme}.png`), clip: TABLE });
    await researcher.close();
    await act(page, solution(environment)[0].slice(2));
    await leave(page);
    await page.getByRole("button", { name: "End the session", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "End the session" }).click();
    await heading(page, "Thank you");
    await shot("study-end");
    await page.goto("/studies/pictures/coverage");
    await page.screenshot({ path: join(out, `study-coverage-${theme}.png`), clip: TABLE });
    await page.goto("/studies/figures/environments/pz19-v1");
    await page.screenshot({ path: join(out, `study-level-${theme}.png`), fullPage: true });
    await page.goto("/studies/pictures/sittings");
    await shot("study-sittings");
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto("/play/kq19");
    await ready(page);
    await shot("phone");
    await context.close();
  }
} finally {
  await browser.close();
  await server.stop();
  await keyServer.stop();
}
