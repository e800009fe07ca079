// @ts-check
/**
 * The play page: turns key presses, clicks and touches into commands, and shows the responses.
 *
 * The first input opens the play. Before that the page shows the first frame, so that looking at an environment neither creates a key nor
 * counts on a scorecard. Commands are sent one at a time. Input during a command is queued, up to a few actions, and skips animations. Nothing is queued while
 * the connection is lost, because the player cannot see the effect of the input.
 */

import { CELLS, CLICK, RESET, Reel, SIZE, bytesOf } from "./reel.js";
import { COLOR_NAMES, RhaeBoard, symbolsAreOn, setSymbols } from "./board.js";
import { Connection } from "./connection.js";

const MAX_QUEUED = 4;
/** How long a completed level stays visible before the next one is shown. */
const COMPLETED_MS = 700;
const UNDO = 7;
/** @type {Record<string, number>} */
const KEYS = {
  ArrowUp: 1, KeyW: 1, ArrowDown: 2, KeyS: 2, ArrowLeft: 3, KeyA: 3, ArrowRight: 4, KeyD: 4, Space: 5, KeyZ: UNDO, KeyU: UNDO, Backspace: UNDO,
};
/** @type {Record<string, [number, number]>} */
const MOVES = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };

/** @typedef {{guid: string, state: string, level: number, levels_completed: number, win_levels: number, full_reset: boolean,
 *   counted: boolean, available_actions: number[], packed: string}} CompactResponse
 * @typedef {{action: number, x?: number, y?: number}} Input */

const page = /** @type {HTMLElement} */ (document.querySelector(".play"));
const game = page.dataset.game ?? "";
const board = /** @type {RhaeBoard} */ (page.querySelector("rhae-board"));
const frameMs = 1000 / Math.max(1, Math.min(60, Number(page.dataset.speed)));
const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");

/** @param {string} name */
const part = (name) => /** @type {HTMLElement} */ (page.querySelector(`[data-show=${name}]`));
const confirmDialog = /** @type {HTMLDialogElement} */ (part("confirm"));
const connection = new Connection(game, (lost) => {
  part("connection").hidden = !lost;
  page.classList.toggle("disconnected", lost);
  if (lost) queue.length = 0;
});

/** The play; empty until the first input opens it. */
let guid = "";
let card = "";
let state = "NOT_FINISHED";
let actions = 0;
let completed = 0;
/** Whether RESET would restart the whole game rather than the level. */
let resetRestartsGame = true;
let ready = false;
let busy = false;
/** @type {Set<number>} */
let available = new Set((page.dataset.actions ?? "").split(" ").filter(Boolean).map(Number));
/** @type {Input[]} */
const queue = [];
/** Skips the current animation. @type {(() => void) | null} */
let skip = null;
/** The cell that a click by keyboard targets. */
const cursor = { x: SIZE / 2, y: SIZE / 2, shown: false };

/** @param {number} ms @returns {Promise<void>} resolves when the time is over or skipped */
function pause(ms) {
  return new Promise((done) => {
    const end = () => {
      clearTimeout(timer);
      skip = null;
      done();
    };
    const timer = setTimeout(end, ms);
    skip = end;
  });
}

/** Announces a text to screen readers. @param {string} text */
function announce(text) {
  part("announcement").textContent = text;
}

/** Updates the counts, the level dots and the visible buttons. */
function showFacts() {
  const levels = Number(page.dataset.levels);
  part("level").textContent = String(Math.min(completed + 1, levels));
  part("actions").textContent = String(actions);
  part("dots").querySelectorAll("i").forEach((dot, at) => {
    dot.classList.toggle("on", at < completed);
    dot.classList.toggle("now", at === completed && state !== "WIN");
  });
  for (const button of /** @type {NodeListOf<HTMLElement>} */ (page.querySelectorAll("button[data-action]"))) {
    button.hidden = !available.has(Number(button.dataset.action));
  }
  page.classList.toggle("clicks", available.has(CLICK));
  page.classList.toggle("quiet-pad", ![1, 2, 3, 4, 5].some((action) => available.has(action)));
}

