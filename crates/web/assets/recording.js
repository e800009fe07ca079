// @ts-check
/**
 * Recordings read in the browser: those of the official toolkit and of the agents repository, which carry their frames. A file is
 * hostile: every line is checked, and what is wrong is said with its line.
 */

import { CLICK, Packer, RESET, Reel, SIZE } from "./reel.js";

const MOST_BYTES = 1 << 30;
const MOST_FRAMES = 1001;
const NAMES = ["RESET", "ACTION1", "ACTION2", "ACTION3", "ACTION4", "ACTION5", "ACTION6", "ACTION7"];
/** @type {Record<string, number>} */
const STATES = { NOT_FINISHED: 0, NOT_PLAYED: 0, NOT_STARTED: 0, WIN: 1, GAME_OVER: 2 };
const NO_FRAMES =
  "This is a recording of Rhae's own format, which has actions and hashes but no frames. `rhae replay convert FILE --to toolkit --out OUT` gives them to it, " +
  "and `rhae replay render FILE --format html` makes a page of it.";

/** @typedef {{name: string, speed: number, winLevels: number, reel: Reel, reasoning: Map<number, string>}} Recording */

/**
 * Reads a file.
 * @param {Blob} file @returns {Promise<Recording>}
 */
export async function readRecording(file) {
  if (file.size > MOST_BYTES) throw new Error("This file is larger than 1 GiB.");
  const packer = new Packer();
  /** @type {Map<number, string>} */
  const reasoning = new Map();
  let [name, winLevels, moments, number] = ["", 0, 0, 0];
  /** @type {Uint8Array | null} */
  let before = null;
  let state = 0;
  for await (const line of linesOf(file)) {
    number++;
    if (line.trim() === "") continue;
    const wrong = (/** @type {string} */ reason) => new Error(`Line ${number}: ${reason}.`);
    let data;
    try {
      data = JSON.parse(line);
    } catch {
      throw wrong(moments === 0 ? "this is not a recording, which has a JSON object on every line" : "it is cut off or not JSON");
    }
    if (number === 1 && data?.format === "rhae-recording") throw new Error(NO_FRAMES);
    const seen = data?.data;
    if (typeof seen !== "object" || seen === null || typeof seen.action_input !== "object" || seen.action_input === null) continue;
    if (typeof seen.game_id !== "string" || !/^[a-z0-9]{4}-[a-z0-9]{1,40}$/.test(seen.game_id)) throw wrong("`game_id` is not an environment");
    if (name && seen.game_id !== name) throw wrong(`the environment changes from ${name} to ${seen.game_id}`);
    name = seen.game_id;
    const frames = framesOf(seen.frame, wrong);
    if (frames.length === 0) {
      // The official tools record a command after the end without frames.
      if (state !== 0) continue;
      throw wrong("it has no frames");
    }
    if (!(seen.state in STATES)) throw wrong("`state` is unknown");
    state = STATES[seen.state];
    const levels = count(seen.levels_completed ?? seen.score, wrong);
    winLevels = Math.max(winLevels, count(seen.win_levels ?? seen.win_score ?? 0, wrong));
    const { action, x, y } = actionOf(seen.action_input, wrong);
    const fullReset = seen.full_reset === true || (moments === 0 && action === RESET);
    const last = frames[frames.length - 1];
    const changed = frames.length > 1 || before === null || last.some((cell, at) => cell !== before?.[at]);
    packer.add({ action, x, y, state, levels, changed, counted: !fullReset, fullReset, frames });
    const said = seen.action_input.reasoning;
    if (said !== null && said !== undefined) reasoning.set(moments, typeof said === "string" ? said : JSON.stringify(said, null, 2));
    before = last;
    moments++;
  }
  if (moments === 0) throw new Error("There is no observation in this file: expected lines with `data.action_input` and `data.frame`.");
  return { name, speed: 10, winLevels: Math.max(1, winLevels), reel: new Reel(packer.bytes()), reasoning };
}

/** @param {Blob} file */
async function* linesOf(file) {
  const reader = file.stream().pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    const lines = (rest + value).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest) yield rest;
}

/** @param {unknown} value @param {(reason: string) => Error} wrong */
function framesOf(value, wrong) {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || value.length > MOST_FRAMES) throw wrong("`frame` is not a list of frames");
  return value.map((rows) => {
    if (!Array.isArray(rows) || rows.length !== SIZE) throw wrong("a frame has not 64 rows");
    const cells = new Uint8Array(SIZE * SIZE);
    rows.forEach((row, y) => {
      if (!Array.isArray(row) || row.length !== SIZE) throw wrong("a row has not 64 cells");
      row.forEach((cell, x) => {
        if (!Number.isInteger(cell)) throw wrong("a cell is not a number");
        // What is no colour is shown as the last one.
        cells[y * SIZE + x] = cell >= 0 && cell < 16 ? cell : 15;
      });
    });
    return cells;
  });
}

/** @param {unknown} value @param {(reason: string) => Error} wrong */
function count(value, wrong) {
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > 255) throw wrong("the number of levels is wrong");
  return value;
}

/** @param {{id?: unknown, data?: any}} input @param {(reason: string) => Error} wrong */
function actionOf(input, wrong) {
  const action = typeof input.id === "number" ? input.id : NAMES.indexOf(String(input.id));
  if (!Number.isInteger(action) || action < 0 || action > 7) throw wrong("the action is unknown");
  const [x, y] = action === CLICK ? [input.data?.x, input.data?.y] : [0, 0];
  const fits = [x, y].every((at) => Number.isInteger(at) && at >= 0 && at < SIZE);
  if (!fits) throw wrong("ACTION6 needs `x` and `y` from 0 to 63");
  return { action, x, y };
}
