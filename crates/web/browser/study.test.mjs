/** Tests of the pages of a study in a real browser against a real server: participants from the link to the completion code. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";

import { TestServer, launch, ready } from "./test_server.mjs";
import { serious, windows } from "./visitor.mjs";
import { TestStudy, act, begin, enter, heading, leave, press, solution, spend } from "./study.mjs";

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

test("a person goes from the link to the completion code", async () => {
  const clocked = await TestServer.startSimulated();
  try {
    await journey(clocked);
  } finally {
    await clocked.stop();
  }
});

/** The journey of a person on a server with a simulated clock, under the limits of the protocol. @param {TestServer} clocked */
async function journey(clocked) {
  const study = await TestStudy.open(clocked, "journey");
  const page = await visitor({}, clocked);
  const path = await study.link();
  await page.goto(`${path}/consent?language=de`);
  await page.getByText("Sie nehmen an einer Studie teil.").waitFor();
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Download a copy" }).click()]);
  assert.match(readFileSync(await file.path(), "utf8"), /^Sie nehmen an einer Studie teil/);
  // Without the tick that is required, nothing is sent.
  await press(page, "Take part");
  await heading(page, "Your consent");
  await enter(page, path);

  const first = await leftEnvironment(clocked, study, page);
  await otherPerson(clocked, study);
  const second = await solvedEnvironment(clocked, study, page, path);

  // The third environment is continued in another browser, until the server closes it after 30 minutes.
  await begin(page, "Next environment");
  const { environment, sitting_ms: before } = await study.live();
  const third = solution(environment)[0];
  await act(page, third.slice(0, 1));
  await page.close();
  const other = await visitor({}, clocked);
  await other.goto(path);
  await ready(other);
  await act(other, third.slice(1));
  assert.equal((await study.live()).level, 2);
  for (const [minutes, says] of [[20, "20 minutes"], [5, "25 minutes"]]) {
    await spend(clocked, path, minutes * MINUTE_MS);
    await other.getByText(`You have spent ${says} on this one. It closes in`).waitFor();
    await press(other, "Go on");
  }
  await spend(clocked, path, 5 * MINUTE_MS - 1);
  assert.equal((await study.live()).attempt_ms, 30 * MINUTE_MS - 1);
  await clocked.pass(1);
  await heading(other, "Closed");
  await other.getByText("The time for this environment is over.").waitFor();

  // Every environment was seen, so the sitting is over.
  await press(other, "Next environment");
  await heading(other, "Thank you");
  assert.equal(await other.locator("[data-show=solved]").textContent(), "1");
  assert.equal(await other.locator("[data-show=total]").textContent(), "135.00 USD");
  assert.equal(await other.locator("[data-show=code]").textContent(), "C0MPLETE");
  await other.getByLabel("A comment").fill("I liked it.");
  await press(other, "Send");
  await other.getByText("your comment is stored").waitFor();

  // The sitting of the person who withdrew and deleted the data is gone.
  const [sitting, ...more] = await study.sittings();
  assert.deepEqual(more, []);
  const ends = sitting.attempts.map(({ outcome, levels_completed, actions, duration_ms }) => [outcome, levels_completed, actions, duration_ms]);
  assert.deepEqual(ends, [["left", 1, first, FIRST_MS], ["solved", 8, second, SECOND_MS], ["hard_limit", 1, third.length, 30 * MINUTE_MS]]);
  assert.equal(before, FIRST_MS + SECOND_MS);
  assert.deepEqual(sitting.comments, ["I liked it."]);
  assert.deepEqual([...page.errors, ...other.errors], []);
}

const MINUTE_MS = 60_000;
/** Four seconds of play, and the first fifteen of an outage. */
const FIRST_MS = 4000 + 15_000;
const SECOND_MS = 9000;

/** Plays the first environment with a reload and an outage in the middle, and leaves it. Returns the number of actions. */
async function leftEnvironment(clocked, study, page) {
  await begin(page, "Begin");
  const steps = solution((await study.live()).environment)[0];
  await act(page, steps.slice(0, 2));
  await clocked.pass(4000);
  await page.reload();
  await ready(page);
  let executed = 0;
  let lost = 2;
  await page.route("**/api/sitting/actions/**", async (route) => {
    if (executed++ >= lost) return route.continue();
    // The server executes the action, but its response is lost: the retries must not add actions.
    await route.fetch();
    await route.abort();
  });
  await act(page, steps.slice(2, 3));
  assert.ok(executed > lost);
  lost = 0;
  await page.context().setOffline(true);
  await page.getByText("Connection lost").waitFor();
  // Input while disconnected is ignored. The outage takes two minutes, and the clock stops after 15 seconds.
  await page.keyboard.press("r");
  await clocked.pass(2 * MINUTE_MS);
  await page.context().setOffline(false);
  await page.getByText("Connection lost").waitFor({ state: "hidden" });
  await act(page, steps.slice(3));
  const { level, attempt_ms } = await study.live();
  assert.deepEqual([level, attempt_ms], [2, FIRST_MS]);
  await leave(page);
  await page.getByText("You left this environment.").waitFor();
  return steps.length;
}

/** Another person plays at the same time, and withdraws and deletes the data. */
async function otherPerson(clocked, study) {
  const page = await visitor({}, clocked);
  await enter(page, await study.link());
  await begin(page, "Begin");
  await page.getByRole("link", { name: "Withdraw" }).click();
  await press(page, "Stop and delete");
  await press(page.getByRole("dialog"), "Withdraw");
  await heading(page, "You have withdrawn");
  assert.deepEqual(page.errors, []);
  await page.context().close();
}

