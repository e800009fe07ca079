// @ts-check
/** A replay: of a play of this server, or of a file that is dropped on the page. A moment is named in the address, as `#t=123`. */

import { Reel } from "./reel.js";
import { RhaePlayer } from "./player.js";
import { readRecording } from "./recording.js";
import { filmAsGif, frameAsPng, save } from "./gif.js";

const player = /** @type {RhaePlayer} */ (document.querySelector("rhae-player"));
const form = /** @type {HTMLElement | null} */ (document.querySelector("[data-show=drop]"));
const downloads = /** @type {HTMLElement} */ (document.querySelector(".downloads"));
let name = player.dataset.game ?? "replay";
let speed = Number(player.dataset.speed ?? 10);

/** What was said about actions, as the server gives it: some at a time. @param {string} guid */
export function saidBy(guid) {
  /** @type {Map<number, Promise<Map<number, string>>>} */
  const parts = new Map();
  const part = async (/** @type {number} */ from) => {
    const response = await fetch(`/replay/${guid}/reasoning?from=${from}`);
    if (!response.ok) throw new Error("not loaded");
    return new Map((await response.json()).said);
  };
  return async (/** @type {number} */ moment) => {
    const from = moment - (moment % 32);
    const known = parts.get(from) ?? part(from);
    parts.set(from, known);
    known.catch(() => parts.delete(from));
    return (await known).get(moment);
  };
}

/** The moment that the address names. */
function asked() {
  const number = /^#t=(\d{1,9})$/.exec(location.hash)?.[1];
  return number === undefined ? null : Number(number);
}

function opened() {
  for (const button of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-do]"))) button.hidden = false;
  downloads.hidden = false;
  const moment = asked();
  if (moment !== null) player.seek(moment);
}

let told = 0;
player.addEventListener("rhae-moment", () => {
  clearTimeout(told);
  told = setTimeout(() => {
    if (!player.playing && (player.moment > 0 || location.hash)) history.replaceState(null, "", `#t=${player.moment}`);
  }, 250);
});
addEventListener("hashchange", () => {
  const moment = asked();
  if (moment !== null && moment !== player.moment) player.seek(moment);
});

downloads.addEventListener("click", async (event) => {
  const what = /** @type {HTMLElement} */ (event.target).dataset?.do;
  if (!player.reel || !what) return;
  const made = /** @type {HTMLElement} */ (document.querySelector("[data-show=made]"));
  made.textContent = "making it…";
  await new Promise((done) => setTimeout(done));
  if (what === "gif") save(filmAsGif(player.reel, speed), `${name}.gif`);
  if (what === "png") save(await frameAsPng(player.cells), `${name}-${player.moment}.png`);
  made.textContent = "";
});

const guid = player.dataset.guid;
if (guid) {
  try {
    const response = await fetch(`/replay/${guid}/film`);
    if (!response.ok) throw new Error((await response.json()).message ?? response.statusText);
    const about = { title: name, subtitle: "replay", framesPerSecond: speed, winLevels: Number(player.dataset.levels), reasoning: saidBy(guid) };
    player.open(new Reel(new Uint8Array(await response.arrayBuffer())), about);
    opened();
  } catch (reason) {
    player.fail(`This replay cannot be shown: ${reason instanceof Error ? reason.message : reason}`);
  }
}

if (form) {
  const input = /** @type {HTMLInputElement} */ (form.querySelector("input"));
  const error = /** @type {HTMLElement} */ (form.querySelector("[data-show=error]"));
  const open = async (/** @type {File | undefined} */ file) => {
    if (!file) return;
    error.hidden = true;
    form.classList.add("reading");
    try {
      const recording = await readRecording(file);
      ({ name, speed } = recording);
      player.hidden = false;
      const said = recording.reasoning;
      const reasoning = said.size > 0 ? async (/** @type {number} */ moment) => said.get(moment) : null;
      player.open(recording.reel, { title: name, subtitle: file.name, framesPerSecond: speed, winLevels: recording.winLevels, reasoning });
      opened();
      player.scrollIntoView({ block: "start" });
    } catch (reason) {
      error.textContent = reason instanceof Error ? reason.message : String(reason);
      error.hidden = false;
    }
    form.classList.remove("reading");
  };
  input.addEventListener("change", () => void open(input.files?.[0]));
  addEventListener("dragover", (event) => {
    event.preventDefault();
    form.classList.add("over");
  });
  addEventListener("dragleave", () => form.classList.remove("over"));
  addEventListener("drop", (event) => {
    event.preventDefault();
    form.classList.remove("over");
    void open(event.dataTransfer?.files[0]);
  });
}
