/** Tests of the pages of a study in a real browser against a real server: participants from the link to the completion code. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";

import { TestServer, launch, ready } from "./test_server.mjs";
import { serious, windows } from "./visitor.mjs";
import { TestStudy, act, begin, enter, heading, leave, press, solution } from "./study.mjs";

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
  const study = await TestStudy.open(server, "journey");
  const page = await visitor();
  const path = await study.link();
  await page.goto(`${path}/consent?language=de`);
  await page.getByText("Sie nehmen an einer Studie teil.").waitFor();
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Download a copy" }).click()]);
  assert.match(readFileSync(await file.path(), "utf8"), /^Sie nehmen an einer Studie teil/);
  // Without the tick that is required, nothing is sent.
  await press(page, "Take part");
  await heading(page, "Your consent");
  await enter(page, path);

  // The first environment: a reload and an outage in the middle, then it is left.
  await begin(page, "Begin");
  const first = solution((await study.live()).environment)[0];
  await act(page, first.slice(0, 2));
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
  await act(page, first.slice(2, 3));
  assert.ok(executed > lost);
  lost = 0;
  await page.context().setOffline(true);
  await page.getByText("Connection lost").waitFor();
  // Input while disconnected is ignored.
  await page.keyboard.press("r");
  await page.context().setOffline(false);
  await page.getByText("Connection lost").waitFor({ state: "hidden" });
  await act(page, first.slice(3));
  assert.equal((await study.live()).level, 2);
  await leave(page);
  await page.getByText("You left this environment.").waitFor();

  // The second one is solved, after a pause.
  await press(page, "Pause");
  await heading(page, "Pause");
  await press(page, "Continue");
  await heading(page, "Closed");
  await begin(page, "Next environment");
  for (const level of solution((await study.live()).environment)) await act(page, level);
  await page.getByRole("link", { name: "Continue" }).click();
  await heading(page, "Finished");

  // The third one is continued in another browser.
  await begin(page, "Next environment");
  const third = solution((await study.live()).environment)[0];
  await act(page, third.slice(0, 1));
  await page.close();
  const other = await visitor();
  await other.goto(path);
  await ready(other);
  await act(other, third.slice(1));
  assert.equal((await study.live()).level, 2);
  await leave(other);
  // Every environment was seen, so the sitting is over.
  await press(other, "Next environment");
  await heading(other, "Thank you");
  assert.equal(await other.locator("[data-show=solved]").textContent(), "1");
  assert.equal(await other.locator("[data-show=total]").textContent(), "135.00 USD");
  assert.equal(await other.locator("[data-show=code]").textContent(), "C0MPLETE");
  await other.getByLabel("A comment").fill("I liked it.");
  await press(other, "Send");
  await other.getByText("your comment is stored").waitFor();

  const [sitting] = await study.sittings();
  assert.deepEqual(sitting.attempts.map(({ outcome, levels_completed }) => [outcome, levels_completed]), [["left", 1], ["solved", 8], ["left", 1]]);
  assert.deepEqual([sitting.attempts[0].actions, sitting.attempts[2].actions], [first.length, third.length]);
  assert.deepEqual(sitting.comments, ["I liked it."]);
  assert.deepEqual([...page.errors, ...other.errors], []);
});

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
