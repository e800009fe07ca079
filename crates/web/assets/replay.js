// @ts-check
/** The replay page: shows a play of this server or a local file. The fragment `#t=123` of the URL selects an action. */

import { Reel } from "./reel.js";
import { RhaePlayer } from "./player.js";
import { readRecording } from "./recording.js";
import { replayAsGif, frameAsPng, save } from "./gif.js";

const player = /** @type {RhaePlayer} */ (document.querySelector("rhae-player"));
const form = /** @type {HTMLElement | null} */ (document.querySelector("[data-show=drop]"));
const downloads = /** @type {HTMLElement} */ (document.querySelector(".downloads"));
let name = player.dataset.game ?? "replay";
let speed = Number(player.dataset.speed ?? 10);

/** Loads the reasoning of actions from the server, in blocks of 32. @param {string} source */
function reasoningOf(source) {
  /** @type {Map<number, Promise<Map<number, string>>>} */
  const parts = new Map();
  const part = async (/** @type {number} */ from) => {
    const response = await fetch(`${source}/reasoning?from=${from}`);
    if (!response.ok) throw new Error("the reasoning could not be loaded");
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

/** The action that the URL selects. */
function requestedMoment() {
  const number = /^#t=(\d{1,9})$/.exec(location.hash)?.[1];
  return number === undefined ? null : Number(number);
}

function showControls() {
  for (const button of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-do]"))) button.hidden = false;
  downloads.hidden = false;
  const moment = requestedMoment();
  if (moment !== null) player.seek(moment);
}

let urlTimer = 0;
player.addEventListener("rhae-moment", () => {
  clearTimeout(urlTimer);
  urlTimer = setTimeout(() => {
    if (!player.playing && (player.moment > 0 || location.hash)) history.replaceState(null, "", `#t=${player.moment}`);
  }, 250);
});
addEventListener("hashchange", () => {
  const moment = requestedMoment();
  if (moment !== null && moment !== player.moment) player.seek(moment);
});

downloads.addEventListener("click", async (event) => {
  const format = /** @type {HTMLElement} */ (event.target).dataset?.do;
  if (!player.reel || !format) return;
  const exportStatus = /** @type {HTMLElement} */ (document.querySelector("[data-show=export-status]"));
  exportStatus.textContent = "Exporting…";
  await new Promise((done) => setTimeout(done));
  if (format === "gif") save(replayAsGif(player.reel, speed), `${name}.gif`);
  if (format === "png") save(await frameAsPng(player.cells), `${name}-${player.moment}.png`);
  exportStatus.textContent = "";
});

/** Loads the times of the actions. @param {string} source @returns {Promise<number[]>} */
async function timesOf(source) {
  const response = await fetch(`${source}/times`);
  if (!response.ok) throw new Error("the times could not be loaded");
  return response.json();
}

/** Loads what perception sees in each moment. @param {string} source */
async function perceptionOf(source) {
  const response = await fetch(`${source}/perception`);
  if (!response.ok) throw new Error("the objects could not be loaded");
  return response.json();
}

/** Loads what the model of the agent did before each moment. @param {string} source */
async function workOf(source) {
  const response = await fetch(`${source}/work`);
  if (!response.ok) throw new Error("the requests of the model could not be loaded");
  return response.json();
}

/** The path below which the data of a play of this server is. */
const source = player.dataset.source;
if (source) {
  try {
    const response = await fetch(`${source}/film`);
    if (!response.ok) throw new Error((await response.json()).message ?? response.statusText);
    const winLevels = Number(player.dataset.levels);
    const times = () => timesOf(source);
    const perception = () => perceptionOf(source);
    const work = player.dataset.work === undefined ? null : () => workOf(source);
    const about = { title: name, subtitle: "replay", framesPerSecond: speed, winLevels, reasoning: reasoningOf(source), times, perception, work };
    player.open(new Reel(new Uint8Array(await response.arrayBuffer())), about);
    showControls();
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
      const texts = recording.reasoning;
      const reasoning = texts.size > 0 ? async (/** @type {number} */ moment) => texts.get(moment) : null;
      const { times, winLevels } = recording;
      const recorded = times ? async () => times : null;
      player.open(recording.reel, { title: name, subtitle: file.name, framesPerSecond: speed, winLevels, reasoning, times: recorded });
      showControls();
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
