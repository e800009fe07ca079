/** Takes the screenshots of reports for the documentation: the validation of a deliberately broken game, and the states of a level. */

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { launch } from "./test_server.mjs";

const [out, repository] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "rhae-reports-"));

/** Runs a command in the repository. A non-zero status without error output is expected: it reports findings about a game. */
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
  // Replace the temporary folder in the page by a short name.
  await page.evaluate((own) => {
    for (const code of document.querySelectorAll("code")) code.textContent = code.textContent.replace(own, "ev");
  }, evidence);
  // Clip the screenshot at the rule `reset`.
  const end = await page.locator("details", { has: page.locator("code", { hasText: /^reset$/ }) }).boundingBox();
  await page.screenshot({ path: join(out, "validate.png"), fullPage: true, clip: { x: 0, y: 0, width: 900, height: end.y } });
  await page.goto(pathToFileURL(pages.explore).href);
  await page.screenshot({ path: join(out, "explore.png"), fullPage: true });
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
