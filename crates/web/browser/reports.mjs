/** The pictures of reports in the documentation: the validation of a game that is broken on purpose, and the states of a level. */

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { launch } from "./bench.mjs";

const [out, repository] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "rhae-reports-"));

/** Runs a command from the repository; one that finds something wrong with a game has done what was asked for. */
function rhae(...args) {
  const { error, status, stderr } = spawnSync(process.env.RHAE_BINARY, args, { cwd: repository, encoding: "utf8" });
  if (error || (status !== 0 && stderr)) throw error ?? new Error(stderr);
}

const browser = await launch();
try {
  const evidence = join(folder, "ev");
  const pages = { validate: join(folder, "validate.html"), explore: join(folder, "explore.html") };
  rhae("validate", "hd01", "--games-dir", "fixtures/games-broken", "--steps", "300", "--nodes", "60", "--html", pages.validate, "--evidence", evidence);
  rhae("explore", "kq19", "--level", "1", "--picture", pages.explore);
  const page = await browser.newPage({ viewport: { width: 900, height: 600 }, colorScheme: "light" });
  await page.goto(pathToFileURL(pages.validate).href);
  // The folder of this run is nobody else's.
  await page.evaluate((own) => {
    for (const code of document.querySelectorAll("code")) code.textContent = code.textContent.replace(own, "ev");
  }, evidence);
  // Down to the rule after the first that shows plays.
  const end = await page.locator("details", { has: page.locator("code", { hasText: /^reset$/ }) }).boundingBox();
  await page.screenshot({ path: join(out, "validate.png"), fullPage: true, clip: { x: 0, y: 0, width: 900, height: end.y } });
  await page.goto(pathToFileURL(pages.explore).href);
  await page.screenshot({ path: join(out, "explore.png"), fullPage: true });
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
