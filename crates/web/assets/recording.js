// @ts-check
/**
 * Parses recordings in the browser: those of the official toolkit and of the agents repository, which contain frames. Files are
 * untrusted: every line is validated, and errors name the line.
 */

import { CLICK, Packer, RESET, Reel, SIZE } from "./reel.js";

const MAX_BYTES = 1 << 30;
const MAX_FRAMES = 1001;
const NAMES = ["RESET", "ACTION1", "ACTION2", "ACTION3", "ACTION4", "ACTION5", "ACTION6", "ACTION7"];
/** @type {Record<string, number>} */
const STATES = { NOT_FINISHED: 0, NOT_PLAYED: 0, NOT_STARTED: 0, WIN: 1, GAME_OVER: 2 };
const NO_FRAMES =
  "This recording is in Rhae's own format, which contains actions and hashes but no frames. Add frames with `rhae replay convert FILE --to toolkit --out OUT`, " +
  "or create a web page with `rhae replay render FILE --format html`.";

/** @typedef {{name: string, speed: number, winLevels: number, reel: Reel, reasoning: Map<number, string>,
 *   times: number[] | null}} Recording */

/**
 * Reads a recording.
 * @param {Blob} file @returns {Promise<Recording>}
 */
export async function readRecording(file) {
  if (file.size > MAX_BYTES) throw new Error("This file is larger than 1 GiB.");
  const packer = new Packer();
  /** @type {Map<number, string>} */
  const reasoning = new Map();
  let [name, winLevels, moments, number] = ["", 0, 0, 0];
  /** @type {Uint8Array | null} */
  let before = null;
  let state = 0;
  /** The time of each moment; `NaN` if it was not recorded. @type {number[]} */
  const times = [];
  for await (const line of linesOf(file)) {
    number++;
    if (line.trim() === "") continue;
    const invalid = (/** @type {string} */ reason) => new Error(`Line ${number}: ${reason}.`);
    let data;
    try {
      data = JSON.parse(line);
    } catch {
      throw invalid(moments === 0 ? "this is not a recording; every line of one is a JSON object" : "the line is truncated or not valid JSON");
    }
    if (number === 1 && data?.format === "rhae-recording") throw new Error(NO_FRAMES);
    const observation = data?.data;
    if (typeof observation !== "object" || observation === null || typeof observation.action_input !== "object" || observation.action_input === null) continue;
    if (typeof observation.game_id !== "string" || !/^[a-z0-9]{4}-[a-z0-9]{1,40}$/.test(observation.game_id)) throw invalid("`game_id` is not an environment id");
    if (name && observation.game_id !== name) throw invalid(`the environment changes from ${name} to ${observation.game_id}`);
    name = observation.game_id;
    const frames = framesOf(observation.frame, invalid);
    if (frames.length === 0) {
      // After the end of a game, the official tools record commands without frames.
      if (state !== 0) continue;
      throw invalid("the observation has no frames");
    }
    if (!(observation.state in STATES)) throw invalid("`state` is unknown");
    state = STATES[observation.state];
    const levels = count(observation.levels_completed ?? observation.score, invalid);
    winLevels = Math.max(winLevels, count(observation.win_levels ?? observation.win_score ?? 0, invalid));
    const { action, x, y } = actionOf(observation.action_input, invalid);
    const fullReset = observation.full_reset === true || (moments === 0 && action === RESET);
    const last = frames[frames.length - 1];
    const changed = frames.length > 1 || before === null || last.some((cell, at) => cell !== before?.[at]);
    packer.add({ action, x, y, state, levels, changed, counted: !fullReset, fullReset, frames });
    const text = observation.action_input.reasoning;
    if (text !== null && text !== undefined) reasoning.set(moments, typeof text === "string" ? text : JSON.stringify(text, null, 2));
    times.push(typeof data.timestamp === "string" ? Date.parse(data.timestamp) : NaN);
    before = last;
    moments++;
  }
  if (moments === 0) throw new Error("This file contains no observation: expected lines with `data.action_input` and `data.frame`.");
  const isTimed = times.every((time) => Number.isFinite(time));
  const since = isTimed ? times.map((time) => time - times[0]) : null;
  return { name, speed: 10, winLevels: Math.max(1, winLevels), reel: new Reel(packer.bytes()), reasoning, times: since };
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

/** @param {unknown} value @param {(reason: string) => Error} invalid */
function framesOf(value, invalid) {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || value.length > MAX_FRAMES) throw invalid("`frame` is not a list of frames");
  return value.map((rows) => {
    if (!Array.isArray(rows) || rows.length !== SIZE) throw invalid("a frame must have 64 rows");
    const cells = new Uint8Array(SIZE * SIZE);
    rows.forEach((row, y) => {
      if (!Array.isArray(row) || row.length !== SIZE) throw invalid("a row must have 64 cells");
      row.forEach((cell, x) => {
        if (!Number.isInteger(cell)) throw invalid("a cell must be an integer");
        // An unknown colour is shown as the last colour of the palette.
        cells[y * SIZE + x] = cell >= 0 && cell < 16 ? cell : 15;
      });
    });
    return cells;
  });
}

/** @param {unknown} value @param {(reason: string) => Error} invalid */
function count(value, invalid) {
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > 255) throw invalid("the number of levels must be an integer from 0 to 255");
  return value;
}

/** @param {{id?: unknown, data?: any}} input @param {(reason: string) => Error} invalid */
function actionOf(input, invalid) {
  const action = typeof input.id === "number" ? input.id : NAMES.indexOf(String(input.id));
  if (!Number.isInteger(action) || action < 0 || action > 7) throw invalid("the action is unknown");
  const [x, y] = action === CLICK ? [input.data?.x, input.data?.y] : [0, 0];
  const fits = [x, y].every((at) => Number.isInteger(at) && at >= 0 && at < SIZE);
  if (!fits) throw invalid("ACTION6 needs `x` and `y` from 0 to 63");
  return { action, x, y };
}
