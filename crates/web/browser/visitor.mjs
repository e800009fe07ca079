/** Steps that the tests share: open a window, sign in with a key, wait for a replay. */

import { AXE, until } from "./test_server.mjs";

/** Returns a function that opens browser windows on a server. Script errors and dialogs of a page are collected in its `errors`. */
export function windows(browser, server) {
  return async (options = {}, base = server) => {
    const context = await browser.newContext({ baseURL: base.url, viewport: { width: 1440, height: 900 }, reducedMotion: "reduce", ...options });
    context.setDefaultTimeout(20000);
    const page = await context.newPage();
    page.errors = [];
    page.on("pageerror", (error) => page.errors.push(String(error)));
    page.on("console", (message) => {
      if (message.type() === "error" && !/ERR_INTERNET_DISCONNECTED|ERR_FAILED|status of (4|5)\d\d/.test(message.text())) page.errors.push(message.text());
    });
    page.on("dialog", (dialog) => {
      page.errors.push(`unexpected dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    return page;
  };
}

export async function signIn(page, key) {
  await page.goto("/enter");
  await page.fill("#key", key);
  await page.click("button.strong");
  await page.waitForURL("**/scorecards");
}

export const number = async (page, name) => Number(await page.locator(`[data-show=${name}]`).first().textContent());
export const moments = (page) => page.evaluate(() => document.querySelector("rhae-player").moments.length);
export const replayLoaded = (page) => until(page, () => document.querySelector("rhae-player")?.moments?.length > 0);

/** Lists the serious accessibility violations that axe finds. The content security policy must be bypassed to inject axe. */
export async function serious(page, name) {
  await page.addScriptTag({ path: AXE });
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  const found = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  return found.map(({ id, nodes }) => `${name}: ${id}: ${nodes.map((node) => node.html).join(" | ")}`);
}