/** Shows the outcome of a finished play. */
function showOutcome() {
  const outcome = part("outcome");
  const name = state === "WIN" ? "won" : state === "GAME_OVER" ? "lost" : null;
  outcome.hidden = name === null;
  outcome.replaceChildren();
  if (!name) return;
  outcome.append(/** @type {HTMLTemplateElement} */ (part(name)).content.cloneNode(true));
  outcome.querySelector("[data-show=replay]")?.setAttribute("href", `/replay/${guid}`);
  /** @type {HTMLElement | null} */ (outcome.querySelector("button, a"))?.focus({ preventScroll: true });
}

/**
 * Shows a response, frame by frame.
 * @param {CompactResponse} answer @param {boolean} animate whether to show animations
 */
async function show(answer, animate) {
  const before = completed;
  const reel = new Reel(bytesOf(answer.packed));
  const finished = answer.levels_completed > before && answer.state !== "WIN" && reel.length > 1;
  // The last frame is the first of the new level; the frames before it complete the old one.
  const stay = finished ? reel.length - 2 : reel.length - 1;
  ({ guid, state } = answer);
  available = new Set(answer.available_actions);
  completed = answer.levels_completed;
  showFacts();
  if (animate && !reducedMotion.matches) {
    for (let frame = 0; frame < stay && queue.length === 0; frame++) {
      board.show(reel.frame(frame));
      await pause(frameMs);
    }
  }
  if (finished && animate) {
    board.show(reel.frame(stay));
    page.classList.add("completed");
    announce(`Level ${before + 1} completed. Level ${answer.level} of ${answer.win_levels}.`);
    await pause(COMPLETED_MS);
    page.classList.remove("completed");
  }
  board.show(reel.frame(reel.length - 1), { ring: cursor.shown ? cursor : null });
  if (answer.state === "WIN") announce(`All ${answer.win_levels} levels completed.`);
  if (answer.state === "GAME_OVER") announce("Game over. Press R to retry the level.");
  showOutcome();
}

/** Sends the queued inputs, one after the other. */
async function processQueue() {
  if (busy || !ready) return;
  busy = true;
  for (let input = queue.shift(); input; input = queue.shift()) {
    const { action, ...place } = input;
    if (action !== RESET && state !== "NOT_FINISHED") continue;
    if (!guid && !(await openPlay())) {
      queue.length = 0;
      break;
    }
    const answer = await connection.command(`/api/cmd/${action === RESET ? "RESET" : `ACTION${action}`}`, { game_id: game, guid, ...place });
    if (answer.status !== 200) {
      await loadPlay();
      continue;
    }
    const levels = completed;
    if (answer.data.counted) actions++;
    if (answer.data.full_reset) announce("Restarted from level 1.");
    resetRestartsGame = action === RESET || answer.data.levels_completed !== levels;
    await show(answer.data, true);
  }
  busy = false;
}

/** @param {Input} input */
function enqueue(input) {
  if (!ready || connection.lost || (input.action !== RESET && !available.has(input.action))) return;
  if (queue.length < MAX_QUEUED) queue.push(input);
  skip?.();
  void processQueue();
}

/** Resets the level. A reset of the whole game is confirmed first. */
function reset() {
  if (!ready || connection.lost) return;
  if (!resetRestartsGame && state !== "WIN") return sendReset();
  if (completed === 0 && state !== "WIN") return;
  confirmDialog.returnValue = "no";
  confirmDialog.showModal();
}

function sendReset() {
  enqueue({ action: RESET });
  board.focus({ preventScroll: true });
}

/** Loads the visitor's play, or else shows the first frame of the environment. */
async function loadPlay() {
  const pending = connection.pending();
  if (pending) await connection.finish(pending);
  const found = await connection.request(`/play/${game}/state`);
  if (found.status === 401) return location.assign("/enter");
  if (found.status !== 200) return void showError(found.data?.message);
  const { answer, preview } = found.data;
  card = found.data.card_id ?? "";
  actions = found.data.actions ?? 0;
  resetRestartsGame = found.data.reset_starts_anew ?? true;
  completed = (answer ?? preview).levels_completed;
  await show(answer ?? preview, false);
}

/**
 * Opens a play, and before that a scorecard if the visitor has none.
 * @returns {Promise<boolean>} whether the input that caused it can be sent
 */
