/** A test of the pages of leaderboards in a real browser against a real server, with a board whose rows were replayed. */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { TestServer, launch } from "./test_server.mjs";
import { moments, replayLoaded, serious, windows } from "./visitor.mjs";

let browser, server, visitor;

before(async () => {
  browser = await launch();
  server = await TestServer.start();
  visitor = windows(browser, server);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** Describes a system in a file. */
function system(name, author) {
  const path = join(server.folder, `${name}.json`);
  const described = {
    name,
    version: "1",
    authors: [{ name: author, link: "https://example.org" }],
    description: "It walks at random.",
    code_url: "https://example.org/code",
    models: ["none"],
    exposure: "none",
  };
  writeFileSync(path, JSON.stringify(described));
  return path;
}

/** Runs a command of `rhae board` on the board `main`. */
const board = (command, ...args) => server.run("board", command, "main", ...args, "--db", server.db);

test("a visitor finds a board, its ranks, and what a row proves", async () => {
  const page = await visitor({ bypassCSP: true });
  const found = [];
  const check = async (name) => found.push(...(await serious(page, name)));
  await page.goto("/boards");
  await page.getByText("There are no leaderboards yet.").waitFor();
  await check("no boards");

  board("init", "--title", "Two environments", "--games", "kq19,ym39", "--budget", "40");
  for (const seed of ["1", "2"]) {
    const run = join(server.folder, `run-${seed}`);
    server.run("run", "--agent", "random", "--games", "kq19,ym39", "--budget", "40", "--seed", seed, "--out", run);
    board("submit", "--entry", `walker-${seed}`, "--system", system(`Walker ${seed}`, `Author ${seed}`), "--run", run);
  }
  board("submit", "--entry", "claim", "--system", system("Claim", "Cy"));
  board("retract", "--entry", "walker-2", "--reason", "bug-theirs", "--note", "a wrong seed");
  board("release");

  await page.goto("/boards");
  await check("boards");
  await page.getByRole("link", { name: "Two environments" }).click();
  await page.getByRole("heading", { name: "Two environments", level: 1 }).waitFor();
  await check("board");
  const rows = page.getByRole("region", { name: "Rows" }).locator("tbody tr");
  assert.equal(await rows.count(), 3);
  assert.match(await rows.first().innerText(), /^1\s+1–1\s+Walker 1 1/);
  // A claim and a retracted row have no number.
  for (const name of ["Claim", "Walker 2"]) {
    const row = rows.filter({ hasText: name });
    assert.deepEqual(await row.locator("td.num").allInnerTexts(), ["–", "–", "–", "–", "–", "unknown"]);
  }
  await page.getByRole("region", { name: "Published results" }).getByText("Opus 4.6").first().waitFor();
  const plot = page.getByRole("img", { name: "Score against cost" });
  assert.ok(await plot.evaluate((image) => image.complete && image.naturalWidth > 0));

  await page.getByRole("link", { name: "Walker 1 1" }).click();
  await page.getByText("It does not prove: Who chose the actions").waitFor();
  await check("row");
  await page.getByRole("link", { name: /Replay of kq19/ }).click();
  await replayLoaded(page);
  assert.ok((await moments(page)) > 10);
  await check("replay");
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Recording" }).click()]);
  assert.match(readFileSync(await file.path(), "utf8"), /"format":"rhae-recording"/);
  await page.goto("/boards/main/walker-2");
  await page.getByText("Retracted on").waitFor();
  await check("tombstone");

  // The picture and the export are files.
  await page.goto("/boards/main");
  for (const [name, start] of [["Plot as PNG", "\u0089PNG"], ["Export", "main/"]]) {
    const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name, exact: true }).click()]);
    assert.ok(readFileSync(await saved.path(), "latin1").startsWith(start), name);
  }

  // A board of static tasks says what its rows do not prove.
  const same = { input: [[1, 2], [3, 0]], output: [[1, 2], [3, 0]] };
  const data = join(server.folder, "two.json");
  writeFileSync(data, JSON.stringify({ t1: { train: [same, same], test: [same] }, t2: { train: [same, same], test: [{ ...same, output: [[4]] }] } }));
  server.run("board", "init", "arc", "--title", "Two tasks", "--tasks", data, "--db", server.db);
  const run = join(server.folder, "eval");
  server.run("arc", "eval", "--solver", "search", "--data", data, "--out", run);
  server.run("board", "submit", "arc", "--entry", "search", "--system", system("Search", "Di"), "--run", run, "--db", server.db);
  await page.goto("/boards/arc");
  await check("tasks");
  assert.match(await page.getByRole("region", { name: "Rows" }).locator("tbody tr").innerText(), /50\.00.*1\.0 \/ 2/s);
  await page.getByRole("link", { name: "Search 1" }).click();
  await page.getByText("It answered 2 tasks and solved 1 of their tests.").waitFor();
  await page.getByText("Who or what gave the answers").waitFor();
  await check("row of tasks");

  // On a telephone only the tables scroll sideways.
  await page.setViewportSize({ width: 360, height: 740 });
  for (const path of ["/boards", "/boards/main", "/boards/main/walker-1", "/boards/arc", "/boards/arc/search"]) {
    await page.goto(path);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), path);
  }
  assert.deepEqual(found, []);
  assert.deepEqual(page.errors, []);
});
