/** A test of the pages of researchers in a real browser against a real server: a study from nothing to published baselines and pay. */

import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { after, before, test } from "node:test";

import { TestServer, launch } from "./test_server.mjs";
import { serious, windows } from "./visitor.mjs";
import { act, begin, enter, heading, leave, press, solution } from "./study.mjs";

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
  await leave(person);
  await press(person, "End the session");
  await press(person.getByRole("dialog"), "End the session");
  await heading(person, "Thank you");

  await open("Coverage");
  await page.getByRole("link", { name: environment }).click();
  await page.getByRole("heading", { name: environment }).waitFor();
  found.push(...(await serious(page, "environment")));
  assert.equal(await page.getByRole("region", { name: "Plays that ended unsolved" }).locator("tbody tr").count(), 1);

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
  await page.getByRole("link", { name: "Revision 1" }).waitFor();

  await open("Payments");
  // A quarter of an hour has begun, of six.
  assert.equal(await page.locator("[data-show=due]").textContent(), "21.67 USD");
  const send = page.locator("form[data-command=send_payments]");
  await send.getByLabel("Batch").fill("first");
  await send.getByRole("button").click();
  await page.locator("[data-show=sent]", { hasText: "21.67 USD" }).waitFor();

  await open("Data");
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "All tables" }).click()]);
  assert.ok(statSync(await file.path()).size > 1000);
  assert.deepEqual(found, []);
  assert.deepEqual([...page.errors, ...person.errors], []);
});