/** Solves the second environment after a pause, in which the clock stands still. Returns the number of actions. */
async function solvedEnvironment(clocked, study, page, path) {
  await press(page, "Pause");
  await heading(page, "Pause");
  await spend(clocked, path, MINUTE_MS);
  await press(page, "Continue");
  await heading(page, "Closed");
  await begin(page, "Next environment");
  const levels = solution((await study.live()).environment);
  await act(page, levels[0]);
  await spend(clocked, path, SECOND_MS);
  for (const level of levels.slice(1)) await act(page, level);
  // If a contact learns of the end before the action does, the page continues by itself.
  const onward = page.getByRole("link", { name: "Continue" });
  await onward.or(page.getByRole("heading", { name: "Finished", level: 1 })).first().waitFor();
  if (await onward.isVisible()) await onward.click();
  await heading(page, "Finished");
  return levels.flat().length;
}

test("the clock of the server asks to conclude, and then closes an environment", async () => {
  const study = await TestStudy.open(server, "limits", { limits: { prompts_s: [1], hard_s: 8 } });
  const page = await visitor();
  await enter(page, await study.link());
  await begin(page, "Begin");
  await page.getByText("It closes in").waitFor();
  await press(page, "Go on");
  assert.equal(await page.getByText("It closes in").isVisible(), false);
  await heading(page, "Closed");
  await page.getByText("The time for this environment is over.").waitFor();
  await press(page, "End the session");
  await press(page.getByRole("dialog"), "End the session");
  await heading(page, "Thank you");
  const [sitting] = await study.sittings();
  assert.deepEqual(sitting.attempts.map(({ outcome }) => outcome), ["hard_limit"]);
  assert.deepEqual(page.errors, []);
});

test("people decline, and withdraw with and without their data", async () => {
  const study = await TestStudy.open(server, "withdrawals");
  const declining = await visitor();
  await declining.goto(`${await study.link()}/consent`);
  await press(declining, "I do not want to take part");
  await heading(declining, "You did not take part");
  await declining.getByText("N0CONSENT").waitFor();
  for (const [button, says] of [["Stop, keep my data", "is kept"], ["Stop and delete", "was deleted"]]) {
    const page = await visitor();
    const path = await study.link();
    await enter(page, path);
    await begin(page, "Begin");
    await page.getByRole("link", { name: "Withdraw" }).click();
    await press(page, button);
    await press(page, "Stay");
    await press(page, button);
    await press(page.getByRole("dialog"), "Withdraw");
    await heading(page, "You have withdrawn");
    await page.getByText(says).waitFor();
    assert.match(await page.locator("[data-show=receipt-number]").textContent(), /\w{4,}/);
    await page.goto(path);
    await heading(page, "You have withdrawn");
    assert.deepEqual(page.errors, []);
  }
  assert.equal((await study.sittings()).length, 1);
});

test("an environment is played with the keyboard alone, and its page shows no ids or counts", async () => {
  const study = await TestStudy.open(server, "keyboard");
  const page = await visitor();
  await enter(page, await study.link());
  await page.getByRole("button", { name: "Begin", exact: true }).focus();
  await page.keyboard.press("Enter");
  await ready(page);
  const { environment } = await study.live();
  const html = await page.content();
  assert.ok(!html.includes(environment.split("-")[0]) && !html.includes("journey"));
  // RESET with nothing done since the level began changes nothing.
  await act(page, ["r", ...solution(environment)[0]]);
  assert.equal((await study.live()).level, 2);
  await page.getByRole("button", { name: "Leave this one", exact: true }).focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await heading(page, "Closed");
  assert.deepEqual(page.errors, []);
});

for (const [size, options] of Object.entries({ laptop: {}, phone: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }, kiosk: { viewport: { width: 1920, height: 1080 } } })) {
  test(`axe finds no serious violation on the pages of a participant on a ${size}, in both themes`, async () => {
    const study = await TestStudy.open(server, `appearance-${size}`, { limits: { prompts_s: [1] } });
    const page = await visitor({ ...options, bypassCSP: true });
    const width = page.viewportSize().width;
    const found = [];
    const seen = async (name) => {
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= width, `${name} is ${wide} wide`);
      for (const colorScheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme });
        found.push(...(await serious(page, `${colorScheme} ${name}`)));
      }
    };
    const path = await study.link();
    await enter(page, path, seen);
    await begin(page, "Begin");
    await page.getByText("It closes in").waitFor();
    await seen("environment");
    await leave(page);
    await seen("between");
    await press(page, "Pause");
    await heading(page, "Pause");
    await seen("pause");
    await press(page, "Continue");
    await heading(page, "Closed");
    await page.goto(`${path}/withdraw`);
    await seen("withdraw");
    await page.goto(path);
    await press(page, "End the session");
    await press(page.getByRole("dialog"), "End the session");
    await heading(page, "Thank you");
    await seen("end");
    assert.deepEqual(found, []);
    assert.deepEqual(page.errors, []);
  });
}

test("unknown links give an error page, and looking at a link changes nothing", async () => {
  const study = await TestStudy.open(server, "looking");
  const page = await visitor();
  assert.equal((await page.goto(`/s/${"0".repeat(40)}`)).status(), 404);
  const path = await study.link();
  const before = (await study.api.get(study.path)).records;
  for (const place of ["", "/consent", "/withdraw"]) assert.equal((await page.goto(path + place)).status(), 200);
  assert.equal((await study.api.get(study.path)).records, before);
  assert.deepEqual(page.errors, []);
});
