/** What visitors do in every test: open windows, come in with a key, wait for a film. */

import { until } from "./bench.mjs";

/** Opens windows of a browser on a server, or on another one; what a page reports as an error is in its `faults`. */
export function windows(browser, bench) {
  return async (options = {}, base = bench) => {
    const context = await browser.newContext({ baseURL: base.url, viewport: { width: 1440, height: 900 }, reducedMotion: "reduce", ...options });
    context.setDefaultTimeout(20000);
    const page = await context.newPage();
    page.faults = [];
    page.on("pageerror", (error) => page.faults.push(String(error)));
    page.on("console", (message) => {
      if (message.type() === "error" && !/ERR_INTERNET_DISCONNECTED|ERR_FAILED|status of (4|5)\d\d/.test(message.text())) page.faults.push(message.text());
    });
    page.on("dialog", (dialog) => {
      page.faults.push(`a dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    return page;
  };
}

export async function enter(page, key) {
  await page.goto("/enter");
  await page.fill("#key", key);
  await page.click("button.strong");
  await page.waitForURL("**/scorecards");
}

export const number = async (page, name) => Number(await page.locator(`[data-show=${name}]`).first().textContent());
export const moments = (page) => page.evaluate(() => document.querySelector("rhae-player").moments.length);
export const filmed = (page) => until(page, () => document.querySelector("rhae-player")?.moments?.length > 0);