async function openPlay() {
  await connection.request("/visit", { method: "POST" });
  // The visitor may have started to play in another window.
  await loadPlay();
  if (guid) return false;
  if (!card) {
    const opened = await connection.command("/api/scorecard/open", { tags: ["human", "browser"] });
    if (opened.status !== 200) return showError(opened.data?.message);
    card = opened.data.card_id;
  }
  const opened = await connection.command("/api/cmd/RESET", { game_id: game, card_id: card });
  if (opened.status !== 200) return showError(opened.data?.message);
  [actions, completed, resetRestartsGame] = [0, 0, true];
  await show(opened.data, false);
  return true;
}

/** @param {string} [reason] @returns {false} */
function showError(reason) {
  const message = part("connection");
  message.textContent = reason ?? "This environment cannot be played at the moment.";
  message.hidden = false;
  available = new Set();
  showFacts();
  return false;
}

/** @param {number} dx @param {number} dy */
function moveCursor(dx, dy) {
  const within = (/** @type {number} */ at) => Math.max(0, Math.min(SIZE - 1, at));
  [cursor.x, cursor.y, cursor.shown] = [within(cursor.x + dx), within(cursor.y + dy), true];
  board.ring(cursor);
  const color = COLOR_NAMES[board.cells[(cursor.y * SIZE + cursor.x) % CELLS] & 15];
  announce(`Column ${cursor.x}, row ${cursor.y}, ${color}`);
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) {
    if ((event.ctrlKey || event.metaKey) && event.code === "KeyZ" && available.has(UNDO)) {
      event.preventDefault();
      enqueue({ action: UNDO });
    }
    return;
  }
  const on = /** @type {Element} */ (event.target);
  const pressing = on.closest("button, a, dialog");
  if (confirmDialog.open || (pressing && ["Space", "Enter"].includes(event.code))) return;
  const move = MOVES[event.code];
  const points = available.has(CLICK) && (event.shiftKey || ![1, 2, 3, 4].some((action) => available.has(action)));
  if (move && points) {
    const step = event.repeat ? 2 : 1;
    moveCursor(move[0] * step, move[1] * step);
  } else if (event.code === "Enter" && available.has(CLICK)) {
    moveCursor(0, 0);
    enqueue({ action: CLICK, x: cursor.x, y: cursor.y });
  } else if (event.code === "KeyR") {
    reset();
  } else if (event.code in KEYS && !event.shiftKey) {
    // A held key repeats, but only after the previous response is shown.
    if (!event.repeat || !busy) enqueue({ action: KEYS[event.code] });
  } else if (event.code === "Escape") {
    skip?.();
    return;
  } else {
    return;
  }
  event.preventDefault();
}

document.addEventListener("keydown", onKey);
// The `close` event is delayed. By then the dialog may have been opened again without a choice, or opened and closed again. In the second
// case the event fires twice, and the choice must count once.
confirmDialog.addEventListener("close", () => {
  if (confirmDialog.open || confirmDialog.returnValue !== "yes") return;
  confirmDialog.returnValue = "no";
  sendReset();
});
board.addEventListener("rhae-cell", (event) => {
  const { x, y } = /** @type {CustomEvent<{x: number, y: number}>} */ (event).detail;
  cursor.shown = false;
  if (available.has(CLICK)) enqueue({ action: CLICK, x, y });
  else skip?.();
});
page.addEventListener("click", (event) => {
  const button = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("button[data-action], button[data-do]"));
  if (!button) return;
  // A button clicked with a pointer gives up the focus, so that the space bar goes to the game.
  if (event.detail > 0) button.blur();
  if (button.dataset.do === "reset") reset();
  else if (button.dataset.do === "signs") {
    setSymbols(!symbolsAreOn());
    button.setAttribute("aria-pressed", String(symbolsAreOn()));
  } else enqueue({ action: Number(button.dataset.action) });
});
page.querySelector("[data-do=signs]")?.setAttribute("aria-pressed", String(symbolsAreOn()));

showFacts();
await loadPlay();
ready = true;
page.classList.add("ready");
announce(`Level ${Math.min(completed + 1, Number(page.dataset.levels))} of ${page.dataset.levels}.`);
