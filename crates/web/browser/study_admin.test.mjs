/** A test of the pages of researchers in a real browser against a real server: a study from nothing to published baselines and pay. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";

import { TestServer, launch } from "./test_server.mjs";
import { replayLoaded, serious, windows } from "./visitor.mjs";
import { TestStudy, act, begin, enter, heading, leave, press, solution } from "./study.mjs";

let browser, server, visitor;
/** For the identity key and for downloads. */
const folder = mkdtempSync(join(tmpdir(), "rhae-study-"));

before(async () => {
  browser = await launch();
  server = await TestServer.start("--identity-key", join(folder, "identity.key"));
  visitor = windows(browser, server);
});
after(async () => {
  await browser?.close();
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Clicks a link and returns the path of the file that it downloads. */
async function download(page, name) {
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name }).click()]);
  const path = join(folder, file.suggestedFilename());
  await file.saveAs(path);
  return path;
}

/** Unpacks an export and compares every file with the manifest. Returns a function that reads a file. */
function unpacked(archive) {
  const root = archive.replace(/\.tar$/, "");
  mkdirSync(root);
  execFileSync("tar", ["-xf", archive, "-C", root, "--strip-components=1"]);
  const read = (name) => readFileSync(join(root, name), "utf8");
  const { files } = JSON.parse(read("manifest.json"));
  for (const { path, rows, sha256 } of files) {
    const text = read(path);
    assert.equal(createHash("sha256").update(text).digest("hex"), sha256, path);
    if (path.endsWith(".tsv")) assert.equal(text.trimEnd().split("\n").length, rows + 1, path);
  }
  return { read, names: files.map(({ path }) => path) };
}

test("a researcher sets up a study, watches it, reviews it, publishes, pays and exports", async () => {
  const page = await visitor({ bypassCSP: true });
  const found = [];
  const open = async (tab) => {
    await page.getByRole("navigation", { name: "Study" }).getByRole("link", { name: tab }).click();
    await page.locator("[aria-current=page]", { hasText: tab }).waitFor();
    found.push(...(await serious(page, tab)));
  };
  await page.goto("/studies");
  found.push(...(await serious(page, "/studies")));
  await page.getByLabel("Id", { exact: true }).fill("lab");
  await page.getByLabel("Title").fill("A study");
  await page.getByLabel("Consent text").fill("You take part.");
  for (const id of ["pz19-v1", "ym39-v1"]) await page.getByLabel(id).check();
  await press(page, "Create a draft");
  await page.waitForURL("**/studies/lab");
  await page.getByText("Nothing has to be corrected.").waitFor();
  const protocol = page.getByRole("textbox", { name: "Limits, targets" });
  // What is not JSON is not sent.
  const text = await protocol.inputValue();
  await protocol.fill("{");
  await press(page, "Save the protocol");
  assert.ok(await protocol.evaluate((field) => field.validationMessage.includes("not valid JSON")));
  await protocol.fill(text.replace('"target": 10', '"target": 3'));
  await Promise.all([page.waitForEvent("load"), press(page, "Save the protocol")]);
  assert.match(await protocol.inputValue(), /"target": 3/);
  await press(page, "Freeze the protocol");
  await press(page, "Continue");
  await press(page, "Open the study");
  await page.getByRole("button", { name: "Pause", exact: true }).waitFor();
  await press(page, "Create personal links");
  const link = await page.getByRole("status").getByRole("link").getAttribute("href");
  assert.match(link, /^\/s\/[0-9a-f]{40}$/);

  const person = await visitor();
  await enter(person, link);
  await begin(person, "Begin");
  await open("Live");
  const row = page.locator("[data-show=live] tbody tr");
  const environment = (await row.locator("td").nth(2).textContent()).trim();
  await act(person, solution(environment)[0]);
  await row.locator("td:nth-child(4)", { hasText: "2" }).waitFor();
  // An attempt has more than 30 actions.
  await act(person, Array(16).fill(["1,1", "r"]).flat());
  await leave(person);
  await press(person, "End the session");
  await press(person.getByRole("dialog"), "End the session");
  await heading(person, "Thank you");

  await open("Coverage");
  await page.getByRole("link", { name: environment }).click();
  await page.getByRole("heading", { name: environment }).waitFor();
  found.push(...(await serious(page, "environment")));
  const stopped = page.getByRole("region", { name: "Plays that ended unsolved" }).locator("tbody tr");
  assert.equal(await stopped.count(), 1);
  // The figures show the one person: a dot on the first level, and as many clicks as the solution has.
  assert.equal(await page.getByRole("img", { name: "Actions of every person" }).locator("circle").count(), 1);
  await page.getByRole("img", { name: "Attempts by duration" }).waitFor();
  const clicks = solution(environment)[0].filter((step) => step.includes(",")).length;
  if (clicks > 0) await page.getByRole("img", { name: `${clicks} clicks on level 1` }).waitFor();
  await stopped.getByRole("link", { name: "Replay" }).click();
  await replayLoaded(page);
  // The participant's own pace can be chosen.
  await page.getByLabel("Speed").selectOption("recorded");
  await page.goBack();
  // The author gets a file that needs no server.
  const report = await download(page, "Download the report for the author");
  const author = await visitor({ bypassCSP: true });
  await author.goto(pathToFileURL(report).href);
  await author.getByRole("heading", { name: environment }).waitFor();
  await author.getByText("Play 1: stopped on level 2").waitFor();
  // A film is unpacked when it becomes visible.
  await author.locator("rhae-player").scrollIntoViewIfNeeded();
  await replayLoaded(author);
  for (const colorScheme of ["light", "dark"]) {
    await author.emulateMedia({ colorScheme });
    found.push(...(await serious(author, `${colorScheme} report for the author`)));
  }

  await open("Results");
  assert.equal(await page.getByRole("region", { name: "Numbers of the study" }).locator("tbody tr").count(), 4);
  // One person is a group that is too small to be shown.
  await page.getByText("too few to be shown").first().waitFor();

  await open("Sittings");
  await page.getByText("Exclude", { exact: true }).first().click();
  const exclude = page.locator("form[data-command=exclude]");
  await exclude.getByLabel("Reason").fill("a phone rang");
  await exclude.getByRole("button").click();
  await page.getByText("a phone rang").waitFor();
  const undo = page.locator("form[data-command=undo]");
  await undo.getByLabel("Reason").fill("it did not matter");
  await undo.getByRole("button").click();
  await page.getByText("it did not matter").waitFor();

  await open("Baselines");
  await press(page, "Publish revision 1");
  await press(page, "Publish");
  const published = JSON.parse(readFileSync(await download(page, "Revision 1"), "utf8"));
  const [level] = published.environments.find((one) => one.environment === environment).levels;
  assert.deepEqual([published.revision, level.completed, level.best], [1, 1, solution(environment)[0].length]);

  await open("Payments");
  // A quarter of an hour has begun, of six.
  assert.equal(await page.locator("[data-show=due]").textContent(), "21.67 USD");
  const due = readFileSync(await download(page, "What is due, as CSV"), "utf8").trim().split("\n");
  assert.equal(due.length, 2);
  assert.match(due[1], /21\.67/);
  for (const [command, status, facts] of [["send_payments", "sent", "Due 0.00 USD Sent 21.67 USD Confirmed 0.00 USD"], ["confirm_payments", "confirmed", "Due 0.00 USD Sent 0.00 USD Confirmed 21.67 USD"]]) {
    const form = page.locator(`form[data-command=${command}]`);
    await form.getByLabel("Batch").fill("first");
    await form.getByRole("button").click();
    await page.getByRole("region", { name: "Ledger" }).getByRole("cell", { name: status, exact: true }).waitFor();
    assert.equal((await page.locator("dl.facts").innerText()).replaceAll(/\s+/g, " "), `${facts} The books balance`);
  }

  await open("Data");
  const all = unpacked(await download(page, "All tables"));
  const attempts = all.read("beh/study-lab_table-attempts_beh.tsv").trimEnd().split("\n").map((line) => line.split("\t"));
  const [columns, ...rows] = attempts;
  assert.deepEqual(rows.map((row) => row[columns.indexOf("outcome")]), ["left"]);
  assert.ok(all.names.includes("dataset_description.json") && all.names.includes("data/study-lab_table-levels_data.csv"));
  assert.equal(all.names.filter((name) => name.startsWith("recordings/")).length, 1);
  // The person agreed to the publication of replays, but one person is fewer than k.
  const open_data = unpacked(await download(page, "Only what may be published"));
  assert.ok(open_data.names.includes("recordings/play-00001.jsonl"));
  assert.equal(open_data.read("beh/study-lab_table-participants_beh.tsv").includes("rather not say"), false);
  assert.deepEqual(found, []);
  assert.deepEqual([...page.errors, ...person.errors, ...author.errors], []);
});

test("staff plan a session and check a person in, and the seat's machine shows the person's pages", async () => {
  await TestStudy.open(server, "room", { sites: [{ site: "lab", seats: 2 }] });
  const page = await visitor();
  await page.goto("/studies/room");
  await press(page, "Create personal links");
  const text = await page.getByRole("status").getByRole("listitem").textContent();
  const participant = text.split(":")[0].trim();
  await page.getByRole("navigation", { name: "Study" }).getByRole("link", { name: "Sessions" }).click();
  const plan = page.locator("form[data-command=schedule_session]");
  await plan.getByLabel("Id").fill("monday");
  await plan.getByLabel("Start").fill("2026-11-23T10:00");
  await plan.getByLabel("Places").fill("1");
  await plan.getByRole("button").click();
  await page.getByText("0 of 1 places booked").waitFor();
  await press(page, "Show the links");
  const seat = await page.getByRole("listitem").filter({ hasText: "lab, seat 2" }).getByRole("link").getAttribute("href");

  const kiosk = await visitor({ viewport: { width: 1920, height: 1080 } });
  await kiosk.goto(seat);
  await heading(kiosk, "Seat 2");
  const book = page.locator("form[data-command=book]");
  await book.getByLabel("Participant").fill(participant);
  await book.getByRole("button").click();
  await page.getByText("1 of 1 places booked").waitFor();
  const list = page.getByRole("region", { name: "Check-in list of monday" });
  await list.getByLabel("Seat").fill("2");
  await list.getByRole("button", { name: "Check in" }).click();
  await page.getByText("1 present").waitFor();

  // The page of the seat continues by itself, and after the session it keeps nothing and waits for the next person.
  await heading(kiosk, "Welcome");
  await enter(kiosk, seat);
  await begin(kiosk, "Begin");
  await leave(kiosk);
  await press(kiosk, "End the session");
  await press(kiosk.getByRole("dialog"), "End the session");
  await heading(kiosk, "Thank you");
  const kept = () => kiosk.evaluate(() => [localStorage.length, sessionStorage.length, document.cookie]);
  assert.deepEqual(await kept(), [0, 0, ""]);
  assert.deepEqual([...page.errors, ...kiosk.errors], []);
});
